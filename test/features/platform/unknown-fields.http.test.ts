import { beforeAll, describe, expect, it } from 'vitest';
import { builtRoutes, fill, nameOf, operations, type Route } from '../../contract/spec-routes.ts';
import { openApi } from '../../support/clients/call.ts';
import { CONNECTOR_SECRETS } from '../../support/runner/env.ts';
import { type CallOptions, type Merchant, strangerAddress, World } from '../../support/world.ts';

/** Routes of protocols. Their clients may send more fields than the service reads. */
const PROTOCOLS = [
  'POST /v1/products/webhook/rpc',
  'POST /v1/billing/webhooks/processor',
  'POST /v1/pay/{payment_id}/solana-pay',
  'POST /v1/access/x402/facilitator/verify',
  'POST /v1/access/x402/facilitator/settle',
  'POST /v1/access/metered-sessions/{session_id}/commits',
  'POST /__402/session/deliveries',
];

interface Schema {
  $ref?: string;
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: unknown;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}
const schemas = openApi.components.schemas as Record<string, Schema>;
const resolved = (schema: Schema): Schema[] => [
  ...(schema.$ref ? resolved(schemas[schema.$ref.split('/').at(-1)!]!) : [schema]),
  ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])].flatMap(resolved),
];
type Path = (string | number)[];

function* objectsOf(schema: Schema, path: Path = []): Generator<{ object: Schema; path: Path }> {
  for (const one of resolved(schema)) {
    if (one.properties) yield { object: one, path };
    for (const [name, inner] of Object.entries(one.properties ?? {})) yield* objectsOf(inner, [...path, name]);
    if (one.items) yield* objectsOf(one.items, [...path, 0]);
  }
}
const bodies = [...operations].flatMap(([name, { requestBody }]) => {
  const schema = requestBody?.content['application/json']?.schema as Schema | undefined;
  return schema ? [{ name, schema, required: requestBody!.required === true }] : [];
});
const ours = bodies.filter(({ name }) => !PROTOCOLS.includes(name));

const nested = (path: Path, value: unknown): unknown =>
  path.reduceRight((inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }), value);

