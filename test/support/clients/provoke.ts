import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { vi } from 'vitest';
import { hmacSha256 } from '#core/crypto.ts';
import { base58, hex, utf8 } from '#core/encoding.ts';
import type { ErrorCode } from '#core/errors.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import type { Env } from '#platform/context.ts';
import { NETWORKS } from '#solana/assets.ts';
import { cancelInstruction } from '#solana/programs/subscriptions/instructions.ts';
import worker from '../../../worker/index.ts';
import { withFaults } from '../faults/faults.ts';
import { collectingWorld, type SubscriptionLife, SubscriptionSeller } from '../models/subscription-life.ts';
import { buy, newSetup, openTreasury } from '../people/activation.ts';
import { openShop, sellToAgents, stall } from '../people/agent.ts';
import { addApp, logInAgain } from '../people/factors.ts';
import { acceptInvitation, inviteTo } from '../people/team.ts';
import { testEnv } from '../runner/env.ts';
import { MailWorld, verifyAddress } from '../servers/mail.ts';
import { type Answer, type CallOptions, type Merchant, World } from '../world.ts';
import { MeteredShop } from './metered.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

const RPC_SECRET = 'the chain provider’s shared secret';
const OPERATOR_SECRET = 'the secret of an operator in a test';
const OFFER = { name: 'Weather', price: { asset: 'USDC', amount: '5' } };
const NOWHERE = '01900000-0000-7000-8000-000000000000';

export async function openScene() {
  const w = new World({ RPC_WEBHOOK_SECRET: RPC_SECRET, OPERATOR_SECRET });
  // Runs first, because an isolate that has seen its migrations does not check again.
  await testEnv.DB.prepare('ALTER TABLE api_keys RENAME COLUMN key_prefix TO former').run();
  const unready = await w.call('GET', '/v1/account/me');
  await testEnv.DB.prepare('ALTER TABLE api_keys RENAME COLUMN former TO key_prefix').run();
  // The schema check runs again a few seconds after a failed one.
  await later(5 * SECOND, () => w.call('GET', '/v1/account/me'));
  const ada = await w.merchant();
  return { w, ada, product: await w.product(ada), unready };
}
type Scene = Awaited<ReturnType<typeof openScene>>;

const create = ({ w, ada }: Scene, body: object, options: CallOptions = {}) =>
  w.call('POST', '/v1/products', { key: ada.key, body: { ...OFFER, ...body }, ...options });
const newApp = ({ w, ada }: Scene, key: string | null, name = 'App') =>
  w.call('POST', '/v1/access/apps', { key: ada.key, body: { name }, headers: key === null ? {} : { 'Idempotency-Key': key } });
const logIn = (w: World, { email }: Merchant, password = 'correct horse battery') =>
  w.call('POST', '/v1/auth/login', { body: { email, password } });
const connect = ({ w, product }: Scene, body: object, options: CallOptions = {}) =>
  w.call('POST', `/v1/products/p/${product.slug}/connect`, { body, ...options });
const newKey = ({ w }: Scene, { token }: Merchant, body: object) =>
  w.call('POST', '/v1/keys', { key: token, body: { name: 'k', ...body } });
const fromChain = ({ w }: Scene, raw: string, secret = RPC_SECRET) =>
  w.call('POST', '/v1/products/webhook/rpc', { raw, headers: { 'x-rpc-signature': hex.encode(hmacSha256(utf8(secret), utf8(raw))) } });

async function later<T>(ms: number, ask: () => Promise<T>): Promise<T> {
  const now = Date.now();
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now + ms);
  return ask().finally(() => clock.mockRestore());
}

async function toTelegram(scene: Scene) {
  const product = await scene.w.product(scene.ada, { requires_identity: 'telegram' });
  const opened = await scene.w.call('POST', `/v1/products/p/${product.slug}/identity`);
  return { of: { ...scene, product }, session: opened.body.identity_session_id as string };
}

async function failedPayment({ w, product }: Scene): Promise<string> {
  const poor = await w.chain.wallet(1n);
  const payment = await w.connect(product, { wallet_address: poor.address });
  await w.confirm(payment.payment_id, await w.chain.pay(poor, payment, { skipPreflight: true }));
  return payment.payment_id;
}

