import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, describe, expect, it } from 'vitest';
import { HOUR, SECOND } from '#core/time.ts';
import { type Holder, interceptJobs, newHolder, readAlarm } from '../support/clients/entitlement.ts';
import { letTimeRun, setTime } from '../support/runner/clock.ts';

afterEach(letTimeRun);

describe('outcomes of a payment that the chain dropped and brought back', () => {
  const say = ({ stub, identity }: ReturnType<typeof newHolder>, verb: 'revoke' | 'reinstate', paymentVersion: number) =>
    stub[verb]({ identity, paymentId: 'payment-1', now: Date.now(), paymentVersion });
  const left = async ({ stub }: ReturnType<typeof newHolder>) => (await stub.read({ now: Date.now() }))?.remaining ?? null;

  it('a delayed older revocation takes nothing back', async () => {
    const holder = newHolder();
    await holder.credit('payment-1', { units: 5 });
    await say(holder, 'revoke', 5);
    expect(await left(holder)).toBe(0);
    await say(holder, 'reinstate', 6);
    expect(await left(holder)).toBe(5);
    // A revocation read before the payment returned arrives late, and again after an eviction.
    await say(holder, 'revoke', 5);
    await evictDurableObject(holder.stub);
    await say(holder, 'revoke', 5);
    expect(await left(holder)).toBe(5);
    // A second drop revokes again, and the earlier reinstatement does not undo it.
    await say(holder, 'revoke', 7);
    await say(holder, 'reinstate', 6);
    expect(await left(holder)).toBe(0);
  });

  it('an older revocation is ignored also without a credit or an earlier revocation', async () => {
    const unknown = newHolder();
    await say(unknown, 'revoke', 5);
    await say(unknown, 'reinstate', 6);
    await say(unknown, 'revoke', 5);
    await unknown.credit('payment-1', { units: 5 });
    expect(await left(unknown)).toBe(5);
    const skipped = newHolder();
    await skipped.credit('payment-1', { units: 5 });
    await say(skipped, 'reinstate', 6);
    await say(skipped, 'revoke', 5);
    expect(await left(skipped)).toBe(5);
  });

  it('the newest outcome is stored in its own table, which an older object creates on wake', async () => {
    const holder = newHolder();
    await holder.credit('payment-1', { units: 5 });
    await runInDurableObject(holder.stub, (_, { storage }) => void storage.sql.exec('DROP TABLE outcomes'));
    await evictDurableObject(holder.stub);
    await say(holder, 'revoke', 5);
    await say(holder, 'reinstate', 6);
    expect(await left(holder)).toBe(5);
    const tables = await runInDurableObject(holder.stub, (_, { storage }) => [
      storage.sql.exec('SELECT * FROM outcomes').toArray(),
      storage.sql.exec("SELECT count(*) AS n FROM pragma_table_info('grants')").one().n,
    ]);
    expect(tables).toEqual([[{ payment_id: 'payment-1', payment_version: 6 }], 6]);
  });
});

describe('uses that the alarm stores', () => {
  const used = async () => {
    const holder = newHolder();
    const start = Date.now() + HOUR;
    setTime(start);
    const jobs = await interceptJobs(holder.stub);
    await holder.credit('payment-1', { units: 5, days: 30 });
    await runDurableObjectAlarm(holder.stub);
    setTime(start + SECOND);
    await holder.consume('use-1');
    setTime(start + 4 * SECOND);
    return { holder, acknowledge: () => jobs.acknowledge() };
  };

  it.each<[string, (holder: Holder, acknowledge: () => Promise<void>) => Promise<unknown>]>([
    ['an acknowledgement', (_, acknowledge) => acknowledge()],
    ['a final payment', ({ finalize }) => finalize(['payment-1'])],
  ])('a write that wakes the object before a late alarm loses no use: %s', async (_, write) => {
    const { holder, acknowledge } = await used();
    await evictDurableObject(holder.stub);
    await write(holder, acknowledge);
    await evictDurableObject(holder.stub);
    const { stored } = await interceptJobs(holder.stub);
    expect(await readAlarm(holder.stub)).toBeLessThanOrEqual(Date.now() + SECOND);
    await runDurableObjectAlarm(holder.stub);
    expect(stored).toMatchObject([{ usedUnits: 1 }]);
  });

  it('an alarm that throws is repeated in the same instance', async () => {
    const { holder, acknowledge } = await used();
    await acknowledge();
    const stored: unknown[] = [];
    await runInDurableObject(holder.stub, async (instance) => {
      const failing = async () => Promise.reject(new Error('not loaded'));
      Object.assign(instance, { storeUses: failing });
      await expect(instance.alarm!()).rejects.toThrow('not loaded');
      Object.assign(instance, { storeUses: async (snapshot: unknown) => stored.push(snapshot) > 0 });
      await instance.alarm!({ retryCount: 1, isRetry: true, scheduledTime: Date.now() });
    });
    expect(stored).toMatchObject([{ usedUnits: 1 }]);
  });
});
