// @module-tag quick
import { describe, expect, it } from 'vitest';
import { catchFailure, refusal, scripted, unavailable } from './scripted-client.ts';

const CONSUME = { product_id: 'p', customer: { customer_ref: 'ada' } };
const limited = (seconds: string) => refusal(429, 'rate_limited', { retryable: true, headers: { 'Retry-After': seconds } });
const waiting = (code: string) => refusal(409, code, { retryable: true, headers: { 'Retry-After': '0' } });
const NOTHING_SENT = Object.assign(new TypeError('fetch failed'), {
  cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
});

describe.concurrent('repeated calls', () => {
  it.each(['idempotency_in_progress', 'idempotency_race'])('409 %s is waited for under the same key', async (code) => {
    const { client, seen } = scripted([waiting(code), waiting(code), Response.json({ consumed: true })]);
    expect((await client.entitlements.consume(CONSUME)).consumed).toBe(true);
    expect([seen.length, new Set(seen.map(({ key }) => key)).size]).toEqual([3, 1]);
  });

  it.each([
    [409, 'state_conflict'],
    [409, 'idempotency_conflict'],
    [404, 'not_found'],
    [422, 'validation_error'],
    [429, 'plan_limit_reached'],
    [408, 'something_new'],
  ])('%s %s is final, even if it says that it is retryable', async (status, code) => {
    const { client, seen } = scripted([refusal(status, code, { retryable: true })]);
    expect((await catchFailure(client.entitlements.consume(CONSUME))).code).toBe(code);
    expect(seen.length).toBe(1);
  });

  it('a 503 that is not retryable is final', async () => {
    const { client, seen } = scripted([refusal(503, 'misconfigured')]);
    await catchFailure(client.products.list());
    expect(seen.length).toBe(1);
  });

  it.each([unavailable(), new TypeError('reset'), 'silence' as const, limited('0'), waiting('idempotency_race')])(
    'a call without idempotency is never repeated after it was sent',
    async (answer) => {
      const { client, seen } = scripted([answer], { timeoutMs: 30 });
      await catchFailure(client.agentSetup.create({ agent_name: 'a' }));
      expect(seen.length).toBe(1);
    },
  );

  it('a call without idempotency is repeated if the connection was refused, and is not ambiguous then', async () => {
    const { client, seen } = scripted([NOTHING_SENT, Response.json({ setup_intent_id: 's' })]);
    const made = await client.agentSetup.create({ agent_name: 'a' });
    expect([made.setup_intent_id, made.response.isAmbiguous, seen.length]).toEqual(['s', false, 2]);
    const refused = scripted([NOTHING_SENT], { maxRetries: 1 });
    const failure = await catchFailure(refused.client.agentSetup.create({ agent_name: 'a' }));
    expect(failure).toMatchObject({ code: 'connection_failed', isAmbiguous: false, retryable: true });
    expect(failure.message).toContain('ECONNREFUSED');
    expect(refused.seen.length).toBe(2);
  });

  it('a refused connection after a lost answer is ambiguous', async () => {
    const { client } = scripted([new TypeError('reset'), NOTHING_SENT]);
    expect(await catchFailure(client.entitlements.consume(CONSUME))).toMatchObject({ code: 'connection_failed', isAmbiguous: true });
  });

  it('maxRetries of a call replaces that of the client', async () => {
    const { client, seen } = scripted([unavailable()], { maxRetries: 3 });
    await catchFailure(client.products.list({}, { maxRetries: 0 }));
    expect(seen.length).toBe(1);
  });

  it('a payment is not read again for a confirmation that must not be repeated', async () => {
    const { client, seen } = scripted([unavailable()]);
    await catchFailure(client.payments.confirm({ payment_id: 'p1', tx_signature: 'sig' }, { maxRetries: 0 }));
    expect(seen.length).toBe(1);
  });

  it('a repeated confirmation has the key of its first attempt', async () => {
    const { client, seen } = scripted([unavailable(), Response.json({ status: 'PENDING_CONFIRMATION' }), Response.json({ payment: {} })]);
    await client.payments.confirm({ payment_id: 'p1', tx_signature: 'sig' });
    expect(seen.map(({ method, key }) => [method, key])).toEqual([
      ['POST', seen[0]!.key],
      ['GET', null],
      ['POST', seen[0]!.key],
    ]);
  });
});

describe.concurrent('Retry-After', () => {
  it('a delay beyond maxRetryAfterSeconds is the error at once, and its text says so', async () => {
    const { client, seen } = scripted([limited('31')]);
    const failure = await catchFailure(client.products.list());
    expect([failure.code, failure.status, failure.retryAfterSeconds, seen.length]).toEqual(['rate_limited', 429, 31, 1]);
    expect(failure.message).toBe('text of rate_limited Retry after 31 seconds: that is longer than maxRetryAfterSeconds (30).');
  });

  it.each([
    [{}, { maxRetryAfterSeconds: 1 }],
    [{ maxRetryAfterSeconds: 1 }, {}],
  ])('the limit is set by client or call: %j %j', async (ofClient, ofCall) => {
    const { client, seen } = scripted([limited('2')], ofClient);
    await catchFailure(client.products.list({}, ofCall));
    expect(seen.length).toBe(1);
  });

  it('a date of a proxy is a delay too', async () => {
    const inOneHour = new Date(Date.now() + 3_600_000).toUTCString();
    const { client } = scripted([limited(inOneHour)]);
    const { retryAfterSeconds } = await catchFailure(client.products.list());
    expect(retryAfterSeconds).toBeGreaterThan(3_590);
    const { client: other } = scripted([limited('soon')], { maxRetries: 0 });
    expect((await catchFailure(other.products.list())).retryAfterSeconds).toBe(null);
  });
});