/** Concurrent changes of one row, of which at least one loses. */
async function lostRace({ w }: Scene): Promise<Answer<Body>> {
  const { key } = await w.merchant();
  for (let round = 1; ; round++) {
    const put = (_: unknown, index: number) =>
      w.call('PUT', '/v1/access/rail-settings/solana_usdc', {
        key,
        body: { enabled: index % 2 === 0 },
        headers: { 'Idempotency-Key': crypto.randomUUID() },
      });
    const lost = (await Promise.all(Array.from({ length: 20 }, put))).find(({ status }) => status !== 200);
    if (lost || round === 10) return lost!;
  }
}

/** Repeats a request while the first is under way and its holder may be alive. */
async function underWay(scene: Scene): Promise<Answer<Body>> {
  const headers = { 'Idempotency-Key': `under-way-${crypto.randomUUID()}` };
  const ask = () => create(scene, {}, { headers });
  await ask();
  const held = 'UPDATE claims SET status = NULL, body = NULL, lease_until = ? WHERE key = ?';
  await testEnv.DB.prepare(held)
    .bind(Date.now() + 30_000, headers['Idempotency-Key'])
    .run();
  return ask();
}

/** Unexpected failure of an object. Bypasses `call`, which fails any test that meets such an answer. */
async function withBug({ w }: Scene): Promise<Answer<Body>> {
  const getByName = () => {
    throw new TypeError('the secret story of svc');
  };
  const execution = createExecutionContext();
  const env = { ...w.env, ADMISSION: { getByName } } as unknown as Env;
  const response = await worker.fetch(new Request('https://svc.test/v1/products/p/x'), env, execution);
  const { status, headers } = response;
  const body = await response.json();
  await waitOnExecutionContext(execution);
  return { status, headers, body };
}

async function unpaid({ w }: Scene): Promise<Answer<Body>> {
  const { merchant, agent } = await openShop(w);
  const timed = stall(w, merchant, await sellToAgents(w, merchant, { usage_units: null, access_period_days: 30 }), agent);
  const customer = { customer_ref: 'late' };
  await timed.grant({ customer, days: 1 });
  return later(2 * 24 * 60 * MINUTE, () => timed.consume({ customer }));
}

/** Subscription checkout with an action of the buyer on chain before the cancel request. */
async function cancelAfter(act: (life: SubscriptionLife) => Promise<unknown>): Promise<Answer<Body>> {
  const seller = await SubscriptionSeller.open(collectingWorld());
  const life = await seller.checkout();
  await act(life);
  return life.cancelIntent();
}

