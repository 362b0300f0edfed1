import { beforeAll, describe, expect, it, vi } from 'vitest';
import { fillTables } from '../world/crowd.ts';
import { type Row, tablesOf } from '../world/database-dump.ts';
import { exampleOf, nameOf, paramsOf, pathOf, schemaOfBody, type Target, takes, targets } from '../world/document.ts';
import { testEnv } from '../world/env.ts';
import { WEBHOOK_SECRET } from '../world/mail.ts';
import { callTesting, RENEWING_NAMES, runScenario } from '../world/sandbox.ts';
import { type Belongings, openTenant, type Tenant } from '../world/tenant.ts';
import { World } from '../world/world.ts';

/** Routes that ask for no credential serve strangers, whatever is shown: here they are tried with what is the sandbox's own. */
const isForStrangers = ({ operation }: Target): boolean => operation.security === undefined || !takes(operation, 'apiKey');
/** What a person or a stranger begins anew belongs to no mode; and how the service itself is, it tells everybody. */
const isOfNoMode = ({ path }: Target): boolean =>
  /^\/v1\/(?:auth|account\/account|access\/agent-bootstrap|access\/rails$|health$)|^\/health$/.test(path);

/** Tables that say which merchant and mode a row belongs to, and by which columns. */
const ownerOf = (row: Row) => row.merchant_id ?? row.account_id;
/** Rows of each table that are live and Ada's: more than any of them has states. */
const LIVE_ROWS = 12;
/** What any request leaves behind, of whatever mode: counts, kept answers, and what is due. */
const HOUSEKEEPING = ['receipt_words', 'idempotency_keys', 'sweeps', 'guard', 'metrics', 'operations', 'chain_looks'];

const SCENARIOS = [
  ...['payment_confirmed', 'payment_late', 'payment_underpaid', 'payment_refunded', 'payment_duplicate_signature', 'membership_renewed'],
  ...['membership_grace_expired', 'delivery_failed_then_retried', 'entitlement_exhausted', 'x402_settled', 'x402_duplicate'],
  ...['metered_session_full', 'metered_voucher_replay', 'support_ticket_cycle', 'webhook_duplicate', ...RENEWING_NAMES],
];

