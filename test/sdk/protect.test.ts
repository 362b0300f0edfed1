import { describe, expect, it } from 'vitest';
import { createClient } from '../../sdk/src/index.ts';
import { protectedHandler, readCode } from './protected.ts';

const KEYS: Record<string, string>[] = [{}, { 'Idempotency-Key': 'caller-key-1' }];
const ada = { customer_ref: 'ada' };

describe('protect() without a payment', () => {
  it('an unknown caller is not served, and gets the service’s challenge as a 402', async () => {
    const { ask, served, service } = protectedHandler();
    const response = await ask();
    expect(response.status).toBe(402);
    const challenge = JSON.parse(atob(response.headers.get('PAYMENT-REQUIRED')!));
    expect(challenge.resource).toEqual({ method: 'GET', url: 'https://weather.test/forecast' });
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    expect(response.headers.get('Access-Control-Expose-Headers')).toContain('PAYMENT-REQUIRED');
    expect(await readCode(response)).toBe('entitlement_missing');
    expect(served).toEqual([]);
    expect(service.seen[0]!.body).toMatchObject({ product_id: 'p1', units: 1, resource: { url: 'https://weather.test/forecast' } });
    expect((service.seen[0]!.body.customer as typeof ada).customer_ref).toMatch(/^anon_[0-9a-f-]{36}$/);
  });

  it.each([
    ['GET', undefined, { method: 'GET', url: 'https://weather.test/forecast' }],
    ['PATCH', { url: 'https://shop.test/x', description: 'X' }, { method: 'PATCH', url: 'https://shop.test/x', description: 'X' }],
    ['POST', { url: 'https://shop.test/x', method: 'PUT' as const }, { method: 'PUT', url: 'https://shop.test/x' }],
    ['POST', { url: 'mcp://tool/x', tool_name: 'x' }, { url: 'mcp://tool/x', tool_name: 'x' }],
    ['OPTIONS', undefined, { url: 'https://weather.test/forecast' }],
  ])('the challenge for %s names the method that it can name', async (method, resource, expected) => {
    const { open, service } = protectedHandler(resource ? { resource } : {});
    await open()(new Request('https://weather.test/forecast?city=Oslo', { method }));
    expect(service.seen[0]!.body.resource).toEqual(expected);
  });

  it('a known customer uses one unit per request until none is left', async () => {
    const { ask, served, service } = protectedHandler({ customer: () => ada });
    service.balances.set(JSON.stringify(ada), 2);
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await ask()).status);
    expect(statuses).toEqual([200, 200, 402]);
    expect(served.map(({ remaining }) => remaining)).toEqual([1, 0]);
    expect(served[0]).toMatchObject({ customer: ada, units: 1, payment: null, isReplay: false, isFailOpen: false });
    expect(service.openUses).toBe(2);
  });

  it('the units can depend on the request', async () => {
    const { ask, service } = protectedHandler({
      customer: () => ada,
      units: (request) => new URL(request.url).searchParams.get('city')!.length,
    });
    service.balances.set(JSON.stringify(ada), 5);
    expect((await ask()).status).toBe(200);
    expect(service.balances.get(JSON.stringify(ada))).toBe(1);
  });

  it('a repeated Idempotency-Key is refused, and served again with onReplay: serve', async () => {
    const key = { 'Idempotency-Key': 'caller-key-1' };
    for (const [onReplay, status, handled] of [
      ['refuse', 409, 1],
      ['serve', 200, 2],
    ] as const) {
      const { ask, service, served, open } = protectedHandler({ customer: () => ada, onReplay });
      service.balances.set(JSON.stringify(ada), 9);
      expect((await ask(key)).status).toBe(200);
      expect((await ask(key, open())).status, 'through another process').toBe(status);
      expect(served.length).toBe(handled);
      expect(service.openUses).toBe(1);
    }
  });

  it('an unfinished setup answers 503 setup_not_ready, not an empty 402', async () => {
    const { ask, service, errors } = protectedHandler();
    service.isPayable = false;
    const response = await ask();
    expect(response.status).toBe(503);
    expect(await readCode(response)).toBe('setup_not_ready');
    expect(errors.length).toBe(1);
  });
});

