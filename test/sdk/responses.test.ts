import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryResponses, type ResponseStore } from '../../sdk/src/index.ts';
import { protectedHandler, readCode } from './protected.ts';
import { identified } from './service-double.ts';

const payment = identified('pay:bob:1', 'order_4711_of_bob');

/** Shared store with the calls that it received. */
function recordedStore(over: Partial<ResponseStore> = {}) {
  const values = new Map<string, string>();
  const ttls: number[] = [];
  const store: ResponseStore = {
    get: (key) => values.get(key),
    set: (key, value, ttlSeconds) => {
      values.set(key, value);
      ttls.push(ttlSeconds);
    },
    ...over,
  };
  return { store, values, ttls };
}
const causesOf = (errors: unknown[]) => errors.map((error) => ((error as Error).cause as Error)?.message);

describe('responses of protect()', () => {
  afterEach(() => vi.useRealTimers());

  it('another process with the same store sends the stored answer and settles nothing', async () => {
    const { store, values, ttls } = recordedStore();
    const shop = protectedHandler({ responses: store });
    const first = await shop.pay(payment);
    expect([first.status, await first.text(), values.size, ttls]).toEqual([200, 'sunny', 1, [600]]);
    expect([...values.keys()][0]).toMatch(/^[0-9a-f]{64}$/);
    const again = await shop.pay(payment, {}, shop.open());
    expect([again.status, await again.text(), again.headers.get('Idempotent-Replayed')]).toEqual([200, 'sunny', 'true']);
    for (const name of ['PAYMENT-RESPONSE', 'Content-Type', 'Cache-Control', 'Access-Control-Expose-Headers'])
      expect([name, again.headers.get(name)]).toEqual([name, first.headers.get(name)]);
    expect([shop.served.length, shop.service.keysOf('/settle').length, shop.errors]).toEqual([1, 1, []]);
  });

  it('a repeated payment is 409 payment_replayed without the store', async () => {
    const shop = protectedHandler({ responses: memoryResponses() });
    await shop.pay(payment);
    const other = protectedHandler();
    expect((await other.pay(payment)).status).toBe(200);
    const again = await other.pay(payment);
    expect([again.status, await readCode(again), other.served.length]).toEqual([409, 'payment_replayed', 1]);
  });

  it.each([
    ['payment', identified('pay:bob:1', 'order_4712_of_bob'), 'https://weather.test/forecast?city=Oslo', 'GET'],
    ['URL', payment, 'https://weather.test/forecast?city=Rome', 'GET'],
    ['host', payment, 'https://other.test/forecast?city=Oslo', 'GET'],
    ['method', payment, 'https://weather.test/forecast?city=Oslo', 'DELETE'],
  ])('a request with another %s does not get the stored answer', async (_, header, url, method) => {
    const shop = protectedHandler({ responses: memoryResponses() });
    await shop.pay(payment);
    const answer = await shop.open()(new Request(url, { method, headers: { 'PAYMENT-SIGNATURE': header } }));
    expect([answer.status, answer.headers.has('Idempotent-Replayed'), shop.served.length]).toEqual([409, false, 1]);
  });

  it.each([
    ['no identifier', 'pay:bob:1'],
    ['an identifier that is too short', identified('pay:bob:1', 'short')],
    ['an identifier with other characters', identified('pay:bob:1', 'order 4711 of bob')],
    [
      'an identifier that is no text',
      btoa(JSON.stringify({ payload: { transaction: 'pay:bob:1' }, extensions: { 'payment-identifier': { info: { id: 7 } } } })),
    ],
  ])('a payment with %s is not recorded', async (_, header) => {
    const { store, values } = recordedStore();
    const shop = protectedHandler({ responses: store });
    expect([(await shop.pay(header)).status, (await shop.pay(header)).status, values.size]).toEqual([200, 409, 0]);
  });

  it('a request without a payment asks the store nothing', async () => {
    const get = vi.fn(() => null);
    const shop = protectedHandler({ responses: recordedStore({ get }).store, customer: () => ({ customer_ref: 'ada' }) });
    shop.service.balances.set(JSON.stringify({ customer_ref: 'ada' }), 1);
    expect([(await shop.ask()).status, (await shop.ask()).status, get.mock.calls.length]).toEqual([200, 402, 0]);
  });

  it('bytes, status and a redirect are sent again as they were', async () => {
    const shop = protectedHandler({ responses: memoryResponses() });
    const bytes = Uint8Array.from({ length: 256 * 1024 }, (_, at) => at % 256);
    shop.state.handler = () => new Response(bytes, { status: 203, headers: { 'Content-Type': 'image/png' } });
    await shop.pay(payment);
    const image = await shop.pay(payment);
    expect([image.status, image.headers.get('Content-Type'), new Uint8Array(await image.arrayBuffer())]).toEqual([203, 'image/png', bytes]);
    const [moved, empty] = [identified('pay:bob:2', 'order_moved_of_bob'), identified('pay:bob:3', 'order_empty_of_bob')];
    shop.state.handler = () => new Response(null, { status: 303, headers: { Location: '/result/1' } });
    await shop.pay(moved);
    const again = await shop.pay(moved);
    expect([again.status, again.headers.get('Location'), again.headers.get('Idempotent-Replayed')]).toEqual([303, '/result/1', 'true']);
    shop.state.handler = () => new Response(null, { status: 204 });
    await shop.pay(empty);
    expect([(await shop.pay(empty)).status, shop.served.length]).toEqual([204, 3]);
  });

  it.each([
    ['longer than 256 KB', () => new Response(new Uint8Array(256 * 1024 + 1))],
    ['compressed', () => new Response('x', { headers: { 'Content-Encoding': 'br' } })],
    ['partial', () => new Response('x', { status: 206 })],
    ['refused', () => new Response('x', { status: 400 })],
  ])('an answer that is %s is sent and not recorded', async (_, handler) => {
    const { store, values } = recordedStore();
    const shop = protectedHandler({ responses: store });
    shop.state.handler = handler;
    const expected = await handler().arrayBuffer();
    expect((await (await shop.pay(payment)).arrayBuffer()).byteLength).toBe(expected.byteLength);
    expect([values.size, (await shop.pay(payment)).status]).toEqual([0, 409]);
  });

  it('an error of the store is reported, breaks no served request, and serves none unpaid', async () => {
    const fails = () => {
      throw new Error('no store');
    };
    const shop = protectedHandler({ responses: { get: fails, set: () => Promise.reject(new Error('store is full')) } });
    const first = await shop.pay(payment);
    expect([first.status, await first.text(), causesOf(shop.errors)]).toEqual([200, 'sunny', ['no store', 'store is full']]);
    const again = await shop.pay(payment);
    expect([again.status, await readCode(again), shop.served.length]).toEqual([409, 'payment_replayed', 1]);
  });

  it('a repeat while the handler runs gets its answer, and settles nothing', async () => {
    const shop = protectedHandler({ responses: memoryResponses() });
    const gate = Promise.withResolvers<Response>();
    shop.state.handler = () => gate.promise;
    const [first, ...repeats] = [shop.pay(payment), shop.pay(payment), shop.pay(payment)];
    await vi.waitFor(() => expect(shop.served).toHaveLength(1));
    gate.resolve(new Response('sunny'));
    expect((await first).headers.has('Idempotent-Replayed')).toBe(false);
    for (const repeat of await Promise.all(repeats))
      expect([repeat.status, await repeat.text(), repeat.headers.get('Idempotent-Replayed')]).toEqual([200, 'sunny', 'true']);
    expect([shop.served.length, shop.service.keysOf('/settle').length]).toEqual([1, 1]);
  });

  it('a repeat waits five seconds for an answer, and then gets 409 without an invitation to pay again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const shop = protectedHandler({ responses: memoryResponses(), client: protectedHandler().service.client() });
    const gate = Promise.withResolvers<Response>();
    shop.state.handler = () => gate.promise;
    const first = shop.pay(payment);
    await vi.waitFor(() => expect(shop.served).toHaveLength(1));
    let refused: Response | null = null;
    const repeat = shop.pay(payment).then((answer) => {
      refused = answer;
    });
    await vi.advanceTimersByTimeAsync(4_990);
    expect(refused).toBeNull();
    await vi.advanceTimersByTimeAsync(100);
    await repeat;
    expect([refused!.status, refused!.headers.get('Retry-After'), refused!.headers.has('PAYMENT-REQUIRED')]).toEqual([409, '5', false]);
    const { code, detail, consumption_id } = (await refused!.json()) as Record<string, string>;
    expect([code, consumption_id]).toEqual(['payment_replayed', shop.served[0]!.consumptionId]);
    expect(detail).toMatch(/Repeat this request with the same PAYMENT-SIGNATURE after Retry-After; do not pay again/);
    gate.resolve(new Response('sunny'));
    await vi.advanceTimersByTimeAsync(100);
    await first;
    expect((await shop.pay(payment)).headers.get('Idempotent-Replayed')).toBe('true');
  });

  it.each([
    ['fails', () => new Response('oops', { status: 500 }), [200, 2]],
    ['throws', () => Promise.reject(new Error('model crashed')), [200, 2]],
    ['answers 404', () => new Response('none', { status: 404 }), [409, 1]],
    ['compresses', () => new Response('x', { headers: { 'Content-Encoding': 'br' } }), [409, 1]],
  ] as const)('a repeat does not wait for a handler that %s', async (_, end, expected) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const shop = protectedHandler({ responses: memoryResponses(), client: protectedHandler().service.client() });
    const gate = Promise.withResolvers<void>();
    shop.state.handler = async () => gate.promise.then(end);
    const first = shop.pay(payment).catch(() => null);
    await vi.waitFor(() => expect(shop.served).toHaveLength(1));
    const repeat = shop.pay(payment);
    shop.state.handler = () => new Response('sunny');
    const began = Date.now();
    gate.resolve();
    await vi.advanceTimersByTimeAsync(1_000);
    await first;
    expect([(await repeat).status, shop.served.length, Date.now() - began]).toEqual([...expected, 1_000]);
  });

  it('headers that protect a browser are stored', async () => {
    const shop = protectedHandler({ responses: memoryResponses() });
    const headers = {
      'Content-Disposition': 'attachment; filename="report.html"',
      'Content-Security-Policy': 'sandbox',
      'X-Content-Type-Options': 'nosniff',
    };
    shop.state.handler = () => new Response('<p>', { headers: { ...headers, 'Set-Cookie': 'a=1' } });
    await shop.pay(payment);
    const again = await shop.pay(payment);
    expect(Object.keys(headers).map((name) => again.headers.get(name))).toEqual(Object.values(headers));
    expect(again.headers.has('Set-Cookie')).toBe(false);
  });

  it.each([
    '',
    'null',
    '{}',
    '[]',
    'no json',
    JSON.stringify({ status: 200, headers: {}, body: null }),
    JSON.stringify({ status: 500, headers: {}, paymentResponse: 'x', body: null }),
  ])('the value %j of the store is reported and serves nothing', async (value) => {
    const shop = protectedHandler({ responses: recordedStore({ get: () => value }).store });
    const wrong = identified('wrong', 'order_4711_of_bob');
    const refused = await shop.pay(wrong);
    expect([refused.status, refused.headers.has('Idempotent-Replayed'), shop.served.length, shop.errors.length]).toEqual([
      402,
      false,
      0,
      1,
    ]);
  });

  it('a store that does not answer delays a request by two seconds and is reported', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const never = () => new Promise<never>(() => {});
    const shop = protectedHandler({ responses: { get: never, set: never }, client: protectedHandler().service.client() });
    let answer: Response | null = null;
    const asked = shop.pay(payment).then((response) => {
      answer = response;
    });
    await vi.advanceTimersByTimeAsync(1_990);
    expect(answer).toBeNull();
    await vi.advanceTimersByTimeAsync(2_100);
    await asked;
    expect([answer!.status, causesOf(shop.errors)]).toEqual([200, ['No answer within 2000 ms']]);
  });
});

