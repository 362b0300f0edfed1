import { applyD1Migrations } from 'cloudflare:test';
import { beforeAll, describe, expect, it } from 'vitest';
import { newIdIn, newNonce, type Partition } from '#core/ids.ts';
import { forgetAll } from '#core/isolate/memory.ts';
import { findTrouble } from '#features/operator/health-checks.ts';
import { type Env, newCtx } from '#platform/context.ts';
import { bindDatabases, openOnly } from '../../support/fixtures/databases.ts';
import { newAgent, openShop, type Shop } from '../../support/people/agent.ts';
import { consumer, received } from '../../support/people/consumer.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { testEnv } from '../../support/runner/env.ts';
import { originalOf } from '../../support/runner/readable-ids.ts';
import { type Answer, World } from '../../support/world.ts';

const PASSWORD = 'correct horse battery';
const away = () => Promise.reject(new Error('D1_ERROR: the database is away'));
const statement = { bind: () => statement, all: away, run: away, raw: away, first: away } as unknown as D1PreparedStatement;
const AWAY = { prepare: () => statement, batch: away } as unknown as D1Database;

/** Database that never answers. */
function silentDatabase(): { database: D1Database; countAsked(): number } {
  let asked = 0;
  const hang = () => {
    asked++;
    return new Promise(() => {});
  };
  const silent = { bind: () => silent, all: hang, run: hang, raw: hang, first: hang } as unknown as D1PreparedStatement;
  return { database: { prepare: () => silent, batch: hang } as unknown as D1Database, countAsked: () => asked };
}

