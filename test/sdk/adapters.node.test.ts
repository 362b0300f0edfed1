import { get, type Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { Access } from '../../sdk/src/fetch.ts';
import { createClient, memoryResponses } from '../../sdk/src/index.ts';
import { type HandlerAnswer, type Host, hosts, type SharedOptions, urlOf } from './adapter-hosts.ts';
import { FakeService, identified } from './service-double.ts';

const ada = { customer_ref: 'ada' };
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
/** Waits until the condition holds. The test's timeout is the limit. */
const eventually = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await sleep(5);
};
const statusesOf = (answers: Response[]) => answers.map(({ status }) => status).sort();

/** Shop with one protected route. `handle` can be replaced. `held` delays refunds before, and settlements after their effect, or replaces their `payment_response`. */
async function openShop(host: Host, options: Partial<SharedOptions> = {}) {
  const service = new FakeService();
  const held: { refund?: Promise<void>; settled?: Promise<void>; paymentResponse?: string } = {};
  const fetchHeld = async (request: Request) => {
    if (request.url.endsWith('/refund')) await held.refund;
    const answer = await service.fetch(request);
    if (!request.url.endsWith('/settle')) return answer;
    await held.settled;
    return held.paymentResponse ? Response.json({ ...((await answer.json()) as object), payment_response: held.paymentResponse }) : answer;
  };
  const served: Access[] = [];
  const errors: unknown[] = [];
  const state = { closed: 0, handle: async (): Promise<HandlerAnswer> => ({ status: 200, body: 'sunny' }) };
  const client = createClient({ baseUrl: 'https://svc.test', fetch: fetchHeld, maxRetries: 0 });
  const onError = (error: unknown) => void errors.push(error);
  const server = await host({ client, product: 'p1', onError, ...options }, (access) => {
    served.push(access);
    return state.handle();
  });
  servers.push(server);
  server.on('connection', (socket) => socket.once('close', () => state.closed++));
  const url = `${urlOf(server)}/forecast`;
  const ask = (payment?: string, method = 'GET') =>
    fetch(`${url}?city=Oslo`, { method, headers: payment ? { 'PAYMENT-SIGNATURE': payment } : {} });
  /** Pays and disconnects once `isTime`. */
  const hangUp = async (payment: string, isTime: () => boolean) => {
    const call = get(`${url}?city=Oslo`, { headers: { 'PAYMENT-SIGNATURE': payment }, agent: false }).on('error', () => {});
    await eventually(isTime);
    const before = state.closed;
    call.destroy();
    await eventually(() => state.closed > before);
    await sleep(20);
  };
  return { service, held, served, errors, state, url, ask, hangUp };
}

/** Answer that sends its second half once released. */
function twoHalves(release: Promise<void>): AsyncIterable<string> {
  return (async function* () {
    yield 'first ';
    await release;
    yield 'second';
  })();
}

