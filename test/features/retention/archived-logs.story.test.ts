import { beforeEach, describe, expect, it } from 'vitest';
import type { AccountId } from '#core/ids.ts';
import { sweepErasures } from '#features/accounts/erase-account.ts';
import { sweepAuditChain } from '#features/audit-log/chain.ts';
import { sweepArchive } from '#features/retention/archive.ts';
import { archiveLogs, eraseArchivedLog } from '#features/retention/log-archive.ts';
import type { Shard } from '#platform/context.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { ctxAt } from '../../support/fixtures/old-books.ts';
import { addMember, inviteTo } from '../../support/people/team.ts';
import { testEnv } from '../../support/runner/env.ts';
import { withinLimits } from '../../support/runner/limits.ts';
import { rowsOf, withRowCount, worstOf } from '../../support/runner/rows-read.ts';
import { ctxOf, sweepIn } from '../../support/runner/shards.ts';
import { MailWorld, verifyAddress } from '../../support/servers/mail.ts';
import { type Merchant, World } from '../../support/world.ts';

const DAY = 86_400_000;
const IP = '203.0.113.77';
const w = new World();
const { DB } = testEnv;
const from = { headers: { 'CF-Connecting-IP': IP } };

let day = 800;
/** Runs the walk of a later day, at which the entries of today are old. */
const archive = (env = w.env) => archiveLogs(ctxOf(env, { wallNow: Date.now() + ++day * DAY }));
const chain = () => sweepAuditChain(ctxOf(w.env));
const verify = async ({ token }: Pick<Merchant, 'token'>) => (await w.call('GET', '/v1/account/audit-log/verify', { key: token })).body;
const createKey = ({ token }: Merchant, name: string) => w.call('POST', '/v1/keys', { key: token, ...from, body: { name } });
const readApi = async ({ token }: Merchant) => (await w.call('GET', '/v1/account/audit-log?per_page=100', { key: token })).body.items;
const storedSeqs = async ({ userId }: Pick<Merchant, 'userId'>): Promise<number[]> =>
  (await DB.prepare('SELECT seq FROM audit_entries WHERE merchant_id = ? ORDER BY seq').bind(userId).all<{ seq: number }>()).results.map(
    ({ seq }) => seq,
  );
const listObjects = async ({ userId }: Pick<Merchant, 'userId'>): Promise<string[]> =>
  (
    await DB.prepare('SELECT key FROM audit_archives WHERE merchant_id = ? ORDER BY last_seq').bind(userId).all<{ key: string }>()
  ).results.map(({ key }) => key);
const readText = async (of: Pick<Merchant, 'userId'>): Promise<string> =>
  (await Promise.all((await listObjects(of)).map(async (key) => (await w.env.ARCHIVE!.get(key))!.text()))).join('');
const listBucket = async ({ userId }: Pick<Merchant, 'userId'>) =>
  (await w.env.ARCHIVE!.list({ prefix: `${userId}/log/` })).objects.map(({ key }) => key).sort();
const readArchivedEntries = async (of: Pick<Merchant, 'userId'>) =>
  (await readText(of))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).entry);

async function filled(entries = 4): Promise<Merchant> {
  const merchant = await w.merchant('growth');
  for (let n = 0; n < entries; n++) await createKey(merchant, `key ${n}`);
  await chain();
  return merchant;
}
async function close({ token }: Pick<Merchant, 'token'>, env = w.env): Promise<void> {
  expect((await w.call('DELETE', '/v1/account/account', { key: token })).status).toBe(200);
  for (let i = 0; i < 6; i++) await w.sweepAlone('erasures', env).catch(() => null);
}

