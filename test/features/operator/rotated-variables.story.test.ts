import type { KeyPairSigner } from '@solana/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base64url } from '#core/encoding.ts';
import { findTrouble } from '#features/operator/health-checks.ts';
import { feePayersOf } from '#platform/chain/fee-payer.ts';
import { listNamedKeys } from '#platform/chain/fee-payer-readings.store.ts';
import { checkedConfig, type Env, newCtx } from '#platform/context.ts';
import { settlements } from '#platform/db/tables/settlements.ts';
import { type VariableName, variables } from '#platform/variables.ts';
import { CHANNEL_KEYS, fundChannels, LiveShop, operatorOf } from '../../support/chain/live-channel.ts';
import { COLLECTING_KEYS, collectorOf, SubscriptionSeller } from '../../support/models/subscription-life.ts';
import { feePayerOf, openShop, restateSettlement } from '../../support/people/agent.ts';
import { endSkips } from '../../support/runner/clock.ts';
import { TestProcessor } from '../../support/servers/processor.ts';
import { World } from '../../support/world.ts';

const OPERATOR_SECRET = 'the secret of an operator in a test';
const w = new World({ CHANNEL_KEYS, SUBSCRIPTION_KEYS: COLLECTING_KEYS, OPERATOR_SECRET });
const first = async (query: string) => w.env.DB.prepare(query).first<Record<string, unknown>>();

const openRows = async () => ({
  card: await first('SELECT subscription_status, subscription_plan, sold_plans, trouble FROM billing_customers'),
  plan: await first('SELECT processor_plans FROM accounts WHERE id = (SELECT account_id FROM billing_customers)'),
  subscription: await first("SELECT status, ended_at, puller FROM subscription_authorizations WHERE status = 'active'"),
  channel: await first("SELECT status, ended_at, operator FROM metered_sessions WHERE status = 'open'"),
  payment: await first("SELECT status, fee_payer FROM settlements WHERE status = 'pending'"),
});

const TAKEN: Partial<Record<VariableName, string[]>> = {
  FEE_PAYER_KEYS: ['fee_payer_missing'],
  CHANNEL_KEYS: ['operator_missing'],
  SUBSCRIPTION_KEYS: ['puller_missing'],
  PROCESSOR_API_KEY: ['processor_missing'],
};
/** A replaced key pays from another address, which holds no lamports yet. */
const REPLACED: Partial<Record<VariableName, string[]>> = {
  FEE_PAYER_KEYS: ['fee_payer_missing', 'fee_payer_low'],
  CHANNEL_KEYS: ['operator_missing', 'operator_low'],
  SUBSCRIPTION_KEYS: ['puller_missing', 'puller_low'],
  RPC_URL: ['node_1'],
  RPC_URLS: ['node_1'],
};

const OTHERS = [
  base64url.encode(new Uint8Array(32).fill(111)),
  'http://127.0.0.1:9/',
  'https://other.example/',
  '4711',
  '7',
  '1',
  'price_of_today',
  'a value that is long enough for a secret',
  'off',
  'false',
  'resend',
];
const ADDRESS = 'GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ';
const otherValue = (name: VariableName, schema: (typeof variables)[number][1]['schema']): string | undefined =>
  [ADDRESS, ...(name === 'PROCESSOR_API_KEY' ? ['sk_live_refused'] : []), ...OTHERS].find(
    (value) => value !== w.env[name] && schema.safeParse(value).success,
  );

/** Variables that select the chain: after a change no earlier payment can be read. */
const OF_THE_CHAIN = new Set<VariableName>(['NETWORK', 'RPC_URL', 'RPC_URLS']);

const SWEPT = ['cardPlans', 'closingChannels', 'activeChannels', 'collections', 'subscriptions', 'feePayer'];

