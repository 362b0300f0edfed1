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
  const forget = ({ stub }: Holder, through = Date.now()) => stub.forget({ now: Date.now(), through });

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
    expect(texts.join()).not.toMatch(/planted|payment-1/);
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
    const [paidAt, now] = [Date.now(), Date.now()];
    await holder.credit('payment-1', { units: 5 });
    await store();
    await forget(holder, paidAt + 10_000);
    const again = await holder.credit('payment-1', { units: 5 }, { key: 'a', units: 1 }, now, paidAt);
    expect(again).toMatchObject({ grantedUnits: 0, remaining: 0, consumption: { by: 'none' } });
    await holder.revoke('payment-1');
    await holder.reinstate('payment-1');
    await holder.credit('payment-2', { units: 5 }, null, now, paidAt);
    const moved = { to: holder.identity, fromId: 'other', version: 3, at: paidAt, parts: { counted: { units: 3 }, uncounted: null } };
    await holder.stub.receive({ now, moved });
    expect(await holder.read()).toBeNull();
    expect(await holder.credit('payment-3', { units: 2 }, null, now, paidAt + 20_000)).toMatchObject({ grantedUnits: 2, remaining: 2 });
  });

  it('what was granted after the erasure remains, and units of before do not come back', async () => {
    const holder = newHolder();
    const store = await publish(holder);
    await holder.credit('payment-1', { units: 5 });
    const first = await holder.consume('use-1', 3);
    const through = Date.now();
    while (Date.now() <= through) await scheduler.wait(1);
    await holder.credit('payment-2', { units: 4 });
    await holder.consume('use-2', 1);
    await store();
    expect([await forget(holder, through), await forget(holder, through)]).toEqual([true, true]);
    expect(await holder.read()).toMatchObject({ remaining: 3 });
    await holder.refund('refund-1', 'consumptionId' in first ? first.consumptionId : '');
    expect(await holder.read()).toMatchObject({ remaining: 3 });
    expect(await holder.credit('payment-1', { units: 5 }, null, Date.now(), through)).toMatchObject({ grantedUnits: 0 });
    expect(await holder.consume('use-2', 1)).toMatchObject({ replayed: true });
    expect(await holder.consume('use-3', 4)).toMatchObject({ ok: false });
  });

  it('an object without anything shows nothing', async () => {
    const holder = newHolder();
    expect([await forget(holder), await holder.read()]).toEqual([true, null]);
  });
});