describe('unknown body field', () => {
  const w = new World({ OPERATOR_SECRET: 'the secret of an operator in a test' });
  let owner: Merchant;
  let params: Record<string, string>;
  beforeAll(async () => {
    owner = await w.merchant();
    const product = await w.product(owner);
    const payment = await w.connect(product);
    params = {
      product_id: product.product_id,
      slug: product.slug,
      payment_id: payment.payment_id,
      rail_id: 'solana_usdc',
      provider: 'telegram',
      authorization_id: `nsa_${'0'.repeat(26)}`,
    };
  });

  const keyOf = ({ auth, path }: Route): string | null => {
    if (path.startsWith('/v1/testing/')) return owner.sandboxKey;
    if (auth === 'person') return owner.token;
    return auth === 'none' || auth.endsWith('_secret') ? null : owner.key;
  };
  const callerOf = ({ auth, idempotent, ...route }: Route): CallOptions => ({
    key: keyOf({ auth, idempotent, ...route }),
    headers: {
      'CF-Connecting-IP': strangerAddress(),
      ...(idempotent ? { 'Idempotency-Key': crypto.randomUUID() } : {}),
      ...(auth === 'connector_secret' ? { 'X-Svc-Connector-Secret': CONNECTOR_SECRETS.telegram[0]! } : {}),
    },
  });
  const send = (name: string, body: unknown) => {
    const route = builtRoutes.find((one) => nameOf(one) === name)!;
    const session: Record<string, string> = route.path.includes('/metered-sessions/') ? { session_id: `ms_${'0'.repeat(26)}` } : {};
    return w.call(route.method, fill(route.path, { ...params, ...session }), { ...callerOf(route), body });
  };
  const strays = (detail: { type: string; loc: Path; ctx?: unknown }[]) =>
    detail.filter(({ type }) => type === 'unknown_field').map(({ loc, ctx }) => ({ loc, ctx }));

  it('every own request schema is closed, and every protocol schema is open', () => {
    expect(ours.length).toBeGreaterThan(25);
    expect(bodies.filter(({ name }) => PROTOCOLS.includes(name))).toHaveLength(PROTOCOLS.length);
    for (const { name, schema } of ours)
      for (const { object, path } of objectsOf(schema)) expect([name, path, object.additionalProperties]).toEqual([name, path, false]);
    for (const { name, schema } of bodies.filter((one) => PROTOCOLS.includes(one.name)))
      for (const { object } of objectsOf(schema)) expect([name, object.additionalProperties]).not.toEqual([name, false]);
  });

  it.each(ours.map(({ name, schema }) => [name, schema] as const))(
    '%s refuses an unknown field at its location with the nearest name',
    async (name, schema) => {
      for (const { object, path } of objectsOf(schema)) {
        const known = Object.keys(object.properties!);
        const meant = known.find((field) => field.length >= 2 && !known.includes(`${field}q`));
        const { status, body } = await send(name, nested(path, { [`${meant}q`]: 'x' }));
        expect([name, status]).toEqual([name, 422]);
        expect(['unknown_field', 'validation_error']).toContain(body.code);
        const expected = { loc: ['body', ...path, `${meant}q`], ctx: { nearest: meant } };
        expect(strays(body.detail)).toContainEqual(expected);
        expect(body.code).toBe(strays(body.detail).length === body.detail.length ? 'unknown_field' : 'validation_error');
      }
    },
  );

  it('protocol bodies accept unknown fields', async () => {
    const extras: Record<string, Record<string, unknown>> = {
      'POST /v1/pay/{payment_id}/solana-pay': { account: (await w.chain.wallet()).address },
      'POST /v1/access/x402/facilitator/verify': { x402Version: 2, paymentPayload: {}, paymentRequirements: {} },
      'POST /v1/access/x402/facilitator/settle': { x402Version: 2, paymentPayload: {}, paymentRequirements: {} },
    };
    for (const [name, body] of Object.entries(extras)) {
      const { status, body: answer } = await send(name, { ...body, extension: { of: 'tomorrow' } });
      expect([name, status, JSON.stringify(answer).includes('unknown_field')]).toEqual([name, 200, false]);
    }
  });

  it('unknown fields and other problems are reported in one list', async () => {
    const price = { asset: 'USDC', amount: '5' };
    const only = await send('POST /v1/products', { name: 'X', price, payoutWallet: 'abc' });
    expect([only.status, only.body.code, only.body.retryable]).toEqual([422, 'unknown_field', false]);
    expect(only.body.detail).toEqual([
      {
        loc: ['body', 'payoutWallet'],
        msg: expect.stringContaining('payout_wallet'),
        type: 'unknown_field',
        ctx: { nearest: 'payout_wallet' },
      },
    ]);
    const both = await send('POST /v1/products', { name: 5, price, payoutWallet: 'abc' });
    expect([both.status, both.body.code]).toEqual([422, 'validation_error']);
    expect(both.body.detail.map(({ type }: { type: string }) => type)).toEqual(['invalid_type', 'unknown_field']);
    expect((await w.call('GET', '/v1/products', { key: owner.key })).body.items.map(({ name }: { name: string }) => name)).not.toContain(
      'X',
    );
  });

  it('the caller is checked before the fields', async () => {
    const { status, body } = await w.call('POST', '/v1/products', { body: { payoutWallet: 'abc' } });
    expect([status, body.code]).toEqual([401, 'invalid_authorization']);
  });

  it('operator routes refuse unknown fields', async () => {
    const headers = { 'X-Svc-Operator-Secret': 'the secret of an operator in a test' };
    for (const path of ['accounts', 'switches', 'reconcile']) {
      const { status, body } = await w.call('POST', `/v1/operator/${path}`, { headers, body: { unheard: 1 } });
      expect([path, status, strays(body.detail)]).toEqual([path, 422, [{ loc: ['body', 'unheard'], ctx: {} }]]);
    }
  });

  it('metadata accepts any key', async () => {
    const { status, body } = await send('POST /v1/products', {
      name: 'X',
      price: { asset: 'USDC', amount: '5' },
      metadata: { payoutWallet: 'x' },
    });
    expect([status, body.metadata]).toEqual([201, { payoutWallet: 'x' }]);
  });
});

