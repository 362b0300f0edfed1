import { beforeAll, describe, expect, it } from 'vitest';
import { base58 } from '#core/encoding.ts';
import { builtRoutes, nameOf, operations } from '../../contract/spec-routes.ts';
import { newKey } from '../../world/agent.ts';
import { deliveries } from '../../world/consumer.ts';
import { CONNECTOR_SECRETS, testEnv } from '../../world/env.ts';
import { type Answer, type CallOptions, type Merchant, World } from '../../world/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers whose shape call() has already checked against the document.
type Body = any;

/** A write whose route asks for no key, and honours one. */
interface Write {
  method?: string;
  path: string;
  body?: Body;
  /** The merchant's key unless said otherwise; null: a call without a credential. */
  by?: string | null;
  headers?: Record<string, string>;
  /** How often it happened. */
  effects(): Promise<number>;
  /** The same path and key with another body: where there is a body to differ in. */
  other?: Body;
}

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
let ada: Merchant;
beforeAll(async () => {
  ada = await w.merchant();
});

const count = async (from: string, ...values: unknown[]): Promise<number> =>
  (await w.env.DB.prepare(`SELECT count(*) AS n FROM ${from}`)
    .bind(...values)
    .first<number>('n'))!;
const version = async (table: string, id: string): Promise<number> =>
  (await w.env.DB.prepare(`SELECT version FROM ${table} WHERE id = ?`).bind(id).first<number>('version'))!;
const unique = () => `x${crypto.randomUUID()}`;
const endpointUrl = (habit: string, box = unique()) => `${testEnv.TEST_RECEIVER_URL}/${habit}/${box}`;
const newEndpoint = async (habit = 'ok'): Promise<Body> =>
  (await w.call('POST', '/v1/webhooks/endpoints', { key: ada.key, body: { url: endpointUrl(habit) } })).body;
const endpoints = (url: string) => () => count('webhook_endpoints WHERE url = ?', url);

