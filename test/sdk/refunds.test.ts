import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RefundQueue, RefundsUnderWay } from '../../sdk/src/access/refunds.ts';
import { protect } from '../../sdk/src/fetch.ts';
import { createClient, SvcError } from '../../sdk/src/index.ts';
import { protectedHandler } from './protected.ts';
import { FakeService, type Fault } from './service-double.ts';

const limited: Fault = { status: 429, body: { code: 'rate_limited', retryable: true }, headers: { 'Retry-After': '30' } };
const failed = () => new Response('oops', { status: 500 });
const away = new SvcError('connection_failed', 'away', { retryable: true });
const MINUTE = 60_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  await vi.advanceTimersByTimeAsync(ms);
  return work;
}

describe('failed refund', () => {
  it('a refund is retried with its one key after an outage, and the same payment is then served', async () => {
    const { pay, service, state, errors, served } = protectedHandler();
    state.handler = failed;
    service.faults.push(null, 'unreachable', 'unreachable', 'unreachable');
    expect((await within(700, pay('pay:bob:1'))).status).toBe(500);
    expect(service.openUses).toBe(1);
    expect((await pay('pay:bob:1')).status, 'not before it is given back').toBe(409);
    service.faults.push(...Array<Fault>(4).fill('unreachable'), 'lost');
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(service.openUses).toBe(0);
    expect(new Set(service.keysOf('/refund'))).toEqual(new Set([`refund-${served[0]!.consumptionId}`]));
    expect(errors.map(String)).toEqual([
      expect.stringContaining(`${served[0]!.consumptionId} could not be given back (will be tried again)`),
    ]);
    state.handler = () => new Response('sunny');
    expect((await pay('pay:bob:1')).status).toBe(200);
    expect((await pay('pay:bob:1')).status).toBe(409);
  });

  it('a rate-limited refund waits for Retry-After', async () => {
    const { pay, service, state } = protectedHandler();
    state.handler = failed;
    service.faults.push(null, limited);
    await within(100, pay('pay:bob:1'));
    await vi.advanceTimersByTimeAsync(29_000);
    expect(service.keysOf('/refund').length).toBe(1);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(service.openUses).toBe(0);
  });

  it('the caller’s own key works again once the refund is made', async () => {
    const ada = { customer_ref: 'ada' };
    const { ask, service, state } = protectedHandler({ customer: () => ada });
    service.balances.set(JSON.stringify(ada), 1);
    const key = { 'Idempotency-Key': 'caller-key-1' };
    state.handler = failed;
    service.faults.push(null, limited);
    await within(100, ask(key));
    state.handler = () => new Response('sunny');
    expect((await ask(key)).status).toBe(409);
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect((await ask(key)).status).toBe(200);
    expect((await ask(key)).status).toBe(409);
  });

  it('a refund that failed for good is not retried, and is reported with its consumption id', async () => {
    const { pay, service, state, errors } = protectedHandler();
    state.handler = failed;
    service.faults.push(null, { status: 404, body: { code: 'not_found' } });
    await pay('pay:bob:1');
    await vi.advanceTimersByTimeAsync(10 * MINUTE);
    expect(service.keysOf('/refund').length).toBe(1);
    expect(errors.map(String)).toEqual([expect.stringMatching(/con_.* could not be given back \(given up\)/)]);
  });

  it('a refund is given up after an hour and reported again', async () => {
    const { pay, service, state, errors } = protectedHandler();
    state.handler = failed;
    service.faults.push(null, ...Array<Fault>(1_000).fill('unreachable'));
    await within(2_000, pay('pay:bob:1'));
    await vi.advanceTimersByTimeAsync(59 * MINUTE);
    expect(errors.length).toBe(1);
    await vi.advanceTimersByTimeAsync(5 * MINUTE);
    expect(errors.map(String)).toEqual([expect.stringContaining('tried again'), expect.stringContaining('given up')]);
    const tries = service.keysOf('/refund').length;
    await vi.advanceTimersByTimeAsync(120 * MINUTE);
    expect(service.keysOf('/refund').length).toBe(tries);
    expect(tries).toBeLessThan(250);
  });
});

