import { beforeEach, describe, expect, it } from 'vitest';
import type { AccountId } from '#core/ids.ts';
import { sweepAuditChain } from '#features/audit-log/chain.ts';
import { saveHashes } from '#features/audit-log/store.ts';
import { verifyLog } from '#features/audit-log/verify.ts';
import { newCtx, scopeIn } from '#platform/context.ts';
import { addMember, inviteTo, join } from '../../support/people/team.ts';
import { testEnv } from '../../support/runner/env.ts';
import { MailWorld, verifyAddress } from '../../support/servers/mail.ts';
import { type Merchant, World } from '../../support/world.ts';

const w = new World();
const mail = new MailWorld();
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

  it('a deleted person has no name in the log of an account that the person left before', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'admin');
    await testEnv.DB.prepare("UPDATE persons SET name = 'Bob of the hill' WHERE id = ?").bind(bob.userId).run();
    await w.call('POST', '/v1/products', { key: bob.token, ...from, body: { name: 'Wind', price: { asset: 'USDC', amount: '1' } } });
    expect((await w.call('DELETE', `/v1/account/members/${bob.userId}`, { key: owner.token })).status).toBe(204);
    await sweepAuditChain(ctx());
    expect(JSON.stringify(await rows(owner))).toContain('Bob of the hill');
    await close(bob.own);
    await sweepAuditChain(ctx());
    const text = JSON.stringify(await rows(owner));
    for (const name of ['Bob of the hill', IP]) expect(text).not.toContain(name);
    const erased = (await rows(owner)).filter(({ action }) => action === 'member.erased');
    expect(erased).toHaveLength(1);
    expect((await verify(owner)).brokenAt).toBeNull();
    const joined = testEnv.DB.prepare('SELECT count(*) AS n FROM joined_accounts WHERE person_id = ?').bind(bob.userId);
    expect(await joined.first('n')).toBe(0);
  });

  it('a person who left and joined again is found in the list of accounts', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'viewer');
    await w.call('DELETE', `/v1/account/members/${bob.userId}`, { key: owner.token });
    await join(w, owner, bob.own, 'support');
    const { body } = await w.call('GET', '/v1/accounts', { key: bob.own.token });
    expect(body.items.map(({ account_id: id }: { account_id: string }) => id)).toEqual([bob.userId, owner.userId]);
  });

  describe('invitations to the address of a deleted person', () => {
    let owner: Merchant;
    let carol: Merchant;
    const invite = (email = carol.email) => inviteTo(mail, owner, email);
    const readInvitationEntries = async () => (await rows(owner)).filter(({ subject_type }) => subject_type === 'invitation');

    beforeEach(async () => {
      owner = await mail.merchant('growth');
      await verifyAddress(mail, owner);
      carol = await mail.merchant('free');
    });

    it('the sweep deletes them, and the address leaves the log of the account that invited', async () => {
      const withdrawn = await invite();
      await w.call('DELETE', `/v1/account/invitations/${withdrawn.id}`, { key: owner.token });
      const { token } = await invite(carol.email.toUpperCase());
      await invite('dave@example.com');
      await sweepAuditChain(ctx());
      expect(JSON.stringify(await readInvitationEntries())).toContain(carol.email);
      await close(carol);
      await sweepAuditChain(ctx());
      const text = JSON.stringify(await readInvitationEntries());
      expect([text.includes(carol.email), text.includes('dave@example.com')]).toEqual([false, true]);
      const { body } = await w.call('GET', '/v1/account/invitations', { key: owner.token });
      expect(body.items.map(({ email }: { email: string }) => email)).toEqual(['dave@example.com']);
      expect((await w.call('POST', '/v1/invitations/preview', { body: { token } })).status).toBe(410);
      expect(await verify(owner)).toMatchObject({ brokenAt: null });
      const keys = testEnv.DB.prepare('SELECT ended_email_keys AS keys FROM persons WHERE id = ?').bind(carol.userId);
      expect(await keys.first('keys')).toBeNull();
    });

    it('a former address of the last week counts too', async () => {
      const former = carol.email;
      await verifyAddress(mail, carol);
      await invite(former);
      const email = `carol-${crypto.randomUUID()}@example.com`;
      const body = { email, current_password: 'correct horse battery' };
      expect((await w.call('PATCH', '/v1/account/me/security', { key: carol.token, body })).status).toBe(200);
      const signedIn = await w.call('POST', '/v1/auth/login', { body: { email, password: body.current_password } });
      await close({ ...carol, token: signedIn.body.token });
      expect(JSON.stringify(await readInvitationEntries())).not.toContain(former);
    });

    it('the deletion of the account that invited erases the other texts of these entries', async () => {
      await mail.call('POST', '/v1/account/invitations', { key: owner.token, ...from, body: { email: carol.email, role: 'viewer' } });
      await close(carol);
      expect(JSON.stringify(await readInvitationEntries())).toContain(IP);
      await close(owner);
      await sweepAuditChain(ctx());
      for (const name of [IP, 'viewer']) expect(JSON.stringify(await readInvitationEntries())).not.toContain(name);
      expect((await verify(owner)).brokenAt).toBeNull();
    });

    it('an erased entry of an invitation without the entry of its erasure is found', async () => {
      const { id } = await invite();
      await sweepAuditChain(ctx());
      await testEnv.DB.prepare("UPDATE audit_entries SET is_erased = 1, details = '{}' WHERE merchant_id = ? AND subject_id = ?")
        .bind(owner.userId, id)
        .run();
      expect((await verify(owner)).brokenAt).not.toBeNull();
    });
  });

  it('a refused sign-in to a deleted account leaves no entry', async () => {
    const ada = await w.merchant();
    await close(ada);
    const count = (await rows(ada)).length;
    await w.call('POST', '/v1/auth/login', { ...from, body: { email: ada.email, password: 'wrong' } });
    expect((await rows(ada)).length).toBe(count);
  });
});
