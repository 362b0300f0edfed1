// @module-tag quick
import { describe, expect, it } from 'vitest';
import { createClient } from '../../sdk/src/index.ts';
import { catchFailure, payment, refusal, scripted, unavailable } from './scripted-client.ts';

const CONSUME = { product_id: 'p', customer: { customer_ref: 'ada' } };
const PRODUCT = { name: 'Weather', price: { asset: 'USDC' as const, amount: '1' } };
const CONFIRM = { payment_id: 'p1', tx_signature: 'sig' };

describe('client answers', () => {
  it('an answer serialises as the service’s body, and has `replayed` and `response`', async () => {
    const { client, seen } = scripted([Response.json({ consumed: true, units: 1 }, { headers: { 'Idempotent-Replayed': 'true' } })]);
    const answer = await client.entitlements.consume(CONSUME, { idempotencyKey: 'my-own-key' });
    expect(answer.replayed).toBe(true);
    expect(answer.response.status).toBe(200);
    expect(JSON.stringify(answer)).toBe('{"consumed":true,"units":1}');
    expect(seen[0]).toMatchObject({ method: 'POST', url: 'https://svc.test/v1/access/entitlements/consume', key: 'my-own-key' });
    expect(seen[0]!.headers.get('X-Svc-Key')).toBe('svc_live_abc');
  });

  it('a logout ends its session unless the caller decides otherwise', async () => {
    const done = { detail: 'Done.' };
    const { client, seen } = scripted([Response.json(done), Response.json(done), Response.json(done), Response.json(done)]);
    await client.auth.logout();
    await client.request('logout');
    await client.auth.logout({ end: 'all' });
    await client.auth.logout({});
    expect(seen.map(({ body }) => body)).toEqual(
      [{ end: 'session' }, { end: 'session' }, { end: 'all' }, {}].map((one) => JSON.stringify(one)),
    );
  });

  it('a failure has code, status, request id, retryable, docs URL and meta', async () => {
    const { client } = scripted([refusal(403, 'entitlement_missing', { meta: { reason: 'x' }, headers: { 'PAYMENT-REQUIRED': 'abc' } })]);
    const error = await catchFailure(client.entitlements.consume(CONSUME));
    expect(error).toMatchObject({
      code: 'entitlement_missing',
      status: 403,
      requestId: 'req_12345678',
      retryable: false,
      docsUrl: 'https://svc.test/docs',
      message: 'text of entitlement_missing',
      meta: { reason: 'x' },
    });
    expect(error.headers.get('PAYMENT-REQUIRED')).toBe('abc');
  });

  it.each([
    [{ detail: { code: 'a', message: 'inner' }, code: 'b' }, 'a', 'inner'],
    [{ detail: 'text', code: 'b', error: 'c' }, 'b', 'text'],
    [{ error: 'c', message: 'm' }, 'c', 'm'],
    [
      { detail: [{ loc: ['body', 'name'], msg: 'missing', type: 't' }], code: 'validation_error' },
      'validation_error',
      'body.name: missing',
    ],
  ])('code and text are read from every error shape: %j', async (body, code, message) => {
    const { client } = scripted([Response.json(body, { status: 422 })]);
    expect(await catchFailure(client.products.get('p'))).toMatchObject({ code, message, status: 422 });
  });

  it('an answer that is not the service’s own fails with `unexpected_response`', async () => {
    const { client } = scripted([new Response('<h1>Bad gateway</h1>', { status: 502 })], { maxRetries: 0 });
    expect(await catchFailure(client.products.get('p'))).toMatchObject({ code: 'unexpected_response', status: 502, retryable: true });
    const login = scripted([new Response('<h1>Sign in</h1>')]);
    expect(await catchFailure(login.client.products.get('p'))).toMatchObject({
      code: 'unexpected_response',
      status: 200,
      retryable: false,
    });
  });
});

