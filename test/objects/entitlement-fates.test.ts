import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { newHolder } from '../support/clients/entitlement.ts';

describe('word of a payment that the chain dropped and brought back', () => {
  const say = ({ stub, identity }: ReturnType<typeof newHolder>, verb: 'revoke' | 'reinstate', paymentVersion: number) =>
    stub[verb]({ identity, paymentId: 'payment-1', now: Date.now(), paymentVersion });
  const left = async ({ stub }: ReturnType<typeof newHolder>) => (await stub.read({ now: Date.now() }))?.remaining ?? null;

  it('that was held up between its reading and its call takes nothing back any more', async () => {
    const holder = newHolder();
    await holder.credit('payment-1', { units: 5 });
    await say(holder, 'revoke', 5);
    expect(await left(holder)).toBe(0);
    await say(holder, 'reinstate', 6);
    expect(await left(holder)).toBe(5);
    // Read before the payment was back, brought now; and again after the object slept.
    await say(holder, 'revoke', 5);
    await evictDurableObject(holder.stub);
    await say(holder, 'revoke', 5);
    expect(await left(holder)).toBe(5);
    // Dropped once more, it is taken back once more; the reinstatement from before does not undo that.
    await say(holder, 'revoke', 7);
    await say(holder, 'reinstate', 6);
    expect(await left(holder)).toBe(0);
  });

  it('comes too late also where the payment was not credited yet, or its revocation never came', async () => {
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

  it('is remembered in a table of its own, which an object that lacks it gets when it wakes', async () => {
    const holder = newHolder();
    await holder.credit('payment-1', { units: 5 });
    await runInDurableObject(holder.stub, (_, { storage }) => void storage.sql.exec('DROP TABLE fates'));
    await evictDurableObject(holder.stub);
    await say(holder, 'revoke', 5);
    await say(holder, 'reinstate', 6);
    expect(await left(holder)).toBe(5);
    const tables = await runInDurableObject(holder.stub, (_, { storage }) => [
      storage.sql.exec('SELECT * FROM fates').toArray(),
      storage.sql.exec("SELECT count(*) AS n FROM pragma_table_info('grants')").one().n,
    ]);
    expect(tables).toEqual([[{ payment_id: 'payment-1', payment_version: 6 }], 6]);
  });
});
