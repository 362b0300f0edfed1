import { runInDurableObject } from 'cloudflare:test';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { SECOND } from '#core/time.ts';
import { readEntitlement } from '#features/entitlements/entitlement.ts';
import { claimAttempt, makeAttempt } from '#features/webhooks/deliveries/attempt.ts';
import { type Env, type Job, newCtx, type Shard } from '#platform/context.ts';
import { Ledger } from '../../../durable-objects/ledger.ts';
import { newHolder } from '../../support/clients/entitlement.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { testEnv } from '../../support/runner/env.ts';
import { pause } from '../../support/runner/queues.ts';
import { type Merchant, World } from '../../support/world.ts';

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
const SIGNATURE = '5'.repeat(87);

/** Builds a context with `leftMs` until its deadline. The clock stops afterwards. */
function withLeft(kind: 'request' | 'job' | 'attempt', leftMs: number, env: Env = w.env): Shard {
  const startedAt = Date.now();
  setTime(startedAt);
  const ctx = newCtx(env, { requestId: 'req_of_a_deadline', kind, now: startedAt, defer: () => {} });
  setTime(startedAt + { request: 20, job: 30, attempt: 30 }[kind] * SECOND - leftMs);
  expect(ctx.leftMs()).toBe(leftMs);
  return ctx;
}
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