/** Routes that providers call or browsers are redirected to, which may carry parameters of their own. */
const OPEN_QUERIES = [
  'POST /v1/products/webhook/rpc',
  'POST /v1/billing/webhooks/processor',
  'POST /v1/integrations/mail/webhooks/{provider}',
  'GET /v1/auth/oauth/{provider}/callback',
];
const answersJson = ({ path, contentType, status, documented }: Route) =>
  path.startsWith('/v1/') && documented && status !== 302 && (contentType === null || contentType === 'application/json');
/** Parameters that a route cannot do without. */
const NEEDED: Record<string, string> = {
  'GET /v1/access/x402/facilitator/discovery/search': 'query=weather&',
  'GET /v1/access/x402/openapi': 'origin=https://shop.com&',
  'GET /v1/search': 'q=weather&',
};
const closedQueries = builtRoutes.filter((route) => answersJson(route) && !OPEN_QUERIES.includes(nameOf(route)));

describe('unknown query parameter', () => {
  const w = new World();
  let owner: Merchant;
  beforeAll(async () => {
    owner = await w.merchant();
  });
  const send = (route: Route, query: string) => {
    const key = route.path.startsWith('/v1/testing/')
      ? owner.sandboxKey
      : ['person', 'session'].includes(route.auth) || route.path.startsWith('/v1/account/audit-log')
        ? owner.token
        : ['merchant', 'key', 'viewer', 'activator'].includes(route.auth)
          ? owner.key
          : null;
    const headers = {
      'CF-Connecting-IP': strangerAddress(),
      ...(route.idempotent ? { 'Idempotency-Key': crypto.randomUUID() } : {}),
      ...(route.auth === 'connector_secret' ? { 'X-Svc-Connector-Secret': CONNECTOR_SECRETS.telegram[0]! } : {}),
    };
    const params: Record<string, string> = { rail_id: 'solana_usdc', provider: route.path.includes('/oauth/') ? 'google' : 'telegram' };
    return w.call(route.method, `${fill(route.path, params)}?${query}`, { key, headers });
  };

  it.each(closedQueries.map((route) => [nameOf(route), route] as const))(
    '%s refuses an unknown parameter before any lookup',
    async (_, route) => {
      const { status, body } = await send(route, `${NEEDED[nameOf(route)] ?? ''}qzxj=1`);
      expect([status, body.code]).toEqual([422, 'unknown_field']);
      expect(body.detail).toEqual([expect.objectContaining({ loc: ['query', 'qzxj'], type: 'unknown_field' })]);
    },
  );

  it('the problem names the nearest known parameter', async () => {
    const { body } = await w.call('GET', '/v1/payments?statsu=CONFIRMED&per_page=500', { key: owner.key });
    expect(body.code).toBe('validation_error');
    expect(body.detail).toContainEqual(expect.objectContaining({ loc: ['query', 'statsu'], ctx: { nearest: 'status' } }));
    expect(body.detail).toContainEqual(expect.objectContaining({ loc: ['query', 'per_page'] }));
  });

  it('a refused write has no effect', async () => {
    const body = { name: 'never made', price: { asset: 'USDC', amount: '5' } };
    expect((await w.call('POST', '/v1/products?nmae=1', { key: owner.key, body })).status).toBe(422);
    expect((await w.call('GET', '/v1/products', { key: owner.key })).body.total).toBe(0);
  });

  it('mode is accepted on every route', async () => {
    for (const path of ['/v1/auth/oauth/providers', '/v1/account/me'])
      expect((await w.call('GET', `${path}?mode=live`, { key: owner.key })).status).toBe(200);
  });

  it.each(OPEN_QUERIES)('%s accepts unknown parameters', async (name) => {
    const route = builtRoutes.find((one) => nameOf(one) === name)!;
    expect((await send(route, 'qzxj=1')).body?.code).not.toBe('unknown_field');
  });

  it('pages, files and routes outside /v1 accept unknown parameters', async () => {
    for (const path of ['/health?qzxj=1', '/?utm_source=x', '/.well-known/svc-receipt-keys.json?qzxj=1', '/v1/openapi.json?v=2'])
      expect([path, (await w.call('GET', path)).status]).toEqual([path, 200]);
  });
});