const WRITES: Record<string, () => Promise<Write>> = {
  'POST /v1/webhooks/endpoints': async () => {
    const url = endpointUrl('ok');
    return { path: '/v1/webhooks/endpoints', body: { url }, other: { url, description: 'x' }, effects: endpoints(url) };
  },
  'POST /v1/integrations/automation/hooks': async () => {
    const target_url = endpointUrl('ok');
    const body = { target_url, event_type: '*' };
    return { path: '/v1/integrations/automation/hooks', body, other: { ...body, event: '*' }, effects: endpoints(target_url) };
  },
  'PATCH /v1/webhooks/endpoints/{endpoint_id}': async () => {
    const { endpoint_id: id } = await newEndpoint();
    const effects = async () => (await version('webhook_endpoints', id)) - 1;
    return { method: 'PATCH', path: `/v1/webhooks/endpoints/${id}`, body: { description: 'a' }, other: { description: ' a' }, effects };
  },
  'DELETE /v1/webhooks/endpoints/{endpoint_id}': async () => {
    const { endpoint_id: id } = await newEndpoint();
    return { method: 'DELETE', path: `/v1/webhooks/endpoints/${id}`, effects: async () => (await version('webhook_endpoints', id)) - 1 };
  },
  'POST /v1/webhooks/endpoints/{endpoint_id}/test': async () => {
    const { endpoint_id: id } = await newEndpoint();
    const effects = () => count('webhook_deliveries WHERE endpoint_id = ?', id);
    return { path: `/v1/webhooks/endpoints/${id}/test`, body: {}, other: { event_type: 'webhook.test' }, effects };
  },
  'POST /v1/webhooks/endpoints/{endpoint_id}/recover': async () => {
    const { endpoint_id: id } = await newEndpoint();
    await w.product(ada);
    const effects = async () => 1;
    const body = { since: '2026-01-01T00:00:00Z' };
    return { path: `/v1/webhooks/endpoints/${id}/recover`, body, other: { ...body, until: '2030-01-01T00:00:00Z' }, effects };
  },
  'POST /v1/webhooks/deliveries/{delivery_id}/replay': async () => {
    const { endpoint_id: id } = await newEndpoint();
    const { body } = await w.call('POST', `/v1/webhooks/endpoints/${id}/test`, { key: ada.key, body: {} });
    const effects = () => count('webhook_deliveries WHERE replay_of = ?', body.delivery_id);
    return { path: `/v1/webhooks/deliveries/${body.delivery_id}/replay`, effects };
  },
  'POST /v1/products': async () => {
    const name = unique();
    const body = { name, price: { asset: 'USDC', amount: '1' } };
    return { path: '/v1/products', body, other: { ...body, metadata: {} }, effects: () => count('products WHERE name = ?', name) };
  },
  'PATCH /v1/products/{product_id}': async () => {
    const { product_id: id } = await w.product(ada);
    const effects = async () => (await version('products', id)) - 1;
    return { method: 'PATCH', path: `/v1/products/${id}`, body: { name: 'New' }, other: { name: 'New ' }, effects };
  },
  'POST /v1/products/{product_id}/archive': async () => {
    const { product_id: id } = await w.product(ada);
    return { path: `/v1/products/${id}/archive`, effects: async () => (await version('products', id)) - 1 };
  },
  'POST /v1/products/{product_id}/handoffs': async () => {
    const [{ product_id: id }, ref] = [await w.product(ada), unique()];
    const effects = () => count('handoffs WHERE customer_ref = ?', ref);
    return { path: `/v1/products/${id}/handoffs`, body: { customer_ref: ref }, other: { customer_ref: `${ref}-` }, effects };
  },
  'POST /v1/products/p/{slug}/connect': async () => {
    const { slug, product_id: id } = await w.product(ada);
    const effects = () => count('payments WHERE product_id = ?', id);
    return { path: `/v1/products/p/${slug}/connect`, by: null, body: {}, other: { customer_ref: 'x' }, effects };
  },
  'POST /v1/products/p/{slug}/identity': async () => {
    const { slug, product_id: id } = await w.product(ada, { requires_identity: 'telegram' });
    const effects = () => count('identity_sessions WHERE product_id = ?', id);
    return { path: `/v1/products/p/${slug}/identity`, by: null, effects };
  },
  'POST /v1/integrations/connectors/{provider}/identity': async () => {
    const { slug } = await w.product(ada, { requires_identity: 'telegram' });
    const { identity_session_id } = (await w.call('POST', `/v1/products/p/${slug}/identity`)).body;
    const body = { identity_session_id, provider_user_id: '4711' };
    const effects = () => count('identity_sessions WHERE id = ? AND completed_at IS NOT NULL', identity_session_id);
    const headers = { 'X-Svc-Connector-Secret': CONNECTOR_SECRETS.telegram[0] };
    return { path: '/v1/integrations/connectors/telegram/identity', by: null, headers, body, other: { ...body, username: 'ada' }, effects };
  },
  'POST /v1/payments/{payment_id}/transaction': async () => {
    const buyer = await w.chain.wallet();
    const bill = await w.connect(await w.product(ada), { wallet_address: buyer.address });
    const effects = () => count('payment_candidates WHERE payment_id = ?', bill.payment_id);
    const transaction = await w.chain.sign(buyer, bill.transaction);
    return { path: `/v1/payments/${bill.payment_id}/transaction`, by: null, body: { transaction }, effects };
  },
  'POST /v1/receipt': async () => {
    const bill = await w.connect(await w.product(ada));
    const tx_sig = await w.chain.pay(await w.chain.wallet(), bill);
    const effects = () => count('receipts WHERE payment_id = ?', bill.payment_id);
    return { path: '/v1/receipt', body: { tx_sig }, other: { tx_sig: base58.encode(new Uint8Array(64).fill(7)) }, effects };
  },
  'PATCH /v1/account/me': async () => {
    const { key, userId } = await w.merchant();
    const before = await version('accounts', userId);
    const effects = async () => (await version('accounts', userId)) - before;
    return { method: 'PATCH', path: '/v1/account/me', by: key, body: { display_name: 'A' }, other: { display_name: ' A' }, effects };
  },
  'POST /v1/keys': async () => {
    const name = unique();
    const effects = () => count('api_keys WHERE name = ?', name);
    return { path: '/v1/keys', by: ada.token, body: { name }, other: { name, sandbox_mode: false }, effects };
  },
  'DELETE /v1/keys/{key_id}': async () => {
    const { body } = await w.call('POST', '/v1/keys', { key: ada.token, body: { name: 'gone' } });
    const effects = () => count('api_keys WHERE id = ? AND revoked_at IS NOT NULL', body.key.id);
    return { method: 'DELETE', path: `/v1/keys/${body.key.id}`, by: ada.token, effects };
  },
  'POST /v1/auth/register': async () => {
    const body = { email: `${unique()}@example.com`, password: 'correct horse battery', display_name: 'Ada' };
    const effects = () => count('accounts WHERE email = ?', body.email);
    return { path: '/v1/auth/register', by: null, body, other: { ...body, display_name: 'Ada ' }, effects };
  },
};

const send = ({ method = 'POST', path, body, by, headers }: Write, key: string, over: CallOptions = {}): Promise<Answer<Body>> =>
  w.call(method, path, { key: by === undefined ? ada.key : by, body, ...over, headers: { ...headers, 'Idempotency-Key': key } });
const isReplay = ({ headers }: Answer<Body>) => headers.get('Idempotent-Replayed') === 'true';

/** Also with stories of their own. */
const ELSEWHERE = new Set([
  'POST /v1/pay/confirm',
  'POST /v1/payments/{payment_id}/accept-unmatched',
  'POST /v1/webhooks/endpoints/{endpoint_id}/rotate-secret',
  'POST /v1/products/{product_id}/unarchive',
  'DELETE /v1/integrations/automation/hooks/{endpoint_id}',
  'PATCH /v1/account/me/security',
  'DELETE /v1/account/account',
  'POST /v1/testing/sessions',
  'POST /v1/testing/sessions/{session_id}/advance',
  'POST /v1/testing/pay',
  'POST /v1/testing/identity',
]);
/** Told apart by what they carry: a password, a token, a signature, a payment, a setup's secret. */
const KEYLESS = /^\S+ \/v1\/(?:auth\/(?!register)|access\/(?:agent-bootstrap|x402\/)|products\/webhook\/)|solana-pay$/;

