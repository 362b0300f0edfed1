import { beforeAll, describe, expect, it, vi } from 'vitest';
import { newMeteredSessionId } from '#core/ids.ts';
import { SCENARIO_NAMES } from '#features/sandbox/scenarios/table.ts';
import { USDC } from '../support/chain/chain.ts';
import {
  exampleOf,
  nameOf,
  paramsOf,
  pathOf,
  reads,
  schemaOfBody,
  steadyText,
  type Target,
  takes,
  targets,
} from '../support/clients/document.ts';
import { ChannelBuyer } from '../support/clients/metered.ts';
import { callTesting, runScenario } from '../support/clients/sandbox.ts';
import { listTables, type Row } from '../support/fixtures/database-dump.ts';
import { fillTables } from '../support/fixtures/load-generator.ts';
import { setOrigins, write } from '../support/people/agent.ts';
import { type Belongings, openTenant, type Tenant } from '../support/people/tenant.ts';
import { testEnv } from '../support/runner/env.ts';
import { WEBHOOK_SECRET } from '../support/servers/mail.ts';
import { World } from '../support/world.ts';

/** Routes without a credential ignore any that is sent, so they are tested with sandbox objects. */
const isForStrangers = ({ operation }: Target): boolean => operation.security === undefined || !takes(operation, 'apiKey');
/** Routes without a mode: starting an account, signing in as a buyer, and the public state of the service. */
const isOfNoMode = ({ path }: Target): boolean =>
  /^\/v1\/(?:auth|account\/account|access\/agent-bootstrap|access\/rails$|buyer\/(?:wallet|email-link)|health$)|^\/health$/.test(path);

/** Tables that store merchant and mode of a row, and their columns. */
const ownerOf = (row: Row) => row.merchant_id ?? row.account_id;
const SIDE_BY_SIDE = 5;
const SCENARIO_GROUPS = Array.from({ length: Math.ceil(SCENARIO_NAMES.length / SIDE_BY_SIDE) }, (_, n) =>
  SCENARIO_NAMES.slice(n * SIDE_BY_SIDE, (n + 1) * SIDE_BY_SIDE),
);
const LIVE_ROWS = 12;
/** Tables that any request of any mode changes: counters, stored answers and due times. */
const HOUSEKEEPING = ['idempotency_keys', 'sweeps', 'guard', 'metrics', 'operations', 'chain_looks'];

const HELD = /\/entitlements\/\{entitlement_id\}$|\/account\/(?:summary|analytics)/;

