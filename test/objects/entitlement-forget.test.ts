import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { interceptJobs, newHolder } from '../support/clients/entitlement.ts';

describe('entitlement of an erased customer', () => {
  it('waits for its events, then forgets all but the numbers, which go on', async () => {
    const holder = newHolder({ customerRef: 'planted' });
    const jobs = await interceptJobs(holder.stub);
    await holder.credit('payment-1', { units: 5 });
    await holder.grant('grant-1', { units: 2 });
    const first = await holder.consume('use-1');
    const forget = () => holder.stub.forget({ now: Date.now() });
    expect(await forget()).toBe(false);
    await runDurableObjectAlarm(holder.stub);
    await jobs.acknowledge();
    const { version } = (await holder.read())!;
    expect([await forget(), await forget(), await holder.read()]).toEqual([true, true, null]);
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

  it('an object without anything forgets nothing and stores nothing', async () => {
    const { stub, read } = newHolder();
    expect([await stub.forget({ now: Date.now() }), await read()]).toEqual([true, null]);
  });
});