describe.concurrent('protect() with a payment', () => {
  it('a payment is settled, used and served with PAYMENT-RESPONSE and private caching', async () => {
    const { pay, served, service, state } = protectedHandler();
    state.handler = () => new Response('sunny', { headers: { 'Cache-Control': 'public, max-age=60' } });
    const response = await pay('pay:bob:1');
    expect(await response.text()).toBe('sunny');
    expect(atob(response.headers.get('PAYMENT-RESPONSE')!)).toContain('"success":true');
    expect(response.headers.get('Cache-Control')).toBe('private, max-age=60');
    expect(served[0]).toMatchObject({ customer: { wallet_address: 'bob' }, payment: { payer: 'bob' } });
    expect(service.openUses).toBe(1);
  });

  it('one payment is served once: repeated, concurrent, under any Idempotency-Key and in any process', async () => {
    const { pay, served, service, open } = protectedHandler();
    const keys = [...KEYS, { 'Idempotency-Key': 'caller-key-2' }];
    const processes = [open(), open(), open()];
    const responses = await Promise.all(
      processes.flatMap((one) => keys.flatMap((key) => [pay('pay:bob:1', key, one), pay('pay:bob:1', key, one)])),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(17).fill(409)]);
    expect(await readCode(responses.find(({ status }) => status === 409)!)).toBe('payment_replayed');
    expect(served.length).toBe(1);
    expect(service.openUses).toBe(1);
  });

  it('one payment is served at most once although answers are lost', async () => {
    const runs = Array.from({ length: 20 }, async (_, seed) => {
      const { pay, served, service, open } = protectedHandler();
      const processes = [open(), open()];
      for (let i = 0; i < 8; i++) service.faults.push((['lost', null, 'unreachable', 'late'] as const)[(seed * 7 + i * i) % 4]!);
      const key = KEYS[seed % 2]!;
      const asked = await Promise.all(Array.from({ length: 6 }, (_, i) => pay('pay:bob:1', key, processes[i % 2])));
      for (let i = 0; i < 4; i++) asked.push(await pay('pay:bob:1', key, processes[i % 2]));
      return { served: served.length, story: asked.map(({ status }) => status) };
    });
    for (const { served, story: statuses } of await Promise.all(runs)) expect(served, `${statuses}`).toBeLessThanOrEqual(1);
  });

  it('a buyer is served once with the same payment after the settlement’s answer was lost', async () => {
    for (const key of KEYS) {
      const { pay, served, service } = protectedHandler();
      service.faults.push('lost', 'late', 'lost');
      const first = await pay('pay:bob:1', key);
      expect([first.status, first.headers.get('Retry-After')]).toEqual([503, '5']);
      expect((await pay('pay:bob:1', key)).status).toBe(200);
      expect((await pay('pay:bob:1', key)).status).toBe(409);
      expect(served.length).toBe(1);
    }
  });

  it('retries of a settlement use one key, and never the caller’s own', async () => {
    const { pay, service } = protectedHandler();
    service.faults.push('lost', 'lost');
    expect((await pay('pay:bob:1', { 'Idempotency-Key': 'caller-key-1' })).status).toBe(200);
    const keys = service.keysOf('/settle');
    expect(keys.length).toBe(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).not.toContain('caller-key');
  });

  it('a pending settlement is retried once, then answered with 503 and without a challenge', async () => {
    const { pay, service, served } = protectedHandler();
    service.pendingSettles = 1;
    expect((await pay('pay:bob:1')).status).toBe(200);
    service.pendingSettles = 2;
    service.retryAfter = 1;
    const response = await pay('pay:bob:2');
    expect([response.status, response.headers.get('Retry-After'), response.headers.has('PAYMENT-REQUIRED')]).toEqual([503, '1', false]);
    expect(await readCode(response)).toBe('settlement_pending');
    expect((await pay('pay:bob:2')).status).toBe(200);
    expect(served.length).toBe(2);
  });

  it('the refusal of a taken payment identifier asks for the first payment again', async () => {
    const { pay } = protectedHandler({});
    expect(await (await pay('renamed')).json()).toMatchObject({
      code: 'idempotency_conflict',
      reason: 'payment_identifier',
      detail: expect.stringContaining('Send that one again; do not pay again.'),
    });
  });

  it('the refusal of a payer at the daily limit names limit, sum and end of the day, and is asked for once', async () => {
    const { pay, service } = protectedHandler({});
    const refused = await pay('looped');
    expect([refused.status, refused.headers.get('Retry-After'), refused.headers.get('Cache-Control')]).toEqual([429, '3600', 'no-store']);
    const usdc = { asset: 'USDC', amount: '5', base_units: '5000000' };
    expect(await refused.json()).toEqual({
      code: 'payer_limit_reached',
      detail: expect.stringContaining('do not pay again before Retry-After'),
      limit: usdc,
      paid: usdc,
      resets_at: '2026-11-22T00:00:00.000Z',
    });
    expect(service.keysOf('/settle').length).toBe(1);
  });

  it('a browser may read the headers of every refusal', async () => {
    const { ask } = protectedHandler();
    expect((await ask()).headers.get('Access-Control-Expose-Headers')).toBe(
      'PAYMENT-REQUIRED, PAYMENT-RESPONSE, WWW-Authenticate, Payment-Receipt, Retry-After',
    );
  });

  it.each([
    ['wrong', 402, 'payment_mismatch', true],
    ['not a payment', 402, 'payment_mismatch', true],
    ['elsewhere', 409, 'duplicate_settlement', false],
    ['renamed', 409, 'idempotency_conflict', false],
    ['looped', 429, 'payer_limit_reached', false],
  ])('the payment %j is refused with %i %s', async (payment, status, code, hasChallenge) => {
    const { pay, served } = protectedHandler({ failOpen: true });
    const response = await pay(payment);
    expect([response.status, response.headers.has('PAYMENT-REQUIRED')]).toEqual([status, hasChallenge]);
    expect(await readCode(response)).toBe(code);
    expect(served).toEqual([]);
  });

  it('a replayed answer under a fresh key is not served', async () => {
    const { pay, service, served } = protectedHandler();
    const body = {
      success: true,
      payer: 'eve',
      consumed_units: 1,
      granted_units: 1,
      remaining: 0,
      consumption_id: 'con_1',
      payment_response: 'x',
    };
    service.faults.push({ status: 200, body, headers: { 'Idempotent-Replayed': 'true' } });
    const response = await pay('pay:bob:1');
    expect([response.status, await response.json()]).toEqual([
      409,
      expect.objectContaining({ code: 'payment_replayed', consumption_id: 'con_1' }),
    ]);
    expect(served).toEqual([]);
  });

  it('a paid request that died with its process is served after a refund of the id in the 409', async () => {
    const { pay, service, open, served, state } = protectedHandler();
    state.handler = () => new Response('never arrives');
    await pay('pay:bob:1', {}, open());
    const { consumption_id } = (await (await pay('pay:bob:1')).json()) as { consumption_id: string };
    const client = createClient({ baseUrl: 'https://svc.test', fetch: service.fetch });
    await client.entitlements.refund({ consumption_id, reason: 'never served' }, { idempotencyKey: `refund-${consumption_id}` });
    expect((await pay('pay:bob:1')).status).toBe(200);
    expect((await pay('pay:bob:1')).status).toBe(409);
    expect([served.length, service.openUses]).toEqual([2, 1]);
  });

  it.each([
    ['without `customer`, once', {}, 3, [/3 units, a request uses 1/]],
    ['not where a request uses all', { units: 3 }, 3, []],
    ['not where `customer` finds them again', { customer: () => null }, 3, []],
    ['not where nothing is left', {}, 1, []],
  ])('leftover units are reported: %s', async (_when, options, unitsPerPayment, expected) => {
    const { pay, service, errors } = protectedHandler(options);
    service.unitsPerPayment = unitsPerPayment;
    for (const payment of ['pay:bob:1', 'pay:bob:2', 'pay:eve:1']) expect((await pay(payment)).status).toBe(200);
    expect(errors.map(String)).toEqual(expected.map((text) => expect.stringMatching(text)));
  });

  it('a payment worth less than the request gets a 402 with its PAYMENT-RESPONSE', async () => {
    const { pay, served } = protectedHandler({ units: 2 });
    const response = await pay('pay:bob:1');
    expect([response.status, response.headers.has('PAYMENT-RESPONSE'), response.headers.has('PAYMENT-REQUIRED')]).toEqual([
      402,
      true,
      true,
    ]);
    expect((await pay('pay:bob:2')).status, 'together they are enough').toBe(200);
    expect(served.length).toBe(1);
  });
});

