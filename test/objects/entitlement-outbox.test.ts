import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { DAY, HOUR, MINUTE, SECOND } from '#core/time.ts';
import type { EntitlementSnapshot } from '#rules/balance.ts';
import { type EntitlementProjection, type EntitlementRpc, projectedOf } from '#rules/entitlement-rpc.ts';
import { type Holder, interceptJobs, newHolder, readAlarm } from '../support/clients/entitlement.ts';
import { seededRandom, shuffled } from '../support/faults/faults.ts';
import { letTimeRun, setTime } from '../support/runner/clock.ts';
import { SEED } from '../support/runner/env.ts';

afterEach(letTimeRun);

const ahead = () => Date.now() + HOUR;
const eventTypes = (sent: EntitlementProjection[]) => sent.flatMap(({ events }) => events.map(({ type }) => type));
const versionsOf = (sent: EntitlementProjection[]) => sent.flatMap(({ events }) => events.map(({ snapshot }) => snapshot.version));
const ring = ({ stub }: Holder, retryCount = 0) =>
  runInDurableObject(stub, (instance) => instance.alarm!({ retryCount, isRetry: retryCount > 0, scheduledTime: Date.now() }));

describe('projection to the database', () => {
  it('the latest state and every event are sent two seconds after the first change, until acknowledged', async () => {
    const holder = newHolder();
    const { stub, grant, consume, credit } = holder;
    const jobs = await interceptJobs(stub);
    setTime(ahead());
    await grant('grant-1', { units: 2 });
    for (const key of ['key-1', 'key-2', 'key-3']) await consume(key);
    await credit('pay-1', { units: 1 }, { key: 'settle-1', units: 1 });
    expect(await readAlarm(stub)).toBe(Date.now() + 2 * SECOND);
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    expect(jobs.sent).toHaveLength(1);
    // The use made with a payment does not exhaust an earlier balance.
    expect(eventTypes(jobs.sent)).toEqual(['entitlement.granted', 'entitlement.exhausted', 'entitlement.granted']);
    expect(versionsOf(jobs.sent)).toEqual([1, 3, 4]);
    expect(jobs.sent[0]!.snapshot).toEqual(await stub.read({ now: Date.now() }));
    await ring(holder);
    expect(jobs.sent).toHaveLength(1);
    await jobs.acknowledge();
    setTime(Date.now() + HOUR);
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    expect([jobs.sent.length, await readAlarm(stub)]).toEqual([1, null]);
  });

  it('the projection repeats after 5 s, 1 min and then every 10 min until acknowledged, through evictions', async () => {
    const holder = newHolder();
    const start = ahead();
    setTime(start);
    await holder.grant('grant-1', { units: 2 });
    const at: number[] = [];
    while (at.length < 6) {
      const due = (await readAlarm(holder.stub))!;
      setTime(due - 1);
      const jobs = await interceptJobs(holder.stub);
      if (at.length > 0) await ring(holder);
      expect(jobs.sent).toEqual([]);
      setTime(due);
      await ring(holder);
      expect(versionsOf(jobs.sent)).toEqual([1]);
      at.push((due - start) / SECOND);
      await evictDurableObject(holder.stub);
    }
    expect(at).toEqual([2, 7, 67, 667, 1267, 1867]);
    await holder.stub.published({ version: 1, eventVersions: [1] });
    await runDurableObjectAlarm(holder.stub);
    expect(await readAlarm(holder.stub)).toBeNull();
  });

  it('a foreign, duplicate or late acknowledgement does not clear the projection', async () => {
    const holder = newHolder();
    const random = seededRandom(SEED);
    setTime(ahead());
    await Promise.all(Array.from({ length: 270 }, (_, i) => holder.grant(`grant-${i}`, { units: 1 })));
    const jobs = await interceptJobs(holder.stub);
    await ring(holder);
    expect(jobs.sent.map(({ events }) => events.length)).toEqual([50, 50, 50, 50, 50, 20]);
    expect(versionsOf(jobs.sent)).toEqual(Array.from({ length: 270 }, (_, i) => i + 1));
    for (const message of jobs.sent) expect(JSON.stringify(message).length).toBeLessThan(64_000);
    const [lost, doubled, ...others] = shuffled(jobs.sent.splice(0), random);
    for (const message of [doubled!, ...others, doubled!]) await holder.stub.published(projectedOf(message));
    setTime(Date.now() + 5 * SECOND);
    await ring(holder);
    expect(versionsOf(jobs.sent)).toEqual(versionsOf([lost!]));
    await holder.grant('later', { units: 1 });
    await jobs.acknowledge();
    await holder.stub.published(projectedOf(doubled!));
    await ring(holder);
    expect(versionsOf(jobs.sent.slice(1))).toEqual([271]);
  });

  it('a lost message is repeated within five seconds although later messages arrived', async () => {
    const holder = newHolder();
    const start = ahead();
    const jobs = await interceptJobs(holder.stub);
    // Changes come every two seconds. The first message is lost, and all others are acknowledged at once.
    for (let i = 0; i < 4; i++) {
      setTime(start + i * 2 * SECOND);
      await holder.grant(`grant-${i}`, { units: 1 });
      await ring(holder);
      if (i === 0) jobs.sent.splice(0);
      await jobs.acknowledge();
    }
    expect(versionsOf(jobs.sent)).toEqual([2, 3, 1, 4]);
    const { sent } = await interceptJobs(holder.stub);
    setTime(start + HOUR);
    await ring(holder);
    expect(sent).toEqual([]);
  });

  it('a projection larger than one alarm continues in further alarms', async () => {
    const holder = newHolder();
    setTime(ahead());
    await Promise.all(Array.from({ length: 1500 }, (_, i) => holder.grant(`grant-${i}`, { units: 1 })));
    const jobs = await interceptJobs(holder.stub);
    await ring(holder);
    await vi.waitFor(() => expect(versionsOf(jobs.sent)).toHaveLength(1500));
    expect(versionsOf(jobs.sent)).toEqual(Array.from({ length: 1500 }, (_, i) => i + 1));
    expect(jobs.sent.map(({ events }) => events.length)).toEqual(Array.from({ length: 30 }, () => 50));
    await jobs.acknowledge();
    expect(await readAlarm(holder.stub)).toBeGreaterThan(Date.now() + 24 * HOUR);
  });

  it('a failed send is repeated, and the alarm continues', async () => {
    const holder = newHolder();
    const jobs = await interceptJobs(holder.stub);
    jobs.isFailing = true;
    setTime(ahead());
    await holder.grant('grant-1', { units: 2 });
    await expect(ring(holder)).rejects.toThrow('queue is down');
    // The platform repeats a failed alarm. The unsent message has a due time of its own.
    await ring(holder, 1);
    expect(await readAlarm(holder.stub)).toBe(Date.now() + 5 * SECOND);
    setTime(Date.now() + 5 * SECOND);
    await ring(holder, 5);
    expect(await readAlarm(holder.stub)).toBe(Date.now() + MINUTE);
    jobs.isFailing = false;
    setTime(Date.now() + MINUTE);
    await ring(holder);
    expect(eventTypes(jobs.sent)).toEqual(['entitlement.granted']);
  });

  it('a send interrupted by a crash is repeated', async () => {
    const holder = newHolder();
    setTime(ahead());
    await holder.grant('grant-1', { units: 2 });
    const dying = runInDurableObject(holder.stub, (instance, state) => {
      const send = async () => state.abort('killed by the test');
      Object.assign(instance, { env: { JOBS: { send } } });
      return instance.alarm!();
    });
    await expect(dying).rejects.toThrow();
    holder.reconnect();
    const jobs = await interceptJobs(holder.stub);
    await ring(holder);
    expect(await readAlarm(holder.stub)).toBe(Date.now() + 5 * SECOND);
    setTime(Date.now() + 5 * SECOND);
    await ring(holder);
    expect(versionsOf(jobs.sent)).toEqual([1]);
  });

  it('expiry by time is sent once per end', async () => {
    const holder = newHolder();
    const { stub, grant, consume, identity, read } = holder;
    const start = ahead();
    const jobs = await interceptJobs(stub);
    setTime(start);
    await grant('grant-1', { units: null, days: 3 });
    setTime(start + DAY);
    expect(await consume('key-1', 5)).toMatchObject({ ok: true, remaining: null });
    const paidThrough = (await read())!.paidThrough!;
    setTime(paidThrough - 1);
    expect(await consume('key-2', 1)).toMatchObject({ ok: true });
    setTime(paidThrough);
    expect(await consume('key-3', 1)).toEqual({ ok: false, reason: 'subscription_expired', remaining: 0, paidThrough });
    for (const _ of ['once', 'again']) {
      await ring(holder);
      expect(eventTypes(jobs.sent)).toEqual(['entitlement.granted', 'entitlement.expired']);
    }
    expect(jobs.sent.at(-1)!.snapshot).toMatchObject({ ...identity, status: 'expired', usedUnits: 6, version: 4 });
    await jobs.acknowledge();
    await grant('grant-2', { days: 1 });
    expect(await readAlarm(stub)).toBeLessThan(Date.now() + MINUTE);
    await ring(holder);
    await jobs.acknowledge();
    expect(await readAlarm(stub)).toBe(paidThrough + DAY);
    expect(eventTypes(jobs.sent).slice(2)).toEqual(['entitlement.granted']);
  });

  it('an object without writes stays empty', async () => {
    const { stub } = newHolder();
    await stub.published({ version: 3, eventVersions: [1, 2] });
    await stub.finalize({ paymentIds: ['pay-1'], now: Date.now() });
    expect(await stub.read({ now: Date.now() })).toBeNull();
    expect(await readAlarm(stub)).toBeNull();
  });
});

