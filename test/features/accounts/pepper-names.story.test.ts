import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { emailKeysOf, emailName, findAccountByEmail, storeAccount } from '#features/accounts/auth/sign-in.ts';
import { newAccount } from '#features/accounts/new-account.ts';
import { identityName } from '#features/accounts/oauth/identities.ts';
import { insertIdentity } from '#features/accounts/oauth/store.ts';
import { sweepPeppers } from '#features/accounts/peppers/peppers.ts';
import { type Env, newCtx, type Shard } from '#platform/context.ts';
import { directoryOf, shardNamed } from '#platform/db/directory.ts';
import { findNamed, withNames } from '#platform/db/names/names.ts';
import { names } from '#platform/db/tables/office/names.ts';
import { bindDatabases } from '../../support/fixtures/databases.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { World } from '../../support/world.ts';

const MINUTE = 60_000;
const OLD = 'the old pepper of this test: thirty-two bytes';
const FRESH = 'the new pepper of this test: thirty-two bytes';

describe('names of two databases under two peppers', () => {
  const w = new World();
  const deferred: Promise<unknown>[] = [];
  beforeAll(() => bindDatabases(w, 'DB_2'));
  afterEach(letTimeRun);

  const shardUnder = (PEPPER: string, database = 'DB_2', over: Partial<Env> = {}): Shard =>
    shardNamed(newCtx({ ...w.env, PEPPER, ...over }, { requestId: 'req_walk', defer: (work) => void deferred.push(work) }), database);
  const settled = async () => void (await Promise.all(deferred.splice(0)));
  const walk = (over: Partial<Env> = {}) => sweepPeppers(shardUnder(`${FRESH},${OLD}`, 'DB_2', over));
  const newEmail = () => `${crypto.randomUUID()}@example.com`;
  const keyUnder = (pepper: string, email: string) => emailKeysOf(shardUnder(pepper), email).keys[0];
  const accountUnder = (shard: Shard, email: string) =>
    newAccount(shard, 'Ada', { email, emailKey: emailKeysOf(shard, email).keys[0], passwordHash: 'x' });
  const register = async (email: string) => {
    const shard = shardUnder(OLD);
    const account = await storeAccount(shard, accountUnder(shard, email));
    await settled();
    return account;
  };
  const listKeys = async (accountId: string) => {
    const rows = await directoryOf(shardUnder(OLD)).db.select().from(names);
    return rows.flatMap((row) => (row.accountId === accountId ? [row.key] : []));
  };

  it.each(['write', 'deletion'])('a walk that failed at the %s in the directory is completed by the next', async (failed) => {
    const email = newEmail();
    const { id } = await register(email);
    const away = () => Promise.reject(new Error('D1_ERROR: the directory is away'));
    const { DIRECTORY } = w.env;
    const silent = { bind: () => silent, all: away, run: away, raw: away } as unknown as D1PreparedStatement;
    const prepare = (text: string) => (failed === 'write' || /^delete/i.test(text) ? silent : DIRECTORY!.prepare(text));
    const batch = failed === 'write' ? away : (all: D1PreparedStatement[]) => DIRECTORY!.batch(all);
    await expect(walk({ DIRECTORY: { prepare, batch } as D1Database })).rejects.toThrow();
    expect((await findAccountByEmail(shardUnder(`${FRESH},${OLD}`), email))?.id).toBe(id);
    await walk();
    expect(await listKeys(id)).toEqual([keyUnder(FRESH, email)]);
    expect((await findAccountByEmail(shardUnder(FRESH, 'DB'), email))?.id).toBe(id);
  });

  it('an account with a refused new key is found under its old one', async () => {
    const email = newEmail();
    const { id } = await register(email);
    const other = await register(newEmail());
    const retain = 'UPDATE persons SET email = NULL, email_key = ? WHERE id = ?';
    await (w.env.DB_2 as D1Database).prepare(retain).bind(keyUnder(FRESH, email), other.id).run();
    await walk();
    expect(await listKeys(id)).toContain(keyUnder(OLD, email));
  });

  it('identities of providers are found after the old pepper is removed', async () => {
    const { id } = await register(newEmail());
    const shard = shardUnder(OLD);
    const person = { subject: crypto.randomUUID(), email: null, isEmailVerified: false, isEmailBelieved: false, displayName: 'Ada' };
    await withNames(shard, id, [identityName(shard, 'google', person.subject)], async () => insertIdentity(shard, id, 'google', person));
    await settled();
    await walk();
    const fresh = shardUnder(FRESH, 'DB');
    const found = await findNamed(fresh, identityName(fresh, 'google', person.subject), async ({ database }) => database);
    expect(found).toBe('DB_2');
    expect(await listKeys(id)).not.toContain(identityName(shard, 'google', person.subject).keys[0]);
  });

  it('an account waits while another has its name reserved, and gets the name when the reservation has ended', async () => {
    const email = newEmail();
    const { id } = await register(email);
    const rival = shardUnder(FRESH, 'DB');
    const dies = withNames(rival, accountUnder(rival, email).id, [emailName(rival, email)], async () => {
      throw new Error('the worker dies');
    });
    await expect(dies).rejects.toThrow('the worker dies');
    expect((await walk()).taken).toBe(1);
    expect(await listKeys(id)).toEqual([keyUnder(OLD, email)]);
    setTime(Date.now() + 3 * MINUTE);
    expect((await walk()).taken).toBe(1);
    expect(await listKeys(id)).toEqual([keyUnder(FRESH, email)]);
    expect((await findAccountByEmail(shardUnder(FRESH, 'DB'), email))?.id).toBe(id);
    expect((await walk()).taken).toBe(0);
  });
});