describe.each(Object.entries(hosts))('protect for %s with responses', (name, host) => {
  const newPayment = () => identified('pay:bob:1', `order_${crypto.randomUUID()}`);
  const recordedHeaders = (answer: Response) =>
    ['Content-Type', 'PAYMENT-RESPONSE', 'Cache-Control'].map((name) => answer.headers.get(name));

  it('an answer that the network dropped is sent again completely, and the handler runs once', async () => {
    const responses = memoryResponses();
    const shop = await openShop(host, { responses });
    const gate = Promise.withResolvers<void>();
    shop.state.handle = async () => {
      await gate.promise;
      return { status: 201, body: `sunny ${'☀'.repeat(20_000)}` };
    };
    const payment = newPayment();
    await shop.hangUp(payment, () => shop.served.length === 1);
    gate.resolve();
    await sleep(50);
    const again = await shop.ask(payment);
    expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([201, 'true']);
    expect(await again.text()).toBe(`sunny ${'☀'.repeat(20_000)}`);
    expect([shop.served.length, shop.service.openUses, shop.service.keysOf('/settle').length, shop.errors]).toEqual([1, 1, 1, []]);
  });

  it('a repeated request gets the first answer with its headers', async () => {
    const { ask, served } = await openShop(host, { responses: memoryResponses() });
    const payment = newPayment();
    const [first, again] = [await ask(payment), await ask(payment)];
    expect(recordedHeaders(again)).toEqual(recordedHeaders(first));
    expect([first.headers.has('Idempotent-Replayed'), again.headers.get('Idempotent-Replayed')]).toEqual([false, 'true']);
    expect([await first.text(), await again.text(), served.length]).toEqual(['sunny', 'sunny', 1]);
    expect((await ask(payment, 'HEAD')).status).toBe(409);
  });

  it('a second process without the store answers 409, and nothing is paid or served again', async () => {
    const first = await openShop(host, { responses: memoryResponses() });
    const payment = newPayment();
    expect((await first.ask(payment)).status).toBe(200);
    const second = await openShop(host, { client: first.service.client() });
    const refused = await second.ask(payment);
    expect([refused.status, await refused.json()]).toEqual([409, expect.objectContaining({ code: 'payment_replayed' })]);
    expect([second.served.length, first.service.openUses]).toEqual([0, 1]);
  });

  it('a streamed answer is recorded, and one that broke off is not', async () => {
    const { ask, state, served } = await openShop(host, { responses: memoryResponses() });
    const payment = newPayment();
    state.handle = async () => ({ status: 200, body: twoHalves(Promise.resolve()) });
    expect(await (await ask(payment)).text()).toBe('first second');
    await sleep(20);
    const again = await ask(payment);
    expect([again.headers.get('Idempotent-Replayed'), await again.text(), served.length]).toEqual(['true', 'first second', 1]);
    const broken = identified('pay:bob:2', 'a_stream_that_breaks_off');
    const failing = Promise.withResolvers<void>();
    state.handle = async () => ({ status: 200, body: twoHalves(failing.promise) });
    const reader = (await ask(broken)).body!.getReader();
    await reader.read();
    failing.reject(new Error('model crashed'));
    await expect(reader.read()).rejects.toThrow();
    expect((await ask(broken)).status).toBe(409);
  });

  it('a stream that loses its buyer is recorded, except in Express and Fastify', async () => {
    const shop = await openShop(host, { responses: memoryResponses() });
    const gate = Promise.withResolvers<void>();
    shop.state.handle = async () => ({ status: 200, body: twoHalves(gate.promise) });
    const payment = newPayment();
    await shop.hangUp(payment, () => shop.served.length === 1);
    gate.resolve();
    await sleep(50);
    const again = await shop.ask(payment);
    const [status, text] = [again.status, await again.text()];
    if (name === 'fastify' || name === 'express') expect([status, shop.served.length]).toEqual([409, 1]);
    else expect([status, text, shop.served.length]).toEqual([200, 'first second', 1]);
  });

  it.each([404, 503])('an answer of %i is not recorded', async (status) => {
    const { ask, state, served } = await openShop(host, { responses: memoryResponses() });
    const payment = newPayment();
    state.handle = async () => ({ status, body: 'x' });
    expect((await ask(payment)).status).toBe(status);
    state.handle = async () => ({ status: 200, body: 'sunny' });
    const again = await ask(payment);
    expect([again.status, again.headers.has('Idempotent-Replayed')]).toEqual([status === 404 ? 409 : 200, false]);
    expect(served.length).toBe(status === 404 ? 1 : 2);
  });
});