describe('service with a second database that is away', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  w.env.LOCAL_CLOCK_URL = w.chain.url;
  let here: Shop;
  let gone: Shop;
  let complete: Env;
  let goneSale: Awaited<ReturnType<World['purchase']>>;
  const open = () => openShop(w, { access_period_days: 30, usage_units: 10 });
  beforeAll(async () => {
    await bindDatabases(w, 'DB_2');
    openOnly(w, 'DB');
    here = await open();
    openOnly(w, 'DB_2');
    gone = await open();
    goneSale = await w.purchase(gone.product, gone.agent.wallet);
    complete = w.env;
    w.env = { ...complete, DB_2: AWAY };
    forgetAll();
  });
  const logIn = ({ merchant }: Shop) => w.call('POST', '/v1/auth/login', { body: { email: merchant.email, password: PASSWORD } });

  it('a merchant of the first database sells, settles, signs in and lists, from an isolate that remembers nothing', async () => {
    expect((await w.call('GET', `/p/${here.product.slug}`)).status).toBe(200);
    const { confirmed } = await w.purchase(here.product, here.agent.wallet);
    expect(confirmed.payment.status).toBe('CONFIRMED');
    const customer = { customer_ref: 'agent' };
    expect((await here.settle(await here.pay({ customer }), { customer })).status).toBe(200);
    expect((await here.consume({ customer })).status).toBe(200);
    expect((await logIn(here)).status).toBe(200);
    expect((await w.call('GET', '/v1/payments', { key: here.merchant.key })).body.items.length).toBeGreaterThan(0);
    expect((await w.call('GET', '/v1/account/readiness', { key: here.merchant.key })).status).not.toBe(503);
  });

  it('a merchant of the first database receives webhooks, and every sweep of it runs', async () => {
    const mine = await consumer(w, here.merchant, 'ok');
    await w.purchase(here.product, (await newAgent(w)).wallet);
    await w.deliver();
    await w.attempt();
    expect((await received(mine)).length).toBeGreaterThan(0);
    await w.env.DB.prepare('UPDATE sweeps SET due_at = 0, sent_at = 0, lease_until = 0, failures = 0').run();
    await w.sweepAll();
    expect((await w.env.DB.prepare('SELECT name FROM sweeps WHERE failures > 0').all()).results).toEqual([]);
  });

  it('a payment of the first database that nobody reports is found on the page of one of the second', async () => {
    const own = await w.connect(here.product);
    await w.chain.pay((await newAgent(w)).wallet, own);
    const foreign = { ...own, memo: `svc:${newNonce(gone.merchant.userId)}` };
    await w.chain.pay((await newAgent(w)).wallet, foreign);
    await w.sweepEach(['reference', 'candidates']);
    expect((await w.call('GET', `/v1/payments/${own.payment_id}`)).body.status).toBe('CONFIRMED');
  });

  it('a call of a merchant or buyer of the second database is 503 in the shape of every error', async () => {
    const answers: Record<string, Answer<Record<string, unknown>>> = {
      list: await w.call('GET', '/v1/products', { key: gone.merchant.key }),
      connect: await w.call('POST', `/v1/products/p/${gone.product.slug}/connect`, { body: {} }),
      status: await w.call('GET', `/v1/payments/${goneSale.payment.payment_id}`),
      receipt: await w.call('GET', `/v1/receipt/${goneSale.confirmed.receipt_id}/verify`),
      login: await logIn(gone),
    };
    for (const [name, { status, body, headers }] of Object.entries(answers)) {
      expect([name, status, body.code, body.retryable]).toEqual([name, 503, 'temporarily_unavailable', true]);
      expect(body).toMatchObject({ request_id: expect.any(String), docs_url: expect.any(String), meta: {} });
      expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
    }
  });

  it('health names the database, is degraded, and fails only if it is strict', async () => {
    const { status, body } = await w.call('GET', '/v1/health');
    expect([status, body.status, body.checks.database, body.databases_away]).toEqual([200, 'degraded', 'failing', ['DB_2']]);
    expect((await w.call('GET', '/v1/health?strict=1')).status).toBe(503);
    expect((await w.call('GET', '/v1/health', { env: complete })).body).toMatchObject({ checks: { database: 'ok' }, databases_away: [] });
  });

  it('the operator is notified of the database, and the other checks still run', async () => {
    const trouble = await findTrouble(newCtx(w.env, { requestId: 'req_trouble', defer: () => {} }));
    expect(trouble.map(({ name }) => name)).toContain('database_away_DB_2');
    expect(trouble.find(({ name }) => name === 'database_away_DB_2')!.finding).toContain('migrations apply DB_2 --remote');
  });

  it('messages of the second database are retried, and those of the first are done', async () => {
    await w.purchase(here.product, (await newAgent(w)).wallet);
    const jobs = w.queue.sent.splice(0).map(({ job }) => job);
    expect(jobs.length).toBeGreaterThan(0);
    expect(await w.deliver(jobs)).toEqual({ retried: 0 });
    const foreign = { kind: 'hintFinal' as const, paymentIds: [goneSale.payment.payment_id] };
    expect(await w.deliver([foreign])).toEqual({ retried: 1 });
  });

  it('a second database that never answers holds the tick of the first for seconds only', async () => {
    const env = { ...w.env, DB_2: silentDatabase().database };
    forgetAll();
    await w.env.DB.prepare('UPDATE sweeps SET due_at = 0, sent_at = 0, lease_until = 0').run();
    const [tick] = await w.cron(env);
    expect(tick!.database ?? 'DB').toBe('DB');
    const startedAt = performance.now();
    expect((await w.runSweep(tick!, env)).map(({ sweep }) => sweep)).toContain('reference');
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });

  it('an id of no database is 404 without a read', async () => {
    const none = { ...w.env, DB: AWAY };
    const ids = [newIdIn(Date.now(), 4000 as Partition), crypto.randomUUID()];
    for (const id of ids)
      for (const path of [`/v1/payments/${id}`, `/v1/receipt/${id}/verify`, `/v1/receipt/${id}/public`])
        expect([path, (await w.call('GET', path, { env: none })).status]).toEqual([path, 404]);
  });
});

describe('service with a directory that does not answer', () => {
  const w = new World();

  it('a new isolate waits for it once, and then serves all requests that need no name', async () => {
    await bindDatabases(w, 'DB_2');
    const merchant = await w.merchant();
    const { database: DIRECTORY, countAsked } = silentDatabase();
    const env = { ...w.env, DIRECTORY };
    const list = async () => (await w.call('GET', '/v1/products', { key: merchant.key, env })).status;
    forgetAll();
    const startedAt = performance.now();
    expect([await list(), countAsked()]).toEqual([200, 1]);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect([await list(), countAsked()]).toEqual([200, 1]);
    setTime(Date.now() + 10_000);
    expect([await list(), countAsked()]).toEqual([200, 2]);
    letTimeRun();
  });
});

