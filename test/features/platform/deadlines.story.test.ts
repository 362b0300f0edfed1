import { runInDurableObject } from 'cloudflare:test';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { SECOND } from '#core/time.ts';
import { readEntitlement } from '#features/entitlements/entitlement.ts';
import { claimAttempt, makeAttempt } from '#features/webhooks/deliveries/attempt.ts';
import { type Env, newCtx, type Shard } from '#platform/context.ts';
import { Ledger } from '../../../durable-objects/ledger.ts';
import { letTimeRun, setTime } from '../../world/clock.ts';
import { newHolder } from '../../world/entitlement.ts';
import { testEnv } from '../../world/env.ts';
import { pause } from '../../world/queues.ts';
import { type Merchant, World } from '../../world/world.ts';

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
const SIGNATURE = '5'.repeat(87);

/** A request, a job or another of which so many milliseconds are left. The clock stands still after that. */
function withLeft(kind: 'request' | 'job' | 'attempt', leftMs: number, env: Env = w.env): Shard {
  const startedAt = Date.now();
  setTime(startedAt);
  const ctx = newCtx(env, { requestId: 'req_of_a_deadline', kind, now: startedAt, defer: () => {} });
  setTime(startedAt + { request: 20, job: 30, attempt: 30 }[kind] * SECOND - leftMs);
  expect(ctx.leftMs()).toBe(leftMs);
  return ctx;
}
/** How long something took by a clock that no test moves. */
async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; outcome: T }> {
  const startedAt = performance.now();
  const outcome = await work();
  return { outcome, ms: performance.now() - startedAt };
}
const hangingObjects = (env: Env): Env =>
  ({ ...env, ENTITLEMENT: { getByName: () => new Proxy({}, { get: () => () => new Promise(() => {}) }) } }) as unknown as Env;

afterEach(async () => {
  letTimeRun();
  await w.chain.call('local_clearFaults');
});

