import { importJWK, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { crc32, keyRing } from '#core/crypto.ts';
import { base62, base64url, utf8 } from '#core/encoding.ts';
import { entitlementIdOf } from '#core/ids.ts';
import { PLANS } from '#rules/plans.ts';
import { NETWORKS } from '#solana/assets.ts';
import { tokenSignedIn } from '../support/clients/session.ts';
import { testEnv } from '../support/runner/env.ts';
import { type Merchant, strangerAddress, World } from '../support/world.ts';
import { builtRoutes, fill, nameOf, type Route } from './spec-routes.ts';

const merchantRoutes = builtRoutes.filter(({ auth }) => auth === 'merchant' || auth === 'key' || auth === 'activator');
const closed = builtRoutes.filter((route) => merchantRoutes.includes(route) || route.auth === 'person');
const guarded = builtRoutes.filter((route) => closed.includes(route) || route.auth === 'viewer');
const each = (routes: Route[]) => routes.map((route) => [nameOf(route), route] as const);

const SIGNATURE = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW';
const NOWHERE = '01900000-0000-7000-8000-000000000000';
const NO_METERED_SESSION = `ms_${'0'.repeat(26)}`;

const FACILITATED = { x402Version: 2, paymentPayload: {}, paymentRequirements: {} };

describe('built routes', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  let owner: Merchant;
  let stranger: Merchant;
  let revoked: string;
  let ended: string;
  let ids: Record<string, string>;

  const bodyOf = (route: Route, params: Record<string, string>): unknown => {
    const bodies: Record<string, unknown> = {
      'POST /v1/keys': { name: 'another' },
      'POST /v1/products': { name: 'Another', price: { asset: 'USDC', amount: '1' } },
      'POST /v1/receipt': { tx_sig: SIGNATURE },
      'POST /v1/pay/confirm': { payment_id: params.payment_id ?? NOWHERE, tx_signature: SIGNATURE },
      'POST /v1/payments/{payment_id}/accept-unmatched': { tx_signature: SIGNATURE },
      'POST /v1/payments/{payment_id}/transaction': { transaction: 'AAAA' },
      'POST /v1/products/{product_id}/handoffs': { customer_ref: 'customer-4' },
      'POST /v1/webhooks/endpoints': { url: 'https://shop.example.com/hooks' },
      'PATCH /v1/webhooks/endpoints/{endpoint_id}': { status: 'enabled' },
      'POST /v1/webhooks/endpoints/{endpoint_id}/test': {},
      'POST /v1/webhooks/endpoints/{endpoint_id}/rotate-secret': {},
      'POST /v1/webhooks/endpoints/{endpoint_id}/recover': { since: '2026-01-01T00:00:00Z' },
      'PUT /v1/access/rail-settings/{rail_id}': { enabled: true },
      'POST /v1/customers': { customer_ref: 'customer-5' },
      'PATCH /v1/customers/{customer_id}': { name: 'Ada' },
      'POST /v1/customers/{customer_id}/merge': { from: params.customer_id ?? NOWHERE },
      'POST /v1/access/apps': { name: 'Another app' },
      'POST /v1/access/agent-bootstrap': { agent_name: 'Another agent' },
      'POST /v1/access/agent-bootstrap/{setup_intent_id}/status': { setup_secret: 'x' },
      'POST /v1/access/agent-bootstrap/{setup_intent_id}/manifest': { setup_secret: 'x', manifest_version: '1', name: 'x' },
      'POST /v1/access/agent-bootstrap/{setup_intent_id}/approve': { setup_secret: 'x' },
      'POST /v1/access/products': { name: 'Another', price: { asset: 'USDC', amount: '1' } },
      'POST /v1/access/payment-sessions': { product_id: params.product_id ?? NOWHERE },
      'POST /v1/access/entitlements/consume': { product_id: params.product_id ?? NOWHERE, customer: { customer_ref: 'customer-2' } },
      'POST /v1/access/entitlements/grant': {
        product_id: params.product_id ?? NOWHERE,
        customer: { customer_ref: 'customer-3' },
        units: 1,
        reason: 'a gift',
      },
      'POST /v1/access/entitlements/refund': { consumption_id: 'con_01KAJ3V5Y7H2Q8M4N6P9R1S3T5', reason: 'failed' },
      'POST /v1/access/x402/settle': { product_id: params.product_id ?? NOWHERE, payment_signature: 'e30=' },
      'POST /v1/access/x402/facilitator/verify': FACILITATED,
      'POST /v1/access/x402/facilitator/settle': FACILITATED,
      'POST /v1/integrations/automation/hooks': { target_url: 'https://hooks.example.com/x', event_type: 'payment.confirmed' },
    };
    return bodies[nameOf(route)];
  };
  const send = (
    route: Route,
    options: { key?: string; headers?: Record<string, string>; query?: string; params?: Record<string, string> },
  ) => {
    const { params = {}, query = '', key } = options;
    const headers = {
      ...(route.idempotent ? { 'Idempotency-Key': crypto.randomUUID() } : {}),
      ...(/\/email\/verification$/.test(route.path) ? { 'CF-Connecting-IP': strangerAddress() } : {}),
      ...options.headers,
    };
    // Sandbox sessions and metered sessions share this parameter name.
    const isMetered = route.path.includes('/metered-sessions/') && params.session_id === NOWHERE;
    const named = isMetered ? { ...params, session_id: NO_METERED_SESSION } : params;
    return w.call(route.method, fill(route.path, named) + query, { key, headers, body: bodyOf(route, params) });
  };
  const newKey = async (token: string, body: Record<string, unknown>): Promise<{ key: { id: string }; raw_key: string }> =>
    (await w.call('POST', '/v1/keys', { key: token, body: { name: 'k', ...body } })).body;
  const revoke = (token: string, keyId: string) => w.call('DELETE', `/v1/keys/${keyId}`, { key: token });

  beforeAll(async () => {
    [owner, stranger] = await Promise.all([w.merchant(), w.merchant()]);
    const product = await w.product(owner);
    const { payment, confirmed } = await w.purchase(product, await w.chain.wallet(), { customer_ref: 'customer-1' });
    const me = await w.call('GET', '/v1/account/me', { key: owner.key });
    const hook = { target_url: `${testEnv.TEST_RECEIVER_URL}/ok/every-route`, event_type: '*' };
    const { endpoint_id } = (await w.call('POST', '/v1/integrations/automation/hooks', { key: owner.key, body: hook })).body;
    const noted = await w.call('POST', '/v1/customers', { key: owner.key, body: { customer_ref: 'customer-6' } });
    const sent = await w.call('POST', `/v1/webhooks/endpoints/${endpoint_id}/test`, { key: owner.key, body: {} });
    ids = {
      endpoint_id,
      delivery_id: String(sent.body.delivery_id),
      product_id: product.product_id,
      passkey_id: NOWHERE,
      payment_id: payment.payment_id,
      receipt_id: confirmed.receipt_id,
      membership_id: confirmed.membership_id,
      invitation_id: NOWHERE,
      entry_id: `aud_${'0'.repeat(26)}`,
      key_id: me.body.key_id,
      rail_id: 'solana_usdc',
      entitlement_id: entitlementIdOf(owner.userId, true, product.product_id, { customerRef: 'customer-1' }),
      customer_id: noted.body.customer_id,
      setup_intent_id: NOWHERE,
      ticket_id: NOWHERE,
      claim_id: NOWHERE,
      listing_id: NOWHERE,
      session_id: NOWHERE,
      user_id: NOWHERE,
      slug: product.slug,
    };
    // The free plan has two keys, so a third account holds the revoked one.
    const odd = await w.call('POST', '/v1/auth/register', {
      body: { email: `odd-${crypto.randomUUID()}@example.com`, password: 'correct horse battery', display_name: 'Odd' },
    });
    const gone = await newKey(odd.body.token, {});
    revoked = gone.raw_key;
    ended = await tokenSignedIn(w, owner.userId, 0);
    expect((await w.call('POST', '/v1/auth/logout', { key: ended, body: { end: 'session' } })).status).toBe(200);
    expect((await w.call('GET', '/v1/products', { key: revoked })).status).toBe(200);
    expect((await revoke(odd.body.token, gone.key.id)).status).toBe(204);
  });

  const signed = async (seedFill: number, { kid, exp, ...over }: Record<string, unknown> & { kid?: string; exp?: number } = {}) => {
    const real = keyRing(w.env.JWT_KEYS as string)[0]!;
    const [key] = keyRing(base64url.encode(new Uint8Array(32).fill(seedFill)));
    const now = Math.floor(Date.now() / 1000);
    const { sid } = JSON.parse(new TextDecoder().decode(base64url.decode(owner.token.split('.')[1]!)));
    return new SignJWT({ ver: 1, auth_time: now, first_iat: now, amr: 'pwd', role: 'owner', sid, ...over })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: kid ?? real.keyId })
      .setSubject(owner.userId)
      .setIssuer(w.env.BASE_URL as string)
      .setAudience(NETWORKS.devnet.caip2)
      .setIssuedAt(now - 100_000)
      .setExpirationTime(exp ?? now + 1000)
      .sign(await importJWK(key!.jwk, 'EdDSA'));
  };
  const unsigned = (alg: string) => {
    const part = (value: object) => base64url.encode(utf8(JSON.stringify(value)));
    const [, payload] = owner.token.split('.');
    return `${part({ alg, typ: 'JWT', kid: keyRing(w.env.JWT_KEYS as string)[0]!.keyId })}.${payload}.`;
  };
  const withChecksum = (body: string) => body + base62(BigInt(crc32(utf8(body))), 6);
  const BAD: [string, () => Promise<Record<string, string>> | Record<string, string>][] = [
    ['garbage for a key', () => ({ 'X-Svc-Key': 'garbage' })],
    ['an empty key', () => ({ 'X-Svc-Key': '' })],
    ['a key with a wrong checksum', () => ({ 'X-Svc-Key': owner.key.slice(0, -1) + (owner.key.endsWith('0') ? '1' : '0') })],
    [
      'a key that was never issued, for an account that exists',
      () => ({ 'X-Svc-Key': withChecksum(`${owner.key.slice(0, 10)}${'x'.repeat(20)}${owner.key.slice(30, 41)}`) }),
    ],
    ['a key of no account', () => ({ 'X-Svc-Key': withChecksum(`svc_live_${'x'.repeat(32)}`) })],
    ['a live key spelled as a sandbox key', () => ({ 'X-Svc-Key': withChecksum(owner.key.replace('_live_', '_test_').slice(0, -6)) })],
    ['a revoked key', () => ({ 'X-Svc-Key': revoked })],
    ['a bad key next to a good token', () => ({ 'X-Svc-Key': 'garbage', Authorization: `Bearer ${owner.token}` })],
    ['garbage for a token', () => ({ Authorization: 'Bearer garbage' })],
    ['a token without its scheme', () => ({ Authorization: owner.token })],
    ['a token with a changed signature', () => ({ Authorization: `Bearer ${owner.token.slice(0, -8)}AAAAAAAA` })],
    ['a token signed by another key', async () => ({ Authorization: `Bearer ${await signed(9)}` })],
    [
      'a token signed by the key of receipts',
      async () => ({ Authorization: `Bearer ${await signed(2, { kid: keyRing(w.env.RECEIPT_KEYS as string)[0]!.keyId })}` }),
    ],
    ['an expired token', async () => ({ Authorization: `Bearer ${await signed(1, { exp: Math.floor(Date.now() / 1000) - 60 })}` })],
    ['a token of an older version of the account', async () => ({ Authorization: `Bearer ${await signed(1, { ver: 0 })}` })],
    ['a token without a session', async () => ({ Authorization: `Bearer ${await signed(1, { sid: undefined })}` })],
    ['a token of a session that never began', async () => ({ Authorization: `Bearer ${await signed(1, { sid: crypto.randomUUID() })}` })],
    ['a token of a session that has ended', () => ({ Authorization: `Bearer ${ended}` })],
    [
      'a token for the account of another person',
      async () => ({ Authorization: `Bearer ${await signed(1, { acc: stranger.userId, role: 'admin' })}` }),
    ],
    ['an unsigned token', () => ({ Authorization: `Bearer ${unsigned('none')}` })],
    ['a token that claims a symmetric algorithm', () => ({ Authorization: `Bearer ${unsigned('HS256')}AAAA` })],
  ];

  it('an intact token signed by this suite is accepted', async () => {
    expect((await w.call('GET', '/v1/account/me', { key: await signed(1) })).status).toBe(200);
  });

  it.each(BAD)('%s gets 401 invalid_authorization on every guarded route', async (_what, headers) => {
    const given = await headers();
    for (const route of guarded) {
      const { status, body } = await send(route, { headers: given, params: ids });
      expect([nameOf(route), status, body.code]).toEqual([nameOf(route), 401, 'invalid_authorization']);
    }
  });

  it('a revoked key is refused from the next request on, also under concurrency', async () => {
    const [{ body: list }, { body: me }] = await Promise.all([
      w.call('GET', '/v1/keys', { key: stranger.token }),
      w.call('GET', '/v1/account/me', { key: stranger.sandboxKey }),
    ]);
    expect(list.map(({ id }: { id: string }) => id)).toContain(me.key_id);
    expect((await revoke(stranger.token, me.key_id)).status).toBe(204);
    const after = await Promise.all(Array.from({ length: 20 }, () => w.call('GET', '/v1/products', { key: stranger.sandboxKey })));
    expect(after.map(({ status }) => status)).toEqual(Array(20).fill(401));
    expect((await w.call('GET', '/v1/products', { key: stranger.key })).status).toBe(200);
  });

  it.each(each(guarded.filter(({ auth }) => auth !== 'person')))('%s refuses a mode that contradicts the key', async (_name, route) => {
    for (const [key, mode] of [
      [owner.sandboxKey, 'live'],
      [owner.key, 'sandbox'],
    ] as const) {
      const { status, body } = await send(route, { key, params: ids, query: `?mode=${mode}` });
      // A key without scopes lacks that of the audit log in every mode.
      const reason = route.path.includes('/audit-log') ? 'scope' : 'mode';
      expect([status, body.code, body.meta.reason]).toEqual([403, 'invalid_authorization', reason]);
    }
  });

  it.each(each(guarded))('%s refuses an unknown mode', async (_name, route) => {
    for (const mode of ['production', '', 'LIVE', 'live%20']) {
      const { status, body } = await send(route, { key: owner.token, params: ids, query: `?mode=${mode}` });
      expect([mode, status, body.code]).toEqual([mode, 422, 'validation_error']);
      expect(body.detail[0].loc).toEqual(['query', 'mode']);
    }
  });

  // A rail setting exists for every merchant, so its path addresses no object.
  const isAddressed = (path: string) => /_id\}/.test(path) && !path.includes('{rail_id}');
  it.each(each(builtRoutes.filter(({ path, documented }) => documented && isAddressed(path))))(
    '%s refuses a malformed id',
    async (_name, route) => {
      const numbered = route.path.includes('{delivery_id}');
      for (const bad of [numbered ? '0' : '1', numbered ? '1.5' : '-1', 'not-a-uuid', `${NOWHERE}0`, '%00', "' OR 1=1 --"]) {
        const params = Object.fromEntries(Object.keys(ids).map((name) => [name, bad]));
        const { status, body } = await send(route, { key: route.path.startsWith('/v1/testing/') ? owner.sandboxKey : owner.token, params });
        expect([bad, status, body.code]).toEqual([bad, 422, 'validation_error']);
      }
    },
  );

  it.each(each(guarded.filter(({ auth }) => auth !== 'viewer')))('%s returns the number of remaining calls', async (_name, route) => {
    const before = Math.floor(Date.now() / 1000);
    const { token } = route.path === '/v1/account/account' ? await w.merchant() : owner;
    const { headers } = await send(route, { key: token, params: { ...ids, key_id: NOWHERE }, query: '?page=1' });
    const [limit, remaining, reset] = ['Limit', 'Remaining', 'Reset'].map((name) => Number(headers.get(`X-RateLimit-${name}`)));
    // These routes have a separate per-second bucket.
    const isMetered =
      /\/(?:consume|refund|settle|verify|metered-sessions|deliveries|close)$/.test(route.path) && route.path.startsWith('/v1/access/');
    expect(limit).toBe((isMetered ? PLANS.scale.meteredPerSecond : PLANS.scale.requestsPerMinute) * 100_000);
    expect(remaining).toBeLessThan(limit!);
    // This file calls each route a few times, all within a minute.
    expect(remaining).toBeGreaterThan(limit! - 10 * builtRoutes.length);
    expect(reset).toBeGreaterThanOrEqual(before);
    expect(reset).toBeLessThanOrEqual(before + 62);
  });

  it.each(each(builtRoutes))('%s returns the API version and echoes the request id or creates one', async (_name, route) => {
    const given = 'my-own_request-1';
    const [echoed, made] = await Promise.all([
      send(route, { headers: { 'X-Svc-Request-Id': given } }),
      send(route, { headers: { 'X-Request-Id': 'no spaces allowed' } }),
    ]);
    for (const { headers } of [echoed, made]) {
      expect(headers.get('X-Svc-Api-Version')).toBe('1.0.0');
      expect(Math.abs(Date.now() - Date.parse(headers.get('Date')!))).toBeLessThan(60_000);
    }
    expect([echoed.headers.get('X-Svc-Request-Id'), echoed.headers.get('X-Request-Id')]).toEqual([given, given]);
    expect(made.headers.get('X-Svc-Request-Id')).toMatch(/^[\w-]{8,64}$/);
    expect(made.headers.get('X-Request-Id')).toBe(made.headers.get('X-Svc-Request-Id'));
    if (echoed.status >= 400 && route.documented)
      expect([echoed.body.request_id, made.body.request_id]).toEqual([given, made.headers.get('X-Request-Id')]);
  });
});
