import { eq } from 'drizzle-orm';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '#core/errors.ts';
import { forgetAll } from '#core/isolate/memory.ts';
import { emailKeysOf, emailName, findAccountByEmail, homeOfRegistration, isUsedAs, storeAccount } from '#features/accounts/auth/sign-in.ts';
import { newAccount } from '#features/accounts/new-account.ts';
import { findTrouble } from '#features/operator/health-checks.ts';
import { type Env, newCtx, type Shard } from '#platform/context.ts';
import { directoryOf, shardNamed } from '#platform/db/directory.ts';
import { NameTaken, sweepNames, withNames } from '#platform/db/names/names.ts';
import { writeNames } from '#platform/db/names/write-names.ts';
import { names } from '#platform/db/tables/office/names.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { bindDatabases, openOnly, rebuildNames } from '../../support/fixtures/databases.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { World } from '../../support/world.ts';

const MINUTE = 60_000;
const OLD_PEPPER = 'the old pepper of this test: thirty-two bytes';
const NEW_PEPPER = 'the new pepper of this test: thirty-two bytes';
const DATABASES = ['DB', 'DB_2', 'DB_3'];

describe('names of three databases', () => {
  const w = new World();
  const deferred: Promise<unknown>[] = [];
  beforeAll(async () => {
    await bindDatabases(w, 'DB_2', 'DB_3');
  });
  afterEach(letTimeRun);

  const shardOf = (database: string, env: Env = w.env): Shard =>
    shardNamed(newCtx(env, { requestId: 'req_names', defer: (work) => void deferred.push(work) }), database);
  const settled = async () => void (await Promise.all(deferred.splice(0)));
  let people = 0;
  const newEmail = () => `name-${++people}@example.com`;
  const accountIn = (shard: Shard, email: string) =>
    newAccount(shard, 'Ada', { email, emailKey: emailKeysOf(shard, email).keys[0], passwordHash: 'x' });
  const register = (database: string, email: string) => {
    const shard = shardOf(database);
    return storeAccount(shard, accountIn(shard, email));
  };
  const readNames = (email: string) =>
    directoryOf(shardOf('DB'))
      .db.select()
      .from(names)
      .then((rows) => rows.filter(({ key }) => key === emailKeysOf(shardOf('DB'), email).keys[0]));
  const sweep = () =>
    sweepNames({
      email: isUsedAs('emailKey'),
      wallet: isUsedAs('walletKey'),
      passkey: async () => false,
      identity: async () => false,
      slug: async () => false,
      customer: async () => false,
    })(shardOf('DB'));

  it('one of twenty concurrent registrations of one email in three databases is stored', async () => {
    const email = newEmail();
    const tries = Array.from({ length: 20 }, (_, i) => register(DATABASES[i % 3]!, email).catch((error: unknown) => error));
    const ended = await Promise.all(tries);
    await settled();
    const stored = ended.flatMap((one) => (one instanceof Error ? [] : [one as { id: string }]));
    expect(stored).toHaveLength(1);
    expect((await findAccountByEmail(shardOf('DB'), email))?.id).toBe(stored[0]!.id);
    expect(await readNames(email)).toMatchObject([{ accountId: stored[0]!.id, reservedUntil: null }]);
    await expect(register('DB_2', email)).rejects.toBeInstanceOf(NameTaken);
  });

  it('a reservation without a change ends after two minutes, and the name goes to the next', async () => {
    const email = newEmail();
    const shard = shardOf('DB_2');
    const account = accountIn(shard, email);
    const dies = withNames(shard, account.id, [emailName(shard, email)], async () => {
      throw new Error('the worker dies');
    });
    await expect(dies).rejects.toThrow('the worker dies');
    await settled();
    await expect(register('DB_3', email)).rejects.toMatchObject({ code: 'temporarily_unavailable' });
    setTime(Date.now() + 3 * MINUTE);
    const { id } = await register('DB_3', email);
    await settled();
    expect(await readNames(email)).toMatchObject([{ accountId: id, reservedUntil: null }]);
  });

  it('a name that was stored and never confirmed is refused to others, and the sweep confirms it', async () => {
    const email = newEmail();
    const { id } = await register('DB', email);
    await settled();
    await directoryOf(shardOf('DB')).db.update(names).set({ reservedUntil: Date.now() });
    setTime(Date.now() + 3 * MINUTE);
    await expect(register('DB_2', email)).rejects.toBeInstanceOf(NameTaken);
    setTime(Date.now() + 61 * MINUTE);
    await sweep();
    expect(await readNames(email)).toMatchObject([{ accountId: id, reservedUntil: null }]);
  });

  it('a refused second try of a stored change leaves its name, though the confirmation of the first was lost', async () => {
    openOnly(w, 'DB_2');
    const merchant = await w.merchant();
    const product = await w.product(merchant, { slug: 'stored' });
    const until = Date.now() + MINUTE;
    await w.env.DIRECTORY!.prepare("UPDATE names SET reserved_until = ? WHERE kind = 'slug' AND key = 'stored'").bind(until).run();
    const body = { name: 'Again', price: { asset: 'USDC', amount: '5' }, payout_wallet: merchant.wallet.address, slug: 'stored' };
    for (let tries = 0; tries < 2; tries++) {
      const refused = await w.call('POST', '/v1/products', { key: merchant.token, body });
      expect([refused.status, refused.body.meta.reason]).toEqual([409, 'not_unique']);
    }
    forgetAll();
    expect((await w.call('GET', '/v1/products/p/stored')).body.product_id).toBe(product.product_id);
  });

  it('a refused change gives back the name that it reserved, and not one that a later change of its account reserved', async () => {
    const [email, shared] = [newEmail(), newEmail()];
    const shard = shardOf('DB_2');
    const { id } = accountIn(shard, email);
    const refused = (address: string, meanwhile: () => Promise<unknown>) =>
      withNames(shard, id, [emailName(shard, address)], async () => {
        await meanwhile();
        throw new ApiError('no_change');
      }).catch(() => {});
    await refused(email, async () => {});
    await refused(shared, () => refused(shared, async () => {}));
    await settled();
    expect(await readNames(email)).toEqual([]);
    expect(await readNames(shared)).toMatchObject([{ accountId: id, reservedUntil: expect.any(Number) }]);
  });

  it('a refused reservation leaves no name under a new pepper, nor another name of its change', async () => {
    const [email, other] = [newEmail(), newEmail()];
    const home = shardOf('DB', { ...w.env, PEPPER: OLD_PEPPER });
    await storeAccount(home, accountIn(home, email));
    await settled();
    const before = await directoryOf(home).db.select().from(names);
    const shard = shardOf('DB_2', { ...w.env, PEPPER: `${NEW_PEPPER},${OLD_PEPPER}` });
    const { id } = accountIn(shard, email);
    const refused = withNames(shard, id, [emailName(shard, other), emailName(shard, email)], async () => {});
    await expect(refused).rejects.toBeInstanceOf(NameTaken);
    await settled();
    expect(await directoryOf(home).db.select().from(names)).toEqual(before);
  });

  it('an address stored under a new pepper is refused to others while the directory has it under the old one', async () => {
    const email = newEmail();
    const home = shardOf('DB', { ...w.env, PEPPER: OLD_PEPPER });
    const { id } = await storeAccount(home, accountIn(home, email));
    await settled();
    const shard = shardOf('DB_2', { ...w.env, PEPPER: `${NEW_PEPPER},${OLD_PEPPER}` });
    const { keys } = emailKeysOf(shard, email);
    await w.env.DB.prepare('UPDATE persons SET email_key = ? WHERE id = ?').bind(keys[0], id).run();
    await expect(storeAccount(shard, accountIn(shard, email))).rejects.toBeInstanceOf(NameTaken);
    await settled();
  });

  it('the confirmation restores a name that is gone from the directory', async () => {
    const email = newEmail();
    const shard = shardOf('DB_2');
    const { id } = accountIn(shard, email);
    await withNames(shard, id, [emailName(shard, email)], () => directoryOf(shard).db.delete(names).where(eq(names.accountId, id)));
    await settled();
    expect(await readNames(email)).toMatchObject([{ accountId: id, reservedUntil: null }]);
  });

  it('the sweep deletes reservations that led to nothing', async () => {
    const email = newEmail();
    const shard = shardOf('DB_3');
    await withNames(shard, accountIn(shard, email).id, [emailName(shard, email)], async () => {
      throw new Error('the worker dies');
    }).catch(() => {});
    await settled();
    expect(await readNames(email)).toHaveLength(1);
    setTime(Date.now() + 63 * MINUTE);
    await sweep();
    expect(await readNames(email)).toEqual([]);
  });

  it('a batch that runs after its reservation ended stores nothing', async () => {
    const email = newEmail();
    // A clock that is behind by more than the reservation lasts.
    setTime(Date.now() - 5 * MINUTE);
    await expect(register('DB_2', email)).rejects.toThrow();
    await settled();
    letTimeRun();
    expect(await findAccountByEmail(shardOf('DB'), email)).toBeUndefined();
    await register('DB_3', email);
  });

  it('an address that its account gave up can be registered in another database', async () => {
    const email = newEmail();
    const { id } = await register('DB', email);
    await settled();
    await w.env.DB.prepare('UPDATE persons SET email = NULL, email_key = NULL WHERE id = ?').bind(id).run();
    const next = await register('DB_3', email);
    await settled();
    expect(await readNames(email)).toMatchObject([{ accountId: next.id, reservedUntil: null }]);
    expect((await findAccountByEmail(shardOf('DB'), email))?.id).toBe(next.id);
  });

  it('an address that its account takes again is reserved, and a registration in another database does not get it', async () => {
    const email = newEmail();
    const shard = shardOf('DB');
    const { id } = await register('DB', email);
    await settled();
    const setEmail = (value: string | null, key: string | null) =>
      w.env.DB.prepare('UPDATE persons SET email = ?, email_key = ? WHERE id = ?').bind(value, key, id).run();
    await setEmail(null, null);
    await withNames(shard, id, [emailName(shard, email)], async () => {
      await expect(register('DB_3', email)).rejects.toMatchObject({ code: 'temporarily_unavailable' });
      await setEmail(email, emailKeysOf(shard, email).keys[0]);
    });
    await settled();
    await expect(register('DB_3', email)).rejects.toBeInstanceOf(NameTaken);
    expect(await readNames(email)).toMatchObject([{ accountId: id, reservedUntil: null }]);
  });

  it('a change of the address without the current password reserves nothing', async () => {
    openOnly(w, 'DB_2');
    const merchant = await w.merchant();
    const { DIRECTORY } = w.env;
    const prepared: string[] = [];
    const prepare = (text: string) => {
      prepared.push(text);
      return DIRECTORY!.prepare(text);
    };
    const env = { ...w.env, DIRECTORY: { prepare, batch: (all) => DIRECTORY!.batch(all) } as D1Database };
    const change = (email: string, current_password: string) =>
      w.call('PATCH', '/v1/account/me/security', { key: merchant.token, body: { email, current_password }, env });
    expect((await change(newEmail(), 'a wrong password')).body.code).toBe('invalid_credentials');
    expect(prepared).toEqual([]);
    expect((await change(newEmail(), 'correct horse battery')).status).toBe(200);
    expect(prepared).not.toEqual([]);
  });

  it('a slug that a merchant chose leads to its product, and is refused to a merchant of another database', async () => {
    openOnly(w, 'DB_2');
    const first = await w.merchant();
    openOnly(w, 'DB_3');
    const second = await w.merchant();
    const product = await w.product(first, { slug: 'pro' });
    const price = { asset: 'USDC', amount: '5' };
    const taken = await w.call('POST', '/v1/products', {
      key: second.token,
      body: { name: 'Other', price, payout_wallet: second.wallet.address, slug: 'pro' },
    });
    expect([taken.status, taken.body.code, taken.body.meta.reason]).toEqual([409, 'state_conflict', 'not_unique']);
    expect((await w.call('GET', '/v1/products/p/pro')).body.product_id).toBe(product.product_id);
    const generated = await w.product(second);
    const reserved = await w.call('POST', '/v1/products', {
      key: first.token,
      body: { name: 'Other', price, payout_wallet: first.wallet.address, slug: generated.slug },
    });
    expect([reserved.status, reserved.body.code]).toEqual([422, 'validation_error']);
  });

  it('all calls except the operator’s are 503 misconfigured with a directory that was never completed', async () => {
    await w.env.DIRECTORY!.prepare("DELETE FROM cursors WHERE name = 'names-complete'").run();
    forgetAll();
    const call = () => w.call('GET', '/v1/access/rails');
    expect(await call()).toMatchObject({ status: 503, body: { code: 'misconfigured' } });
    expect((await w.call('GET', '/health')).body.checks.configuration).toBe('failing');
    const trouble = await findTrouble(shardOf('DB'));
    expect(trouble.find(({ name }) => name === 'names_missing')?.finding).toContain('npm run admin -- names rebuild');
    await rebuildNames(w);
    expect((await call()).status).not.toBe(503);
    expect((await findTrouble(shardOf('DB'))).map(({ name }) => name)).not.toContain('names_missing');
  });

  it('a rebuild without a directory is refused, and says what to bind', async () => {
    const { DIRECTORY: _directory, DB_2: _second, DB_3: _third, OPEN_DATABASES: _open, ...env } = w.env;
    const headers = { 'X-Svc-Operator-Secret': String(w.env.OPERATOR_SECRET) };
    const refused = await w.call('POST', '/v1/operator/names/rebuild', { body: {}, headers, env: env as Env });
    expect([refused.status, refused.body.code]).toEqual([409, 'state_conflict']);
    expect(refused.body.detail).toContain('DIRECTORY');
  });

  it('names are stored from the moment the directory is bound, before a second database is', async () => {
    const { DB_2: _second, DB_3: _third, OPEN_DATABASES: _open, ...env } = w.env;
    const email = newEmail();
    const shard = shardOf('DB', env as Env);
    const { id } = await storeAccount(shard, accountIn(shard, email));
    await settled();
    expect(await readNames(email)).toMatchObject([{ accountId: id, reservedUntil: null }]);
    expect((await findAccountByEmail(shardOf('DB_2'), email))?.id).toBe(id);
  });

  it('a rebuild restores the directory from the databases, and a second one writes nothing', async () => {
    openOnly(w, 'DB_2');
    const merchant = await w.merchant();
    await w.product(merchant, { slug: 'rebuilt' });
    await w.env.DIRECTORY!.prepare('DELETE FROM names').run();
    const login = () => w.call('POST', '/v1/auth/login', { body: { email: merchant.email, password: 'correct horse battery' } });
    expect([(await login()).status, (await w.call('GET', '/v1/products/p/rebuilt')).status]).toEqual([401, 404]);
    const rebuilt = await rebuildNames(w);
    expect(rebuilt.names_written).toBe(rebuilt.names_read);
    expect([(await login()).status, (await w.call('GET', '/v1/products/p/rebuilt')).status]).toEqual([200, 200]);
    expect(await rebuildNames(w)).toEqual({ ...rebuilt, names_written: 0 });
  });

  it('a rebuild with a page that is stale takes no name from the account that has it since', async () => {
    const email = newEmail();
    const { id } = await register('DB', email);
    await settled();
    const page = [{ kind: 'email', key: emailKeysOf(shardOf('DB'), email).keys[0], accountId: id }] as const;
    await w.env.DB.prepare('UPDATE persons SET email = NULL, email_key = NULL WHERE id = ?').bind(id).run();
    const next = accountIn(shardOf('DB_3'), email);
    // The reservation of the next account has ended, and its batch is not stored yet or never will be.
    await withNames(shardOf('DB_3'), next.id, [emailName(shardOf('DB_3'), email)], () => Promise.reject(new Error('dies'))).catch(() => {});
    await settled();
    await w.env.DIRECTORY!.prepare('UPDATE names SET reserved_until = 1 WHERE account_id = ?').bind(next.id).run();
    const usedBy = { email: isUsedAs('emailKey') };
    expect(await writeNames(shardOf('DB'), page, usedBy)).toEqual({ written: 0, shared: [], reserved: [] });
    expect(await readNames(email)).toMatchObject([{ accountId: next.id }]);
  });

  it('a rebuild reports a name of two accounts and assigns it to the older one', async () => {
    const email = newEmail();
    setTime(Date.now() - MINUTE);
    const older = await register('DB_3', email);
    letTimeRun();
    await settled();
    await w.env.DIRECTORY!.prepare('DELETE FROM names').run();
    const younger = await register('DB_2', email);
    await settled();
    const { shared } = await rebuildNames(w);
    expect(shared).toEqual([{ kind: 'email', owned_by: older.id, also_used_by: younger.id }]);
    expect(await readNames(email)).toMatchObject([{ accountId: older.id, reservedUntil: null }]);
    expect((await findAccountByEmail(shardOf('DB'), email))?.id).toBe(older.id);
    expect((await rebuildNames(w)).shared).toEqual(shared);
  });
});

describe('names of one database', () => {
  it('the database of a registration is known without a read', async () => {
    const { env, trips } = withFaults(new World().env);
    const { database } = await homeOfRegistration(newCtx(env, { requestId: 'req_names', defer: () => {} }), 'ada@example.com');
    expect([database, trips]).toEqual(['DB', []]);
  });
});
