import { beforeEach, describe, expect, it } from 'vitest';
import type { Env } from '#platform/context.ts';
import { type Faults, seededRandom, shuffled, withFaults } from '../../support/faults/faults.ts';
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
import { REPEATED, SEED } from '../../support/runner/env.ts';
import { WEBHOOK_SWEEPS } from '../../support/runner/sweeps.ts';
import { type Merchant, World } from '../../support/world.ts';

const MINUTE = 60_000;
const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
let merchant: Merchant;
let mine: Consumer;
beforeEach(async () => {
  merchant = await w.merchant();
  mine = await consumer(w, merchant, 'ok');
  w.queue.sent.length = 0;
  w.attempts.length = 0;
});

/** Fails the worker's database from this batch on, as a killed worker would. */
const cutAt = (batch: number, when: keyof Faults): Env => {
  let batches = 0;
  return withFaults(w.env, { [when]: ({ kind }: { kind: string }) => kind === 'batch' && ++batches >= batch }).env;
};
/** Ages the events as well, for the sweep of forgotten ones. */
async function passEvents(ms: number): Promise<void> {
  await pass(mine, ms);
  await w.env.DB.prepare('UPDATE acts SET created_at = created_at - ? WHERE merchant_id = ?').bind(ms, merchant.userId).run();
}
const numbers = async (who = mine) => (await received(who)).map(({ headers }) => Number(headers['x-svc-attempt']));
const states = async (who = mine) => (await deliveries(who)).map(({ status, attempt }) => [status, attempt]);

describe('misbehaving queue', REPEATED, () => {
  it('the sweep writes the deliveries once if the queue loses the fan-out', async () => {
    await emit(w, merchant, 2);
    w.queue.sent.length = 0;
    await w.sweepEach(WEBHOOK_SWEEPS);
    expect(await deliveries(mine)).toEqual([]);
    await passEvents(11_000);
    await Promise.all([w.sweepEach(WEBHOOK_SWEEPS), w.sweepEach(WEBHOOK_SWEEPS)]);
    await w.attempt(await waiting(w, mine));
    expect(await states()).toEqual(Array(2).fill(['succeeded', 1]));
    expect(await numbers()).toEqual([1, 1]);
  });

  it('a fan-out brought three times concurrently and again later sends each event once per endpoint', async () => {
    const second = await consumer(w, merchant, 'ok');
    const jobs = await emit(w, merchant, 3);
    await w.deliver([...jobs, ...jobs, ...jobs]);
    const all = w.attempts.splice(0);
    expect(all).toHaveLength(6);
    await w.deliver(jobs);
    expect(w.attempts).toEqual([]);
    await w.attempt(all);
    for (const who of [mine, second]) {
      const events = (await received(who)).map(({ headers }) => headers['x-svc-event-id']);
      expect(new Set(events).size).toBe(3);
      expect(events).toHaveLength(3);
    }
  });

  it('the sweep resends an attempt that the queue loses', async () => {
    await w.deliver(await emit(w, merchant));
    w.attempts.length = 0;
    expect(await attemptDue(w, mine)).toHaveLength(1);
    expect(await states()).toEqual([['succeeded', 1]]);
    expect(await attemptDue(w, mine)).toEqual([]);
    expect(await numbers()).toEqual([1]);
  });

  it(`a queue that doubles and reorders attempts causes one request per attempt number (SEED=${SEED})`, async () => {
    const random = seededRandom(SEED);
    const failing = await consumer(w, merchant, 'fail');
    await w.deliver(await emit(w, merchant, 3));
    for (let round = 0; round < 4; round++) {
      const due = w.attempts.splice(0);
      const messy = shuffled([...due, ...due, ...due], random);
      await Promise.all([w.attempt(messy.slice(0, 7)), w.attempt(messy.slice(7))]);
      await w.attempt(due);
      await pass(failing, 45 * MINUTE);
      await w.sweepEach(WEBHOOK_SWEEPS);
    }
    expect(await numbers()).toEqual([1, 1, 1]);
    const got = (await received(failing)).map(({ headers }) => `${headers['x-svc-delivery-id']}:${headers['x-svc-attempt']}`);
    expect(new Set(got).size).toBe(got.length);
    expect(await states(failing)).toEqual(Array(3).fill(['retrying', 4]));
    expect(got).toHaveLength(12);
  });

  it('an attempt from the queue and from two sweeps causes one request', async () => {
    await w.deliver(await emit(w, merchant, 3));
    w.attempts.length = 0;
    await pass(mine, PATIENCE_MS);
    for (let i = 0; i < 2; i++) await w.sweepAlone('deliveries');
    const due = await waiting(w, mine);
    expect(due).toHaveLength(6);
    await w.attempt(due);
    expect(await numbers()).toEqual([1, 1, 1]);
    expect(await states()).toEqual(Array(3).fill(['succeeded', 1]));
  });
});