describe('memoryResponses()', () => {
  afterEach(() => vi.useRealTimers());

  it('a value is found until its time is over', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const store = memoryResponses();
    store.set('a', 'one', 600);
    vi.setSystemTime(Date.now() + 599_999);
    expect(store.get('a')).toBe('one');
    vi.setSystemTime(Date.now() + 1);
    expect([store.get('a'), store.get('b')]).toEqual([null, null]);
  });

  it('a thousand values are stored, and the oldest goes first', () => {
    const store = memoryResponses();
    for (let n = 0; n <= 1_000; n++) store.set(`key ${n}`, String(n), 600);
    expect([store.get('key 0'), store.get('key 1'), store.get('key 1000')]).toEqual([null, '1', '1000']);
    store.set('key 1', 'newer', 600);
    store.set('key 1001', '1001', 600);
    expect([store.get('key 1'), store.get('key 2')]).toEqual(['newer', null]);
  });

  it('32 MB are stored, and the oldest goes first', () => {
    const store = memoryResponses();
    const half = 'x'.repeat(16 * 1024 ** 2);
    const lengths = (...keys: string[]) => keys.map((key) => (store.get(key) as string | null)?.length);
    for (const key of ['a', 'b', 'b']) store.set(key, half, 600);
    expect(lengths('a', 'b')).toEqual([half.length, half.length]);
    store.set('c', 'x', 600);
    expect(lengths('a', 'b', 'c')).toEqual([undefined, half.length, 1]);
    store.set('d', `${half}${half}x`, 600);
    expect(lengths('b', 'c', 'd')).toEqual([undefined, undefined, undefined]);
    store.set('e', half, 600);
    expect(lengths('e')).toEqual([half.length]);
  });

  it('expired values make room on each write', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const removed = vi.spyOn(Map.prototype, 'delete');
    const store = memoryResponses();
    store.set('a', 'one', 600);
    store.set('b', 'two', 600);
    vi.setSystemTime(Date.now() + 600_000);
    removed.mockClear();
    store.set('c', 'three', 600);
    expect(removed.mock.calls.flat()).toEqual(expect.arrayContaining(['a', 'b']));
    removed.mockRestore();
    expect(store.get('c')).toBe('three');
  });
});