describe('a node that hangs', () => {
  it('is waited for no longer than the request has left', async () => {
    await w.chain.fault({ kind: 'hang', ms: 15_000, times: 100 });
    const ctx = withLeft('request', 400);
    // The clock of the test stands still, so that each try believes to have as long.
    const { ms, outcome } = await timed(() => ctx.chain.findTransaction(SIGNATURE));
    expect(outcome).toMatchObject({ kind: 'unavailable' });
    expect(ms).toBeLessThan(3000);
  });

  it('is not asked at all once nothing is left', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch');
    const ctx = withLeft('request', 0);
    expect(await ctx.chain.findTransaction(SIGNATURE)).toEqual({ kind: 'unavailable', reason: 'the deadline is over' });
    expect(fetched).not.toHaveBeenCalled();
    fetched.mockRestore();
  });

  it('makes a confirmation that runs out of time 503 temporarily_unavailable; nothing is lost, and the next one confirms', async () => {
    const product = await w.product(await w.merchant());
    const payment = await w.connect(product);
    const signature = await w.chain.pay(await w.chain.wallet(), payment);
    await w.chain.fault({ kind: 'hang', ms: 15_000, times: 100 });
    const startedAt = Date.now();
    setTime(startedAt);
    const answering = timed(() => w.confirm(payment.payment_id, signature));
    await pause(1500);
    // Its first try goes on by the real clock; by the clock of the request, the deadline is over before a second.
    setTime(startedAt + 21 * SECOND);
    const { ms, outcome } = await answering;
    expect([outcome.status, outcome.body.code, outcome.body.retryable]).toEqual([503, 'temporarily_unavailable', true]);
    expect(Number(outcome.headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
    expect(ms).toBeLessThan(15_000);
    letTimeRun();
    await w.chain.call('local_clearFaults');
    expect((await w.confirm(payment.payment_id, signature)).body.payment.status).toBe('CONFIRMED');
  });
});

describe('an object that hangs', () => {
  let ada: Merchant;
  let product: { product_id: string; slug: string };
  beforeAll(async () => {
    ada = await w.merchant();
    product = await w.product(ada);
  });
  const owner = { merchantId: crypto.randomUUID(), livemode: true };

  it('is given up when the request’s time is over: 503 temporarily_unavailable', async () => {
    const ctx = withLeft('request', 300, hangingObjects(w.env));
    const { ms, outcome } = await timed(() => readEntitlement(ctx, owner, crypto.randomUUID()).catch((error: unknown) => error));
    expect(outcome).toMatchObject({ code: 'temporarily_unavailable', status: 503 });
    expect(ms).toBeLessThan(3000);
  });

  it('is not called where nothing is left', async () => {
    const getByName = vi.fn(() => new Proxy({}, { get: () => () => expect.fail('it was called') }));
    const ctx = withLeft('request', 0, { ...w.env, ENTITLEMENT: { getByName } } as unknown as Env);
    await expect(readEntitlement(ctx, owner, crypto.randomUUID())).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  });

  it('makes the job that credits a payment come again, and then it is credited', async () => {
    await w.purchase(product, await w.chain.wallet(), { customer_ref: 'hanna' });
    const jobs = w.queue.sent.splice(0).map(({ job }) => job);
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
    const delivering = w.deliver(jobs, hangingObjects(w.env));
    for (let second = 0; second < 120; second++) {
      await vi.advanceTimersByTimeAsync(SECOND);
      await scheduler.wait(10);
    }
    vi.useRealTimers();
    expect((await delivering).retried).toBeGreaterThan(0);
    await w.deliver(jobs);
    const consumed = await w.call('POST', '/v1/access/entitlements/consume', {
      key: ada.key,
      headers: { 'Idempotency-Key': 'after-the-hang' },
      body: { product_id: product.product_id, customer: { customer_ref: 'hanna' } },
    });
    expect(consumed.status).toBe(200);
  });
});

describe('an operation that waits in an object', () => {
  it('for longer than its caller is not begun; its neighbours are', async () => {
    const { stub } = newHolder();
    await runInDurableObject(stub, async (_, { storage }) => {
      const slow = new Proxy(storage, {
        get(target, name) {
          if (name === 'sync') return () => pause(200).then(() => target.sync());
          const value = Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
      const ledger = new Ledger<{ version: number }, string, string>(slow, {
        kind: 'entitlement',
        idOf: () => 'counter',
        empty: { version: 0 },
        restore: (state) => state,
        tables: {},
        versionOf: ({ version }) => version,
        dueAt: () => null,
        passTime: () => {},
        publish: async () => {},
      });
      const count = (leftMs: number) =>
        ledger.run({ now: Date.now(), leftMs }, () => {
          ledger.state = { version: ledger.state.version + 1 };
          return ledger.state.version;
        });
      const answers = await Promise.allSettled([count(5000), count(20), count(5000)]);
      expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.reason.retryable))).toEqual([1, true, 2]);
      await storage.deleteAlarm();
    });
  });
});

describe('a merchant’s server that hangs', () => {
  it('is waited for no longer than its attempt has left, and the delivery is tried again', async () => {
    const ada = await w.merchant();
    const url = `${testEnv.TEST_RECEIVER_URL}/hang/deadline-${crypto.randomUUID()}`;
    await w.call('POST', '/v1/webhooks/endpoints', { key: ada.key, body: { url } });
    await w.connect(await w.product(ada));
    w.attempts.length = 0;
    await w.deliver();
    const { deliveryId } = w.attempts.splice(0)[0]!;
    const ctx = withLeft('attempt', 500);
    const claimed = await claimAttempt(ctx, deliveryId);
    const { ms, outcome } = await timed(() => makeAttempt(ctx, claimed!));
    expect(outcome).toMatchObject({ status: null, error: 'timeout' });
    expect(ms).toBeLessThan(5000);
    const row = await w.env.DB.prepare('SELECT status, attempt FROM webhook_deliveries WHERE id = ?').bind(deliveryId).first();
    expect(row).toEqual({ status: 'retrying', attempt: 1 });
  });
});