describe('archive of the audit log', () => {
  it('old entries move with every field, the newest stays, and the chain is verified from the one after them', async () => {
    const ada = await filled();
    const [before, seqs, sound] = [await readApi(ada), await storedSeqs(ada), await verify(ada)];
    expect((await archive()).end).toBe('empty');
    const archived = await readArchivedEntries(ada);
    expect(archived.map(({ seq }) => seq)).toEqual(seqs.slice(0, -1));
    const hashes = new Map(archived.map(({ seq, hash }) => [seq, hash]));
    for (const { seq, hash } of before.slice(1)) expect(hashes.get(seq)).toBe(hash);
    expect(archived.find(({ details }) => details.after?.name === 'key 0')).toMatchObject({ action: 'key.created', details: { ip: IP } });
    expect(await readApi(ada)).toEqual(before.slice(0, 1));
    expect(await verify(ada)).toEqual({ ...sound, checked: 1 });
    await createKey(ada, 'later');
    await chain();
    expect(await verify(ada)).toMatchObject({ valid: true, checked: 2, head: { seq: seqs.length + 1 } });
    expect((await archive()).taken).toBeGreaterThan(0);
    expect(await listObjects(ada)).toHaveLength(2);
    expect((await readArchivedEntries(ada)).map(({ seq }) => seq)).toEqual(seqs);
    expect(await verify(ada)).toMatchObject({ valid: true, checked: 1 });
  });

  it('entries that are not chained, or younger than 760 days, stay', async () => {
    const ada = await filled();
    const seqs = await storedSeqs(ada);
    await archiveLogs(ctxOf(w.env, { wallNow: Date.now() + 759 * DAY }));
    expect(await storedSeqs(ada)).toEqual(seqs);
    await createKey(ada, 'unchained');
    await archive();
    expect(await storedSeqs(ada)).toEqual([seqs.length, seqs.length + 1]);
    await chain();
    expect(await verify(ada)).toMatchObject({ valid: true, checked: 2 });
  });

  it.each([
    [
      'an entry after the border is missing',
      'DELETE FROM audit_entries WHERE merchant_id = ?1 AND seq = (SELECT min(seq) FROM audit_entries WHERE merchant_id = ?1)',
    ],
    ['every entry after the border is missing', 'DELETE FROM audit_entries WHERE merchant_id = ?1'],
    [
      'the link over the border is another',
      "UPDATE audit_entries SET prev_hash = unhex('00') WHERE merchant_id = ?1 AND seq = (SELECT min(seq) FROM audit_entries WHERE merchant_id = ?1)",
    ],
    ['the hash at the border is another', "UPDATE audit_archives SET last_hash = unhex('00') WHERE merchant_id = ?1"],
    ['the row of the object is missing', 'DELETE FROM audit_archives WHERE merchant_id = ?1'],
  ])('verify finds that %s', async (_, change) => {
    const ada = await filled();
    await archive();
    for (const name of ['one', 'two']) await createKey(ada, name);
    await chain();
    expect(await verify(ada)).toMatchObject({ valid: true });
    await DB.prepare(change).bind(ada.userId).run();
    expect(await verify(ada)).toMatchObject({ valid: false, broken_at: expect.any(Number) });
  });

  it('a run that crashes at any step neither loses nor doubles an entry, and leaves no object behind', async () => {
    for (let failsAt = 1, trips = 2; failsAt <= trips; failsAt++) {
      const ada = await filled(2);
      const seqs = await storedSeqs(ada);
      const sound = await verify(ada);
      const faulty = withFaults(w.env, { after: ({ number }) => number === failsAt });
      await archive(faulty.env).catch(() => null);
      trips = Math.max(trips, faulty.trips.length);
      await archive();
      const archived = (await readArchivedEntries(ada)).map(({ seq }) => seq);
      expect([failsAt, [...archived, ...(await storedSeqs(ada))]]).toEqual([failsAt, seqs]);
      expect([failsAt, await verify(ada)]).toEqual([failsAt, { ...sound, checked: 1 }]);
      await sweepArchive(ctxAt(w.env, 2 * 3_600_000));
      expect([failsAt, await listBucket(ada)]).toEqual([failsAt, (await listObjects(ada)).sort()]);
    }
  });

  it('two concurrent runs archive each entry once', async () => {
    const ada = await filled();
    const seqs = await storedSeqs(ada);
    const wallNow = Date.now() + ++day * DAY;
    await Promise.allSettled([1, 2].map(() => archiveLogs(ctxOf(w.env, { wallNow }))));
    expect([...(await readArchivedEntries(ada)).map(({ seq }) => seq), ...(await storedSeqs(ada))]).toEqual(seqs);
  });

  it('an object that does not read as it was written deletes no entry, fails the run, and delays no other account', async () => {
    const [ada, bob] = [await filled(), await filled()];
    const bucket = new Proxy(w.env.ARCHIVE!, {
      get: (target, name) =>
        name === 'put'
          ? (key: string, bytes: Uint8Array, options: R2PutOptions) =>
              target.put(key, key.startsWith(ada.userId) ? bytes.slice(1) : bytes, options)
          : Reflect.get(target, name).bind(target),
    });
    const seqs = await storedSeqs(ada);
    await expect(archiveLogs(ctxOf(w.env, { wallNow: Date.now() + ++day * DAY }), bucket)).rejects.toThrow('does not read');
    expect(await storedSeqs(ada)).toEqual(seqs);
    expect(await storedSeqs(bob)).toHaveLength(1);
    // The walk has not ended, so the next run takes the account without waiting for a day.
    await archiveLogs(ctxOf(w.env, { wallNow: Date.now() + day * DAY }));
    expect(await storedSeqs(ada)).toHaveLength(1);
  });

  it('a walk of the same day reads one row', async () => {
    await archive();
    const { env, readings } = withRowCount(w.env);
    await archiveLogs(ctxOf(env, { wallNow: Date.now() + day * DAY }));
    expect(rowsOf(readings), worstOf(readings)).toBeLessThanOrEqual(1);
  });
});

