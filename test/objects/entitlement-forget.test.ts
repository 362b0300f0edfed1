import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { type Holder, interceptJobs, newHolder } from '../support/clients/entitlement.ts';

describe('entitlement of an erased customer', () => {
  const publish = async ({ stub }: Holder) => {
    const jobs = await interceptJobs(stub);
    return async () => {
      await runDurableObjectAlarm(stub);
      await jobs.acknowledge();
    };
  };
  /** Forgets all but the `spared` payments. */
  const forget = async ({ stub }: Holder, spared: string[] = [], through = Date.now()) => {
    const { tick } = await stub.creditedSince({ now: Date.now(), since: 0 });
    return (await stub.forget({ now: Date.now(), tick, spared, through })) !== false;
  };

  it('waits for its events, then forgets all but the numbers, which go on', async () => {
    const holder = newHolder({ customerRef: 'planted' });
    const store = await publish(holder);
    await holder.credit('payment-1', { units: 5 });
    await holder.grant('grant-1', { units: 2 });
    const first = await holder.consume('use-1');
    expect(await forget(holder)).toBe(false);
    await store();
    const { version } = (await holder.read())!;
    expect([await forget(holder), await forget(holder), await holder.read()]).toEqual([true, true, null]);
    await evictDurableObject(holder.stub);
    const texts = await runInDurableObject(holder.stub, (_, { storage }) =>
      storage.sql
        .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'")
        .toArray()
        .map(({ name }) => JSON.stringify(storage.sql.exec(`SELECT * FROM ${name}`).toArray())),
    );
    expect(texts.join()).not.toMatch(/planted|use-1|grant-1/);
    expect(await holder.consume('use-1')).toMatchObject({ ok: false });
    await interceptJobs(holder.stub);
    await holder.grant('grant-1', { units: 1 });
    const again = await holder.consume('use-1');
    expect((await holder.read())!.version).toBeGreaterThan(version);
    expect(again).toMatchObject({ ok: true, replayed: false, remaining: 0 });
    expect('consumptionId' in first && 'consumptionId' in again && first.consumptionId !== again.consumptionId).toBe(true);
  });

  it('credits, reinstates and receives nothing of before the erasure again', async () => {
    const holder = newHolder();
    const store = await publish(holder);
    const now = Date.now();
    await holder.credit('payment-1', { units: 5 });
    await holder.revoke('payment-0');
    await store();
    await forget(holder);
    for (const paymentId of ['payment-0', 'payment-1']) {
      const again = await holder.credit(paymentId, { units: 5 }, { key: 'a', units: 1 });
      expect(again).toMatchObject({ grantedUnits: 0, remaining: 0, consumption: { by: 'none' } });
      await holder.revoke(paymentId);
      await holder.reinstate(paymentId);
      expect(await holder.credit(paymentId, { units: 5 })).toMatchObject({ grantedUnits: 0 });
    }
    const moved = { to: holder.identity, fromId: 'other', version: 3, at: now, parts: { counted: { units: 3 }, uncounted: null } };
    await holder.stub.receive({ now, moved });
    expect(await holder.read()).toBeNull();
    expect(await holder.credit('payment-2', { units: 2 })).toMatchObject({ grantedUnits: 2, remaining: 2 });
    await store();
    await forget(holder, ['payment-2']);
    expect(await holder.read()).toMatchObject({ remaining: 2 });
  });

  it('a payment that is spared remains, whenever it was credited, and units of before do not come back', async () => {
    const holder = newHolder();
    const store = await publish(holder);
    await holder.credit('payment-1', { units: 5 });
    const first = await holder.consume('use-1', 3);
    const listed = await holder.stub.creditedSince({ now: Date.now(), since: Date.now() - 60_000 });
    expect(listed.paymentIds).toEqual(['payment-1']);
    await holder.credit('payment-2', { units: 4 });
    await holder.consume('use-2', 1);
    await store();
    // Credited after the list.
    expect(await holder.stub.forget({ now: Date.now(), tick: listed.tick, spared: [], through: Date.now() })).not.toBe(false);
    expect(await holder.read()).toMatchObject({ remaining: 3 });
    expect(await forget(holder, ['payment-2'])).toBe(true);
    expect(await holder.read()).toMatchObject({ remaining: 3 });
    await holder.refund('refund-1', 'consumptionId' in first ? first.consumptionId : '');
    expect(await holder.read()).toMatchObject({ remaining: 3 });
    expect(await holder.consume('use-2', 1)).toMatchObject({ replayed: true });
    expect(await holder.consume('use-3', 4)).toMatchObject({ ok: false });
  });

  it('a manual grant of before is forgotten, and one that came later remains', async () => {
    const holder = newHolder();
    const store = await publish(holder);
    await holder.grant('grant-1', { units: 5 });
    const through = Date.now();
    while (Date.now() <= through) await scheduler.wait(1);
    await holder.grant('grant-2', { units: 2 });
    await store();
    expect(await forget(holder, [], through)).toBe(true);
    expect(await holder.read()).toMatchObject({ remaining: 2 });
  });

  it('an entitlement that is parted from the one it was merged into credits again, and nothing of before', async () => {
    const [holder, survivor] = [newHolder(), newHolder()];
    const store = await publish(holder);
    await holder.credit('payment-1', { units: 5 });
    const into = { customerId: 'survivor', identity: survivor.identity };
    await holder.stub.mergeAway({ identity: holder.identity, into, now: Date.now() });
    expect(await holder.credit('payment-2', { units: 1 })).toEqual({ mergedInto: survivor.identity });
    await store();
    expect(await holder.stub.part({ now: Date.now() })).toBe(true);
    expect(await holder.credit('payment-1', { units: 5 })).toMatchObject({ grantedUnits: 0 });
    expect(await holder.credit('payment-2', { units: 1 })).toMatchObject({ grantedUnits: 1, remaining: 1 });
    await store();
    expect(await holder.stub.part({ now: Date.now() })).toBe(true);
    expect(await holder.read()).toMatchObject({ remaining: 1 });
  });

  it('an object without anything shows nothing', async () => {
    const holder = newHolder();
    expect([await forget(holder), await holder.read()]).toEqual([true, null]);
  });
});
