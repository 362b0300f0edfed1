import { describe, expect, it } from 'vitest';
import {
  attemptDue,
  attemptOf,
  type Consumer,
  consumer,
  deliveries,
  emit,
  endpoint,
  flip,
  PATIENCE_MS,
  pass,
  received,
  waiting,
} from '../../support/people/consumer.ts';
import { testEnv } from '../../support/runner/env.ts';
import { WEBHOOK_SWEEPS } from '../../support/runner/sweeps.ts';
import { type Merchant, World } from '../../support/world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });

async function announce(owner: Merchant, count = 1): Promise<void> {
  w.queue.sent.length = 0;
  w.attempts.length = 0;
  await emit(w, owner, count);
  await w.deliver();
}
const on = (owner: Merchant, mine: Consumer, action: string, body: object = {}) =>
  w.call('POST', `/v1/webhooks/endpoints/${mine.id}/${action}`, { key: owner.key, body });
/** Opens the circuit of a merchant's only endpoint by twenty failures, with three more deliveries held. */
async function broken(): Promise<{ owner: Merchant; mine: Consumer }> {
  const owner = await w.merchant();
  const mine = await consumer(w, owner, 'flip');
  await announce(owner, 20);
  await w.attempt();
  await announce(owner, 3);
  await w.attempt();
  expect(await endpoint(mine)).toMatchObject({ failure_streak: 20 });
  expect(await received(mine)).toHaveLength(20);
  return { owner, mine };
}
const readHeld = async (mine: Consumer) => (await deliveries(mine)).slice(20, 23);