describe('personal data in archived logs', () => {
  const mail = new MailWorld();
  let owner: Merchant;
  beforeEach(async () => {
    owner = await mail.merchant('growth');
    await verifyAddress(mail, owner);
  });

  it('the deletion of the account erases every name, text and address, also if the erasure is interrupted', async () => {
    for (let failsAt = 0; failsAt <= 24; failsAt += 4) {
      const ada = await filled();
      await archive();
      const before = await readArchivedEntries(ada);
      for (const name of [IP, 'key 0']) expect(await readText(ada)).toContain(name);
      const { env } = withFaults(w.env, { after: ({ number }) => number === failsAt });
      await close(ada, failsAt === 0 ? w.env : env);
      for (let i = 0; i < 4; i++) await w.sweepAlone('erasures');
      const text = await readText(ada);
      for (const name of [IP, 'key 0', ada.email]) expect([failsAt, text.includes(name)]).toEqual([failsAt, false]);
      const after = await readArchivedEntries(ada);
      expect(after.map(({ seq, prevHash, hash, isErased }) => [seq, prevHash, hash, isErased])).toEqual(
        before.map(({ seq, prevHash, hash }) => [seq, prevHash, hash, true]),
      );
      await sweepArchive(ctxAt(w.env, 2 * 3_600_000));
      expect([failsAt, await listBucket(ada)]).toEqual([failsAt, await listObjects(ada)]);
    }
  });

  it('a deleted person has an id and no name in the archived log of another account, and the names of others stay', async () => {
    const bob = await addMember(w, owner, 'admin');
    await DB.prepare("UPDATE persons SET name = 'Bob of the hill' WHERE id = ?").bind(bob.userId).run();
    await DB.prepare("UPDATE persons SET name = 'Ada of the harbour' WHERE id = ?").bind(owner.userId).run();
    const product = { name: 'Wind', price: { asset: 'USDC', amount: '1' } };
    await w.call('POST', '/v1/products', { key: bob.token, ...from, body: product });
    await w.call('POST', '/v1/products', { key: owner.token, body: product });
    await w.call('DELETE', `/v1/account/members/${bob.userId}`, { key: owner.token });
    await createKey(owner, 'newest');
    await chain();
    await archive();
    expect(await readText(owner)).toContain('Bob of the hill');
    await close(bob.own);
    const text = await readText(owner);
    expect([text.includes('Bob of the hill'), text.includes(IP), text.includes(bob.userId), text.includes('Ada of the harbour')]).toEqual([
      false,
      false,
      true,
      true,
    ]);
    await chain();
    expect(await verify(owner)).toMatchObject({ valid: true });
    expect((await readApi(owner)).map(({ action }: { action: string }) => action)).toContain('member.erased');
  });

  it('a run erases at most its bound of archived objects, later runs erase the rest after a crash, and the log says it once', async () => {
    const bob = await addMember(w, owner, 'admin');
    const countNamed = async () =>
      (await readArchivedEntries(owner)).filter(({ actorId, details }) => actorId === bob.userId && details.ip === IP).length;
    for (let n = 0; n < 4; n++) {
      await createKey(bob.own, 'own');
      await w.call('POST', '/v1/products', { key: bob.token, ...from, body: { name: `Wind ${n}`, price: { asset: 'USDC', amount: '1' } } });
      await chain();
      await archive();
    }
    await createKey(owner, 'newest');
    await chain();
    await archive();
    expect([(await listObjects(owner)).length, await countNamed()]).toEqual([5, 4]);
    expect((await w.call('DELETE', '/v1/account/account', { key: bob.own.token })).status).toBe(200);
    const ofArchive = { eraseAccount: (ctx: Shard, id: AccountId) => eraseArchivedLog(ctx, id, null), eraseMember: eraseArchivedLog };
    const sweep = (env = w.env) => withinLimits('erasures', () => sweepIn(env, sweepErasures(ofArchive, 1)));
    await sweep();
    expect(await countNamed()).toBe(3);
    // Each crash loses the answer of another step.
    for (let failsAt = 1; failsAt <= 60; failsAt += 3) {
      const before = await countNamed();
      await sweep(withFaults(w.env, { after: ({ number }) => number === failsAt }).env).catch(() => null);
      expect(before - (await countNamed())).toBeLessThanOrEqual(1);
    }
    for (let run = 0; run < 4; run++) await sweep();
    expect(await countNamed()).toBe(0);
    const erased = "SELECT count(*) AS n FROM audit_entries WHERE merchant_id = ? AND action = 'member.erased'";
    expect(await DB.prepare(erased).bind(owner.userId).first('n')).toBe(1);
    expect(await DB.prepare('SELECT count(*) AS n FROM joined_accounts WHERE person_id = ?').bind(bob.userId).first('n')).toBe(0);
  });

  it('an entry that is erased between the reading and the move is archived in its erased form alone', async () => {
    const ada = await filled();
    const erase = () =>
      DB.prepare("UPDATE audit_entries SET actor_name = NULL, is_erased = 1, details = '{}' WHERE merchant_id = ? AND seq = 2")
        .bind(ada.userId)
        .run();
    const bucket = new Proxy(w.env.ARCHIVE!, {
      get: (target, name) =>
        name === 'put'
          ? async (...args: Parameters<R2Bucket['put']>) => {
              if (String(args[0]).startsWith(ada.userId)) await erase();
              return target.put(...args);
            }
          : Reflect.get(target, name).bind(target),
    });
    await archiveLogs(ctxOf(w.env, { wallNow: Date.now() + ++day * DAY }), bucket).catch(() => null);
    expect(await listObjects(ada)).toEqual([]);
    await archive();
    expect((await readArchivedEntries(ada)).find(({ seq }) => seq === 2)).toMatchObject({ isErased: true, actorName: null, details: {} });
  });

  it('the address of an invitation is not archived', async () => {
    await inviteTo(mail, owner, 'carol@example.com');
    await createKey(owner, 'newest');
    await chain();
    await archive();
    const entries = await readArchivedEntries(owner);
    expect(entries.find(({ action }) => action === 'member.invited')).toMatchObject({
      isErased: true,
      details: { after: { role: 'developer' } },
    });
    expect(await readText(owner)).not.toContain('carol@');
  });
});
