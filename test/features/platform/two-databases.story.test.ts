import { beforeAll, describe, expect, it } from 'vitest';
import { SERVICE_ACCOUNT_ID } from '#core/ids.ts';
import { entitlementKeyOf } from '#features/entitlements/entitlement.ts';
import type { Job } from '#platform/context.ts';
import { bindDatabases, openOnly } from '../../support/fixtures/databases.ts';
import { newAgent, type Shop, sellToAgents, stall } from '../../support/people/agent.ts';
import { consumer, received } from '../../support/people/consumer.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

describe('two merchants in two databases', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  w.env.LOCAL_CLOCK_URL = w.chain.url;
  const shops: Shop[] = [];
  const open = async (): Promise<Shop> => {
    const merchant = await w.merchant();
    return stall(w, merchant, await sellToAgents(w, merchant, { access_period_days: 30, usage_units: 10 }), await newAgent(w));
  };
  beforeAll(async () => {
    shops.push(await open());
    // The second database exists from here on and takes new accounts.
    await bindDatabases(w, 'DB_2');
    openOnly(w, 'DB_2');
    shops.push(await open());
  });

  const each = <T>(run: (shop: Shop, i: number) => Promise<T>): Promise<T[]> => Promise.all(shops.map(run));
  const databases = [testEnv.DB, testEnv.TEST_DB_2];
  const rows = async <T>(database: D1Database, sql: string): Promise<T[]> => (await database.prepare(sql).all<T>()).results;
  const sweep = async () => {
    await testEnv.TEST_DB_2.prepare('UPDATE sweeps SET due_at = 0, sent_at = 0, lease_until = 0').run();
    await w.sweepAll();
  };
  const items = async (shop: Shop, path: string): Promise<Record<string, unknown>[]> =>
    (await w.call('GET', path, { key: shop.merchant.key })).body.items;

  const project = async () => {
    const jobs = await each(async ({ merchant, product, agent }): Promise<Job> => {
      const { userId } = merchant;
      const identity = entitlementKeyOf({ merchantId: userId, livemode: true }, product.product_id, {
        walletAddress: agent.wallet.address,
      });
      const object = testEnv.ENTITLEMENT.getByName(`${userId}:live:${identity.entitlementId}`);
      return { kind: 'projectEntitlement', projection: { snapshot: (await object.read({ now: Date.now() }))!, events: [] } };
    });
    await w.deliver(jobs);
  };

  it('a checkout runs from connect to receipt and webhook in each database, also with late messages', async () => {
    const consumers = await each(({ merchant }) => consumer(w, merchant, 'ok'));
    const sales = await each(async ({ product, agent }) => w.purchase(product, agent.wallet, { email: 'buyer@example.com' }));
    const bodies = sales.map(({ confirmed }) => confirmed);
    for (const [i, { confirmed, payment }] of sales.entries()) {
      expect(confirmed.payment.status).toBe('CONFIRMED');
      expect((await w.call('GET', `/v1/payments/${payment.payment_id}`)).body.status).toBe('CONFIRMED');
      expect((await w.call('GET', `/v1/receipt/${confirmed.receipt_id}/verify`)).body.valid).toBe(true);
      expect((await w.call('GET', `/v1/receipt/${confirmed.receipt_id}`, { key: shops[i]!.merchant.key })).status).toBe(200);
      expect((await w.call('GET', `/v1/receipt/${confirmed.receipt_id}`, { key: shops[1 - i]!.merchant.key })).status).toBe(404);
      expect((await w.call('GET', `/p/${shops[i]!.product.slug}`)).status).toBe(200);
    }
    // Messages name ids, which name their database. If they are lost, the sweeps of each database find what is left.
    await w.deliver();
    await w.attempt();
    await sweep();
    await w.deliver();
    await w.attempt();
    for (const [i, mine] of consumers.entries()) {
      const webhooks = (await received(mine)).map(({ body }) => JSON.parse(body));
      const confirmed = webhooks.filter(({ type }) => type === 'payment.confirmed').map(({ data }) => data.object.payment_id);
      expect(confirmed).toEqual([bodies[i].payment.payment_id]);
    }
  });

  it('settle, consume and grant work in each database, and stored answers are replayed', async () => {
    const paid = await each(async (shop) => {
      const payment = await shop.pay({ customer: { customer_ref: 'agent' } });
      const ask = () =>
        shop.settle(payment, { customer: { customer_ref: 'agent' } }, { idempotencyKey: `settle-of-${shop.merchant.userId}` });
      const first = await ask();
      return { first, again: await ask() };
    });
    for (const { first, again } of paid) {
      expect(first.status).toBe(200);
      expect(again.body).toEqual(first.body);
    }
    const used = await each((shop) => shop.consume({ customer: { customer_ref: 'agent' } }));
    expect(used.map(({ status }) => status)).toEqual([200, 200]);
    const granted = await each(({ grant }) => grant({ units: 3 }));
    expect(granted.map(({ status }) => status)).toEqual([200, 200]);
    const snapshots = await each(({ entitlement }) => entitlement({ customer_ref: 'agent' }));
    expect(snapshots.map(({ used_units: used }) => used)).toEqual([2, 2]);
  });

  it('sign-in finds each account by email, and a taken email is refused in both databases', async () => {
    const logins = await each(({ merchant }) =>
      w.call('POST', '/v1/auth/login', { body: { email: merchant.email, password: 'correct horse battery' } }),
    );
    expect(logins.map(({ body }) => body.user?.user_id ?? body.user_id)).toEqual(shops.map(({ merchant }) => merchant.userId));
    for (const { merchant } of shops) {
      const body = { email: merchant.email, password: 'another horse', display_name: 'Somebody else' };
      expect((await w.call('POST', '/v1/auth/register', { body })).body.code).toBe('email_registered');
    }
  });

  it.each([
    ['/v1/products', 'product_id'],
    ['/v1/payments', 'payment_id'],
    ['/v1/memberships', 'membership_id'],
    ['/v1/receipts', 'receipt_id'],
    ['/v1/access/entitlements', 'entitlement_id'],
    ['/v1/webhooks/endpoints', 'endpoint_id'],
    ['/v1/webhooks/deliveries', 'delivery_id'],
    ['/v1/webhooks/events', 'id'],
  ])('the list of %s has only the caller’s own items', async (path, id) => {
    await project();
    await w.deliver();
    const [mine, theirs] = await each(async (shop) => (await items(shop, path)).map((item) => item[id]));
    expect(mine!.length).toBeGreaterThan(0);
    expect(theirs!.length).toBe(mine!.length);
    if (id !== 'delivery_id') expect(mine!.filter((one) => theirs!.includes(one))).toEqual([]);
  });

  it('one walk of the reference key finds unreported payments of each database', async () => {
    for (const paidShop of shops) {
      for (const database of databases) await database.prepare('UPDATE sweeps SET due_at = 0, sent_at = 0, lease_until = 0').run();
      const payment = await w.connect(paidShop.product);
      await w.chain.pay(await w.chain.wallet(), payment);
      const sent = await w.tick();
      const walks = sent.filter(({ sweep }) => sweep === 'reference');
      expect(walks).toEqual([expect.not.objectContaining({ database: expect.anything() })]);
      const found = await w.runSweep(walks[0]!);
      expect(found.map(({ sweep, database }) => [sweep, database])).toEqual([
        ['candidates', undefined],
        ['candidates', 'DB_2'],
      ]);
      for (const next of found) await w.runSweep(next);
      expect((await w.call('GET', `/v1/payments/${payment.payment_id}`)).body.status).toBe('CONFIRMED');
      while (w.queue.sent.length > 0) await w.deliver();
    }
    expect(await rows(testEnv.TEST_DB_2, "SELECT name FROM cursors WHERE name LIKE 'service-reference%'")).toEqual([]);
  });

  it('expired sessions fail in each database', async () => {
    const begun = await each(({ product }) => w.connect(product));
    await w.chain.call('local_warp', 3 * 3600);
    await sweep();
    for (const { payment_id } of begun) expect((await w.call('GET', `/v1/payments/${payment_id}`)).body.status).toBe('FAILED');
  });

  it('no database holds a row of the other merchant', async () => {
    await sweep();
    await w.deliver();
    for (const [i, database] of databases.entries()) {
      const own = shops[i]!.merchant.userId;
      const tables = await rows<{ name: string }>(
        database,
        "SELECT m.name FROM sqlite_master m WHERE m.type = 'table' AND m.name NOT GLOB '_cf_*' AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name = 'merchant_id')",
      );
      expect(tables.length).toBeGreaterThan(10);
      const owners = await Promise.all(
        tables.map(async ({ name }) =>
          (await rows<{ id: string }>(database, `SELECT DISTINCT merchant_id AS id FROM ${name}`)).map(({ id }) => id),
        ),
      );
      // The first database has the log of the service, which is of no merchant.
      expect(new Set(owners.flat().filter((id) => id !== SERVICE_ACCOUNT_ID))).toEqual(new Set([own]));
      expect(await rows(database, 'SELECT id FROM accounts')).toEqual([{ id: own }]);
      const scopes = await rows<{ scope: string }>(database, 'SELECT scope FROM claims');
      expect(scopes.length).toBeGreaterThan(0);
      expect(scopes.filter(({ scope }) => !scope.startsWith(own) && !scope.startsWith('public'))).toEqual([]);
      const strays = await rows(
        database,
        `SELECT tx_signature FROM tx_claims WHERE subject_id NOT IN (SELECT id FROM payments) AND subject_id NOT IN (SELECT payment_id FROM settlements)`,
      );
      expect(strays).toEqual([]);
    }
    const [first, second] = await Promise.all(
      databases.map((database) => rows<{ id: string }>(database, 'SELECT tx_signature AS id FROM tx_claims')),
    );
    expect(first!.length).toBe(second!.length);
    expect(first!.filter(({ id }) => second!.some((other) => other.id === id))).toEqual([]);
  });

  it('every id in the row of a merchant has the partition of the merchant', async () => {
    let read = 0;
    // A hash of sixteen bytes has the form of a UUID by chance.
    const hashes = "('buyer_key')";
    for (const database of databases) {
      const columns = await rows<{ table: string; column: string }>(
        database,
        `SELECT m.name AS "table", c.name AS "column" FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT GLOB '_cf_*'
          AND c.type = 'BLOB' AND c.name NOT IN ${hashes} AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name = 'merchant_id')`,
      );
      for (const { table, column } of columns) {
        const isId = `length(${column}) = 16 AND hex(${column}) GLOB '????????????7???[89AB]???????????????'`;
        const [found] = await rows<{ ids: number; strays: number }>(
          database,
          `SELECT count(*) AS ids, sum(substr(hex(${column}), 18, 3) <> substr(hex(merchant_id), 18, 3)) AS strays FROM ${table} WHERE ${isId}`,
        );
        expect([table, column, found!.strays ?? 0]).toEqual([table, column, 0]);
        read += found!.ids;
      }
    }
    expect(read).toBeGreaterThan(100);
  });

  it('a session in the second database continues after its product was archived', async () => {
    const merchant = await w.merchant();
    const own = await w.product(merchant);
    const { body: session } = await w.call('POST', '/v1/access/payment-sessions', {
      key: merchant.key,
      body: { product_id: own.product_id },
      headers: { 'Idempotency-Key': crypto.randomUUID() },
    });
    const input = { payment_session_id: session.payment_session_id, wallet_address: (await w.chain.wallet()).address };
    const { payment_id: paymentId } = await w.connect(own, input);
    await w.call('POST', `/v1/products/${own.product_id}/archive`, { key: merchant.key });
    const again = await w.call('POST', `/v1/products/p/${own.slug}/connect`, { body: input });
    expect([again.status, again.body.payment_id]).toEqual([200, paymentId]);
  });
});