describe('service with a second database that lacks migrations', () => {
  const w = new World();
  beforeAll(async () => {
    await bindDatabases(w, 'DB_2');
    openOnly(w, 'DB');
  });

  it('its accounts get 503 misconfigured until the migrations are applied, and all others are served', async () => {
    const merchant = await w.merchant();
    w.env = { ...w.env, DB_3: testEnv.TEST_DB_3, OPEN_DATABASES: 'DB_3' };
    const register = () => {
      const body = { email: `${crypto.randomUUID()}@example.com`, password: PASSWORD, display_name: 'Ada' };
      return w.call('POST', '/v1/auth/register', { body });
    };
    const refused = await register();
    expect([refused.status, refused.body.code]).toEqual([503, 'misconfigured']);
    expect((await w.call('GET', '/v1/products', { key: merchant.key })).status).toBe(200);
    expect((await w.call('GET', '/v1/health')).body).toMatchObject({ status: 'degraded', databases_away: ['DB_3'] });
    await applyD1Migrations(originalOf(testEnv.TEST_DB_3), testEnv.TEST_MIGRATIONS);
    setTime(Date.now() + 10_000);
    expect((await register()).status).toBe(201);
  });
});

describe('messages after a partition has moved to another database', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });

  it('messages name ids and no database, and arrive where the partition is', async () => {
    await bindDatabases(w, 'DB_2');
    openOnly(w, 'DB_2');
    const merchant = await w.merchant();
    const product = await w.product(merchant);
    const mine = await consumer(w, merchant, 'ok');
    await w.purchase(product, await w.chain.wallet());
    expect(w.queue.sent.length).toBeGreaterThan(0);
    for (const { job } of w.queue.sent) expect(job).not.toHaveProperty('database');
    // The binding that held the partition is another, empty database now.
    w.env = { ...w.env, DB_2: testEnv.TEST_DB_3, DB_3: testEnv.TEST_DB_2, PARTITIONS: '000-007:DB 008-00f:DB_3 010-017:DB_2' };
    expect(await w.deliver()).toEqual({ retried: 0 });
    for (const attempt of w.attempts) expect(attempt).not.toHaveProperty('database');
    await w.attempt();
    const types = (await received(mine)).map(({ body }) => JSON.parse(body).type);
    expect(types).toContain('payment.confirmed');
  });

  it('a message of a partition that this release does not know comes again', async () => {
    const paymentId = newIdIn(Date.now(), 4000 as Partition);
    expect(await w.deliver([{ kind: 'hintFinal', paymentIds: [paymentId] }])).toEqual({ retried: 1 });
  });
});

/** Database that reports more than 70 % of its limit. */
function filled(database: D1Database): D1Database {
  const wrap = (real: D1PreparedStatement): D1PreparedStatement => {
    const run = async () => {
      const answer = await real.run();
      return { ...answer, meta: { ...answer.meta, size_after: 7.2e9 } };
    };
    const bind = (...values: unknown[]) => wrap(real.bind(...values));
    return { bind, run, all: () => real.all(), raw: () => real.raw(), first: () => real.first() } as unknown as D1PreparedStatement;
  };
  return { prepare: (sql: string) => wrap(database.prepare(sql)) } as unknown as D1Database;
}

describe('alarms of several databases', () => {
  it.each([
    ['DB_2', '', ['database_full_DB_2', 'no_open_database']],
    ['DB DB_2', '', ['database_full_DB_2']],
    ['DB DB_2', 'DB:enam DB_2:apac', ['database_full_DB_2', 'no_open_database_apac']],
    ['DB_2', 'DB:enam DB_2:apac', ['database_full_DB_2', 'no_open_database']],
  ])(
    'a full database is named, and the operator learns if none of %s has room, in all and in the regions of %j',
    async (open, regions, alarms) => {
      const w = new World();
      await bindDatabases(w, 'DB_2');
      const env = { ...w.env, DB_2: filled(testEnv.TEST_DB_2), OPEN_DATABASES: open, DATABASES: regions };
      const trouble = await findTrouble(newCtx(env, { requestId: 'req_full', defer: () => {} }));
      expect(trouble.map(({ name }) => name).filter((name) => /full|open/.test(name))).toEqual(alarms);
    },
  );
});
