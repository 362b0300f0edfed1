// @module-tag quick
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Env } from '#platform/context.ts';
import worker from '../../../worker/index.ts';
import { builtRoutes, fill } from '../../contract/spec-routes.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('request body validation', () => {
  const w = new World();
  let ada: Merchant;
  const post = (raw: BodyInit, type = 'application/json', path = '/v1/products') =>
    w.call('POST', path, { key: ada.key, raw, headers: { 'content-type': type } });
  const total = async () => (await w.call('GET', '/v1/products', { key: ada.key })).body.total;

  beforeAll(async () => {
    ada = await w.merchant();
  });

  it.each(['{', '{"name": "x",}', "{'name': 'x'}", '\u0000', '{"name": "x"} {"name": "y"}', 'undefined', '[1', '"\n"', '{"a":\\u0041}'])(
    'the malformed body %j is 422 json_invalid',
    async (raw) => {
      const { status, body } = await post(raw);
      expect([status, body.code, body.detail[0].loc, body.detail[0].type]).toEqual([422, 'validation_error', ['body'], 'json_invalid']);
    },
  );

  it('a missing body is 422 and not an empty object', async () => {
    for (const headers of [{}, { 'content-type': 'application/json' }] as Record<string, string>[]) {
      const { status, body } = await w.call('POST', '/v1/products', { key: ada.key, headers });
      expect([status, body.code]).toEqual([422, 'validation_error']);
    }
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/json',
    'application/jsonp',
    'application/json-seq, text/x',
    '',
  ])('a body of type %j is 415', async (type) => {
    const { status, body } = await post('{"name":"x","price":{"asset":"USDC","amount":"1"}}', type);
    expect([status, body.code]).toEqual([415, 'unsupported_media_type']);
  });

  it.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/vnd.api+json'])(
    'a body of type %s is accepted',
    async (type) => {
      expect((await post('{"name":"x","price":{"asset":"USDC","amount":"1"}}', type)).status).toBe(201);
    },
  );

  it('a body above 64 KB is 413, announced or not, and one of 64 KB is accepted', async () => {
    const body = (bytes: number) => {
      const text = JSON.stringify({ name: 'x', price: { asset: 'USDC', amount: '1' } });
      return text + ' '.repeat(bytes - text.length);
    };
    const unannounced = (text: string) =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          const bytes = new TextEncoder().encode(text);
          for (let at = 0; at < bytes.length; at += 4096) controller.enqueue(bytes.slice(at, at + 4096));
          controller.close();
        },
      });
    const limit = 64 * 1024;
    expect((await post(body(limit))).status).toBe(201);
    expect((await post(unannounced(body(limit)))).status).toBe(201);
    const before = await total();
    for (const raw of [body(limit + 1), unannounced(body(limit + 1)), unannounced('x'.repeat(3 * limit))]) {
      const answer = await post(raw);
      expect([answer.status, answer.body.code]).toEqual([413, 'payload_too_large']);
    }
    expect(await total()).toBe(before);
  });

  it('a body is not read if no route exists', async () => {
    const phrase = `${Array(11).fill('abandon').join(' ')} about`;
    expect((await w.call('POST', '/v1/nothing', { body: { phrase } })).status).toBe(404);
    expect((await w.call('POST', '/v1/auth/login', { body: { phrase } })).status).toBe(422);
  });

  it('deeply nested bodies are 422', async () => {
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);
    expect((await post(deep)).status).toBe(422);
    expect((await post(`{"name":${deep},"price":{"asset":"USDC","amount":"1"}}`)).status).toBe(422);
    expect((await post(`{"name":"x","metadata":{"a":${deep}},"price":{"asset":"USDC","amount":"1"}}`)).status).toBe(422);
    expect((await post(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`)).status).toBe(422);
  });
});

describe('paths and methods', () => {
  const w = new World();

  it.each(['/v1', '/v1/', '/v2/products', '/v1/products/', '//v1/products', '/v1/nothing', '/v1/products/x/y', '/%', '/%00', '/.env'])(
    '%s is 404 with the error shape',
    async (path) => {
      const { status, body } = await w.call('GET', path);
      expect([status, body.code]).toEqual([404, 'not_found']);
      expect(Object.keys(body).sort()).toEqual(['code', 'detail', 'docs_url', 'meta', 'request_id', 'retryable']);
    },
  );

  it.each([
    ['/v1/productz', '/v1/products'],
    ['/products', '/v1/products'],
    ['/v1/products/', '/v1/products'],
    ['/V1//Products', '/v1/products'],
    ['/v1/payment/0190/accept-unmatched', '/v1/payments/{payment_id}/accept-unmatched'],
    ['/v1/webhooks/endpoint', '/v1/webhooks/endpoints'],
    ['/doc', '/docs'],
    ['/v1/setup/readiness', '/v1/access/setup/readiness'],
    ['/v1/access/readiness', '/v1/access/setup/readiness'],
  ])('the 404 of %s names the nearest path', async (path, nearest) => {
    const { status, body } = await w.call('GET', path);
    expect([status, body.code, body.meta]).toEqual([404, 'not_found', { reason: 'unknown_path', nearest }]);
    expect(body.detail).toBe(`The path does not exist. Did you mean ${nearest}?`);
  });

  it('the 404 of an unknown path, an unknown object and an unconfigured part differ', async () => {
    const ada = await w.merchant();
    const object = await w.call('GET', '/v1/products/01900000-0000-7000-8000-000000000000', { key: ada.key });
    expect([object.status, object.body.detail, object.body.meta]).toEqual([
      404,
      'The object does not exist, or belongs to another account or mode. Check the id and the credential.',
      {},
    ]);
    const path = await w.call('GET', '/v1/fantasia', { key: ada.key });
    expect([path.status, path.body.detail, path.body.meta]).toEqual([
      404,
      'The path does not exist. The reference is at /v1/docs.',
      { reason: 'unknown_path' },
    ]);
    const part = await w.call('GET', '/.well-known/security.txt');
    expect([part.status, part.body.meta]).toEqual([404, { reason: 'not_configured', missing: ['OPERATOR_CONTACT'] }]);
  });

  it('operator routes and local pages answer like unknown paths', async () => {
    const hidden = [
      '/v1/operator/accounts',
      '/v1/operator/accounts/email',
      '/v1/operator/accounts/reset-factors',
      '/v1/operator/accounts/complaint',
      '/v1/operator/accounts/resume-emails',
      '/v1/operator/switches',
      '/v1/operator/bounces',
      '/v1/operator/reconcile',
      '/v1/operator/metrics',
      '/dev/mail',
      '/dev/telegram',
    ];
    for (const path of hidden)
      for (const method of ['GET', 'POST', 'DELETE']) {
        const { status, body } = await w.call(method, path, method === 'POST' ? { body: {} } : {});
        expect([path, method, status, body.meta]).toEqual([path, method, 404, { reason: 'unknown_path' }]);
      }
    const { body } = await w.call('GET', '/v1/operator/account');
    expect(body.meta).toEqual({ reason: 'unknown_path' });
  });

  it('an unknown method of a known path is 405 with Allow', async () => {
    for (const path of new Set(builtRoutes.map((route) => route.path))) {
      const allowed = builtRoutes.filter((route) => route.path === path).map(({ method }) => method);
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((one) => !allowed.includes(one))) {
        const concrete = fill(path);
        // A concrete path such as `/v1/products/p` may also match another template.
        const { status, body, headers } = await w.call(method, concrete);
        expect([method, path, status, body.code]).toEqual([method, path, 405, 'method_not_allowed']);
        expect(headers.get('Allow')?.split(', ')).toEqual(expect.arrayContaining(allowed));
      }
    }
  });

  it('CORS opens only the routes that buyers’ browsers call, without credentials', async () => {
    const open = [
      '/v1/products/p/{slug}',
      '/v1/products/p/{slug}/connect',
      '/v1/products/p/{slug}/handoff/{token}',
      '/v1/products/p/{slug}/identity',
      '/v1/pay/confirm',
      '/v1/pay/{payment_id}/solana-pay',
      '/v1/payments/{payment_id}',
      '/v1/payments/{payment_id}/transaction',
      '/v1/receipt/{receipt_id}/public',
      '/v1/receipt/{receipt_id}/verify',
      '/v1/access/metered-sessions/{session_id}/authorize',
      '/v1/access/metered-sessions/{session_id}/commits',
      '/v1/access/native-subscriptions/{authorization_id}/cancel-intent',
      '/v1/access/native-subscriptions/{authorization_id}/cancel-confirm',
      '/__402/session/deliveries',
      // Public outside of the contract's list: agents read it in browsers.
      '/llms.txt',
      '/llms-full.txt',
    ];
    const groups = ['/v1/access/x402/', '/v1/access/agent-bootstrap', '/.well-known/'];
    const origin = { Origin: 'https://shop.example' };
    for (const { method, path, auth } of builtRoutes) {
      const isOpen = open.includes(path) || groups.some((group) => path.startsWith(group));
      const expected = isOpen ? '*' : null;
      const preflight = await w.call('OPTIONS', fill(path), { headers: { ...origin, 'Access-Control-Request-Method': method } });
      const answer = await w.call(method, fill(path), { headers: origin });
      for (const { headers } of [preflight, answer]) {
        expect([path, headers.get('Access-Control-Allow-Origin')]).toEqual([path, expected]);
        expect(headers.get('Access-Control-Allow-Credentials')).toBeNull();
      }
      // The contract opens every x402 route. Those that need a key refuse a call without one.
      if ((auth === 'merchant' || auth === 'person') && !path.startsWith('/v1/access/x402/')) expect(expected).toBeNull();
      if (!expected) continue;
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('Access-Control-Allow-Headers')).toBe(
        'Content-Type,Authorization,PAYMENT-SIGNATURE,SIGN-IN-WITH-X,Payment-Authorization,Idempotency-Key,X-Svc-Setup-Secret,X-Svc-Identity-Session,Access-Control-Expose-Headers',
      );
      expect(answer.headers.get('Access-Control-Expose-Headers')).toBe(
        'Date,PAYMENT-REQUIRED,PAYMENT-RESPONSE,WWW-Authenticate,Payment-Receipt,Retry-After,X-Svc-Request-Id',
      );
    }
  });
});

describe('unavailable dependencies', () => {
  const w = new World();
  const cut = () => withFaults(w.env, { before: () => true }).env;

  it.each(['/health', '/v1/health'])('%s is degraded without the chain and 503 without the database', async (path) => {
    const absent = { price_source: 'ok', processor: 'ok', mail: 'not_configured', configuration: 'ok', fee_payer: 'ok', keys: 'ok' };
    const well = await w.call('GET', path);
    expect([well.status, well.body]).toMatchObject([
      200,
      { status: 'ok', version: '1.0.0', database_used: expect.any(Number), checks: { database: 'ok', rpc: 'ok' } },
    ]);
    const sick = await w.call('GET', path, { env: cut() });
    expect([sick.status, sick.body.status, sick.body.checks]).toEqual([
      503,
      'degraded',
      { ...absent, database: 'failing', queue: 'failing', rpc: 'ok', fee_payer: 'not_configured', keys: 'not_configured' },
    ]);
    const dark = new World();
    await dark.chain.fault({ kind: 'http_503', times: 10 });
    const lonely = await dark.call('GET', path);
    expect([lonely.status, lonely.body.status, lonely.body.checks]).toEqual([
      200,
      'degraded',
      { ...absent, database: 'ok', queue: 'ok', rpc: 'failing' },
    ]);
  });

  it('a database outage is 503 temporarily_unavailable with Retry-After', async () => {
    const ada = await w.merchant();
    const body = { name: 'x', price: { asset: 'USDC', amount: '1' } };
    for (const answer of [
      await w.call('POST', '/v1/products', { key: ada.key, body, env: cut() }),
      await w.call('GET', '/v1/products', { key: ada.key, env: cut() }),
      await w.call('POST', '/v1/auth/login', { body: { email: ada.email, password: 'correct horse battery' }, env: cut() }),
      await w.call('GET', '/v1/products/p/any', { env: cut() }),
    ]) {
      expect([answer.status, answer.body.code, answer.body.retryable]).toEqual([503, 'temporarily_unavailable', true]);
      expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
      expect(JSON.stringify({ ...answer.body, request_id: '' })).not.toMatch(/D1|SQL|select|stack|network/i);
    }
  });

  it('an exception is 500 internal_error with the request id and without its message', async () => {
    const broken = {
      getByName: () => {
        throw new TypeError('the secret story of svc');
      },
    };
    const env = { ...w.env, ADMISSION: broken } as unknown as Env;
    const execution = createExecutionContext();
    const response = await worker.fetch(new Request('https://svc.test/v1/products/p/x'), env, execution);
    await waitOnExecutionContext(execution);
    const body = (await response.json()) as Record<string, unknown>;
    expect([response.status, body.code, body.retryable]).toEqual([500, 'internal_error', true]);
    expect(body.request_id).toBe(response.headers.get('X-Svc-Request-Id'));
    expect(JSON.stringify(body)).not.toMatch(/secret story|TypeError|\.ts/);
  });
});