describe.concurrent('protect() with a failing handler', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('model crashed');
      },
    ],
    ['answers 500', () => new Response('oops', { status: 500 })],
  ])('a handler that %s is refunded, and the same payment is served afterwards', async (_how, handler) => {
    for (const key of KEYS) {
      const { pay, service, state, served, open } = protectedHandler();
      state.handler = handler;
      await pay('pay:bob:1', key).catch((error: Error) => expect(error.message).toBe('model crashed'));
      expect(service.openUses).toBe(0);
      expect(service.seen.at(-1)).toMatchObject({ path: '/v1/access/entitlements/refund', key: `refund-${served[0]!.consumptionId}` });
      state.handler = () => new Response('sunny');
      expect((await pay('pay:bob:1', key)).status).toBe(200);
      expect((await pay('pay:bob:1', key, open())).status).toBe(409);
      expect(service.openUses).toBe(1);
    }
  });

  it('a known customer is refunded, and the same key works again', async () => {
    const { ask, service, state } = protectedHandler({ customer: () => ada });
    service.balances.set(JSON.stringify(ada), 1);
    state.handler = () => new Response('oops', { status: 503 });
    expect((await ask({ 'Idempotency-Key': 'caller-key-1' })).status).toBe(503);
    state.handler = () => new Response('sunny');
    expect((await ask({ 'Idempotency-Key': 'caller-key-1' })).status).toBe(200);
    expect((await ask({ 'Idempotency-Key': 'caller-key-1' })).status).toBe(409);
    expect(service.balances.get(JSON.stringify(ada))).toBe(0);
  });

  it('a replay is not refunded', async () => {
    const { pay, service, state } = protectedHandler({ onReplay: 'serve' });
    expect((await pay('pay:bob:1')).status).toBe(200);
    state.handler = () => new Response('oops', { status: 500 });
    expect((await pay('pay:bob:1')).status).toBe(500);
    expect(service.openUses).toBe(1);
  });

  it('a failed refund is reported, and the handler’s own error stays the answer', async () => {
    const { pay, service, state, errors } = protectedHandler();
    service.faults.push(null, 'unreachable', 'unreachable', 'unreachable');
    state.handler = () => {
      throw new Error('model crashed');
    };
    await expect(pay('pay:bob:1')).rejects.toThrow('model crashed');
    expect(errors.map((error) => (error as { code: string }).code)).toEqual(['connection_failed']);
  });

  it('a handler’s answer below 500 counts as served', async () => {
    const { pay, service, state } = protectedHandler();
    state.handler = () => new Response('no such city', { status: 404 });
    expect((await pay('pay:bob:1')).status).toBe(404);
    expect(service.openUses).toBe(1);
  });
});