describe('worker killed between send and record', REPEATED, () => {
  it('the attempt is sent again under the same delivery and number after the lease, and recorded once', async () => {
    await w.deliver(await emit(w, merchant));
    await w.attempt(w.attempts.splice(0), cutAt(2, 'before'));
    expect(await states()).toEqual([['pending', 0]]);
    // A dead worker is not detected before its lease ends.
    expect(await attemptDue(w, mine)).toEqual([]);
    const [row] = await deliveries(mine);
    const deliveryId = row!.id;
    await w.attempt([attemptOf(row!)]);
    expect(await numbers()).toEqual([1]);
    await pass(mine, 2 * MINUTE);
    expect(await attemptDue(w, mine)).toHaveLength(1);
    const got = await received(mine);
    expect(got.map(({ headers }) => [headers['x-svc-delivery-id'], headers['x-svc-attempt']])).toEqual(
      Array(2).fill([String(deliveryId), '1']),
    );
    expect(got[0]!.body).toBe(got[1]!.body);
    expect(await states()).toEqual([['succeeded', 1]]);
    await pass(mine, 60 * MINUTE);
    expect(await attemptDue(w, mine)).toEqual([]);
  });

  it('a slow worker that lost its lease does not overwrite the record of its successor', async () => {
    const flipping = await consumer(w, merchant, 'flip');
    await w.deliver(await emit(w, merchant));
    const due = await waiting(w, flipping);
    // Another worker takes over and succeeds while the first waits to record a failure.
    let batches = 0;
    const database = w.env.DB;
    const slow = {
      prepare: (sql: string) => database.prepare(sql),
      batch: async (statements: D1PreparedStatement[]) => {
        if (++batches === 2) {
          await flip(flipping, 200);
          await pass(flipping, 2 * MINUTE);
          await w.attempt(due);
        }
        return database.batch(statements);
      },
    } as unknown as D1Database;
    await w.attempt(due, { ...w.env, DB: slow });
    expect(await states(flipping)).toEqual([['succeeded', 1]]);
    expect(await numbers(flipping)).toEqual([1, 1]);
  });
});

describe('database outage', REPEATED, () => {
  it.each(['before', 'after'] as const)('an outage %s the commit of a fan-out sends each event once per endpoint', async (when) => {
    const jobs = await emit(w, merchant, 2);
    const { retried } = await w.deliver([jobs[0]!], cutAt(when === 'before' ? 1 : 2, when));
    expect(retried).toBe(1);
    await w.deliver(jobs);
    await attemptDue(w, mine);
    expect(await numbers()).toEqual([1, 1]);
    expect(await states()).toEqual(Array(2).fill(['succeeded', 1]));
  });

  it('an outage before the commit of a claim repeats the message, which then sends', async () => {
    await w.deliver(await emit(w, merchant));
    await w.attempt(w.attempts.splice(0), cutAt(1, 'before'));
    expect(w.attempts).toHaveLength(1);
    await w.attempt();
    expect(await numbers()).toEqual([1]);
    expect(await states()).toEqual([['succeeded', 1]]);
  });

  it('an outage after the commit of a claim delays the first attempt until the lease ends', async () => {
    await w.deliver(await emit(w, merchant));
    await w.attempt(w.attempts.splice(0), cutAt(1, 'after'));
    await w.attempt();
    expect(await numbers()).toEqual([]);
    await pass(mine, 2 * MINUTE);
    await attemptDue(w, mine);
    expect(await numbers()).toEqual([1]);
    expect(await states()).toEqual([['succeeded', 1]]);
  });

  it('a short outage at the record does not repeat the attempt', async () => {
    const failing = await consumer(w, merchant, 'gone');
    await w.deliver(await emit(w, merchant));
    for (const message of w.attempts.splice(0)) {
      let batches = 0;
      await w.attempt([message], withFaults(w.env, { before: ({ kind }) => kind === 'batch' && ++batches === 2 }).env);
    }
    expect([await states(), await states(failing)]).toEqual([[['succeeded', 1]], [['failed', 1]]]);
    expect(await endpoint(failing)).toMatchObject({ status: 'disabled', disabled_reason: 'gone' });
    for (const who of [mine, failing]) {
      await pass(who, 2 * MINUTE);
      await attemptDue(w, who);
      expect(await numbers(who)).toEqual([1]);
    }
  });

  it('an outage after the commit of a record preserves it and sends nothing twice', async () => {
    const failing = await consumer(w, merchant, 'fail');
    await w.deliver(await emit(w, merchant));
    for (const message of w.attempts.splice(0)) await w.attempt([message], cutAt(2, 'after'));
    expect([await states(), await states(failing)]).toEqual([[['succeeded', 1]], [['retrying', 1]]]);
    expect(w.attempts).toMatchObject([{ isSlow: true, delaySeconds: 5 }]);
    await pass(mine, MINUTE);
    await pass(failing, MINUTE);
    await w.sweepEach(WEBHOOK_SWEEPS);
    await w.attempt();
    expect([await numbers(), await numbers(failing)]).toEqual([[1], [1, 2]]);
  });
});