describe('a sandbox key, on every route of the document', () => {
  const w = new World({
    ALLOW_INSECURE_WEBHOOKS: 'true',
    RPC_WEBHOOK_SECRET: 'the-secret-of-the-chain-provider',
    RESEND_WEBHOOK_SECRET: WEBHOOK_SECRET,
  });
  let ada: Tenant;
  let eve: Tenant;
  /** What was asked of the world outside, but for the merchant's own sandbox endpoint. */
  const asked: string[] = [];
  let before: Map<string, Row[]>;
  let held: unknown;

  /** Every row that is not of Ada's sandbox, by table. */
  async function outsideRows(): Promise<Map<string, Row[]>> {
    const tables = (await tablesOf(testEnv.DB)).filter((name) => !HOUSEKEEPING.includes(name));
    const isOutside = (row: Row) =>
      ('livemode' in row && row.livemode !== 0) || (ownerOf(row) ?? ada.merchant.userId) !== ada.merchant.userId;
    const isTheirs = (row: Row) => 'livemode' in row || ownerOf(row) !== undefined;
    const read = async (name: string) => (await testEnv.DB.prepare(`SELECT * FROM ${name}`).all<Row>()).results;
    const kept = async (name: string) => [name, (await read(name)).filter((row) => isTheirs(row) && isOutside(row))] as const;
    return new Map(await Promise.all(tables.map(kept)));
  }

  /** Answers of the live objects, and of the live figures. */
  const readHeld = async () => {
    const { key } = ada.merchant;
    const read = (path: string) => w.call('GET', path, { key });
    const entitlement = await read(`/v1/access/entitlements/${ada.live.entitlement_id}`);
    const figures = await w.call('GET', '/v1/account/summary', { key: ada.merchant.token });
    return { units: [entitlement.status, entitlement.body], figures: [figures.status, { ...figures.body, as_of: null }] };
  };

  const isOwnEndpoint = async (url: string) =>
    (await testEnv.DB.prepare('SELECT 1 FROM webhook_endpoints WHERE url = ? AND livemode = 0 AND merchant_id = ?')
      .bind(url, ada.merchant.userId)
      .first()) !== null;

  beforeAll(async () => {
    [ada, eve] = [await openTenant(w, 'ada'), await openTenant(w, 'eve')];
    // What can only be had by being paid: so that routes which take these ids have a sandbox one.
    const { payment_id } = await w.connect({ slug: ada.sandbox.slug! }, { customer_ref: 'a-buyer' });
    const paid = await callTesting(w, ada.merchant, 'POST', 'pay', { payment_id });
    const { body } = await w.confirm(payment_id, paid.body.tx_signature);
    const sold = { product_id: ada.sandbox.product_id, customer: { customer_ref: 'an-agent' } };
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const denied = await w.call('POST', '/v1/access/entitlements/consume', { key: ada.merchant.sandboxKey, body: sold, headers });
    const agent = await callTesting(w, ada.merchant, 'POST', 'pay', { payment_required: denied.headers.get('PAYMENT-REQUIRED') });
    Object.assign(ada.sandbox, {
      payment_id,
      receipt_id: body.receipt_id,
      membership_id: body.membership_id,
      tx_signature: paid.body.tx_signature,
      tx_sig: paid.body.tx_signature,
      payment_signature: agent.body.payment_signature,
      wallet_address: paid.body.payer_wallet,
    });
    // Of every other kind, and in every state: payments refunded and settled, subscriptions, metered sessions with their channels.
    await fillTables(testEnv.DB, { to: LIVE_ROWS, merchants: [ada.merchant.userId], products: [ada.live.product_id!] });
    await testEnv.DB.prepare("DELETE FROM sandbox_sessions WHERE id LIKE 'sandbox_sessions-%'").run();
    // What live mode has left in the queues is done before, and by itself.
    for (let i = 0; i < 4; i++) await runAll();
    before = await outsideRows();
    held = await readHeld();
    await w.chain.call('local_resetCalls');
    const network = globalThis.fetch;
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (...request) => {
      const { url } = new Request(...request);
      // Webhooks go to the endpoints that the merchant made for its sandbox, and nowhere else.
      if (await isOwnEndpoint(url)) return url.includes('example.com') ? new Response() : network(...request);
      asked.push(url);
      throw new Error(`the sandbox asked ${url}`);
    });
    return () => vi.restoreAllMocks();
  });

  const send = async (target: Target, named: Belongings) => {
    const schema = schemaOfBody(target.operation);
    const isKeyed = target.operation.parameters?.some(({ name }) => name === 'Idempotency-Key');
    return w.call(target.method, pathOf(target, named), {
      key: ada.merchant.sandboxKey,
      ...(isKeyed ? { headers: { 'Idempotency-Key': crypto.randomUUID() } } : {}),
      ...(schema ? { raw: JSON.stringify(exampleOf(schema, named)) } : {}),
    });
  };
  const runAll = async () => {
    await w.deliver();
    await w.attempt();
  };

  it.each(targets.filter((target) => !isOfNoMode(target)).map((target) => [nameOf(target), target] as const))(
    '%s asks nothing of the world outside, and finds no row but the sandbox’s own by any id',
    async (name, target) => {
      const isPublic = isForStrangers(target);
      const whose = isPublic ? [ada.sandbox] : [ada.live, eve.live, eve.sandbox, ada.sandbox];
      for (const named of whose) {
        const { status, body } = await send(target, named);
        expect(status, `${name}: ${JSON.stringify(body)}`).toBeLessThan(500);
        const isAddressed = Object.values(paramsOf(target, named)).some((id) => Object.values(named).includes(id));
        if (isAddressed && named !== ada.sandbox) expect(status, `${name}: ${JSON.stringify(body)}`).toBeGreaterThanOrEqual(400);
        await runAll();
        expect(asked.splice(0), name).toEqual([]);
      }
    },
  );

  it('each scenario completes beside live rows of every kind, and asks nothing of the world outside', async () => {
    const sessions = await Promise.all(SCENARIOS.map((scenario) => runScenario(w, ada.merchant, scenario)));
    expect(sessions.map(({ scenario, status }) => [scenario, status])).toEqual(SCENARIOS.map((scenario) => [scenario, 'completed']));
    await w.deliver([{ kind: 'sweepSandbox', merchantId: ada.merchant.userId }]);
    await runAll();
    expect(asked.splice(0)).toEqual([]);
  }, 180_000);

  it('after all of that has changed no row of live mode and none of another account, and no node was asked', async () => {
    await runAll();
    expect(asked).toEqual([]);
    vi.restoreAllMocks();
    expect(await w.chain.call('local_calls')).toEqual({});
    const after = await outsideRows();
    for (const [table, rows] of before) expect([table, after.get(table)]).toEqual([table, rows]);
    const kinds = ['payments', 'refunds', 'settlements', 'memberships', 'subscription_authorizations', 'metered_sessions', 'entitlements'];
    for (const table of [...kinds, 'webhook_endpoints', 'unmatched_payments', 'events', 'figure_days', 'tx_claims'])
      expect([table, before.get(table)!.length > 0]).toEqual([table, true]);
    expect(await readHeld()).toEqual(held);
  });
});
