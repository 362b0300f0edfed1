import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../worker/context.ts';
import { hmacSha256 } from '../../worker/core/crypto.ts';
import { hex, utf8 } from '../../worker/core/encoding.ts';
import { ERRORS, type ErrorCode } from '../../worker/core/errors.ts';
import worker from '../../worker/index.ts';
import { buy, newSetup, openTreasury } from '../world/activation.ts';
import { newKey, openShop, type Shop, sellToAgents, stall, write } from '../world/agent.ts';
import { letTimeRun, setTime } from '../world/clock.ts';
import { expireNow } from '../world/expire-now.ts';
import { withFaults } from '../world/faults.ts';
import { type Answer, type CallOptions, type Merchant, World } from '../world/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers whose shape call() has already checked against the document.
type Body = any;
type Provoke = () => Promise<Answer<Body>>;

const RPC_SECRET = 'a secret shared with the provider';
const NOWHERE = '01900000-0000-7000-8000-000000000000';
const DAY = 86_400_000;
/** Waiting may help: how long is in the header. */
const WITH_RETRY_AFTER = [
  'rate_limited',
  'idempotency_in_progress',
  'idempotency_race',
  'price_unavailable',
  'rpc_unavailable',
  'temporarily_unavailable',
];
/** Of one code with two statuses, the one this request meets. */
const STATUS: Partial<Record<string, number>> = { invalid_authorization: 401 };

const w = new World({ RPC_WEBHOOK_SECRET: RPC_SECRET });
let ada: Merchant;
let shop: Shop;
let product: Body;

const post = (path: string, body: unknown, options: CallOptions = {}) => w.call('POST', path, { body, ...options });
const connect = (of: Body, body: object = {}, options: CallOptions = {}) => post(`/v1/products/p/${of.slug}/connect`, body, options);
const app = (key: string | undefined, body: object = { name: 'App' }) =>
  post('/v1/access/apps', body, { key: ada.key, headers: key === undefined ? {} : { 'Idempotency-Key': key } });
const signed = (raw: string) => ({ raw, headers: { 'Rpc-Signature': hex.encode(hmacSha256(utf8(RPC_SECRET), utf8(raw))) } });
const newProduct = (body: object) =>
  post('/v1/products', { name: 'Named', price: { asset: 'USDC', amount: '1' }, ...body }, { key: ada.key });
const handoff = async (): Promise<string> =>
  (await post(`/v1/products/${product.product_id}/handoffs`, { customer_ref: 'ada' }, { key: ada.key })).body.handoff_token;
/** The answer of a worker whose inside broke; `call` would fail the test for it. */
async function broken(): Promise<Answer<Body>> {
  const throws = () => {
    throw new TypeError('the secret story of a bug');
  };
  const execution = createExecutionContext();
  const env = { ...w.env, ADMISSION: { getByName: throws } } as unknown as Env;
  const response = await worker.fetch(new Request('https://svc.test/v1/products/p/x'), env, execution);
  await waitOnExecutionContext(execution);
  return { status: response.status, body: await response.json(), headers: response.headers };
}

