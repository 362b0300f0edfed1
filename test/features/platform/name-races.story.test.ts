import type { KeyPairSigner } from '@solana/kit';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { base58, utf8 } from '#core/encoding.ts';
import { emailKeysOf, findAccountByEmail, isUsedAs, storeAccount, walletName } from '#features/accounts/auth/sign-in.ts';
import { newAccount } from '#features/accounts/new-account.ts';
import { identityName } from '#features/accounts/oauth/identities.ts';
import { insertIdentity } from '#features/accounts/oauth/store.ts';
import { type Env, newCtx, type Shard } from '#platform/context.ts';
import { commit } from '#platform/db/commit.ts';
import { directoryOf, homeOf, shardNamed } from '#platform/db/directory.ts';
import { NameTaken, sweepNames, withNames } from '#platform/db/names/names.ts';
import { names } from '#platform/db/tables/office/names.ts';
import { bindDatabases, openOnly } from '../../support/fixtures/databases.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { type Merchant, World } from '../../support/world.ts';

const MINUTE = 60_000;
const no = async () => false;
const NONE = { email: no, wallet: no, identity: no, passkey: no, slug: no, customer: no };
const DATABASES = ['DB', 'DB_2', 'DB_3'] as const;
const twenty = <T>(run: (i: number) => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: 20 }, (_, i) => run(i)));

/** Environment with databases that die right before or after one trip, and do not answer from then on. */
function killedAt(env: Env, side: 'before' | 'after', isCut: () => boolean): Env {
  let isDead = false;
  const die = () => {
    isDead = true;
    throw new Error('D1_ERROR: Network connection lost.');
  };
  const killed = (database: D1Database): D1Database => {
    const real = new WeakMap<object, D1PreparedStatement>();
    const trip = async <T>(work: () => Promise<T>): Promise<T> => {
      const isHere = isCut();
      if (isDead || (isHere && side === 'before')) die();
      const answer = await work();
      return isHere ? die() : answer;
    };
    const wrap = (statement: D1PreparedStatement): D1PreparedStatement => {
      const wrapped = {
        bind: (...values: unknown[]) => wrap(statement.bind(...values)),
        all: () => trip(() => statement.all()),
        run: () => trip(() => statement.run()),
        raw: () => trip(() => statement.raw()),
        first: (column: string) => trip(() => statement.first(column)),
      } as unknown as D1PreparedStatement;
      real.set(wrapped, statement);
      return wrapped;
    };
    return {
      prepare: (text: string) => wrap(database.prepare(text)),
      batch: (all: D1PreparedStatement[]) => trip(() => database.batch(all.map((one) => real.get(one)!))),
    } as unknown as D1Database;
  };
  const bindings = [...DATABASES, 'DIRECTORY'].map((name) => [name, killed(env[name] as D1Database)]);
  return { ...env, ...Object.fromEntries(bindings) };
}