describe('idempotency keys', () => {
  it.each(['short', 'has space', 'x'.repeat(256), 'naïve-key', 'line\nbreak'])(
    'the invalid key %j is refused locally and not sent',
    async (idempotencyKey) => {
      const { client, seen } = scripted([Response.json({})]);
      expect(await catchFailure(client.entitlements.consume(CONSUME, { idempotencyKey }))).toMatchObject({
        code: 'invalid_idempotency_key',
        status: 0,
      });
      expect(seen).toEqual([]);
    },
  );

  it('a call without a key gets a new key of its own', async () => {
    const { client, seen } = scripted([Response.json({})]);
    await client.entitlements.consume(CONSUME);
    await client.entitlements.refund({ consumption_id: 'c', reason: 'r' });
    expect(new Set(seen.map(({ key }) => key)).size).toBe(2);
    expect(seen.every(({ key }) => /^sdk_[0-9a-f-]{36}$/.test(key ?? ''))).toBe(true);
  });

  it('a retry uses the key of its first attempt', async () => {
    const { client, seen } = scripted([unavailable(), new TypeError('reset'), Response.json({ consumed: true })]);
    const answer = await client.entitlements.consume(CONSUME);
    expect(seen.map(({ key }) => key)).toEqual([seen[0]!.key, seen[0]!.key, seen[0]!.key]);
    expect(answer.response.isAmbiguous).toBe(true);
  });
});

describe.concurrent('client retries', () => {
  it('a read is retried up to maxRetries times', async () => {
    const { client, seen } = scripted([unavailable()], { maxRetries: 3 });
    expect((await catchFailure(client.payments.list())).code).toBe('temporarily_unavailable');
    expect(seen.length).toBe(4);
  });

  it('a final error is not retried', async () => {
    const { client, seen } = scripted([refusal(404, 'not_found')]);
    await catchFailure(client.products.get('p'));
    expect(seen.length).toBe(1);
  });

  it('a write that creates a record is retried under its one key', async () => {
    const limited = refusal(429, 'rate_limited', { retryable: true, headers: { 'Retry-After': '0' } });
    for (const answer of [unavailable(), limited, new TypeError('reset')]) {
      const { client, seen } = scripted([answer], { maxRetries: 1 });
      await catchFailure(client.products.create(PRODUCT));
      await catchFailure(client.products.update('p', { name: 'x' }));
      await catchFailure(client.products.archive('p'));
      await catchFailure(client.webhookEndpoints.create({ url: 'https://a.test', event_types: ['*'] }));
      await catchFailure(client.webhookDeliveries.replay(7));
      expect(seen.length).toBe(10);
      expect(new Set(seen.map(({ key }) => key)).size).toBe(5);
    }
  });

  it('a short Retry-After is waited for before the retry', async () => {
    const limited = refusal(429, 'rate_limited', { retryable: true, headers: { 'Retry-After': '1' } });
    const { client, seen } = scripted([limited, Response.json({ items: [] })]);
    await client.products.list();
    expect(seen[1]!.at - seen[0]!.at).toBeGreaterThanOrEqual(990);
  });

  it('a long Retry-After is returned to the caller at once', async () => {
    const { client, seen } = scripted([refusal(429, 'rate_limited', { retryable: true, headers: { 'Retry-After': '60' } })]);
    expect(await catchFailure(client.products.list())).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 60 });
    expect(seen.length).toBe(1);
  });

  it('an unanswered attempt ends with request_timeout, and a read is retried', async () => {
    const { client, seen } = scripted(['silence'], { timeoutMs: 30, maxRetries: 1 });
    expect(await catchFailure(client.products.list())).toMatchObject({
      code: 'request_timeout',
      status: 0,
      retryable: true,
      isAmbiguous: true,
      docsUrl: 'https://svc.test/docs/errors/request_timeout',
    });
    expect(seen.length).toBe(2);
  });

  it('a body that stops half way ends with request_timeout', async () => {
    const stuck = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{"a":')) });
    const { client } = scripted([], { timeoutMs: 30, maxRetries: 0, fetch: async () => new Response(stuck) });
    expect((await catchFailure(client.products.list())).code).toBe('request_timeout');
  });
});