describe('circuit breaker', () => {
  it('held deliveries show the reason and are sent at once when the probe succeeds', async () => {
    const { owner, mine } = await broken();
    const reason = 'held back: the endpoint keeps failing';
    expect((await readHeld(mine)).map(({ error }) => error)).toEqual(Array(3).fill(reason));
    const { body } = await w.call('GET', `/v1/webhooks/deliveries?endpoint_id=${mine.id}&status=pending`, { key: owner.key });
    expect(body.items).toMatchObject(Array(3).fill({ error: reason, attempt: 0 }));
    // The probe is one of the failed deliveries. The three stay held.
    await pass(mine, 5 * MINUTE);
    const [probe] = (await deliveries(mine)).filter(({ status }) => status === 'retrying');
    await w.env.DB.prepare('UPDATE webhook_deliveries SET next_attempt_at = ? WHERE id = ?').bind(Date.now(), probe!.id).run();
    await flip(mine, 200);
    w.attempts.length = 0;
    await w.attempt([attemptOf(probe!, true)]);
    const released = new Set((await readHeld(mine)).map(({ id }) => id));
    const sent = w.attempts.filter(({ deliveryId }) => released.has(deliveryId));
    expect(sent).toMatchObject(Array(3).fill({ isSlow: false, delaySeconds: 0 }));
    await w.attempt(sent);
    expect(await readHeld(mine)).toMatchObject(Array(3).fill({ status: 'succeeded', attempt: 1, error: null }));
  });

  it('the sweep sends one due probe of many held deliveries, and none early', async () => {
    const { mine } = await broken();
    w.attempts.length = 0;
    await w.sweepEach(WEBHOOK_SWEEPS);
    expect(await waiting(w, mine)).toEqual([]);
    await pass(mine, 5 * MINUTE + PATIENCE_MS);
    await w.sweepEach(WEBHOOK_SWEEPS);
    expect(await waiting(w, mine)).toHaveLength(1);
  });

  it('only the next probe has a due time, and each failed probe leaves one successor', async () => {
    const { mine } = await broken();
    const timed = async () => (await deliveries(mine)).filter(({ status, next_attempt_at: at }) => status !== 'succeeded' && at !== null);
    expect(await timed()).toHaveLength(1);
    for (let probes = 21; probes <= 23; probes++) {
      await pass(mine, 5 * MINUTE);
      await attemptDue(w, mine);
      expect(await received(mine)).toHaveLength(probes);
      const { last_failure_at: failedAt } = await endpoint(mine);
      const next = Math.min(...(await timed()).map(({ next_attempt_at: at }) => at!));
      expect(next - failedAt!).toBeLessThanOrEqual(5 * MINUTE);
    }
  });

  it('an attempt that read an open circuit does not hold a delivery after a concurrent success', async () => {
    const { owner, mine } = await broken();
    await announce(owner);
    const late = await waiting(w, mine);
    await flip(mine, 200);
    const [failed] = (await deliveries(mine)).filter(({ status }) => status !== 'pending');
    const replay = async () => {
      const { body } = await w.call('POST', `/v1/webhooks/deliveries/${failed!.id}/replay`, { key: owner.key });
      await w.attempt([{ ...late[0]!, deliveryId: body.delivery_id }]);
    };
    let batches = 0;
    const database = {
      prepare: (sql: string) => w.env.DB.prepare(sql),
      batch: async (statements: D1PreparedStatement[]) => {
        // The attempt is claimed and held by stale state, and a manual replay succeeds before that is stored.
        if (++batches === 2) await replay();
        return w.env.DB.batch(statements);
      },
    } as unknown as D1Database;
    await w.attempt(late, { ...w.env, DB: database });
    expect(await endpoint(mine)).toMatchObject({ failure_streak: 0 });
    await attemptDue(w, mine);
    expect((await deliveries(mine)).filter(({ id }) => id === late[0]!.deliveryId)).toMatchObject([{ status: 'succeeded' }]);
  });

  it('any success closes the circuit, also that of an attempt started before it opened', async () => {
    const owner = await w.merchant();
    const mine = await consumer(w, owner, 'flip');
    await flip(mine, 200);
    await announce(owner);
    const early = await waiting(w, mine);
    let batches = 0;
    const database = {
      prepare: (sql: string) => w.env.DB.prepare(sql),
      batch: async (statements: D1PreparedStatement[]) => {
        // The success is recorded late: meanwhile twenty attempts fail and three are held.
        if (++batches === 2) {
          await flip(mine, 500);
          for (const count of [20, 3]) {
            await announce(owner, count);
            await w.attempt(await waiting(w, mine));
          }
          expect(await endpoint(mine)).toMatchObject({ failure_streak: 20 });
          await flip(mine, 200);
        }
        return w.env.DB.batch(statements);
      },
    } as unknown as D1Database;
    await w.attempt(early, { ...w.env, DB: database });
    expect(await endpoint(mine)).toMatchObject({ failure_streak: 0 });
    for (let minutes = 0; minutes < 2; minutes++) {
      await pass(mine, 5 * MINUTE);
      await attemptDue(w, mine);
    }
    expect((await deliveries(mine)).map(({ status }) => status)).toEqual(Array(24).fill('succeeded'));
  });

  it('recovered deliveries are held, while a manual replay is sent', async () => {
    const { owner, mine } = await broken();
    await w.env.DB.prepare(`UPDATE webhook_deliveries SET status = 'failed', next_attempt_at = NULL WHERE endpoint_id = ?`)
      .bind(mine.id)
      .run();
    w.attempts.length = 0;
    expect((await on(owner, mine, 'recover', { since: '2020-01-01T00:00:00Z' })).body).toEqual({ scheduled: 23 });
    await w.attempt();
    expect(await received(mine)).toHaveLength(20);
    await w.call('POST', `/v1/webhooks/deliveries/${(await deliveries(mine))[0]!.id}/replay`, { key: owner.key });
    await w.attempt();
    expect(await received(mine)).toHaveLength(21);
  });
});