describe.each(Object.entries(hosts))('protect for %s', (_name, host) => {
  it('an unpaid request gets 402 with the challenge, and is not served', async () => {
    const { ask, service, served, url } = await openShop(host);
    const refused = await ask();
    expect([refused.status, refused.headers.get('Cache-Control'), refused.headers.get('Content-Type')]).toEqual([
      402,
      'no-store',
      expect.stringMatching(/^application\/json\b/),
    ]);
    const challenge = JSON.parse(atob(refused.headers.get('PAYMENT-REQUIRED')!));
    expect(challenge.resource).toEqual({ method: 'GET', url });
    expect(await refused.json()).toMatchObject({ code: 'entitlement_missing', payment_required: challenge });
    expect([served, service.openUses]).toEqual([[], 0]);
  });

  it('a paid request is served with PAYMENT-RESPONSE and private caching', async () => {
    const { ask, served, service } = await openShop(host);
    const paid = await ask('pay:bob:1');
    expect([paid.status, await paid.text()]).toEqual([200, 'sunny']);
    expect(atob(paid.headers.get('PAYMENT-RESPONSE')!)).toContain('"success":true');
    expect([paid.headers.get('Cache-Control'), paid.headers.get('Access-Control-Expose-Headers')]).toEqual(['private', 'PAYMENT-RESPONSE']);
    expect(served).toEqual([expect.objectContaining({ units: 1, remaining: 0, customer: { wallet_address: 'bob' } })]);
    expect(service.openUses).toBe(1);
  });

  it('a replayed payment gets 409 and is not served again', async () => {
    const { ask, served } = await openShop(host);
    expect(statusesOf(await Promise.all([ask('pay:bob:1'), ask('pay:bob:1')]))).toEqual([200, 409]);
    const again = await ask('pay:bob:1');
    expect([again.status, await again.json()]).toEqual([409, expect.objectContaining({ code: 'payment_replayed' })]);
    expect(served.length).toBe(1);
  });

  it.each([
    ['throws', 500, () => Promise.reject(new Error('model crashed'))],
    ['answers 503', 503, async () => ({ status: 503, body: 'oops' })],
  ])('a handler that %s is refunded, and an immediate retry is served', async (_how, status, handle) => {
    const { ask, service, state, held, served } = await openShop(host);
    const sunny = state.handle;
    held.refund = sleep(300);
    state.handle = handle;
    expect((await ask('pay:bob:1')).status).toBe(status);
    state.handle = sunny;
    expect((await ask('pay:bob:1')).status).toBe(200);
    expect((await ask('pay:bob:1')).status).toBe(409);
    expect([served.length, service.openUses]).toEqual([2, 1]);
    expect(service.keysOf('/refund')).toEqual([`refund-${served[0]!.consumptionId}`]);
  });

  it.each([
    [200, true],
    [404, true],
    [503, false],
  ])('an answer of %i has a receipt: %j', async (status, hasReceipt) => {
    const { ask, state, held } = await openShop(host);
    const settled = { success: true, payer: 'Zoë', transaction: 'tx', network: 'n' };
    const receipt = { info: { receipt: { format: 'jws', signature: 'a.b.c' } } };
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64');
    held.paymentResponse = encode({ ...settled, extensions: { 'offer-receipt': receipt } });
    state.handle = async () => ({ status, body: 'x' });
    const answer = await ask('pay:bob:1');
    const shown = answer.headers.get('PAYMENT-RESPONSE')!;
    expect([answer.status, shown === held.paymentResponse]).toEqual([status, hasReceipt]);
    if (!hasReceipt) expect(JSON.parse(Buffer.from(shown, 'base64').toString())).toEqual(settled);
  });

  it('a settlement with headers that cannot be sent is refunded, and an immediate retry is served', async () => {
    const { ask, service, held } = await openShop(host);
    held.paymentResponse = 'no\nheader';
    expect((await ask('pay:bob:1')).status).toBe(500);
    await eventually(() => service.openUses === 0);
    delete held.paymentResponse;
    expect([(await ask('pay:bob:1')).status, service.openUses]).toEqual([200, 1]);
  });

  it('an answer below 500 counts as served', async () => {
    const { ask, service, state } = await openShop(host);
    state.handle = async () => ({ status: 404, body: 'no such city' });
    expect((await ask('pay:bob:1')).status).toBe(404);
    await sleep(20);
    expect(service.openUses).toBe(1);
  });

  it('a streamed answer is sent as it is made', async () => {
    const { ask, service, state } = await openShop(host);
    const gate = Promise.withResolvers<void>();
    state.handle = async () => ({ status: 200, body: twoHalves(gate.promise) });
    const answer = await ask('pay:bob:1');
    expect([answer.status, answer.headers.has('PAYMENT-RESPONSE'), answer.headers.get('Cache-Control')]).toEqual([200, true, 'private']);
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toBe('first ');
    gate.resolve();
    expect((await reader.read()).value).toBe('second');
    expect([(await reader.read()).done, service.openUses]).toEqual([true, 1]);
  });

  it('a stream that breaks off stays used', async () => {
    const { ask, service, state } = await openShop(host);
    const gate = Promise.withResolvers<void>();
    state.handle = async () => ({ status: 200, body: twoHalves(gate.promise) });
    const answer = await ask('pay:bob:1');
    const reader = answer.body!.getReader();
    await reader.read();
    gate.reject(new Error('model crashed'));
    await expect(reader.read()).rejects.toThrow();
    await sleep(20);
    expect(service.openUses).toBe(1);
  });

  it('HEAD is paid for like GET, and has no body', async () => {
    const { ask, service, served } = await openShop(host);
    const refused = await ask(undefined, 'HEAD');
    expect([refused.status, refused.headers.has('PAYMENT-REQUIRED'), await refused.text()]).toEqual([402, true, '']);
    const paid = await ask('pay:bob:1', 'HEAD');
    expect([paid.status, paid.headers.has('PAYMENT-RESPONSE'), await paid.text()]).toEqual([200, true, '']);
    expect([served.length, service.openUses]).toEqual([1, 1]);
  });

  it('two requests at once on the last unit: one is served, the other gets 402', async () => {
    const { ask, service, served } = await openShop(host, { customer: () => ada });
    service.balances.set(JSON.stringify(ada), 1);
    expect(statusesOf(await Promise.all([ask(), ask()]))).toEqual([200, 402]);
    expect([served.length, service.openUses]).toEqual([1, 1]);
  });

  it('an unreachable service answers 503 and serves nothing', async () => {
    const { ask, service, served, errors } = await openShop(host);
    service.faults.push('unreachable');
    const refused = await ask('pay:bob:1');
    expect([refused.status, refused.headers.get('Retry-After'), refused.headers.has('PAYMENT-REQUIRED')]).toEqual([503, '5', false]);
    expect(await refused.json()).toMatchObject({ code: 'access_unavailable' });
    expect([served, errors.length]).toEqual([[], 1]);
    expect((await ask('pay:bob:1')).status).toBe(200);
  });

  it('an unreachable service does not stop a route with failOpen', async () => {
    const { ask, service, served } = await openShop(host, { failOpen: true });
    service.faults.push('unreachable');
    const answer = await ask();
    expect([answer.status, answer.headers.get('Cache-Control'), answer.headers.has('PAYMENT-RESPONSE')]).toEqual([200, 'private', false]);
    expect(served).toEqual([expect.objectContaining({ isFailOpen: true })]);
  });

  it('a buyer who disconnects before the handler begins is refunded and not served', async () => {
    const { hangUp, held, service, served, ask } = await openShop(host);
    const settled = Promise.withResolvers<void>();
    held.settled = settled.promise;
    await hangUp('pay:bob:1', () => service.openUses === 1);
    settled.resolve();
    await eventually(() => service.openUses === 0);
    expect(served).toEqual([]);
    expect((await ask('pay:bob:1')).status).toBe(200);
  });

  it('a buyer who disconnects while the handler works is not refunded', async () => {
    const { hangUp, service, served, state, ask } = await openShop(host);
    const gate = Promise.withResolvers<void>();
    state.handle = async () => gate.promise.then(() => ({ status: 200, body: 'sunny' }));
    await hangUp('pay:bob:1', () => served.length === 1);
    gate.resolve();
    await sleep(50);
    expect([service.openUses, (await ask('pay:bob:1')).status]).toEqual([1, 409]);
  });

  it('a handler that fails after the buyer disconnected is refunded', async () => {
    const { hangUp, service, served, state } = await openShop(host);
    const gate = Promise.withResolvers<never>();
    state.handle = () => gate.promise;
    await hangUp('pay:bob:1', () => served.length === 1);
    expect(service.openUses).toBe(1);
    gate.reject(new Error('model crashed'));
    await eventually(() => service.openUses === 0);
  });

  it('two failing requests of a customer are both refunded before the next one', async () => {
    const { ask, service, state, held } = await openShop(host, { customer: () => ada });
    service.balances.set(JSON.stringify(ada), 2);
    const sunny = state.handle;
    held.refund = sleep(200);
    state.handle = async () => ({ status: 500, body: 'oops' });
    expect(statusesOf(await Promise.all([ask(), ask()]))).toEqual([500, 500]);
    state.handle = sunny;
    expect(statusesOf(await Promise.all([ask(), ask(), ask()]))).toEqual([200, 200, 402]);
  });
});