describe('sandbox key on every documented route', () => {
  const w = new World({
    ALLOW_INSECURE_WEBHOOKS: 'true',
    RPC_WEBHOOK_SECRET: 'the-secret-of-the-chain-provider',
    RESEND_WEBHOOK_SECRET: WEBHOOK_SECRET,
  });
  let ada: Tenant;
  let eve: Tenant;
  const asked: string[] = [];
  let before: Map<string, Row[]>;
  let held: Map<string, string>;
  const opened = Date.now();
  const served = new Set<string>();

  async function outsideRows(): Promise<Map<string, Row[]>> {
    const tables = (await listTables(testEnv.DB)).filter((name) => !HOUSEKEEPING.includes(name));
    const isOutside = (row: Row) =>
      ('livemode' in row && row.livemode !== 0) || (ownerOf(row) ?? ada.merchant.userId) !== ada.merchant.userId;
    const isTheirs = (row: Row) => 'livemode' in row || ownerOf(row) !== undefined;
    const read = async (name: string) => (await testEnv.DB.prepare(`SELECT * FROM ${name}`).all<Row>()).results;
    const readOutside = async (name: string) => [name, (await read(name)).filter((row) => isTheirs(row) && isOutside(row))] as const;
    return new Map(await Promise.all(tables.map(readOutside)));
  }

  /** Opens a live metered session of Ada, so that sandbox calls can name its id and channel. */
  async function openLiveObject(): Promise<void> {
    const { channelId, authorizedSigner } = new ChannelBuyer();
    const sessionId = newMeteredSessionId(Date.now(), ada.merchant.userId);
    const called = { now: Date.now(), requestId: 'req_live_object' };
    const terms = {
      ...{ sessionId, merchantId: ada.merchant.userId, livemode: true, productId: ada.live.product_id!, customer: null },
      ...{
        cap: '1000000',
        minVoucherDelta: '1',
        unitPrice: null,
        idleSeconds: 86_400,
        gracePeriodSeconds: 900,
        generation: 'older' as const,
      },
      ...{ operator: ada.merchant.wallet.address, merchantWallet: ada.merchant.wallet.address, mint: USDC },
      ...{ expiresAt: called.now, createdAt: called.now },
    };
    const object = testEnv.METERED_SESSION.getByName(sessionId);
    const bound = { channelId, payer: null, authorizedSigner };
    await object.open({ ...bound, terms, deposit: 1_000_000n, settled: 0n, challengeId: null, ...called });
    // Disables the next chain read of the object.
    await object.checkAgain({ afterMs: null });
    await testEnv.METERED_SESSION.getByName(`channel:live:${channelId}`).claimChannel(sessionId);
    Object.assign(ada.live, { session_id: sessionId, channel_id: channelId });
    Object.assign(ada.sandbox, { channel_id: channelId });
  }

  async function readHeld(): Promise<Map<string, string>> {
    const answers = new Map<string, string>();
    const session = await testEnv.METERED_SESSION.getByName(ada.live.session_id!).read({ now: opened });
    const owner = await testEnv.METERED_SESSION.getByName(`channel:live:${ada.live.channel_id}`).findSession();
    answers.set('metered session', JSON.stringify({ session, owner }));
    for (const target of reads.filter(({ path }) => HELD.test(path))) {
      const key = takes(target.operation, 'apiKey') ? ada.merchant.key : ada.merchant.token;
      const { status, body } = await w.call(target.method, pathOf(target, ada.live), { key });
      answers.set(nameOf(target), steadyText(status, body));
    }
    return answers;
  }

  const isOwnEndpoint = async (url: string) =>
    (await testEnv.DB.prepare('SELECT 1 FROM webhook_endpoints WHERE url = ? AND livemode = 0 AND merchant_id = ?')
      .bind(url, ada.merchant.userId)
      .first()) !== null;

  beforeAll(async () => {
    [ada, eve] = [await openTenant(w, 'ada'), await openTenant(w, 'eve')];
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
    await fillTables(testEnv.DB, {
      to: LIVE_ROWS,
      merchants: [ada.merchant.userId],
      products: [ada.live.product_id!],
      values: { receipts: { seq: '1000 + n', anchor_seq: '999 + n' } },
    });
    await testEnv.DB.prepare("DELETE FROM sandbox_sessions WHERE id LIKE 'sandbox_sessions-%'").run();
    await openLiveObject();
    for (let i = 0; i < 4; i++) await runAll();
    before = await outsideRows();
    held = await readHeld();
    await w.chain.call('local_resetCalls');
    const network = globalThis.fetch;
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (...request) => {
      const { url } = new Request(...request);
      // Webhooks may go only to the merchant's sandbox endpoints.
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
    '%s calls no external server and finds no row outside the sandbox by any id',
    async (name, target) => {
      const isPublic = isForStrangers(target);
      const belongings = isPublic ? [ada.sandbox] : [ada.live, eve.live, eve.sandbox, ada.sandbox];
      for (const named of belongings) {
        const { status, body } = await send(target, named);
        expect(status, `${name}: ${JSON.stringify(body)}`).toBeLessThan(500);
        if (status < 300) served.add(name);
        const isAddressed = Object.values(paramsOf(target, named)).some((id) => Object.values(named).includes(id));
        if (isAddressed && named !== ada.sandbox) expect(status, `${name}: ${JSON.stringify(body)}`).toBeGreaterThanOrEqual(400);
        await runAll();
        expect(asked.splice(0), name).toEqual([]);
      }
    },
  );

  // In small groups, so that steps interleave, and a job's own deadline is no matter of the machine.
  it.each(SCENARIO_GROUPS)('scenarios complete next to live rows of every kind without external calls: %s, …', async (...names) => {
    const sessions = await Promise.all(names.map((scenario) => runScenario(w, ada.merchant, scenario)));
    expect(sessions.map(({ scenario, status }) => [scenario, status])).toEqual(names.map((scenario) => [scenario, 'completed']));
    await w.deliver([{ kind: 'sweepSandbox', merchantId: ada.merchant.userId }]);
    await runAll();
    expect(asked.splice(0)).toEqual([]);
  });

  it('every sandbox-only route answers 200 at least once', async () => {
    const { payment_id } = await w.connect({ slug: ada.sandbox.slug! });
    const [{ session_id }] = (await callTesting(w, ada.merchant, 'GET', 'sessions')).body.items;
    const own = { ...ada.merchant, key: ada.merchant.sandboxKey };
    const club = await w.product(own, { requires_identity: 'telegram' });
    const { identity_session_id } = (await w.call('POST', `/v1/products/p/${club.slug}/identity`)).body;
    const named = { ...ada.sandbox, payment_id, session_id, identity_session_id, provider_user_id: '4711' };
    await setOrigins(w, own.key, ['https://shop.example']);
    const packs = await w.product(own, { price: { asset: 'USDC', amount: '0.01' }, usage_units: 5 });
    const stranger = { product_id: packs.product_id, customer: { customer_ref: 'a-stranger' } };
    const { headers } = await write(w, own, 'entitlements/consume', stranger);
    const offered = { ...named, payment_required: headers.get('PAYMENT-REQUIRED')! };
    const ofSandbox = targets.filter(({ path }) => path.startsWith('/v1/testing/'));
    for (const target of ofSandbox)
      if (!served.has(nameOf(target))) {
        const { status } = await send(target, nameOf(target) === 'POST /v1/testing/sign-in' ? offered : named);
        expect([nameOf(target), status]).toEqual([nameOf(target), 200]);
      }
  });

  it('live rows, rows of other accounts and objects are unchanged afterwards, and no node was called', async () => {
    await runAll();
    expect(asked).toEqual([]);
    vi.restoreAllMocks();
    expect(await w.chain.call('local_calls')).toEqual({});
    const after = await outsideRows();
    for (const [table, rows] of before) expect([table, after.get(table)]).toEqual([table, rows]);
    const kinds = ['payments', 'refunds', 'settlements', 'memberships', 'subscription_authorizations', 'metered_sessions', 'entitlements'];
    for (const table of [...kinds, 'webhook_endpoints', 'unmatched_payments', 'acts', 'analytics_days', 'tx_claims'])
      expect([table, before.get(table)!.length > 0]).toEqual([table, true]);
    expect(held.size).toBeGreaterThan(4);
    expect(JSON.parse(held.get('metered session')!)).toMatchObject({ session: { stage: 'open' }, owner: ada.live.session_id });
    expect(await readHeld()).toEqual(held);
  });
});
