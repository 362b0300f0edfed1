import { describe, expect, it } from 'vitest';
import type { AccountId } from '#core/ids.ts';
import { sweepAuditChain } from '#features/audit-log/chain.ts';
import { saveHashes } from '#features/audit-log/store.ts';
import { verifyLog } from '#features/audit-log/verify.ts';
import { newCtx, scopeIn } from '#platform/context.ts';
import { addMember } from '../../support/people/team.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const w = new World();
const ctx = () => newCtx(w.env, { requestId: 'req_erase', defer: () => {} });
const verify = ({ userId }: Pick<Merchant, 'userId'>) => verifyLog(scopeIn(ctx(), { merchantId: userId as AccountId, livemode: true }));
const rows = async ({ userId }: Pick<Merchant, 'userId'>) =>
  (await testEnv.DB.prepare('SELECT * FROM audit_entries WHERE merchant_id = ? ORDER BY seq').bind(userId).all()).results;
const IP = '203.0.113.77';
const from = { headers: { 'CF-Connecting-IP': IP } };

async function close(merchant: Merchant): Promise<void> {
  expect((await w.call('DELETE', '/v1/account/account', { key: merchant.token })).status).toBe(200);
  for (let i = 0; i < 4; i++) await w.sweepAlone('erasures');
}

describe('log of a deleted account', () => {
  it('erasure replaces names, texts and addresses, and a further entry says so', async () => {
    const ada = await w.merchant();
    await w.call('PATCH', '/v1/account/me', { key: ada.token, ...from, body: { display_name: 'Ada of the harbour', sales_paused: true } });
    await w.call('POST', '/v1/keys', { key: ada.token, ...from, body: { name: 'the harbour key' } });
    await sweepAuditChain(ctx());
    const before = await rows(ada);
    expect(JSON.stringify(before)).toContain('harbour');
    await close(ada);
    await sweepAuditChain(ctx());
    const after = await rows(ada);
    const text = JSON.stringify(after);
    for (const name of ['harbour', IP, ada.email]) expect(text).not.toContain(name);
    expect(after.map(({ action }) => action)).toEqual([...before.map(({ action }) => action), 'account.deleted', 'account.erased']);
    expect(after.map((row) => row.is_erased)).toEqual([...after.slice(1).map(() => 1), 0]);
    const paused = after.find(({ action }) => action === 'account.updated')!;
    expect(JSON.parse(String(paused.details))).toMatchObject({ after: { display_name: 'erased', sales_paused: true } });
    expect(after.slice(0, before.length).map(({ hash }) => hash)).toEqual(before.map(({ hash }) => hash));
    expect(await verify(ada)).toMatchObject({ brokenAt: null, checked: after.length });
  });

  it('links of erased entries are verified, and so is a flag without an erasure', async () => {
    const ada = await w.merchant();
    await w.call('POST', '/v1/keys', { key: ada.token, body: { name: 'one' } });
    await sweepAuditChain(ctx());
    await testEnv.DB.prepare('UPDATE audit_entries SET is_erased = 1 WHERE merchant_id = ? AND seq = 2').bind(ada.userId).run();
    expect((await verify(ada)).brokenAt).toBe(2);
    await testEnv.DB.prepare('UPDATE audit_entries SET is_erased = 0 WHERE merchant_id = ? AND seq = 2').bind(ada.userId).run();
    await close(ada);
    await sweepAuditChain(ctx());
    expect((await verify(ada)).brokenAt).toBeNull();
    await testEnv.DB.prepare("UPDATE audit_entries SET prev_hash = unhex('00') WHERE merchant_id = ? AND seq = 2").bind(ada.userId).run();
    expect((await verify(ada)).brokenAt).toBe(2);
  });

  it('a run of the chain that another has overtaken stores nothing', async () => {
    const ada = await w.merchant();
    await sweepAuditChain(ctx());
    const chained = (await rows(ada)).length;
    for (const name of ['one', 'two']) await w.call('POST', '/v1/keys', { key: ada.token, body: { name } });
    const link = (seq: number, prevHash: string) => ({ seq, prevHash, hash: 'ab'.repeat(32) });
    const save = (end: { seq: number; hash: string }, ...links: ReturnType<typeof link>[]) =>
      saveHashes(ctx().db, ada.userId as AccountId, end, links);
    const [one, other] = ['ab'.repeat(32), 'cd'.repeat(32)];
    expect(await save({ seq: chained, hash: other }, link(chained + 1, other), link(chained + 2, one))).toBe(0);
    expect(await save({ seq: chained + 1, hash: one }, link(chained + 2, one))).toBe(0);
    expect((await rows(ada)).slice(chained).map(({ hash }) => hash)).toEqual([null, null]);
    await sweepAuditChain(ctx());
    expect(await verify(ada)).toMatchObject({ brokenAt: null, checked: chained + 2 });
  });

  it('a missing entry does not stop the chain, and is found', async () => {
    const ada = await w.merchant();
    await sweepAuditChain(ctx());
    const chained = (await rows(ada)).length;
    for (const name of ['one', 'two']) await w.call('POST', '/v1/keys', { key: ada.token, body: { name } });
    await testEnv.DB.prepare('DELETE FROM audit_entries WHERE merchant_id = ? AND seq = ?')
      .bind(ada.userId, chained + 1)
      .run();
    await sweepAuditChain(ctx());
    expect((await rows(ada)).every(({ hash }) => hash !== null)).toBe(true);
    expect((await verify(ada)).brokenAt).toBe(chained + 1);
  });

  it('a deleted person has an id and no name in the logs of others', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'admin');
    await testEnv.DB.prepare("UPDATE persons SET name = 'Bob of the hill' WHERE id = ?").bind(bob.userId).run();
    await w.call('POST', '/v1/products', { key: bob.token, ...from, body: { name: 'Wind', price: { asset: 'USDC', amount: '1' } } });
    await sweepAuditChain(ctx());
    expect(JSON.stringify(await rows(owner))).toContain('Bob of the hill');
    await close(bob.own);
    await sweepAuditChain(ctx());
    const log = await rows(owner);
    expect(JSON.stringify(log)).not.toContain('Bob of the hill');
    expect(JSON.stringify(log)).not.toContain(IP);
    const { body } = await w.call('GET', '/v1/account/audit-log?action=product.created', { key: owner.token });
    expect(body.items).toMatchObject([{ actor: { kind: 'person', id: bob.userId, role: 'admin' }, erased: true, after: { name: 'Wind' } }]);
    expect(body.items[0].actor.name).toBeUndefined();
    expect(log.map(({ action }) => action).slice(-2)).toEqual(['member.removed', 'member.erased']);
    expect((await verify(owner)).brokenAt).toBeNull();
    // The erasure of one person explains no other entry.
    await w.call('POST', '/v1/keys', { key: owner.token, body: { name: 'late' } });
    await sweepAuditChain(ctx());
    await testEnv.DB.prepare("UPDATE audit_entries SET is_erased = 1, details = '{}' WHERE merchant_id = ? AND seq = ?")
      .bind(owner.userId, log.length + 1)
      .run();
    expect((await verify(owner)).brokenAt).toBe(log.length + 1);
  });

  it('a refused sign-in to a deleted account leaves no entry', async () => {
    const ada = await w.merchant();
    await close(ada);
    const count = (await rows(ada)).length;
    await w.call('POST', '/v1/auth/login', { ...from, body: { email: ada.email, password: 'wrong' } });
    expect((await rows(ada)).length).toBe(count);
  });
});