describe('replaced variables with open sales of every kind', () => {
  let shop: LiveShop;
  let before: Awaited<ReturnType<typeof openRows>>;
  let checkout: { slug: string };
  let buyer: KeyPairSigner;
  beforeAll(async () => {
    await fundChannels(w);
    const life = await (await SubscriptionSeller.open(w)).subscribe();
    expect(life).toBeDefined();
    shop = await LiveShop.make(w, { body: { idle_timeout_seconds: 86_400 } });
    expect((await shop.authorize(await shop.pull({ deposit: 1_000_000n }))).status).toBe(200);
    await shop.project();
    const agents = await openShop(w);
    const { body } = await agents.settle(await agents.agent.pay((await agents.consume()).headers.get('PAYMENT-REQUIRED')!));
    const settlement = await restateSettlement(w, body.payment_id);
    const feePayer = feePayersOf(checkedConfig(w.env).config!).current;
    await w.db.insert(settlements).values({ ...settlement, status: 'pending', feePayer, nextCheckAt: Date.now() + 1e9 });
    const stripe = new TestProcessor(w);
    for (const event of (await stripe.buy(await w.merchant('free'), 'growth')).events) await stripe.deliver(event);
    before = await openRows();
    checkout = await w.product(await w.merchant());
    buyer = await w.chain.wallet();
  });
  afterAll(endSkips);

  const troubles = async (env: Env) =>
    (await findTrouble(newCtx(env, { requestId: 'req_trouble', defer: () => {} })))
      .map(({ name }) => name)
      // The test sets next_check_at to 1970, so work that waits for a missing key is late.
      .filter((name) => !name.startsWith('late_'));
  const check = async (env: Env, expected: string[]) => {
    if (checkedConfig(env).config === null) {
      const { status, body } = await w.call('GET', '/v1/access/rails', { env });
      return expect([status, body.code]).toEqual([503, 'misconfigured']);
    }
    await w.env.DB.batch([
      w.env.DB.prepare('UPDATE billing_customers SET next_read_at = 0'),
      w.env.DB.prepare('UPDATE metered_sessions SET next_check_at = 0 WHERE next_check_at IS NOT NULL'),
      w.env.DB.prepare('UPDATE subscription_authorizations SET next_check_at = 0 WHERE next_check_at IS NOT NULL'),
    ]);
    for (const sweep of SWEPT) await w.sweepAlone(sweep, env);
    expect(await openRows()).toEqual(before);
    expect((await troubles(env)).sort()).toEqual(expected.toSorted());
  };

  it('one query lists the addresses and keys that open rows need', async () => {
    expect(await listNamedKeys(newCtx(w.env, { requestId: 'req_keys', defer: () => {} }).databases[0].db)).toEqual([
      { variable: 'CHANNEL_KEYS', address: operatorOf(w) },
      { variable: 'FEE_PAYER_KEYS', address: feePayerOf(w) },
      { variable: 'SUBSCRIPTION_KEYS', address: collectorOf(w) },
    ]);
    expect(Object.values(before).every((row) => row !== null)).toBe(true);
    await check(w.env, []);
  });

  it.each(variables.map(([name, { schema }]) => ({ name, schema })))(
    '$name can be removed or replaced: open sales are unchanged, and health checks name a key that they need',
    async ({ name, schema }) => {
      await check({ ...w.env, [name]: '' } as Env, TAKEN[name] ?? []);
      const other = otherValue(name, schema);
      if (other !== undefined) await check({ ...w.env, [name]: other } as Env, REPLACED[name] ?? []);
    },
  );

  const readTerms = (paymentId: string) =>
    w.env.DB.prepare('SELECT price_amount, fee_amount, fee_wallet, recipient_wallet, mint, terms FROM payments WHERE id = ?')
      .bind(paymentId)
      .first();

  it.each(variables.map(([name, { schema }]) => ({ name, schema })).filter(({ name }) => !OF_THE_CHAIN.has(name)))(
    '$name can be replaced between checkout and confirmation: the payment is recorded with the terms of the checkout',
    async ({ name, schema }) => {
      const other = otherValue(name, schema);
      const env = { ...w.env, [name]: other } as Env;
      if (other === undefined || checkedConfig(env).config === null) return;
      const bill = await w.connect(checkout, { customer_ref: name });
      const agreed = await readTerms(bill.payment_id);
      const { body } = await w.confirm(bill.payment_id, await w.chain.pay(buyer, bill), { env });
      expect(body.payment?.status, JSON.stringify(body)).toBe('CONFIRMED');
      expect(await readTerms(bill.payment_id)).toEqual(agreed);
    },
  );

  it.each(['FEE_PAYER_KEYS', 'CHANNEL_KEYS', 'SUBSCRIPTION_KEYS'] as const)(
    '%s: health, readiness and metrics report a missing key until the old key is back in the ring',
    async (name) => {
      const fresh = base64url.encode(new Uint8Array(32).fill(111));
      const merchant = await w.merchant('free');
      for (const [ring, lacking] of [
        [fresh, true],
        [`${fresh},${w.env[name]}`, false],
      ] as const) {
        const env = { ...w.env, [name]: ring } as Env;
        const health = (await w.call('GET', '/health', { env })).body;
        expect([health.checks.keys, health.not_configured.keys]).toEqual(lacking ? ['failing', [name]] : ['ok', undefined]);
        const readiness = (await w.call('GET', '/v1/access/setup/readiness', { key: merchant.key, env })).body;
        expect(readiness.not_configured.keys).toEqual(lacking ? [name] : undefined);
        const { body } = await w.call('GET', '/v1/operator/metrics', { headers: { 'X-Svc-Operator-Secret': OPERATOR_SECRET }, env });
        expect(String(body)).toContain(`svc_keys_missing{variable="${name}"} ${lacking ? 1 : 0}\n`);
        expect(String(body)).toMatch(/^svc_key_lamports\{address="\w+"\} \d+$/m);
      }
    },
  );

  it.each([
    ['replaced', base64url.encode(new Uint8Array(32).fill(111))],
    ['taken out', ''],
  ])('a channel with an operator key that was %s accepts its close, and closes once the key is back', async (_, ring) => {
    const env = { ...w.env, CHANNEL_KEYS: ring } as Env;
    const close = (by: Env) =>
      w.call('POST', `${shop.path}/close`, { key: shop.key, headers: { 'Idempotency-Key': crypto.randomUUID() }, env: by });
    const waiting = await close(env);
    expect([waiting.status, waiting.body.status]).toEqual([200, 'closing']);
    if (ring !== '') return;
    const closed = await close(w.env);
    expect([closed.status, closed.body.status]).toEqual([200, 'closed']);
  });
});