describe('webhook test call', () => {
  it('a failed test changes no streak, no first failure and no five-day limit', async () => {
    const owner = await w.merchant();
    const mine = await consumer(w, owner, 'flip');
    await on(owner, mine, 'test');
    const untouched = { failure_streak: 0, failing_since: null, last_failure_at: null, last_success_at: null, status: 'enabled' };
    expect(await endpoint(mine)).toMatchObject(untouched);
    await announce(owner);
    await w.attempt();
    const failed = await endpoint(mine);
    expect(failed).toMatchObject({ failure_streak: 1 });
    await pass(mine, 6 * DAY);
    await on(owner, mine, 'test');
    expect(await endpoint(mine)).toMatchObject({
      status: 'enabled',
      failure_streak: 1,
      last_failure_at: failed.last_failure_at! - 6 * DAY,
    });
  });

  it('a successful test does not reset an endpoint with failing real events', async () => {
    const owner = await w.merchant();
    const mine = await consumer(w, owner, 'flip');
    await announce(owner);
    await w.attempt();
    const before = await endpoint(mine);
    await flip(mine, 200);
    expect((await on(owner, mine, 'test')).body.succeeded).toBe(true);
    expect(await endpoint(mine)).toEqual(before);
    expect((await w.call('GET', '/v1/integrations/health', { key: owner.key })).body.endpoints.failing).toBe(1);
  });

  it('a successful test leaves the circuit open and held deliveries waiting', async () => {
    const { owner, mine } = await broken();
    w.attempts.length = 0;
    expect((await on(owner, mine, 'test')).body.succeeded).toBe(false);
    expect([(await endpoint(mine)).failure_streak, await waiting(w, mine)]).toEqual([20, []]);
    await flip(mine, 200);
    expect((await on(owner, mine, 'test')).body.succeeded).toBe(true);
    expect([(await endpoint(mine)).failure_streak, await waiting(w, mine)]).toEqual([20, []]);
    expect((await readHeld(mine)).length).toBeGreaterThan(0);
  });
});

describe('endpoint that fails again and again', () => {
  it('a success between judgement and disabling leaves the endpoint enabled', async () => {
    const owner = await w.merchant();
    const mine = await consumer(w, owner, 'fail');
    await announce(owner);
    await w.attempt();
    await pass(mine, 6 * DAY);
    await w.sweepEach(WEBHOOK_SWEEPS);
    const due = await waiting(w, mine);
    let batches = 0;
    const database = {
      prepare: (sql: string) => w.env.DB.prepare(sql),
      batch: async (statements: D1PreparedStatement[]) => {
        // Batches: claim, record, disable.
        if (++batches === 3)
          await testEnv.DB.prepare('UPDATE webhook_endpoints SET failure_streak = 0, failing_since = NULL WHERE id = ?')
            .bind(mine.id)
            .run();
        return w.env.DB.batch(statements);
      },
    } as unknown as D1Database;
    await w.attempt(due, { ...w.env, DB: database });
    expect([batches, (await endpoint(mine)).status]).toEqual([3, 'enabled']);
    expect(await deliveries(mine)).toMatchObject([{ status: 'retrying', attempt: 2 }]);
  });

  it('disabling cancels all waiting deliveries at once, at any due time and by any caller', async () => {
    const owner = await w.merchant();
    const mine = await consumer(w, owner, 'later');
    await announce(owner);
    await w.attempt();
    expect(await deliveries(mine)).toMatchObject([{ status: 'retrying' }]);
    await w.call('DELETE', `/v1/webhooks/endpoints/${mine.id}`, { key: owner.key });
    const ended = [{ status: 'cancelled', next_attempt_at: null, completed_at: expect.any(Number) }];
    expect(await deliveries(mine)).toMatchObject(ended);
    await w.call('PATCH', `/v1/webhooks/endpoints/${mine.id}`, { key: owner.key, body: { status: 'enabled' } });
    await pass(mine, DAY);
    expect(await attemptDue(w, mine)).toEqual([]);
    expect(await deliveries(mine)).toMatchObject(ended);
  });

  it('an endpoint without a usable secret gets all attempts, which fail with signing failed', async () => {
    const owner = await w.merchant();
    const mine = await consumer(w, owner, 'ok', {}, owner.sandboxKey);
    await emit(w, owner, 1, { livemode: false });
    await w.deliver();
    const env = { ...w.env, SEAL_KEYS: 'A'.repeat(43) };
    for (let i = 0; i < 4; i++) {
      await pass(mine, HOUR);
      w.attempts.length = 0;
      await w.sweepEach(WEBHOOK_SWEEPS);
      await w.attempt(await waiting(w, mine), env);
    }
    expect(await deliveries(mine)).toMatchObject([{ status: 'failed', attempt: 4, error: 'signing failed' }]);
    expect(await endpoint(mine)).toMatchObject({ failure_streak: 4 });
    expect(await received(mine)).toEqual([]);
  });
});
