import { beforeAll, describe, expect, it } from 'vitest';
import { entitlementIdOf } from '#core/ids.ts';
import { sweepEndedSetups, sweepOf } from '#features/retention/retention.ts';
import { newCtx, type Shard } from '#platform/context.ts';
import { readAlarm } from '../../support/clients/entitlement.ts';
import { joinEntitlement } from '../../support/clients/sandbox.ts';
import { withRival } from '../../support/faults/faults.ts';
import { fillTables } from '../../support/fixtures/load-generator.ts';
import { multiply } from '../../support/fixtures/multiply.ts';
import { sellRenewing, subscribeRenewing } from '../../support/fixtures/renewing.ts';
import { Setup } from '../../support/people/bootstrap.ts';
import { withRowCount, worstOf } from '../../support/runner/rows-read.ts';
import { type Merchant, World } from '../../support/world.ts';

const DAY = 86_400_000;
/** More than one page of a sweep is due, and as many rows are not. */
const ROWS = 1300;

const w = new World();
const ctxAt = (now: number) => newCtx(w.env, { requestId: 'req_retention', now, defer: () => {} });
const count = async (sql: string, ...values: unknown[]) =>
  (await w.env.DB.prepare(`SELECT count(*) AS n FROM ${sql}`)
    .bind(...values)
    .first<{ n: number }>())!.n;

describe('retention rules', () => {
  const now = Date.now();
  /** Makes half of the rows due, the last of them by one millisecond. */
  const over = (retentionMs: number) => `${now - retentionMs} + CASE WHEN n % 2 = 0 THEN 2 - n ELSE n END`;
  beforeAll(async () => {
    const ada = await w.merchant();
    const { product_id } = await w.product(ada);
    await fillTables(w.env.DB, {
      to: ROWS,
      merchants: [ada.userId],
      products: [product_id],
      values: {
        login_nonces: { expires_at: over(0) },
        handoffs: { expires_at: over(DAY) },
        identity_sessions: { expires_at: over(DAY) },
        payment_sessions: { expires_at: over(30 * DAY) },
        webhook_deliveries: { event_id: "printf('evt_%026d', n)", completed_at: over(30 * DAY), status: "'succeeded'" },
        metered_sessions: { ended_at: over(90 * DAY), status: "'closed'" },
        subscription_authorizations: { ended_at: over(90 * DAY), status: "'expired'" },
        endpoint_hours: { hour: over(2 * DAY) },
        sandbox_transactions: { session_id: "''", created_at: over(90 * DAY) },
        sandbox_accounts: { session_id: "''", needed_at: over(90 * DAY), data: "''" },
        settlements: { status: "'failed'", next_check_at: 'NULL', created_at: over(8 * DAY) },
      },
    });
  });

  it.each([
    ['loginNonces', 'login_nonces'],
    ['handoffs', 'handoffs'],
    ['identitySessions', 'identity_sessions'],
    ['paymentSessions', 'payment_sessions'],
    ['deliveries', 'webhook_deliveries'],
    ['endpointHours', 'endpoint_hours'],
    ['meteredSessions', 'metered_sessions'],
    ['authorizations', 'subscription_authorizations'],
    ['failedSettlements', 'settlements'],
    ['sandboxTransactions', 'sandbox_transactions'],
    ['sandboxAccounts', 'sandbox_accounts'],
  ] as const)('rows are deleted page by page once their retention is over: %s', async (rule, table) => {
    const sweep = async (ctx: Shard) => (await sweepOf(rule)(ctx)).taken;
    expect(await sweep(ctxAt(now - 1))).toBe(ROWS / 2 - 1);
    expect(await sweep(ctxAt(now))).toBe(1);
    expect(await sweep(ctxAt(now))).toBe(0);
    expect(await count(table)).toBe(ROWS / 2);
  });

  it('settlements that are pending, settled or due for a check are not deleted', async () => {
    await w.env.DB.prepare(
      `UPDATE settlements SET created_at = 1, next_check_at = CASE unicode(substr(payment_id, -1)) % 3 WHEN 0 THEN ${now} END,
        status = CASE unicode(substr(payment_id, -1)) % 3 WHEN 0 THEN 'failed' WHEN 1 THEN 'pending' ELSE 'settled' END`,
    ).run();
    expect((await sweepOf('failedSettlements')(ctxAt(now))).taken).toBe(0);
  });
});