describe('createClient', () => {
  it.each(['api.example.com', 'localhost:8911', '', 'ftp://api.example.com', 'https://'])(
    'the base URL %j is refused at creation',
    (baseUrl) => {
      expect(() => createClient({ baseUrl })).toThrow(/needs a scheme and a host, as in https:/);
    },
  );

  it.each([undefined, ''])('the key %j is refused at creation, as an unset variable', (key) => {
    expect(() => createClient({ baseUrl: 'https://svc.test', key } as { baseUrl: string; key: string })).toThrow('key is empty');
    expect(() => createClient({ baseUrl: 'https://svc.test' })).not.toThrow();
  });

  it.each(['svc_live_se\ncret', 'svc_live_secret\n', 'svc_live secret', 'svc_live_sécret', '\u0000secret'])(
    'the key %j is refused at creation, by a text without it',
    (key) => {
      const create = () => createClient({ baseUrl: 'https://svc.test', key });
      expect(create).toThrow(/^key has a space, a line break/);
      expect(create).not.toThrow(/secret|cret|live/);
    },
  );

  it.each([
    'https://secret@svc.test',
    'https://user:secret@svc.test',
    'https://svc.test/?key=secret',
    'https://svc.test?',
    'https://svc.test/#secret',
    'https://svc.test/v1#',
    'https:/user:secret@svc.test',
  ])('the base URL %s is refused at creation, by a text without it', (baseUrl) => {
    const create = () => createClient({ baseUrl });
    expect(create).toThrow(/^baseUrl (?:has a|needs)/);
    expect(create).not.toThrow(/secret|svc\.test/);
  });

  it('the client’s own errors link to the page of their code', async () => {
    const { client } = scripted([], { maxRetries: 0, fetch: async () => Promise.reject(new Error('down')) });
    const failed = await catchFailure(client.products.list());
    expect([failed.code, failed.docsUrl]).toEqual(['connection_failed', 'https://svc.test/docs/errors/connection_failed']);
    const invalid = await catchFailure(
      client.entitlements.consume({ product_id: 'p', customer: { customer_ref: 'u' } }, { idempotencyKey: 'x' }),
    );
    expect([invalid.code, invalid.docsUrl]).toEqual(['invalid_idempotency_key', 'https://svc.test/docs/errors/invalid_idempotency_key']);
  });
});

describe.concurrent('client.payments.confirm', () => {
  const calls = (seen: { method: string; url: string }[]) => seen.map(({ method, url }) => `${method} ${new URL(url).pathname}`);
  const POST = 'POST /v1/pay/confirm';
  const GET = 'GET /v1/payments/p1';

  it('a lost answer is followed by a read, and a CONFIRMED payment is not confirmed again', async () => {
    const confirmed = payment({ status: 'CONFIRMED', tx_signature: 'sig', receipt_id: 'r1' });
    const { client, seen } = scripted([new TypeError('reset'), confirmed]);
    const answer = await client.payments.confirm(CONFIRM);
    expect(answer).toMatchObject({ already_confirmed: true, receipt_id: 'r1', payment: { status: 'CONFIRMED' } });
    expect(calls(seen)).toEqual([POST, GET]);
  });

  it('an open payment is confirmed again after the read', async () => {
    const { client, seen } = scripted([
      unavailable(),
      payment({ status: 'PENDING_CONFIRMATION' }),
      Response.json({ already_confirmed: false }),
    ]);
    expect((await client.payments.confirm(CONFIRM)).already_confirmed).toBe(false);
    expect(calls(seen)).toEqual([POST, GET, POST]);
  });

  it.each([
    [{ status: 'FAILED', failure_code: 'session_expired' }, 'session_expired'],
    [{ status: 'FAILED', failure_code: 'underpaid' }, 'payment_failed'],
    [{ status: 'CONFIRMED', tx_signature: 'another' }, 'payment_transaction_conflict'],
  ])('a payment that ended otherwise (%j) is not confirmed again', async (fields, code) => {
    const { client, seen } = scripted([new TypeError('reset'), payment(fields)]);
    expect((await catchFailure(client.payments.confirm(CONFIRM))).code).toBe(code);
    expect(calls(seen)).toEqual([POST, GET]);
  });

  it('client.request reads the payment before it repeats too', async () => {
    const { client, seen } = scripted([new TypeError('reset'), payment({ status: 'CONFIRMED', tx_signature: 'sig' })]);
    expect(await client.request('confirmPayment', { body: CONFIRM })).toMatchObject({ already_confirmed: true });
    expect(calls(seen)).toEqual([POST, GET]);
  });

  it('an unreadable payment is not confirmed again', async () => {
    const { client, seen } = scripted([new TypeError('reset'), refusal(404, 'not_found')]);
    expect((await catchFailure(client.payments.confirm(CONFIRM))).code).toBe('connection_failed');
    expect(calls(seen)).toEqual([POST, GET]);
  });

  it('a refusal of the confirmation is final', async () => {
    const { client, seen } = scripted([refusal(422, 'payment_mismatch')]);
    expect((await catchFailure(client.payments.confirm(CONFIRM))).code).toBe('payment_mismatch');
    expect(calls(seen)).toEqual([POST]);
  });
});