/** One request for each code, or a few that end in it. */
const PROVOKED: Record<string, Provoke> = {
  idempotency_key_required: () => app(undefined),
  idempotency_key_too_long: () => app('k'.repeat(256)),
  idempotency_key_invalid: () => app('with a space'),
  idempotency_conflict: async () => {
    await app('conflict-1');
    return app('conflict-1', { name: 'Another' });
  },
  idempotency_in_progress: async () => {
    const key = newKey();
    const rename = () =>
      w.call('PATCH', `/v1/products/${product.product_id}`, { key: ada.key, body: { name: 'One' }, headers: { 'Idempotency-Key': key } });
    await rename();
    const lease = 'UPDATE claims SET status = NULL, body = NULL, lease_until = ? WHERE key = ?';
    await w.env.DB.prepare(lease)
      .bind(Date.now() + 30_000, key)
      .run();
    return rename();
  },
  idempotency_race: async () => {
    const put = (_: unknown, index: number) =>
      w.call('PUT', '/v1/access/rail-settings/solana_sol', {
        key: ada.key,
        body: { enabled: index % 2 === 0 },
        headers: { 'Idempotency-Key': newKey() },
      });
    const rivals = await Promise.all(Array.from({ length: 20 }, put));
    return rivals.find(({ status }) => status !== 200)!;
  },
  invalid_rpc_payload: () => post('/v1/products/webhook/rpc', undefined, signed('{"no":"signature"}')),
  webhook_signature_failed: () => post('/v1/products/webhook/rpc', [], { headers: { 'Rpc-Signature': '0'.repeat(64) } }),
  invalid_product_type: () => newProduct({ product_type: 'horse' }),
  invalid_authorization: () => w.call('GET', '/v1/products'),
  invalid_credentials: () => post('/v1/auth/login', { email: ada.email, password: 'a wrong guess' }),
  connector_secret_invalid: () =>
    post('/v1/integrations/connectors/telegram/identity', { identity_session_id: NOWHERE, provider_user_id: '1' }),
  payment_required: async () => {
    await openTreasury(w);
    return buy(w, 'starter', { key: (await w.merchant('free')).key });
  },
  handoff_secret_mismatch: () => w.call('GET', `/v1/products/p/${product.slug}/handoff/nonsense`),
  handoff_expired: async () => {
    const token = await handoff();
    await connect(product, { handoff_token: token });
    return w.call('GET', `/v1/products/p/${product.slug}/handoff/${token}`);
  },
  handoff_not_configured: async () => connect(product, { handoff_token: await handoff() }, { env: { ...w.env, HANDOFF_SECRETS: '' } }),
  account_suspended: async () => {
    const { token, user_id } = (await post('/v1/auth/register', newcomer('suspended'))).body;
    await w.env.DB.prepare("UPDATE accounts SET status = 'suspended' WHERE id = ?").bind(user_id).run();
    return w.call('GET', '/v1/account/me', { key: token });
  },
  account_deleted: async () => {
    const { token } = (await post('/v1/auth/register', newcomer('deleted'))).body;
    await w.call('DELETE', '/v1/account/account', { key: token });
    return w.call('GET', '/v1/account/me', { key: token });
  },
  admin_requires_staff: () => post('/v1/keys', { name: 'admin', permissions: ['admin'] }, { key: ada.token }),
  entitlement_missing: () => shop.consume({ customer: { customer_ref: 'nobody' } }),
  subscription_expired: async () => {
    const customer = { customer_ref: 'lapsed' };
    const [start, body] = [Date.now(), { product_id: shop.product.product_id, customer, reason: 'a test' }];
    await write(w, shop.merchant, 'entitlements/grant', { ...body, days: 1 });
    setTime(start + 2 * DAY);
    return shop.consume({ customer });
  },
  spend_limit_exceeded: async () => {
    await openTreasury(w);
    return buy(w, 'growth', { secret: (await newSetup(w, { perPayment: 20_000_000n })).secret });
  },
  not_found: () => w.call('GET', `/v1/products/${NOWHERE}`, { key: ada.key }),
  method_not_allowed: () => w.call('DELETE', '/v1/products', { key: ada.key }),
  email_registered: () => post('/v1/auth/register', { ...newcomer('x'), email: ada.email }),
  payment_transaction_conflict: async () => {
    const { payment } = await w.purchase(product, await w.chain.wallet());
    return w.confirm(payment.payment_id, await w.chain.pay(await w.chain.wallet(), payment));
  },
  payment_failed: async () => {
    const poor = await w.chain.wallet(1n);
    const payment = await w.connect(product, { wallet_address: poor.address });
    const signature = await w.chain.pay(poor, payment, { skipPreflight: true });
    await w.confirm(payment.payment_id, signature);
    return w.confirm(payment.payment_id, signature);
  },
  setup_not_ready: async () => connect((await post('/v1/products', newSandboxProduct, { key: ada.sandboxKey })).body),
  duplicate_settlement: async () => {
    const payment = await shop.pay();
    await shop.settle(payment);
    const other = stall(w, shop.merchant, await sellToAgents(w, shop.merchant), shop.agent);
    return other.settle(payment);
  },
  state_conflict: async () => {
    await newProduct({ external_product_id: 'taken' });
    return newProduct({ external_product_id: 'taken' });
  },
  session_expired: async () => {
    const payment = await w.connect(product);
    await expireNow(w, payment.payment_id);
    return w.confirm(payment.payment_id, await w.chain.pay(await w.chain.wallet(), { ...payment, memo: 'svc:another' }));
  },
  identity_expired: async () => {
    const shy = await w.product(ada, { requires_identity: 'telegram' });
    const { identity_session_id } = (await post(`/v1/products/p/${shy.slug}/identity`, undefined)).body;
    await w.env.DB.prepare('UPDATE identity_sessions SET expires_at = 0 WHERE id = ?').bind(identity_session_id).run();
    return connect(shy, { identity_session_id });
  },
  identity_verification_required: async () => {
    const open = await w.product(ada);
    const payment = await w.connect(open);
    await w.call('PATCH', `/v1/products/${open.product_id}`, { key: ada.key, body: { requires_identity: 'telegram' } });
    return w.confirm(payment.payment_id, await w.chain.pay(await w.chain.wallet(), payment));
  },
  payment_mismatch: async () => {
    const payment = await w.connect(product);
    return w.confirm(payment.payment_id, await w.chain.pay(await w.chain.wallet(), payment, { units: 1n }));
  },
  payload_too_large: () => newProduct({ description: 'x'.repeat(70_000) }),
  unsupported_media_type: () => w.call('POST', '/v1/products', { key: ada.key, raw: 'a=1', headers: { 'content-type': 'text/plain' } }),
  validation_error: () => newProduct({ name: 7 }),
  unknown_field: () => newProduct({ nam: 'Named' }),
  no_change: () => w.call('PATCH', '/v1/account/me/security', { key: ada.token, body: {} }),
  password_too_short: () => post('/v1/auth/register', { ...newcomer('short'), password: 'short' }),
  invalid_permissions: () => post('/v1/keys', { name: 'k', permissions: ['fly'] }, { key: ada.token }),
  invalid_wallet_address: () => connect(product, { wallet_address: 'nonsense' }),
  rate_limited: async () => {
    const env = { ...w.env, RATE_MULTIPLIER: '1' };
    const ask = () => post('/v1/auth/register', {}, { env, headers: { 'CF-Connecting-IP': '198.51.100.77' } });
    for (let i = 0; i < 5; i++) await ask();
    return ask();
  },
  plan_limit_reached: async () => {
    const free = await w.merchant('free');
    await post('/v1/keys', { name: 'second' }, { key: free.token });
    return post('/v1/keys', { name: 'third' }, { key: free.token });
  },
  internal_error: broken,
  misconfigured: async () => behind,
  fee_wallet_missing: () => connect(product, {}, { env: { ...w.env, FEE_BPS: '100' } }),
  price_unavailable: async () => {
    const mute = new World();
    await mute.prices({ answer: 'down' });
    return connect(await w.product(ada, { accepted_assets: ['SOL', 'USDC'] }), { asset: 'SOL' }, { env: mute.env });
  },
  rpc_unavailable: async () => {
    const dark = new World();
    await dark.chain.fault({ kind: 'http_503', times: 100 });
    return connect(product, { wallet_address: (await w.chain.wallet()).address }, { env: dark.env });
  },
  temporarily_unavailable: () => w.call('GET', '/v1/products', { key: ada.key, env: withFaults(w.env, { before: () => true }).env }),
};
const newcomer = (name: string) => ({ email: `${name}@example.com`, password: 'correct horse battery', display_name: name });
const newSandboxProduct = { name: 'Sandbox', price: { asset: 'USDC', amount: '1' } };