describe('refund queue on Workers', () => {
  it('retries run in `ctx.waitUntil`, end there in time, and continue with the next request', async () => {
    const service = new FakeService();
    const client = createClient({ baseUrl: 'https://svc.test', fetch: service.fetch });
    const held: Promise<unknown>[] = [];
    const ctx = { waitUntil: (work: Promise<unknown>) => void held.push(work) };
    const app = protect({ client, product: 'p1' }, (_request, _access, _env: object, _ctx: typeof ctx) => failed());
    const ask = (headers: Record<string, string>) => app(new Request('https://weather.test/'), {}, ctx).then(() => headers);
    service.faults.push(null, ...Array<Fault>(20).fill('unreachable'));
    const paid = new Request('https://weather.test/', { headers: { 'PAYMENT-SIGNATURE': 'pay:bob:1' } });
    await within(2_000, app(paid, {}, ctx));
    expect(held.length).toBe(1);
    await vi.advanceTimersByTimeAsync(30_000);
    await Promise.all(held);
    const tries = service.keysOf('/refund').length;
    await vi.advanceTimersByTimeAsync(10 * MINUTE);
    expect(service.keysOf('/refund').length, 'nobody is at it').toBe(tries);
    service.faults.length = 0;
    await within(1_000, ask({}));
    await Promise.all(held);
    expect([held.length, service.openUses]).toEqual([2, 0]);
  });

  it('retries continue after the request that ran them was ended', async () => {
    const queue = new RefundQueue();
    let isEnded = true;
    let isMade = false;
    const send = async () => {
      if (isEnded) await new Promise(() => {});
      isMade = true;
    };
    expect(queue.add({ consumptionId: 'con_1', send, giveUp: () => {} }, away)).toBe(true);
    queue.run();
    await vi.advanceTimersByTimeAsync(MINUTE);
    isEnded = false;
    queue.run();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(isMade, 'while it may still be at work').toBe(false);
    await vi.advanceTimersByTimeAsync(2 * MINUTE);
    queue.run();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(isMade).toBe(true);
  });
});

describe('refund queue', () => {
  it('the queue holds at most 1,000 refunds', () => {
    const queue = new RefundQueue();
    const add = (id: number) => queue.add({ consumptionId: `con_${id}`, send: async () => {}, giveUp: () => {} }, away);
    for (let i = 0; i < 1_000; i++) expect(add(i)).toBe(true);
    expect(add(1_000)).toBe(false);
  });

  it('a refund that always fails does not block the others', async () => {
    const queue = new RefundQueue();
    const made: number[] = [];
    const sends = [() => Promise.reject(away), ...[1, 2, 3].map((n) => async () => void made.push(n))];
    for (const [n, send] of sends.entries()) queue.add({ consumptionId: `con_${n}`, send, giveUp: () => {} }, away);
    queue.run();
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(made).toEqual([1, 2, 3]);
  });
});

describe('refunds under way', () => {
  it('a request waits for all refunds of its holder, and for none of another', async () => {
    const underWay = new RefundsUnderWay();
    const refunds = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    for (const { promise } of refunds) underWay.add(['pay:bob:1'], promise);
    let isOver = false;
    const waiting = underWay.wait(['ada', 'pay:bob:1']).then(() => {
      isOver = true;
    });
    await underWay.wait(['pay:eve:1']);
    refunds[0]!.resolve();
    await vi.advanceTimersByTimeAsync(100);
    expect(isOver).toBe(false);
    refunds[1]!.resolve();
    await waiting;
  });

  it('a refund that hangs is waited for until three seconds after its start', async () => {
    const underWay = new RefundsUnderWay();
    underWay.add(['pay:bob:1'], new Promise(() => {}));
    await vi.advanceTimersByTimeAsync(2_000);
    const isOver = vi.fn();
    void underWay.wait(['pay:bob:1']).then(isOver);
    await vi.advanceTimersByTimeAsync(900);
    expect(isOver).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(200);
    expect(isOver).toHaveBeenCalled();
    await underWay.wait(['pay:bob:1']);
  });
});