export const PROVOKED: Record<ErrorCode, (scene: Scene) => Promise<Answer<Body>>> = {
  idempotency_key_required: (s) => newApp(s, null),
  idempotency_key_too_long: (s) => newApp(s, 'k'.repeat(256)),
  idempotency_key_invalid: (s) => newApp(s, 'with a space'),
  invalid_rpc_payload: (s) => fromChain(s, '[{"signature":5}]'),
  invalid_product_type: (s) => create(s, { product_type: 'book' }),
  invalid_authorization: ({ w }) => w.call('GET', '/v1/account/me'),
  invalid_credentials: ({ w, ada }) => logIn(w, ada, 'a guess at it'),
  factor_required: async ({ w }) => {
    const merchant = await w.merchant();
    await addApp(w, merchant.token);
    return logInAgain(w, merchant);
  },
  webhook_signature_failed: (s) => fromChain(s, '[]', 'another secret'),
  connector_secret_invalid: ({ w }) =>
    w.call('POST', '/v1/integrations/connectors/telegram/identity', {
      headers: { 'X-Svc-Connector-Secret': 'a guess' },
      body: { identity_session_id: NOWHERE, provider_user_id: '1' },
    }),
  payment_required: async ({ w }) => {
    await openTreasury(w);
    return buy(w, 'starter', { key: (await w.merchant('free')).key });
  },
  account_suspended: async ({ w }) => {
    const merchant = await w.merchant();
    const headers = { 'X-Svc-Operator-Secret': OPERATOR_SECRET };
    await w.call('POST', '/v1/operator/accounts', { headers, body: { account: merchant.email, action: 'suspend' } });
    return w.call('GET', '/v1/products', { key: merchant.key });
  },
  account_deleted: async ({ w }) => {
    const merchant = await w.merchant();
    await w.call('DELETE', '/v1/account/account', { key: merchant.token });
    return logIn(w, merchant);
  },
  admin_requires_staff: (s) => newKey(s, s.ada, { permissions: ['admin'] }),
  entitlement_missing: async ({ w }) => (await openShop(w)).consume(),
  subscription_expired: unpaid,
  handoff_secret_mismatch: ({ w, product }) => w.call('GET', `/v1/products/p/${product.slug}/handoff/${'A'.repeat(80)}`),
  spend_limit_exceeded: async ({ w }) => {
    await openTreasury(w);
    return buy(w, 'growth', { secret: (await newSetup(w, { perPayment: 20_000_000n })).secret });
  },
  not_found: ({ w, ada }) => w.call('GET', `/v1/products/${NOWHERE}`, { key: ada.key }),
  method_not_allowed: ({ w }) => w.call('DELETE', '/v1/auth/login'),
  email_registered: ({ w, ada }) =>
    w.call('POST', '/v1/auth/register', { body: { email: ada.email, password: 'correct horse battery', display_name: 'Eve' } }),
  payment_transaction_conflict: async ({ w, product }) => {
    const { payment } = await w.purchase(product, await w.chain.wallet());
    return w.confirm(payment.payment_id, base58.encode(crypto.getRandomValues(new Uint8Array(64))));
  },
  payment_failed: async (s) => {
    const buyer = await s.w.chain.wallet();
    return s.w.call('POST', `/v1/pay/${await failedPayment(s)}/solana-pay`, { body: { account: buyer.address } });
  },
  ticket_closed: async ({ w, ada }) => {
    const { body } = await w.call('POST', '/v1/support/tickets', { key: ada.key, body: { subject: 'A question', body: 'Is it over?' } });
    await w.call('POST', `/v1/support/tickets/${body.ticket_id}/close`, { key: ada.key });
    return w.call('POST', `/v1/support/tickets/${body.ticket_id}/message`, { key: ada.key, body: { body: 'And now?' } });
  },
  idempotency_in_progress: underWay,
  idempotency_conflict: async (s) => {
    const key = crypto.randomUUID();
    await newApp(s, key);
    return newApp(s, key, 'Another');
  },
  idempotency_race: lostRace,
  setup_not_ready: async (s) => connect({ ...s, product: (await create({ ...s, ada: await s.w.merchant() }, {})).body }, {}),
  duplicate_settlement: async ({ w }) => {
    const shop = await openShop(w);
    const payment = await shop.pay();
    await shop.settle(payment);
    return shop.settle(payment, { customer: { customer_ref: 'somebody-else' } });
  },
  state_conflict: async (s) => {
    await create(s, { slug: 'taken' });
    return create(s, { slug: 'taken' });
  },
  session_expired: async ({ w, product }) => {
    const { payment_id } = await w.connect(product);
    const account = (await w.chain.wallet()).address;
    return later(16 * MINUTE, () => w.call('POST', `/v1/pay/${payment_id}/solana-pay`, { body: { account } }));
  },
  link_expired: async () => {
    const w = new MailWorld();
    const [owner, bob] = [await w.merchant(), await w.merchant()];
    await verifyAddress(w, owner);
    const { token } = await inviteTo(w, owner, bob.email);
    await acceptInvitation(w, bob, token);
    return acceptInvitation(w, bob, token);
  },
  handoff_expired: async (s) => {
    const made = await s.w.call('POST', `/v1/products/${s.product.product_id}/handoffs`, { key: s.ada.key });
    return later(11 * MINUTE, () => connect(s, { handoff_token: made.body.handoff_token }));
  },
  subscription_cancelled: () =>
    cancelAfter(async (life) => {
      await life.sign();
      await life.subscriber.send(cancelInstruction(life.subscriber.route));
    }),
  subscription_requires_reapproval: () => cancelAfter(async () => {}),
  channel_closed: async ({ w }) => {
    const session = await MeteredShop.open(w);
    await session.close();
    return session.authorize(null);
  },
  identity_expired: async (s) => {
    const { of, session } = await toTelegram(s);
    return later(11 * MINUTE, () => connect(of, { identity_session_id: session }));
  },
  payload_too_large: (s) => create(s, { description: 'x'.repeat(65 * 1024) }),
  unsupported_media_type: (s) => create(s, {}, { headers: { 'content-type': 'text/plain' } }),
  validation_error: (s) => create(s, { name: 5 }),
  unknown_field: (s) => create(s, { payoutWallet: 'x' }),
  no_change: ({ w, ada }) =>
    w.call('PATCH', '/v1/account/me/security', { key: ada.token, body: { current_password: 'correct horse battery' } }),
  password_too_short: ({ w }) =>
    w.call('POST', '/v1/auth/register', { body: { email: 'short@example.com', password: 'x', display_name: 'X' } }),
  password_too_common: ({ w }) =>
    w.call('POST', '/v1/auth/register', { body: { email: 'common@example.com', password: 'Password1', display_name: 'X' } }),
  invalid_permissions: (s) => newKey(s, s.ada, { permissions: ['everything'] }),
  identity_verification_required: async (s) => {
    const buyer = await s.w.chain.wallet();
    const payment = await s.w.connect(s.product, { wallet_address: buyer.address });
    const ask = { key: s.ada.key, body: { requires_identity: 'telegram' } };
    await s.w.call('PATCH', `/v1/products/${s.product.product_id}`, ask);
    const refused = await s.w.call('POST', `/v1/pay/${payment.payment_id}/solana-pay`, { body: { account: buyer.address } });
    await s.w.call('PATCH', `/v1/products/${s.product.product_id}`, { ...ask, body: { requires_identity: null } });
    return refused;
  },
  invalid_wallet_address: (s) => create(s, { payout_wallet: NETWORKS.devnet.usdcMint }),
  payment_mismatch: async ({ w, product }) => {
    const buyer = await w.chain.wallet();
    const signature = await w.chain.pay(buyer, await w.connect(product));
    return w.confirm((await w.connect(product)).payment_id, signature);
  },
  rate_limited: async ({ w }) => {
    const strict: Env = { ...w.env, RATE_MULTIPLIER: '1' };
    const ask = () => w.call('POST', '/v1/auth/wallet/nonce', { body: { wallet_address: 'x' }, env: strict });
    for (let passed = 0; passed < 30; passed++) await ask();
    return ask();
  },
  payer_limit_reached: async ({ w }) => {
    const price = { asset: 'USDC', amount: '0.01' };
    const shop = await openShop(w, { price, max_per_payer_per_day: price });
    await shop.settle(await shop.pay());
    return shop.settle(await shop.pay());
  },
  plan_limit_reached: async (s) => {
    const free = await s.w.merchant('free');
    for (let made = 0; made < 2; made++) await newKey(s, free, {});
    return newKey(s, free, {});
  },
  internal_error: withBug,
  misconfigured: async ({ unready }) => unready,
  fee_wallet_missing: (s) => connect(s, {}, { env: { ...s.w.env, FEE_BPS: '100' } }),
  invalid_state: (s) => s.w.call('GET', '/v1/auth/oauth/google/callback?state=forged&code=x'),
  oauth_not_configured: (s) => s.w.call('GET', '/v1/auth/oauth/google/start', { env: { ...s.w.env, GOOGLE_CLIENT_ID: '' } }),
  billing_not_configured: (s) =>
    s.w.call('POST', '/v1/billing/refresh/processor', { key: s.ada.key, env: { ...s.w.env, PROCESSOR_API_KEY: '' } }),
  handoff_not_configured: (s) =>
    s.w.call('POST', `/v1/products/${s.product.product_id}/handoffs`, { key: s.ada.key, env: { ...s.w.env, HANDOFF_SECRETS: '' } }),
  price_unavailable: async (s) => {
    await s.w.prices({ answer: 'down' });
    return connect({ ...s, product: await s.w.product(s.ada, { accepted_assets: ['USDC', 'SOL'] }) }, { asset: 'SOL' });
  },
  rpc_unavailable: async (s) => {
    const dark = new World();
    await dark.chain.fault({ kind: 'http_503', times: 1000 });
    return connect(s, { wallet_address: (await s.w.chain.wallet()).address }, { env: { ...s.w.env, RPC_URL: dark.env.RPC_URL! } });
  },
  mail_not_configured: ({ w }) => w.call('POST', '/v1/auth/password/forgot', { body: { email: 'nobody@example.com' } }),
  temporarily_unavailable: (s) => create(s, {}, { env: withFaults(s.w.env, { before: () => true }).env }),
};