describe.concurrent('timeouts', () => {
  it('timeoutMs of a call replaces that of the client, for each attempt', async () => {
    const { client, seen } = scripted(['silence'], { timeoutMs: 60_000, maxRetries: 1 });
    const failure = await catchFailure(client.products.list({}, { timeoutMs: 20 }));
    expect([failure.code, seen.length]).toEqual(['request_timeout', 2]);
    expect(failure.message).toBe('GET /v1/products was not answered within 20 ms');
  });

  it('a call that waits for the chain has the timeout of settlements', async () => {
    const settle = { ...CONSUME, payment_signature: 'x' };
    const { client } = scripted(['silence'], { timeoutMs: 60_000, settleTimeoutMs: 20, maxRetries: 0 });
    expect((await catchFailure(client.x402.settle(settle))).message).toContain('within 20 ms');
    expect((await catchFailure(client.meteredSessions.authorize('s', 'Payment x'))).message).toContain('within 20 ms');
    expect((await catchFailure(client.billing.activateStarter())).message).toContain('within 20 ms');
  });

  it('a call that waits for the chain has the timeout of its client, if that is the only one', async () => {
    const settle = { ...CONSUME, payment_signature: 'x' };
    const { client } = scripted(['silence'], { timeoutMs: 20, maxRetries: 0 });
    expect((await catchFailure(client.x402.settle(settle))).message).toContain('within 20 ms');
    expect((await catchFailure(client.x402.settle(settle, { timeoutMs: 30 }))).message).toContain('within 30 ms');
    const other = scripted(['silence'], { timeoutMs: 20, settleTimeoutMs: 40, maxRetries: 0 });
    expect((await catchFailure(other.client.x402.settle(settle))).message).toContain('within 40 ms');
    expect((await catchFailure(other.client.products.list())).message).toContain('within 20 ms');
  });

  it('an endless timeout does not fire at once', async () => {
    const { client } = scripted([Response.json({ items: [] })], { timeoutMs: Number.POSITIVE_INFINITY });
    expect((await client.products.list()).items).toEqual([]);
  });
});

describe.concurrent('aborted calls', () => {
  const reason = new Error('the user left');

  it.each(['call', 'client'])('a signal of the %s rejects with its reason, and nothing is repeated', async (owner) => {
    const controller = new AbortController();
    const { client, seen } = scripted(['silence'], { timeoutMs: 5_000, ...(owner === 'client' ? { signal: controller.signal } : {}) });
    setTimeout(() => controller.abort(reason), 20);
    const call = client.products.create({ name: 'x', price: { asset: 'USDC', amount: '1' } }, { signal: controller.signal });
    expect(await call.catch((thrown: unknown) => thrown)).toBe(reason);
    expect(seen.length).toBe(1);
  });

  it('an aborted signal sends nothing', async () => {
    const { client, seen } = scripted([Response.json({})]);
    const thrown = await client.products.get('p', { signal: AbortSignal.abort(reason) }).catch((error: unknown) => error);
    expect([thrown, seen]).toEqual([reason, []]);
  });

  it('an abort ends the wait before a repeated attempt', async () => {
    const controller = new AbortController();
    const { client, seen } = scripted([limited('20')]);
    setTimeout(() => controller.abort(reason), 20);
    const startedAt = Date.now();
    expect(await client.products.get('p', { signal: controller.signal }).catch((error: unknown) => error)).toBe(reason);
    expect([seen.length, Date.now() - startedAt < 5_000]).toEqual([1, true]);
  });

  it('a confirmation ends with the reason while the payment is read', async () => {
    const controller = new AbortController();
    const { client } = scripted([unavailable(), 'silence'], { timeoutMs: 5_000 });
    setTimeout(() => controller.abort(reason), 400);
    const call = client.payments.confirm({ payment_id: 'p1', tx_signature: 'sig' }, { signal: controller.signal });
    expect(await call.catch((error: unknown) => error)).toBe(reason);
  });

  it('a list ends with the reason between two pages', async () => {
    const controller = new AbortController();
    const { client, seen } = scripted([Response.json({ items: [{ product_id: 'p' }], page: 1, has_more: true })]);
    const read = async () => {
      for await (const _ of client.products.list({}, { signal: controller.signal })) controller.abort(reason);
    };
    expect(await read().catch((error: unknown) => error)).toBe(reason);
    expect(seen.length).toBe(1);
  });
});