describe('concurrent claims of one name in three databases', () => {
  const w = new World();
  const deferred: Promise<unknown>[] = [];
  const merchants: Merchant[] = [];
  beforeAll(async () => {
    await bindDatabases(w, 'DB_2', 'DB_3');
    const { env } = w;
    for (const name of DATABASES) {
      openOnly(w, name);
      merchants.push(await w.merchant());
    }
    w.env = env;
  });
  afterEach(letTimeRun);

  const shardOf = (database: string, env: Env = w.env): Shard =>
    shardNamed(newCtx(env, { requestId: 'req_races', defer: (work) => void deferred.push(work) }), database);
  const settled = async () => void (await Promise.allSettled(deferred.splice(0)));
  const register = (database: string, email: string, env?: Env) => {
    const shard = shardOf(database, env);
    return storeAccount(shard, newAccount(shard, 'Ada', { email, emailKey: emailKeysOf(shard, email).keys[0], passwordHash: 'x' }));
  };
  const signedLogin = async (wallet: KeyPairSigner) => {
    const { body } = await w.call('POST', '/v1/auth/wallet/nonce', { body: { wallet_address: wallet.address } });
    const signature = await crypto.subtle.sign('Ed25519', wallet.keyPair.privateKey, utf8(body.message));
    return { wallet_address: wallet.address, message_nonce: body.message_nonce, signed_message: base58.encode(new Uint8Array(signature)) };
  };
  const listNames = () => directoryOf(shardOf('DB')).db.select().from(names);

  it('twenty concurrent registrations of one email create one account', async () => {
    const email = `${crypto.randomUUID()}@example.com`;
    const body = { email, password: 'correct horse battery', display_name: 'Ada' };
    // Each isolate draws by the regions and open databases of its own release.
    const answers = await twenty((i) =>
      w.call('POST', '/v1/auth/register', { body, env: { ...w.env, OPEN_DATABASES: DATABASES[i % 3]! } }),
    );
    const ids = new Set(answers.filter(({ status }) => status === 201).map(({ body: made }) => made.user_id));
    expect(ids.size).toBe(1);
    expect(answers.every(({ status }) => [201, 409, 503].includes(status))).toBe(true);
    expect((await findAccountByEmail(shardOf('DB'), email))?.id).toBe([...ids][0]);
  });

  it('twenty concurrent first sign-ins of one wallet create one account, and a busy one succeeds with the same signature', async () => {
    const wallet = await w.chain.wallet(0n);
    const bodies = await twenty(() => signedLogin(wallet));
    const ask = (body: object, i: number) =>
      w.call('POST', '/v1/auth/wallet', { body, env: { ...w.env, OPEN_DATABASES: DATABASES[i % 3]! } });
    const answers = await twenty((i) => ask(bodies[i]!, i));
    const repeated = await Promise.all(answers.map((answer, i) => (answer.status === 503 ? ask(bodies[i]!, i) : answer)));
    expect(repeated.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(repeated.map(({ body }) => body.user_id)).size).toBe(1);
  });

  it('a wallet with a busy name signs in with the same signature after the reservation has ended', async () => {
    const wallet = await w.chain.wallet(0n);
    const body = await signedLogin(wallet);
    const ask = () => w.call('POST', '/v1/auth/wallet', { body });
    const { env } = w;
    w.env = { ...env, OPEN_DATABASES: 'DB_2' };
    const rival = newAccount(shardOf('DB_3'), 'Rival', {});
    await withNames(shardOf('DB_3'), rival.id, [walletName(shardOf('DB_3'), wallet.address)], async () => {
      expect((await ask()).status).toBe(503);
      expect((await ask()).status).toBe(503);
      throw new Error('the worker dies');
    }).catch(() => {});
    setTime(Date.now() + 3 * MINUTE);
    expect((await ask()).status).toBe(200);
    expect((await ask()).body.code).toBe('invalid_credentials');
    w.env = env;
  });

  it('twenty concurrent links of one identity leave it with one account', async () => {
    const subject = crypto.randomUUID();
    const person = { subject, email: null, isEmailVerified: false, isEmailBelieved: false, displayName: 'Ada' };
    const linked = await twenty(async (i) => {
      const home = homeOf(shardOf('DB'), merchants[i % 3]!.userId);
      const { userId } = merchants[i % 3]!;
      const write = (writes: Parameters<typeof commit>[1]['writes']) =>
        commit(home, { events: [], writes: [...writes, insertIdentity(home, userId, 'google', person)], result: userId });
      return withNames(home, userId, [identityName(home, 'google', subject)], write).catch(() => null);
    });
    await settled();
    expect(linked.filter((one) => one !== null)).toHaveLength(1);
    const { keys, isUsed } = identityName(shardOf('DB'), 'google', subject);
    // A later try of the same account has it reserved, and the sweep confirms it.
    setTime(Date.now() + 63 * MINUTE);
    await sweepNames({ ...NONE, identity: isUsed })(shardOf('DB'));
    expect((await listNames()).filter(({ key }) => key === keys[0])).toMatchObject([
      { accountId: linked.find(Boolean), reservedUntil: null },
    ]);
  });

  it('twenty concurrent products with one chosen slug create one', async () => {
    const slug = `chosen-${crypto.randomUUID().slice(0, 8)}`;
    const answers = await twenty((i) => {
      const { token, wallet } = merchants[i % 3]!;
      const body = { name: 'Pro', price: { asset: 'USDC', amount: '5' }, payout_wallet: wallet.address, slug };
      return w.call('POST', '/v1/products', { key: token, body });
    });
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    expect(answers.every(({ status }) => [201, 409, 503].includes(status))).toBe(true);
    expect((await w.call('GET', `/v1/products/p/${slug}`)).body.product_id).toBe(made[0]!.body.product_id);
  });

  it('a registration that is killed at any trip to the directory or a database leaves one owner of its email or none', async () => {
    let cuts = 0;
    for (let cut = 1; cuts === cut - 1; cut++)
      for (const side of ['before', 'after'] as const) {
        const email = `${crypto.randomUUID()}@example.com`;
        let trips = 0;
        const env = killedAt(w.env, side, () => ++trips === cut);
        await register('DB_2', email, env).catch(() => {});
        await settled();
        if (trips >= cut) cuts = cut;
        setTime(Date.now() + 3 * MINUTE);
        const rival = await register('DB_3', email).then(
          ({ id }) => id,
          (error: unknown) => error,
        );
        await settled();
        const owner = await findAccountByEmail(shardOf('DB'), email);
        expect([cut, side, owner?.id]).toEqual([cut, side, expect.any(String)]);
        if (typeof rival === 'string') expect(owner!.id).toBe(rival);
        else expect(rival).toBeInstanceOf(NameTaken);
        setTime(Date.now() + 61 * MINUTE);
        await sweepNames({ ...NONE, email: isUsedAs('emailKey') })(shardOf('DB'));
        const rows = (await listNames()).filter(({ key }) => key === emailKeysOf(shardOf('DB'), email).keys[0]);
        expect(rows).toMatchObject([{ accountId: owner!.id, reservedUntil: null }]);
        letTimeRun();
      }
    // Reservation, batch of the account, and confirmation.
    expect(cuts).toBeGreaterThanOrEqual(3);
  });
});