describe('projection of uses', () => {
  /**
   * Rings each alarm that is due until `end`, and uses a unit at each of the times. `evicts`: after ten idle seconds, as the platform does.
   * Returns when the database was updated, in seconds.
   */
  async function play(holder: Holder, start: number, { useAt, end, evicts }: { useAt: number[]; end: number; evicts: boolean }) {
    const sentAt: number[] = [];
    const uses = [...useAt];
    let activeAt = 0;
    for (let at = 0; at <= end; at++) {
      setTime(start + at * SECOND);
      if (evicts && at - activeAt >= 10) await evictDurableObject(holder.stub);
      const jobs = await interceptJobs(holder.stub);
      const alarm = await readAlarm(holder.stub);
      if (alarm !== null && alarm <= Date.now()) {
        await runDurableObjectAlarm(holder.stub);
        activeAt = at;
      }
      if (jobs.stored.length > 0) sentAt.push(at);
      expect(jobs.sent).toEqual([]);
      if (uses[0] !== at) continue;
      await holder.consume(`use-${uses.shift()}`);
      activeAt = at;
    }
    return sentAt;
  }

  async function openHolder() {
    const holder = newHolder();
    const start = ahead();
    setTime(start - 10 * MINUTE);
    await holder.grant('grant-1', { units: 1000 });
    const jobs = await interceptJobs(holder.stub);
    await ring(holder);
    await jobs.acknowledge();
    return { holder, start };
  }

  it.each([true, false])(
    'leaves after 2 s, then after a delay that doubles to a minute while use goes on (evicted: %s)',
    async (evicts) => {
      const { holder, start } = await openHolder();
      const useAt = Array.from({ length: 14 }, (_, i) => i * 20);
      expect(await play(holder, start, { useAt, end: 330, evicts })).toEqual([2, 24, 48, 76, 112, 180, 240, 300]);
    },
  );

  it('leaves after 2 s again once a minute passed without a use', async () => {
    const { holder, start } = await openHolder();
    expect(await play(holder, start, { useAt: [0, 20, 120], end: 130, evicts: true })).toEqual([2, 24, 122]);
  });

  it('if the database refuses uses, a message is sent and repeated until it is acknowledged', async () => {
    const { holder, start } = await openHolder();
    setTime(start);
    await holder.consume('use-1');
    const jobs = await interceptJobs(holder.stub);
    jobs.uses = 'refused';
    for (const [later, messages] of [
      [2 * SECOND, 1],
      [7 * SECOND, 2],
    ] as const) {
      setTime(start + later);
      await ring(holder);
      expect(jobs.sent).toHaveLength(messages);
      expect(jobs.sent.at(-1)).toMatchObject({ snapshot: { usedUnits: 1 } });
    }
    await jobs.acknowledge();
    for (const later of [MINUTE, HOUR]) {
      setTime(start + later);
      await ring(holder);
    }
    expect(jobs.sent).toHaveLength(2);
    expect(jobs.stored).toEqual([]);
  });

  it('a use that the database has stored leaves no alarm and no message, also if a call woke the object before its alarm', async () => {
    const { holder, start } = await openHolder();
    setTime(start);
    await holder.consume('use-1');
    await evictDurableObject(holder.stub);
    setTime(start + 5 * SECOND);
    await holder.read();
    const { stored, sent } = await interceptJobs(holder.stub);
    expect(await runDurableObjectAlarm(holder.stub)).toBe(true);
    expect([stored, sent, await readAlarm(holder.stub)]).toMatchObject([[{ usedUnits: 1 }], [], null]);
  });

  it('leaves two seconds after a grant, an exhaustion or a refund that ends it, whatever use planned', async () => {
    const { holder, start } = await openHolder();
    await play(holder, start, { useAt: [0, 10, 20, 40, 70], end: 71, evicts: false });
    expect(await readAlarm(holder.stub)).toBeGreaterThan(Date.now() + 10 * SECOND);
    for (const change of [
      () => holder.grant('grant-2', { units: 1 }),
      () => holder.consume('all', 996),
      async () => holder.refund('free', ((await holder.consume('all', 996)) as { consumptionId: string }).consumptionId),
    ]) {
      await change();
      expect(await readAlarm(holder.stub)).toBe(Date.now() + 2 * SECOND);
      const jobs = await interceptJobs(holder.stub);
      setTime(Date.now() + 2 * SECOND);
      await ring(holder);
      expect([jobs.sent.length, jobs.stored]).toEqual([1, []]);
      await jobs.acknowledge();
      setTime(Date.now() + SECOND);
    }
  });

  it('the alarm repeats a use if database and queue refuse it, or if the object crashes meanwhile', async () => {
    const { holder, start } = await openHolder();
    setTime(start);
    await holder.consume('use-1');
    setTime(start + 2 * SECOND);
    const jobs = await interceptJobs(holder.stub);
    [jobs.isFailing, jobs.uses] = [true, 'refused'];
    await expect(ring(holder)).rejects.toThrow('queue is down');
    await evictDurableObject(holder.stub);
    setTime(start + 8 * SECOND);
    const dying = runInDurableObject(holder.stub, (instance, state) => {
      const fail = async () => state.abort('killed by the test');
      Object.assign(instance, { env: { JOBS: { send: fail } }, storeUses: fail });
      return instance.alarm!();
    });
    await expect(dying).rejects.toThrow();
    holder.reconnect();
    setTime(start + 2 * MINUTE);
    const { sent } = await interceptJobs(holder.stub);
    await ring(holder);
    expect(sent).toMatchObject([{ snapshot: { usedUnits: 1 } }]);
  });

  it('covers uses made while it is being sent by another flush', async () => {
    const { holder, start } = await openHolder();
    setTime(start);
    await holder.consume('use-1');
    setTime(start + 2 * SECOND);
    const versions: number[] = [];
    const use = { key: 'consume:use-2', fingerprint: 'use-2', now: Date.now(), units: 1 };
    await runInDurableObject(holder.stub, async (instance) => {
      const object = instance as unknown as EntitlementRpc;
      const storeUses = async ({ usedUnits }: EntitlementSnapshot) => {
        versions.push(usedUnits);
        if (versions.length === 1) await object.consumeMany(holder.identity, [use]);
        return true;
      };
      Object.assign(instance, { storeUses });
      await instance.alarm!();
    });
    expect(await readAlarm(holder.stub)).toBe(Date.now() + 4 * SECOND);
    setTime(Date.now() + 4 * SECOND);
    await ring(holder);
    expect(versions).toEqual([1, 2]);
  });
});