let behind: Answer<Body>;
beforeAll(async () => {
  // The first call of an isolate looks at the database: one whose migrations are behind is told to everybody.
  await w.env.DB.prepare('ALTER TABLE api_keys RENAME COLUMN key_prefix TO former').run();
  behind = await w.call('GET', '/v1/account/me');
  await w.env.DB.prepare('ALTER TABLE api_keys RENAME COLUMN former TO key_prefix').run();
  const answers = async () => expect((await w.call('GET', '/v1/account/me')).status).toBe(401);
  await vi.waitFor(answers, { timeout: 10_000, interval: 500 });
  ada = await w.merchant();
  shop = await openShop(w);
  product = await w.product(ada);
}, 30_000);
afterEach(letTimeRun);

describe('an error', () => {
  it.each(Object.keys(ERRORS) as ErrorCode[])(
    '%s is what a request meets, with its status, its whole shape and its headers',
    async (code) => {
      expect(Object.keys(PROVOKED)).toContain(code);
      const { status, body, headers } = await PROVOKED[code]!();
      expect([body.code, status]).toEqual([code, STATUS[code] ?? ERRORS[code].status]);
      expect(Object.keys(body).sort()).toEqual(['code', 'detail', 'docs_url', 'meta', 'request_id', 'retryable']);
      expect(body.retryable).toBe(ERRORS[code].retryable);
      expect(body.docs_url).toMatch(new RegExp(`/v1/openapi\\.json#/x-error-codes/${code}$`));
      expect(headers.get('content-type')).toMatch(/^application\/json/);
      expect([headers.get('X-Svc-Request-Id'), headers.get('X-Request-Id')]).toEqual([body.request_id, body.request_id]);
      expect(headers.get('X-Svc-Api-Version')).toBe('1.0.0');
      const retryAfter = headers.get('Retry-After');
      if (WITH_RETRY_AFTER.includes(code)) expect(retryAfter).toMatch(/^[1-9][0-9]*$/);
      if (code === 'plan_limit_reached') expect(retryAfter).toBeNull();
      if (code === 'method_not_allowed') expect(headers.get('Allow')?.split(', ').sort()).toEqual(['GET', 'POST']);
      if (code === 'payment_required') expect(headers.get('PAYMENT-REQUIRED')).not.toBeNull();
      const isList = /^(?:validation_error|unknown_field)$/.test(code);
      if (isList)
        for (const problem of body.detail)
          expect(problem).toMatchObject({ loc: expect.any(Array), msg: expect.any(String), type: expect.any(String) });
      else expect(body.detail).toEqual(expect.any(String));
    },
  );

  it('403 invalid_authorization is met by a good credential that may not do this', async () => {
    const { status, body } = await post('/v1/keys', { name: 'k' }, { key: ada.key });
    expect([status, body.code, body.meta.reason]).toEqual([403, 'invalid_authorization', 'token_required']);
  });
});