describe('deadline with a hanging node', () => {
  it('a node call waits no longer than the request has left', async () => {
    await w.chain.fault({ kind: 'hang', ms: 15_000, times: 100 });
    const ctx = withLeft('request', 400);
    // The test clock does not advance, so each try has the full time left.
    const { ms, outcome } = await timed(() => ctx.chain.findTransaction(SIGNATURE));
    expect(outcome).toMatchObject({ kind: 'unavailable' });
    expect(ms).toBeLessThan(3000);
  });

  it('no node call is made after the deadline', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch');
    const ctx = withLeft('request', 0);
    expect(await ctx.chain.findTransaction(SIGNATURE)).toEqual({ kind: 'unavailable', reason: 'the deadline is over' });
    expect(fetched).not.toHaveBeenCalled();
    fetched.mockRestore();
  });

  it('a confirm that runs out of time is 503 temporarily_unavailable, and the next one confirms', async () => {
    const product = await w.product(await w.merchant());
    const payment = await w.connect(product);
    const signature = await w.chain.pay(await w.chain.wallet(), payment);
    await w.chain.fault({ kind: 'hang', ms: 15_000, times: 100 });
    const startedAt = Date.now();
    setTime(startedAt);
    const answering = timed(() => w.confirm(payment.payment_id, signature));
    await pause(1500);
    // The first try runs on the real clock, and the request's clock passes the deadline before the second one.
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

describe('deadline with a hanging object', () => {
  let ada: Merchant;
  let product: { product_id: string; slug: string };
  beforeAll(async () => {
    ada = await w.merchant();
    product = await w.product(ada);
  });
  const owner = { merchantId: crypto.randomUUID(), livemode: true };

  it('an object call is aborted at the deadline with 503 temporarily_unavailable', async () => {
    const ctx = withLeft('request', 300, hangingObjects(w.env));
    const { ms, outcome } = await timed(() => readEntitlement(ctx, owner, crypto.randomUUID()).catch((error: unknown) => error));
    expect(outcome).toMatchObject({ code: 'temporarily_unavailable', status: 503 });
    expect(ms).toBeLessThan(3000);
  });

  it('no object call is made after the deadline', async () => {
    const getByName = vi.fn(() => new Proxy({}, { get: () => () => expect.fail('it was called') }));
    const ctx = withLeft('request', 0, { ...w.env, ENTITLEMENT: { getByName } } as unknown as Env);
    await expect(readEntitlement(ctx, owner, crypto.randomUUID())).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  });

  async function deliverWhileTheyHang(jobs: Job[]) {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
    const delivering = w.deliver(jobs, hangingObjects(w.env));
    for (let second = 0; second < 120; second++) {
      await vi.advanceTimersByTimeAsync(SECOND);
      await scheduler.wait(10);
    }
    vi.useRealTimers();
    return delivering;
  }

  it('a hanging object does not delay other events of the same message', async () => {
    await w.purchase(product, await w.chain.wallet());
    const other = await w.connect(await w.product(await w.merchant()));
    const actIds = w.queue.sent.splice(0).flatMap(({ job }) => (job.kind === 'fanOut' ? job.actIds : []));
    expect((await deliverWhileTheyHang([{ kind: 'fanOut', actIds }])).retried).toBe(1);
    const fannedOut = prepareOnEvents(w.env.DB, 'SELECT fanned_out_at FROM events WHERE payment_id = ?').bind(other.payment_id);
    expect((await fannedOut.all()).results).toEqual([{ fanned_out_at: expect.any(Number) }]);
    await w.deliver([{ kind: 'fanOut', actIds }]);
  });

  it('a job that credits a payment is retried and then credits it', async () => {
    await w.purchase(product, await w.chain.wallet(), { customer_ref: 'hanna' });
    const jobs = w.queue.sent.splice(0).map(({ job }) => job);
    expect((await deliverWhileTheyHang(jobs)).retried).toBeGreaterThan(0);
    await w.deliver(jobs);
    const consumed = await w.call('POST', '/v1/access/entitlements/consume', {
      key: ada.key,
      headers: { 'Idempotency-Key': 'after-the-hang' },
      body: { product_id: product.product_id, customer: { customer_ref: 'hanna' } },
    });
    expect(consumed.status).toBe(200);
  });
});

describe('deadline with a hanging database', () => {
  /** Returns a database that runs its batches only once they are released. */
  function lateBatches() {
    const done: Promise<unknown>[] = [];
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const DB = new Proxy(w.env.DB, {
      get(database, name: keyof D1Database) {
        const value = database[name];
        if (name !== 'batch') return typeof value === 'function' ? value.bind(database) : value;
        return (statements: D1PreparedStatement[]) => {
          const batch = held.then(() => database.batch(statements));
          done.push(batch);
          return batch;
        };
      },
    });
    const land = () => {
      letGo();
      return Promise.all(done);
    };
    return { env: { ...w.env, DB } as Env, land, begun: () => done.length };
  }

  it('a query waits no longer than the request has left, and none is made after the deadline', async () => {
    const all = vi.fn(() => new Promise<never>(() => {}));
    const statement = { all, raw: all, run: all, bind: () => statement };
    const DB = { prepare: () => statement } as unknown as D1Database;
    const ctx = withLeft('request', 300, { ...w.env, DB });
    const { ms, outcome } = await timed(() => ctx.db.run('SELECT 1').catch((error: unknown) => error));
    expect(String((outcome as Error).cause ?? outcome)).toContain('no answer before the deadline');
    expect(ms).toBeLessThan(3000);
    const over = withLeft('request', 0, { ...w.env, DB });
    await expect(over.db.run('SELECT 1')).rejects.toThrow();
    expect(all).toHaveBeenCalledTimes(1);
  });

  it('a write that lands after its request’s 503 is found once by the repeated request', async () => {
    const ada = await w.merchant();
    const { env, land, begun } = lateBatches();
    const make = (options: object = {}) =>
      w.call('POST', '/v1/products', {
        key: ada.key,
        headers: { 'Idempotency-Key': 'late-product' },
        body: { name: 'Late', price: { asset: 'USDC', amount: '1' } },
        ...options,
      });
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
    const answering = make({ env });
    while (begun() === 0) await scheduler.wait(5);
    await vi.advanceTimersByTimeAsync(21 * SECOND);
    vi.useRealTimers();
    const answer = await answering;
    expect([answer.status, answer.body.code, answer.body.retryable]).toEqual([503, 'temporarily_unavailable', true]);
    await land();
    const again = await make();
    expect([again.status, (await make()).body]).toEqual([201, again.body]);
    const count = w.env.DB.prepare("SELECT count(*) AS n FROM products WHERE merchant_id = ? AND name = 'Late'").bind(ada.userId);
    expect(await count.first('n')).toBe(1);
  });
});

describe('queued operation in an object', () => {
  it('an operation that waited longer than its caller is skipped, and its neighbours run', async () => {
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
        pack: (content) => content,
        unpack: (text) => text,
        idOf: () => 'counter',
        empty: { version: 0 },
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

describe('webhook attempt', () => {
  async function due(habit: string) {
    const ada = await w.merchant();
    const url = `${testEnv.TEST_RECEIVER_URL}/${habit}/deadline-${crypto.randomUUID()}`;
    await w.call('POST', '/v1/webhooks/endpoints', { key: ada.key, body: { url } });
    await w.connect(await w.product(ada));
    w.attempts.length = 0;
    await w.deliver();
    const { deliveryId, merchantId, livemode, endpointId } = w.attempts.splice(0)[0]!;
    const columns = 'status, attempt, error, lease_until, next_attempt_at <= unixepoch() * 1000 + 1000 AS is_due';
    const row = () => w.env.DB.prepare(`SELECT ${columns} FROM webhook_deliveries WHERE id = ?`).bind(deliveryId).first();
    const attempt = async (leftMs: number) => {
      const ctx = withLeft('attempt', leftMs);
      const claimed = await claimAttempt(ctx, { id: deliveryId, merchantId, livemode, endpointId });
      return claimed && (await makeAttempt(ctx, claimed));
    };
    return { ada, deliveryId, row, attempt };
  }

  it('an attempt without enough time left is not made or counted, and is made later', async () => {
    const { row, attempt } = await due('ok');
    expect(await attempt(17 * SECOND)).toBeNull();
    expect(await row()).toEqual({ status: 'pending', attempt: 0, error: null, lease_until: 0, is_due: 1 });
    letTimeRun();
    expect(await attempt(30 * SECOND)).toMatchObject({ status: 200 });
    expect(await row()).toMatchObject({ status: 'succeeded', attempt: 1 });
  });

  it('a delivery is cancelled if its event no longer exists', async () => {
    const { row, attempt, deliveryId } = await due('ok');
    await w.env.DB.prepare('DELETE FROM acts WHERE id = (SELECT substr(event_id, 1, 29) FROM webhook_deliveries WHERE id = ?)')
      .bind(deliveryId)
      .run();
    expect(await attempt(30 * SECOND)).toBeNull();
    expect(await row()).toMatchObject({ status: 'cancelled', attempt: 0, lease_until: 0 });
  });
});
