import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { afterEach, describe, expect, it } from 'vitest';
import { DAY } from '#core/time.ts';
import type { Addition } from '#rules/balance.ts';
import { EntitlementObject } from '../../durable-objects/entitlement.ts';
import { type Holder, interceptJobs, newHolder, silence } from '../support/clients/entitlement.ts';
import { seededRandom } from '../support/faults/faults.ts';
import { letTimeRun, setTime } from '../support/runner/clock.ts';
import { SEED, SOAK, testEnv } from '../support/runner/env.ts';

afterEach(letTimeRun);

async function held({ read }: Holder) {
  const { version: _, updatedAt: __, entitlementId: ___, merchantId: ____, ...snapshot } = (await read())!;
  return snapshot;
}

describe('payment dropped by the chain', () => {
  const start = Date.now();
  const at = (days: number) => setTime(start + days * DAY);

  it('a revoked payment leaves the object as before the purchase, with earlier used units', async () => {
    const holder = newHolder();
    at(0);
    await holder.credit('pay-1', { units: 10, days: 30 }, { key: 'settle-1', units: 10 });
    at(2);
    await holder.credit('pay-2', { units: 5, days: 30 });
    const before = await held(holder);
    at(3);
    await holder.credit('pay-3', { units: 1, days: 30 });
    await evictDurableObject(holder.stub);
    await holder.revoke('pay-3');
    expect(await held(holder)).toEqual(before);
    expect(before).toMatchObject({ remaining: 5, paidThrough: start + 60 * DAY });
  });

  it('a reinstated payment is restored once with its original effect', async () => {
    const holder = newHolder();
    at(0);
    await holder.credit('pay-1', { units: 10, days: 30 }, { key: 'settle-1', units: 3 });
    await holder.credit('pay-2', { units: null, days: 60 });
    const first = await holder.credit('pay-1', { units: 10, days: 30 }, { key: 'settle-1', units: 3 });
    const before = await held(holder);
    await holder.revoke('pay-1');
    await evictDurableObject(holder.stub);
    at(5);
    for (const _ of ['once', 'again']) {
      await holder.reinstate('pay-1');
      expect(await held(holder)).toEqual(before);
    }
    const { version } = (await holder.read())!;
    await holder.reinstate('pay-2');
    await holder.reinstate('unknown');
    expect((await holder.read())!.version).toBe(version);
    // The first use still belongs to its first caller alone.
    expect(await holder.credit('pay-1', { units: 10, days: 30 }, { key: 'settle-1', units: 3 })).toEqual(first);
    expect(await holder.credit('pay-1', { units: 10, days: 30 }, { key: 'other', units: 3 })).toMatchObject({
      consumption: { by: 'other' },
    });
  });

  it('units consumed while the payment was missing stay consumed', async () => {
    const holder = newHolder();
    at(0);
    await holder.credit('pay-1', { units: 4, days: null });
    await holder.credit('pay-2', { units: 5, days: null });
    await holder.revoke('pay-1');
    await holder.consume('key-1', 5);
    expect(await held(holder)).toMatchObject({ status: 'exhausted', remaining: 0 });
    await holder.reinstate('pay-1');
    expect(await held(holder)).toMatchObject({ status: 'active', grantedUnits: 9, usedUnits: 5, remaining: 4 });
  });

  it.each([
    ['its credit came between the two', ['revoke', 'credit', 'reinstate']],
    ['its credit came after both', ['revoke', 'reinstate', 'credit']],
    ['its credit came before both', ['credit', 'revoke', 'reinstate']],
  ])('outcomes before the credit add units once, which are usable if %s', async (_, order) => {
    const holder = newHolder();
    at(0);
    for (const verb of [...order, ...order]) {
      if (verb === 'revoke') await holder.revoke('pay-1');
      else if (verb === 'reinstate') await holder.reinstate('pay-1');
      else await holder.credit('pay-1', { units: 3, days: null });
      await evictDurableObject(holder.stub);
    }
    await holder.credit('pay-1', { units: 3, days: null });
    expect(await held(holder)).toMatchObject({ grantedUnits: 3, remaining: 3 });
    const used = await holder.credit('pay-1', { units: 3, days: null }, { key: 'settle-1', units: 1 });
    expect(used).toMatchObject({ grantedUnits: 3, consumption: { by: 'mine', units: 1 }, remaining: 2 });
  });
});

