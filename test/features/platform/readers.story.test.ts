import { applyD1Migrations } from 'cloudflare:test';
import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, it } from 'vitest';
import { currentBudget, databaseNamesOf, withBudget } from '#core/isolate/budget.ts';
import type { Env } from '#platform/context.ts';
import { forReading, homeOf } from '#platform/db/directory.ts';
import { databaseInTime, type Fence } from '#platform/deadline.ts';
import { bindDatabases, openOnly } from '../../support/fixtures/databases.ts';
import { openListedShop } from '../../support/people/listed-shop.ts';
import { testEnv } from '../../support/runner/env.ts';
import { originalOf } from '../../support/runner/readable-ids.ts';
import { ctxOf, shardOf } from '../../support/runner/shards.ts';
import { type Merchant, World } from '../../support/world.ts';

/** Environment with these sessions of its databases. Records the constraint of each, and the statements for the databases themselves. */
function withReplicas(env: Env, replicaOf: (database: D1Database) => D1DatabaseSession | D1Database) {
  const sessions: unknown[] = [];
  const primary: string[] = [];
  const spied = (database: D1Database) =>
    ({
      prepare: (text: string) => {
        primary.push(text);
        return database.prepare(text);
      },
      batch: (statements: D1PreparedStatement[]) => database.batch(statements),
      withSession: (constraint: D1SessionConstraint) => {
        sessions.push(constraint);
        return replicaOf(database);
      },
    }) as unknown as D1Database;
  const names = [...databaseNamesOf(env), ...(env.DIRECTORY ? ['DIRECTORY'] : [])];
  const databases = Object.fromEntries(names.map((name) => [name, spied(env[name] as D1Database)]));
  return { env: { ...env, ...databases } as Env, sessions, primary };
}

const NEAREST = 'first-unconstrained';
const nearest = (env: Env) => withReplicas(env, (database) => database.withSession(NEAREST));

describe('sessions of the routes', () => {
  const w = new World();
  let merchant: Merchant;
  let facts: Record<'slug' | 'product' | 'receipt' | 'payment' | 'session', string>;
  beforeAll(async () => {
    ({ merchant } = await openListedShop(w));
    const product = await w.product(merchant, { slug: 'read-near', access_period_days: 30 });
    const { confirmed } = await w.purchase(product, await w.chain.wallet());
    const open = await w.connect(product);
    const session = await w.call('POST', '/v1/access/payment-sessions', {
      key: merchant.key,
      headers: { 'Idempotency-Key': 'session-of-a-reader' },
      body: { product_id: product.product_id },
    });
    facts = {
      slug: product.slug,
      product: product.product_id,
      receipt: confirmed.receipt_id,
      payment: open.payment_id,
      session: session.body.payment_session_id,
    };
  });
  const filled = (path: string): string => path.replaceAll(/\{(\w+)\}/g, (_, name: keyof typeof facts) => facts[name]);

  it.each([
    '/p/{slug}',
    '/p/{slug}/qr',
    '/p/{slug}/qr.svg',
    '/r/{receipt}',
    '/v1/products/p/{slug}',
    '/v1/receipt/{receipt}/public',
    '/v1/receipt/{receipt}/verify',
    '/v1/receipt/{receipt}/pdf',
    '/v1/access/x402/facilitator/discovery/resources',
    '/v1/access/x402/facilitator/discovery/search?query=forecast',
  ])('GET %s reads in one session, and nothing from the database itself', async (path) => {
    await w.call('GET', filled(path));
    const { env, sessions, primary } = nearest(w.env);
    expect((await w.call('GET', filled(path), { env })).status).toBe(200);
    expect({ sessions, primary }).toEqual({ sessions: [NEAREST], primary: [] });
  });

  it.each(['/v1/account/analytics', '/v1/account/analytics.csv'])('GET %s reads figures in one session', async (path) => {
    await w.call('GET', path, { key: merchant.key });
    const { env, sessions, primary } = nearest(w.env);
    expect((await w.call('GET', path, { key: merchant.key, env })).status).toBe(200);
    expect({ sessions, primary }).toEqual({ sessions: [NEAREST], primary: [] });
  });

  it.each([
    ['GET', '/v1/payments/{payment}', 200, undefined],
    ['GET', '/p/{slug}?ps={session}', 200, undefined],
    ['GET', '/v1/products/{product}', 200, undefined],
    ['GET', '/v1/products', 200, undefined],
    ['GET', '/v1/receipts', 200, undefined],
    ['GET', '/v1/receipt/{receipt}', 200, undefined],
    ['GET', '/v1/account/summary', 200, undefined],
    ['POST', '/v1/products/p/{slug}/connect', 200, {}],
    ['POST', '/v1/access/payment-sessions', 201, { product_id: '{product}' }],
    ['PATCH', '/v1/products/{product}', 200, { name: 'Renamed' }],
    ['POST', '/v1/auth/login', 401, { email: 'nobody@example.com', password: 'correct horse battery' }],
  ])('%s %s opens no session', async (method, path, status, body) => {
    const { env, sessions, primary } = nearest(w.env);
    const answer = await w.call(method, filled(path), {
      env,
      ...(path.includes('{slug}') || path.includes('/payments/') || path.includes('/auth/') ? {} : { key: merchant.key }),
      ...(body ? { body: JSON.parse(filled(JSON.stringify(body))), headers: { 'Idempotency-Key': `${method}-of-a-reader` } } : {}),
    });
    expect([answer.status, sessions]).toEqual([status, []]);
    expect(primary).not.toEqual([]);
  });
});