describe('expired setup without a payment', () => {
  const tables = ['api_keys', 'products', 'webhook_endpoints', 'access_apps', 'rail_settings', 'events', 'webhook_deliveries', 'payments'];
  const left = async ({ created }: Setup) => [
    await count('accounts WHERE id = ?', created.account_id),
    await count('setup_intents WHERE account_id = ?', created.account_id),
    ...(await Promise.all(tables.map((table) => count(`${table} WHERE merchant_id = ?`, created.account_id)))),
  ];
  async function ended(sell: (agent: Merchant) => Promise<unknown> = async () => {}): Promise<Setup> {
    const setup = await Setup.create(w);
    const key = setup.created.sandbox_api_key;
    const post = async (path: string, body: object) => (await w.call('POST', path, { key, body: body as Record<string, unknown> })).status;
    expect(await post('/v1/products', { name: 'Weather', price: { asset: 'USDC', amount: '1' } })).toBe(201);
    expect(await post('/v1/webhooks/endpoints', { url: 'https://hooks.example.com/a' })).toBe(201);
    const { account_id: userId, sandbox_api_key } = setup.created;
    await sell({ userId, key: sandbox_api_key, sandboxKey: sandbox_api_key, wallet: await w.chain.wallet() } as Merchant);
    await setup.runOut();
    await w.sweepAll();
    expect((await setup.row()).status).toBe('expired');
    return setup;
  }
  const sweepLater = async (setup: Setup, afterMs: number) => sweepEndedSetups(ctxAt((await setup.row()).expires_at + afterMs));

  it('a setup is deleted with its account and everything it created after a week', async () => {
    const [setup, other] = [await ended(), await Setup.create(w)];
    await sweepLater(setup, 7 * DAY - 1);
    expect((await left(setup)).slice(0, 5)).toEqual([1, 1, 1, 1, 1]);
    await sweepLater(setup, 7 * DAY);
    expect(await left(setup)).toEqual(Array(10).fill(0));
    expect((await setup.call('status')).status).toBe(404);
    expect((await w.call('GET', '/v1/products', { key: setup.created.sandbox_api_key })).status).toBe(401);
    expect((await left(other)).slice(0, 3)).toEqual([1, 1, 1]);
  });

  it('a setup with sandbox sales and settlements is deleted completely, and nothing returns', async () => {
    let paymentId = '';
    let customer!: Awaited<ReturnType<typeof joinEntitlement>>;
    const setup = await ended(async (agent) => {
      const product = await w.product(agent, { usage_units: 5, access_period_days: 30 });
      ({ payment_id: paymentId } = await w.connect(product, { customer_ref: 'a-buyer' }));
      const entitlementId = entitlementIdOf(agent.userId, false, product.product_id, { customerRef: 'a-buyer' });
      customer = await joinEntitlement(w, agent.userId, false, entitlementId);
      const paid = await w.call('POST', '/v1/testing/pay', { key: agent.key, body: { payment_id: paymentId } });
      expect((await w.confirm(paymentId, paid.body.tx_signature)).body.payment.status).toBe('CONFIRMED');
      await w.deliver();
      await customer.waitForProjection();
    });
    const { account_id: merchantId } = setup.created;
    const held = () =>
      Promise.all(
        ['payments', 'receipts', 'entitlements', 'memberships'].map((table) => count(`${table} WHERE merchant_id = ?`, merchantId)),
      );
    expect([await held(), await count('tx_claims WHERE subject_id = ?', paymentId)]).toEqual([[1, 1, 1, 1], 1]);
    await sweepLater(setup, 8 * DAY);
    expect(await left(setup)).toEqual(Array(10).fill(0));
    expect([await held(), await count('tx_claims WHERE subject_id = ?', paymentId)]).toEqual([[0, 0, 0, 0], 0]);
    expect(await readAlarm(customer.stub)).toBeNull();
  });

  it('a setup with a sandbox subscription is deleted, and nothing is collected any longer', async () => {
    let subscriptionId = '';
    const setup = await ended(async (agent) => {
      const subscribed = await subscribeRenewing(w, agent, await sellRenewing(w, agent), 'anna');
      subscriptionId = subscribed.authorization_id;
    });
    const { account_id: merchantId } = setup.created;
    const countIn = (tables: string[]) => Promise.all(tables.map((table) => count(`${table} WHERE merchant_id = ?`, merchantId)));
    const held = async () => [
      ...(await countIn(['subscription_authorizations', 'subscription_plans'])),
      await count('subscription_collections WHERE authorization_id = ?', subscriptionId),
    ];
    const onChain = () => countIn(['sandbox_accounts', 'sandbox_transactions']);
    expect(Math.min(...(await held()), ...(await onChain()))).toBeGreaterThan(0);
    await sweepLater(setup, 8 * DAY);
    expect(await left(setup)).toEqual(Array(10).fill(0));
    expect(await held()).toEqual([0, 0, 0]);
    for (const rule of ['sandboxAccounts', 'sandboxTransactions'] as const) await sweepOf(rule)(ctxAt(Date.now() + 91 * DAY));
    expect(await onChain()).toEqual([0, 0]);
  });

  it('a setup with many sandbox payments is deleted in several rounds', async () => {
    const setup = await ended(async (agent) => {
      const { payment_id } = await w.connect(await w.product(agent));
      await multiply(w.env.DB, 'payments', 'id', payment_id, 450, { id: "'test-' || i", nonce: "'test-' || i", reference: "'test-' || i" });
    });
    expect(await count('payments WHERE merchant_id = ?', setup.created.account_id)).toBe(451);
    await sweepLater(setup, 8 * DAY);
    expect(await left(setup)).toEqual(Array(10).fill(0));
  });

  it('a setup with a live payment stays and is not checked again', async () => {
    const setup = await ended();
    const buyer: Merchant = await w.merchant();
    const { payment_id } = await w.connect(await w.product(buyer));
    await w.env.DB.prepare('UPDATE payments SET merchant_id = ? WHERE id = ?').bind(setup.created.account_id, payment_id).run();
    await sweepLater(setup, 8 * DAY);
    expect((await left(setup)).slice(0, 3)).toEqual([1, 1, 1]);
    expect((await setup.row()).is_retained).toBe(1);
  });

  it('a setup that received a payment during the sweep stays complete, and others are deleted', async () => {
    const [setup, other] = [await ended(), await ended()];
    const { payment_id } = await w.connect(await w.product(await w.merchant()));
    const paid = () =>
      w.env.DB.prepare('UPDATE payments SET merchant_id = ? WHERE id = ?').bind(setup.created.account_id, payment_id).run();
    const now = (await other.row()).expires_at + 8 * DAY;
    await sweepEndedSetups(newCtx(withRival(w.env, paid), { requestId: 'req_rival', now, defer: () => {} }));
    expect((await left(setup)).slice(0, 5)).toEqual([1, 1, 1, 1, 1]);
    expect(await left(other)).toEqual(Array(10).fill(0));
    await sweepEndedSetups(ctxAt(now));
    expect((await setup.row()).is_retained).toBe(1);
  });

  it('a setup with many events is deleted in several statements', async () => {
    const setup = await ended();
    await w.env.DB.prepare(
      `INSERT INTO acts (id, merchant_id, livemode, types, body, is_personal, request_id, created_at, fanned_out_at)
        WITH RECURSIVE rows(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM rows WHERE n < 4100)
        SELECT printf('evt_0000000000m%014d', n), ?, 0, '', unhex('00' || hex('[]')), 0, 'req', 1, 1 FROM rows`,
    )
      .bind(setup.created.account_id)
      .run();
    const [{ id: endpointId }] = (
      await w.env.DB.prepare('SELECT id FROM webhook_endpoints WHERE merchant_id = ?').bind(setup.created.account_id).all<{ id: string }>()
    ).results as [{ id: string }];
    // A delivery to a broken endpoint would stay open.
    await w.env.DB.prepare(
      `INSERT INTO webhook_deliveries (merchant_id, livemode, endpoint_id, id, copy, event_id, event_type, status, attempt, max_attempts, lease_until, created_at)
        VALUES (?, 0, ?, 1, 0, 'evt-1', 'payout.changed', 'retrying', 1, 4, 0, 1)`,
    )
      .bind(setup.created.account_id, endpointId)
      .run();
    const { env, readings } = withRowCount(w.env);
    const now = (await setup.row()).expires_at + 7 * DAY;
    const sweep = () => sweepEndedSetups(newCtx(env, { requestId: 'req_story', now, defer: () => {} }));
    for (let round = 0; (await sweep()).end !== 'empty'; round++) expect(round).toBeLessThan(3);
    expect(await left(setup)).toEqual(Array(10).fill(0));
    const steps = readings.filter(({ sql }) => /delete from "?acts/i.test(sql));
    expect(steps).toHaveLength(5);
    expect(Math.max(...steps.map(({ rows }) => rows)), worstOf(steps)).toBeLessThan(5000);
  });
});