describe('payment with too many units to count', () => {
  it('the credit is capped at the safe integer limit, and concurrent calls are answered', async () => {
    const holder = newHolder();
    await holder.grant('huge', { units: Number.MAX_SAFE_INTEGER - 5 });
    const answers = await Promise.all([
      holder.consume('key-1', 2),
      holder.credit('pay-1', { units: 9, days: null }, { key: 'settle-1', units: 1 }),
      holder.consume('key-2', 2),
    ]);
    expect(answers[0]).toMatchObject({ ok: true });
    expect(answers[1]).toMatchObject({ grantedUnits: 5, consumption: { by: 'mine' } });
    expect(answers[2]).toMatchObject({ ok: true, remaining: Number.MAX_SAFE_INTEGER - 5 });
    expect(await holder.credit('pay-2', { units: 9, days: null })).toMatchObject({ grantedUnits: 0 });
    expect(await held(holder)).toMatchObject({ grantedUnits: Number.MAX_SAFE_INTEGER });
  });
});

describe('settled finality of payments', () => {
  it('finality changes no answer, whatever later outcomes arrive', async () => {
    const random = seededRandom(SEED);
    const below = (n: number) => Math.floor(random() * n);
    for (let round = 0; round < 6 * SOAK; round++) {
      const [finalized, unfinalized] = [newHolder(), newHolder()];
      let now = Date.now();
      let payments = 0;
      for (let step = 0; step < 40; step++) {
        now += below(3) * DAY;
        setTime(now);
        const paymentId = `pay-${below(payments + 1)}`;
        const addition: Addition = [
          { units: 1 + below(9) },
          { units: 1 + below(9), days: 1 + below(9) },
          { units: null, days: 1 + below(9) },
        ][below(3)]!;
        const verb = ['credit', 'credit', 'grant', 'consume', 'consume', 'revoke', 'reinstate', 'finalize'][below(8)]!;
        const key = `key-${step}`;
        for (const holder of [finalized, unfinalized]) {
          if (verb === 'credit') await holder.credit(`pay-${payments}`, addition, { key, units: 1 });
          else if (verb === 'grant') await holder.grant(key, { days: 1 });
          else if (verb === 'consume') await holder.consume(key, 1 + (step % 4));
          else if (verb === 'revoke') await holder.revoke(paymentId);
          else if (verb === 'reinstate') await holder.reinstate(paymentId);
          else if (holder === finalized) await holder.finalize([paymentId, `pay-${payments - 1}`, 'unknown']);
        }
        if (verb === 'credit') payments++;
        if (below(5) === 0) await evictDurableObject(finalized.stub);
        const [one, two] = await Promise.all([finalized.read(), unfinalized.read()]);
        const { identity } = finalized;
        expect(one).toEqual(two && { ...two, entitlementId: identity.entitlementId, merchantId: identity.merchantId });
      }
      for (const { stub } of [finalized, unfinalized]) await silence(stub);
    }
  });

  async function withGrants(count: number): Promise<Holder> {
    const holder = newHolder();
    await interceptJobs(holder.stub);
    await holder.credit('first', { units: 1, days: null });
    await runInDurableObject(holder.stub, (_, { storage }) => {
      storage.sql.exec(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO grants SELECT tick + i, 'pay-' || i, addition, added_at, 0, credited FROM n, (SELECT * FROM grants)`,
        count,
      );
      storage.sql.exec(
        `UPDATE page SET content = json_set(content, '$.page.lastTick', (SELECT max(tick) FROM grants), '$.page.state.balance.grantedUnits', ? + 1)`,
        count,
      );
    });
    await evictDurableObject(holder.stub);
    return holder;
  }

  /** Runs a second instance on the same storage that counts the rows it reads. */
  const counting = <T>({ stub }: Holder, work: (object: EntitlementObject, rowsRead: () => number) => Promise<T>): Promise<T> =>
    runInDurableObject(stub, async (_, state) => {
      const { sql } = state.storage;
      const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
      const exec = (text: string, ...bindings: SqlStorageValue[]) => {
        const cursor = sql.exec(text, ...bindings);
        cursors.push(cursor);
        return cursor;
      };
      Object.defineProperty(state.storage, 'sql', { value: { exec } });
      const rowsRead = () => cursors.splice(0).reduce((sum, cursor) => sum + cursor.rowsRead, 0);
      return work(new EntitlementObject(state, testEnv), rowsRead);
    });

  it('100,000 final grants wake and revoke without being read', async () => {
    const holder = await withGrants(100_000);
    const { identity } = holder;
    const ids = ['first', ...Array.from({ length: 100_000 }, (_, i) => `pay-${i + 1}`)];
    await counting(holder, async (object, rowsRead) => {
      expect(rowsRead()).toBeLessThan(20);
      const now = Date.now();
      // No grant is final, so the object reads them one by one.
      await object.revoke({ identity, paymentId: 'pay-99999', paymentVersion: 1, now });
      expect(rowsRead()).toBeGreaterThan(100_000);
      expect((await object.read({ now }))!.grantedUnits).toBe(100_000);
      await object.reinstate({ identity, paymentId: 'pay-99999', paymentVersion: 1, now });
      rowsRead();
      for (let from = 0; from < ids.length; from += 1000) {
        await object.finalize({ paymentIds: ids.slice(from, from + 1000), now });
        expect(rowsRead()).toBeLessThan(1100);
      }
      await object.credit({ identity, paymentId: 'last', addition: { units: 1, days: null }, now, consume: null });
      rowsRead();
      await object.revoke({ identity, paymentId: 'last', paymentVersion: 1, now });
      expect(rowsRead()).toBeLessThan(20);
      expect((await object.read({ now }))!.grantedUnits).toBe(100_001);
    });
    await silence(holder.stub);
  });
});

describe('caller with a wrong clock', () => {
  it('a future clock ends no access and expires no key, by a use or a read', async () => {
    const holder = newHolder();
    const now = Date.now();
    setTime(now);
    await holder.grant('grant-1', { units: 5, days: 1 });
    const first = await holder.consume('key-1', 1);
    expect(await holder.read(now + 2 * DAY)).toMatchObject({ status: 'active', remaining: 4 });
    expect(await holder.consume('key-2', 1, now + 2 * DAY)).toMatchObject({ ok: true, remaining: 3 });
    await runInDurableObject(holder.stub, (instance) => instance.alarm!());
    expect(await holder.consume('key-1', 1)).toEqual({ ...first, replayed: true });
    await evictDurableObject(holder.stub);
    expect(await holder.consume('key-1', 1)).toEqual({ ...first, replayed: true });
    expect(await holder.consume('key-3', 1)).toMatchObject({ ok: true, remaining: 2 });
  });

  it('a caller’s clock is trusted within five seconds, and a slow one buys no additional time', async () => {
    const holder = newHolder();
    const now = Date.now();
    setTime(now);
    const { stub, identity } = holder;
    const bought = (paymentId: string, at: number) =>
      stub.credit({ identity, paymentId, addition: { units: null, days: 1 }, now: at, consume: null });
    expect(await bought('pay-1', now - DAY)).toMatchObject({ paidThrough: now - 5000 + DAY });
    expect(await holder.read(now + 4000)).toMatchObject({ status: 'active' });
    setTime(now + DAY - 8000);
    expect(await holder.read(now + DAY - 4000)).toMatchObject({ status: 'expired' });
  });
});