describe('replica with an earlier state', () => {
  const w = new World();
  let merchant: Merchant;
  const earlier = originalOf(testEnv.TEST_DB_3);
  const stale = (env = w.env) => withReplicas(env, () => earlier);
  beforeAll(async () => {
    await applyD1Migrations(earlier, testEnv.TEST_MIGRATIONS);
    await bindDatabases(w, 'DB_2');
    openOnly(w, 'DB_2');
    merchant = await w.merchant();
  });

  /** Copies what a page of a product shows. */
  async function replicate(): Promise<void> {
    for (const table of ['accounts', 'products', 'rail_settings']) {
      const { results } = await originalOf(testEnv.TEST_DB_2).prepare(`SELECT * FROM ${table}`).all();
      for (const row of results) {
        const names = Object.keys(row);
        const values = Object.values(row).map((value) => (Array.isArray(value) ? Uint8Array.from(value) : value));
        const statement = `INSERT OR REPLACE INTO ${table} (${names.join()}) VALUES (${names.map(() => '?').join()})`;
        await earlier
          .prepare(statement)
          .bind(...values)
          .run();
      }
    }
  }

  it('a chosen slug, a generated slug and a receipt that no replica has are found at once', async () => {
    const chosen = await w.product(merchant, { slug: 'only-primary' });
    const generated = await w.product(merchant);
    const { confirmed } = await w.purchase(generated, await w.chain.wallet());
    for (const [path, name] of [
      [`/v1/products/p/${chosen.slug}`, chosen.name],
      [`/p/${chosen.slug}`, chosen.name],
      [`/v1/products/p/${generated.slug}`, generated.name],
      [`/v1/receipt/${confirmed.receipt_id}/public`, confirmed.receipt_id],
      [`/r/${confirmed.receipt_id}`, confirmed.receipt_id],
    ] as const) {
      const { env, sessions } = stale();
      const { status, body } = await w.call('GET', path, { env });
      expect([path, status]).toEqual([path, 200]);
      expect(JSON.stringify(body)).toContain(name);
      expect(sessions.length).toBeGreaterThan(0);
    }
    const unknown = await w.call('GET', '/v1/products/p/nobody-has-it', { env: stale().env });
    expect([unknown.status, unknown.body.code]).toEqual([404, 'not_found']);
  });

  it('a purchase after a change of the price pays the new one, although the page shows the earlier one', async () => {
    const product = await w.product(merchant, { price: { asset: 'USDC', amount: '5' } });
    await replicate();
    const path = `/v1/products/${product.product_id}`;
    const changed = await w.call('PATCH', path, { key: merchant.token, body: { price: { asset: 'USDC', amount: '7' } } });
    expect(changed.status).toBe(200);
    const { env } = stale();
    const offer = await w.call('GET', `/v1/products/p/${product.slug}`, { env });
    const page = await w.call<string>('GET', `/p/${product.slug}`, { env });
    const own = await w.call('GET', path, { key: merchant.key, env });
    const payment = await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: {}, env });
    expect(offer.body.price.amount).toBe('5');
    expect(page.body).toMatch(/5\.00\sUSDC/);
    expect(own.body.price.amount).toBe('7');
    expect(payment.body.price.amount).toBe('7');
  });
});

describe('Shard.openReader', () => {
  const w = new World();

  it('a write through a reader throws, alone and in a batch, and nothing is stored', async () => {
    const { userId } = await w.merchant();
    const shard = shardOf(w.env, userId);
    const near = forReading(shard);
    const write = sql`UPDATE accounts SET version = version + 1`;
    const version = () => shard.db.all(sql`SELECT sum(version) AS n FROM accounts`);
    const before = await version();
    await expect(near.db.run(write)).rejects.toThrow();
    await expect((async () => near.db.batch([near.db.run(write)]))()).rejects.toThrow();
    await expect(ctxOf(w.env).openReader().run(sql`WITH one AS (SELECT 1) DELETE FROM accounts`)).rejects.toThrow();
    expect(await version()).toEqual(before);
    expect(await near.db.all(sql`SELECT 1 AS n`)).toEqual([{ n: 1 }]);
    await shard.db.run(write);
    expect(await version()).not.toEqual(before);
  });

  it('readers of one database share a session, which opens with the first read', async () => {
    const { userId } = await w.merchant();
    const { env, sessions } = nearest(w.env);
    const ctx = ctxOf(env);
    const [one, other] = [homeOf(ctx, userId).openReader(), homeOf(ctx, userId).openReader()];
    expect(sessions).toEqual([]);
    await Promise.all([one, other, one].map((reader) => reader.all(sql`SELECT 1`)));
    expect(sessions).toEqual([NEAREST]);
  });

  it('a reader follows a moved partition, and is checked, charged and limited in time like its database', async () => {
    const opened: D1Database[] = [];
    const [before, after] = [testEnv.DB, testEnv.TEST_DB_2].map(originalOf) as [D1Database, D1Database];
    const openSession = (on: D1Database) => {
      opened.push(on);
      return on;
    };
    const fence: Fence = { partitions: ['000'], locate: async () => after, refresh: () => Promise.reject(new Error('no write')) };
    let checks = 0;
    const check = async () => void checks++;
    const read = (leftMs: number) =>
      databaseInTime(before, { leftMs: () => leftMs }, { fence, check, openSession })
        .prepare('SELECT 1 AS n')
        .all();
    await withBudget(async () => {
      expect((await read(5_000)).results).toEqual([{ n: 1 }]);
      expect([opened, checks, currentBudget().spent]).toEqual([[after], 1, 1]);
      await expect(read(0)).rejects.toThrow('no answer before the deadline');
    });
  });
});