describe('concurrent replay and recoveries', REPEATED, () => {
  const recover = (env: Env = w.env) =>
    w.call('POST', `/v1/webhooks/endpoints/${mine.id}/recover`, { key: merchant.key, body: { since: '2020-01-01T00:00:00Z' }, env });
  const replay = (id: number) => w.call('POST', `/v1/webhooks/deliveries/${id}/replay`, { key: merchant.key });
  async function failed(): Promise<number> {
    mine = await consumer(w, merchant, 'flip', { event_types: ['payout.*'] });
    await w.deliver(await emit(w, merchant));
    await w.attempt(await waiting(w, mine));
    await w.env.DB.prepare(`UPDATE webhook_deliveries SET status = 'failed', next_attempt_at = NULL WHERE endpoint_id = ?`)
      .bind(mine.id)
      .run();
    await flip(mine, 200);
    return (await deliveries(mine))[0]!.id;
  }

  it('each creates at most one delivery of the same event, and the failed one stays unchanged', async () => {
    const id = await failed();
    const [replayed] = await Promise.all([replay(id), recover()]);
    expect(replayed.status).toBe(200);
    await w.attempt(await waiting(w, mine));
    const rows = await deliveries(mine);
    expect(rows[0]).toMatchObject({ id, status: 'failed', attempt: 1 });
    expect(rows.length).toBeLessThanOrEqual(3);
    for (const row of rows.slice(1)) expect(row).toMatchObject({ status: 'succeeded', attempt: 1, replay_of: id });
    expect(new Set((await received(mine)).map(({ headers }) => headers['x-svc-event-id'])).size).toBe(1);
  });

  it('concurrent recoveries schedule an event once', async () => {
    await failed();
    // Both recoveries have read before either writes.
    const rivals: Promise<{ body: { scheduled: number } }>[] = [];
    const insertions = new WeakSet<object>();
    const prepare = (sql: string): D1PreparedStatement => {
      const statement = w.env.DB.prepare(sql);
      if (!/^insert into "webhook_deliveries"/i.test(sql)) return statement;
      const bind = (...values: unknown[]) => {
        const bound = statement.bind(...values);
        insertions.add(bound);
        return bound;
      };
      return { bind } as unknown as D1PreparedStatement;
    };
    const batch = async (statements: D1PreparedStatement[]) => {
      if (statements.some((statement) => insertions.has(statement))) {
        rivals.push(recover());
        await rivals[0];
      }
      return w.env.DB.batch(statements);
    };
    const answers = [await recover({ ...w.env, DB: { prepare, batch } as unknown as D1Database })];
    expect(rivals).toHaveLength(1);
    answers.push(...((await Promise.all(rivals)) as typeof answers));
    await w.attempt(await waiting(w, mine));
    expect((await recover()).body).toEqual({ scheduled: 0 });
    expect(answers.map(({ body }) => body.scheduled).sort()).toEqual([0, 1]);
    expect(await states()).toEqual([
      ['failed', 1],
      ['succeeded', 1],
    ]);
  });

  it('a recovery during the fan-out creates one delivery', async () => {
    const jobs = await emit(w, merchant);
    await Promise.all([recover(), w.deliver(jobs)]);
    await w.attempt(await waiting(w, mine));
    expect(await numbers()).toEqual([1]);
  });
});