describe('every write that asks for no Idempotency-Key', () => {
  it('is either one that honours a key, as the document says, or told apart by what it carries', () => {
    const takes = (name: string) => operations.get(name)!.parameters?.some((one) => one.name === 'Idempotency-Key') ?? false;
    const writes = builtRoutes.filter(({ method, documented, idempotent }) => method !== 'GET' && documented && !idempotent).map(nameOf);
    expect(writes.filter((name) => takes(name) === KEYLESS.test(name))).toEqual([]);
    expect(writes.filter(takes).sort()).toEqual([...Object.keys(WRITES), ...ELSEWHERE].sort());
  });
});

describe.each(Object.entries(WRITES))('%s under a key that is not asked for', (_name, make) => {
  it('happens once, and gives the first answer again to the byte', async () => {
    const [write, key] = [await make(), newKey()];
    const first = await send(write, key);
    expect(first.status, JSON.stringify(first.body)).toBeLessThan(300);
    const again = await send(write, key);
    expect([again.status, JSON.stringify(again.body), isReplay(first), isReplay(again)]).toEqual([
      first.status,
      JSON.stringify(first.body),
      false,
      true,
    ]);
    expect(await write.effects()).toBe(1);
    if (write.other === undefined) return;
    const conflict = await send({ ...write, body: write.other }, key);
    expect([conflict.status, conflict.body.code]).toEqual([409, 'idempotency_conflict']);
  });

  it('holds the key against the rules of all keys, in their order, before anything happens', async () => {
    const write = await make();
    const before = await write.effects();
    for (const [key, code] of [
      ['', 'idempotency_key_required'],
      ['a b', 'idempotency_key_required'],
      ['x y'.repeat(100), 'idempotency_key_too_long'],
      ['has a space', 'idempotency_key_invalid'],
    ] as const) {
      const { status, body } = await send(write, key);
      expect([key, status, body.code]).toEqual([key, 400, code]);
    }
    // A check of the key comes before one of the body.
    if (write.body !== undefined) expect((await send(write, 'short', { raw: '{"not json' })).body.code).toBe('idempotency_key_required');
    expect(await write.effects()).toBe(before);
  });
});

describe('an Idempotency-Key that is not asked for', () => {
  it('of a public route belongs to its path: at another slug it is another request', async () => {
    const key = newKey();
    const [one, two] = [await WRITES['POST /v1/products/p/{slug}/connect']!(), await WRITES['POST /v1/products/p/{slug}/connect']!()];
    const answers = [await send(one, key), await send(two, key)];
    expect(answers.map(isReplay)).toEqual([false, false]);
    expect(answers[0]!.body.payment_id).not.toBe(answers[1]!.body.payment_id);
  });

  it('keeps nothing of a refusal, nor of an answer that had no effect yet', async () => {
    const key = newKey();
    const bill = await w.connect(await w.product(ada));
    const body = { payment_id: bill.payment_id, tx_signature: await w.chain.pay(await w.chain.wallet(), bill) };
    const confirm = () => w.call('POST', '/v1/pay/confirm', { body, headers: { 'Idempotency-Key': key } });
    for (const method of ['getSignatureStatuses', 'getTransaction']) await w.chain.fault({ kind: 'null_first', method, times: 1 });
    expect((await confirm()).body.payment.status).toBe('PENDING_SIGNATURE');
    await w.chain.fault({ kind: 'http_503', method: 'getTransaction', times: 2 });
    expect((await confirm()).status).toBe(503);
    const confirmed = await confirm();
    expect([confirmed.status, confirmed.body.payment.status, isReplay(confirmed)]).toEqual([200, 'CONFIRMED', false]);
    const again = await confirm();
    expect([isReplay(again), JSON.stringify(again.body)]).toEqual([true, JSON.stringify(confirmed.body)]);
  });
});

describe('a replay of a delivery', () => {
  it('is one while it waits, however often it is asked for, and another once it was made', async () => {
    const made = await newEndpoint();
    const mine = { id: made.endpoint_id, secret: made.secret, box: '', key: ada.key };
    const { body } = await w.call('POST', `/v1/webhooks/endpoints/${mine.id}/test`, { key: ada.key, body: {} });
    const replay = () => w.call('POST', `/v1/webhooks/deliveries/${body.delivery_id}/replay`, { key: ada.key });
    const answers = await Promise.all(Array.from({ length: 10 }, replay));
    expect(new Set(answers.map(({ status, body: { delivery_id } }) => `${status} ${delivery_id}`)).size).toBe(1);
    await w.attempt();
    expect((await replay()).body.delivery_id).not.toBe(answers[0]!.body.delivery_id);
    expect((await deliveries(mine)).filter(({ replay_of }) => replay_of !== null)).toHaveLength(2);
  });
});
