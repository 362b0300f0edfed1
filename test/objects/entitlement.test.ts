// @module-tag quick
import { evictDurableObject, runDurableObjectAlarm } from 'cloudflare:test';
import { afterEach, describe, expect, it } from 'vitest';
import { consumptionIdOf } from '#core/ids.ts';
import { DAY, MINUTE } from '#core/time.ts';
import { type Holder, interceptJobs, listTables, newHolder, readAlarm } from '../support/clients/entitlement.ts';
import { letTimeRun, setTime } from '../support/runner/clock.ts';

const readStatus = async (holder: Holder, now = Date.now()) => (await holder.stub.read({ now }))?.status ?? null;

afterEach(letTimeRun);

describe('entitlement without a grant', () => {
  it('denials, refunds and reads create no tables and no alarm', async () => {
    const { stub, consume, refund, identity } = newHolder();
    const denied = { ok: false, reason: 'entitlement_missing', remaining: 0, paidThrough: null };
    expect(await consume('key-1')).toEqual(denied);
    expect(await stub.read({ now: Date.now() })).toBeNull();
    expect(await refund('key-2', consumptionIdOf(identity.entitlementId, 5))).toEqual({ ok: false, reason: 'not_found' });
    expect(await listTables(stub)).toEqual([]);
    expect(await readAlarm(stub)).toBeNull();
    await evictDurableObject(stub);
    expect(await consume('key-1')).toEqual(denied);
    expect(await listTables(stub)).toEqual([]);
  });

  it('a denial is not stored: after a grant the same key consumes', async () => {
    const { consume, grant } = newHolder();
    expect(await consume('key-1')).toMatchObject({ ok: false });
    await grant('grant-1', { units: 1 });
    expect(await consume('key-1')).toMatchObject({ ok: true, replayed: false, units: 1, remaining: 0 });
    expect(await consume('key-2')).toMatchObject({ ok: false, reason: 'entitlement_missing', remaining: 0 });
    expect(await consume('key-1')).toMatchObject({ ok: true, replayed: true });
  });
});

describe('idempotency keys', () => {
  it('a key consumes once and replays its first answer through evictions, and another request with it conflicts', async () => {
    const { stub, consume, grant } = newHolder();
    await grant('grant-1', { units: 10 });
    const first = await consume('key-1', 3);
    expect(first).toMatchObject({ ok: true, replayed: false, units: 3, remaining: 7 });
    await consume('key-2', 4);
    for (const _ of ['awake', 'woken']) {
      expect(await consume('key-1', 3)).toEqual({ ...first, replayed: true });
      expect(await consume('key-1', 4)).toEqual({ ok: false, reason: 'conflict' });
      await evictDurableObject(stub);
    }
    expect(await stub.read({ now: Date.now() })).toMatchObject({ grantedUnits: 10, usedUnits: 7, remaining: 3, status: 'active' });
  });

  it('a grant key runs once and never conflicts with a consume key', async () => {
    const { stub, consume, grant } = newHolder();
    const first = await grant('same-key', { units: 2 });
    expect(first).toMatchObject({ ok: true, replayed: false, snapshot: { grantedUnits: 2, version: 1 } });
    expect(await consume('same-key')).toMatchObject({ ok: true, replayed: false, remaining: 1 });
    expect(await grant('same-key', { units: 2 })).toEqual({ ...first, replayed: true });
    expect(await grant('same-key', { units: 3 })).toEqual({ ok: false, reason: 'conflict' });
    expect(await grant('huge-key', { units: Number.MAX_SAFE_INTEGER })).toEqual({ ok: false, reason: 'too_many' });
    expect(await stub.read({ now: Date.now() })).toMatchObject({ grantedUnits: 2, version: 2 });
  });

  it('a consumption is refundable for exactly a day after its use, also if its key was already dropped', async () => {
    const { stub, consume, grant, refund } = newHolder();
    const now = Date.now();
    await interceptJobs(stub);
    setTime(now);
    await grant('grant-1', { units: 5 });
    const [first, second] = [await consume('first', 1), await consume('second', 1)];
    const idOf = (use: typeof first) => ('consumptionId' in use ? use.consumptionId : '');
    setTime(now + DAY);
    expect(await refund('in-time', idOf(first))).toMatchObject({ ok: true, remaining: 4 });
    setTime(now + DAY + MINUTE);
    expect(await refund('too-late', idOf(second))).toEqual({ ok: false, reason: 'not_found' });
    expect(await refund('in-time', idOf(first))).toMatchObject({ ok: true, replayed: true });
  });

  it('a key is dropped after a day, not sooner, and no consumption id is issued twice', async () => {
    const { stub, consume, grant, read } = newHolder();
    const now = Date.now();
    const jobs = await interceptJobs(stub);
    setTime(now);
    await grant('grant-1', { units: 5 });
    const old = await consume('old', 1);
    setTime(now + 2 * MINUTE);
    const young = await consume('young', 1);
    setTime(now + DAY + MINUTE);
    expect(await read()).toMatchObject({ remaining: 3 });
    await runDurableObjectAlarm(stub);
    expect(jobs.sent).toHaveLength(1);
    await jobs.acknowledge();
    expect(await consume('young', 1)).toEqual({ ...young, replayed: true });
    const again = await consume('old', 1);
    expect(again).toMatchObject({ ok: true, replayed: false, remaining: 2 });
    expect('consumptionId' in again && 'consumptionId' in old && again.consumptionId !== old.consumptionId).toBe(true);
    await runDurableObjectAlarm(stub);
    expect([jobs.stored.length, await readAlarm(stub)]).toEqual([1, null]);
    await evictDurableObject(stub);
    expect(await consume('old', 1)).toEqual({ ...again, replayed: true });
  });
});

describe('object of one customer', () => {
  it('a call that names another customer is refused and changes nothing', async () => {
    const [one, two] = [newHolder(), newHolder()];
    await one.grant('grant-1', { units: 1 });
    const { identity } = two;
    const misled = { ...one.identity, entitlementId: identity.entitlementId };
    const said = async (call: PromiseLike<unknown>) => {
      try {
        return await call;
      } catch (error) {
        return String(error);
      }
    };
    const consume = { identity: misled, key: 'key-1', fingerprint: '', now: 0, input: { units: 1 } };
    expect(await said(one.stub.consume(consume))).toContain('this is the object of');
    expect(await said(one.stub.revoke({ identity, paymentId: 'pay-1', paymentVersion: 1, now: 0 }))).toContain('this is the object of');
    expect(await said(one.stub.reinstate({ identity, paymentId: 'pay-1', paymentVersion: 1, now: 0 }))).toContain('this is the object of');
    expect(await one.stub.read({ now: Date.now() })).toMatchObject({ ...one.identity, remaining: 1, version: 1 });
  });
});

describe('refunds', () => {
  it('a refund frees the units, replays its first answer, and the refunded key is never served again', async () => {
    const { stub, consume, grant, refund } = newHolder();
    await grant('grant-1', { units: 3 });
    const used = await consume('key-1', 3);
    if (!used.ok) throw new Error('not consumed');
    const first = await refund('refund-1', used.consumptionId);
    expect(first).toEqual({ ok: true, replayed: false, consumptionId: used.consumptionId, units: 3, remaining: 3, paidThrough: null });
    await evictDurableObject(stub);
    expect(await consume('key-1', 3)).toEqual({ ok: false, reason: 'refunded' });
    expect(await refund('refund-1', used.consumptionId)).toEqual({ ...first, replayed: true });
    expect(await refund('refund-2', used.consumptionId)).toEqual({ ok: false, reason: 'already_refunded' });
    expect(await refund('refund-1', 'con_of_something_else')).toEqual({ ok: false, reason: 'conflict' });
    expect(await consume('key-2', 3)).toMatchObject({ ok: true, remaining: 0 });
  });

  it('a refund finds only consumptions of its own entitlement', async () => {
    const [one, two] = [newHolder(), newHolder()];
    for (const { grant } of [one, two]) await grant('grant-1', { units: 3 });
    const used = await one.consume('key-1');
    if (!used.ok) throw new Error('not consumed');
    for (const text of [used.consumptionId, '', 'con_1', consumptionIdOf(two.identity.entitlementId, 7)])
      expect(await two.refund('refund-1', text)).toEqual({ ok: false, reason: 'not_found' });
    expect((await two.stub.read({ now: Date.now() }))?.remaining).toBe(3);
  });
});

describe('payments', () => {
  it('a payment is credited once, and its first use belongs to the first key', async () => {
    const { stub, credit } = newHolder();
    const first = await credit('pay-1', { units: 5, days: null }, { key: 'settle-1', units: 2 });
    expect(first).toMatchObject({ grantedUnits: 5, consumption: { by: 'mine', units: 2 }, remaining: 3, paidThrough: null });
    for (const _ of ['awake', 'woken']) {
      expect(await credit('pay-1', { units: 5, days: null }, { key: 'settle-1', units: 2 })).toEqual(first);
      const other = await credit('pay-1', { units: 5, days: null }, { key: 'settle-2', units: 2 });
      expect(other).toEqual({ ...first, consumption: { ...first.consumption, by: 'other' } });
      expect(await credit('pay-1', { units: 5 })).toEqual({ ...first, consumption: { by: 'none' } });
      await evictDurableObject(stub);
    }
    expect(await stub.read({ now: Date.now() })).toMatchObject({ grantedUnits: 5, usedUnits: 2, version: 2 });
  });

  it('an on-chain period pays until its end, and revoking it leaves the other periods, through evictions', async () => {
    const { stub, credit, identity } = newHolder();
    const start = Date.now();
    const through = (periods: number) => start + periods * 30 * DAY;
    const month = (periods: number) => ({ units: null, days: 30, through: through(periods) });
    for (const periods of [1, 2, 3])
      expect(await credit(`pay-${periods}`, month(periods))).toMatchObject({ paidThrough: through(periods) });
    expect(await credit('pay-2', month(2))).toMatchObject({ paidThrough: through(2) });
    await evictDurableObject(stub);
    await stub.revoke({ identity, paymentId: 'pay-3', paymentVersion: 1, now: Date.now() });
    expect((await stub.read({ now: Date.now() }))?.paidThrough).toBe(through(2));
    await evictDurableObject(stub);
    await stub.reinstate({ identity, paymentId: 'pay-3', paymentVersion: 1, now: Date.now() });
    expect((await stub.read({ now: Date.now() }))?.paidThrough).toBe(through(3));
  });

  it('a credit without its use, after a crash in between, is consumed by the next request', async () => {
    const { credit, consume } = newHolder();
    expect(await credit('pay-1', { units: 1 })).toMatchObject({ consumption: { by: 'none' }, remaining: 1 });
    expect(await credit('pay-1', { units: 1 }, { key: 'settle-1', units: 1 })).toMatchObject({ consumption: { by: 'mine' }, remaining: 0 });
    await credit('pay-2', { units: 1 });
    expect(await consume('faster')).toMatchObject({ ok: true });
    expect(await credit('pay-2', { units: 1 }, { key: 'settle-2', units: 1 })).toMatchObject({ consumption: { by: 'none' }, remaining: 1 });
  });

  it('a refunded first use is not served to that key again, and to another key once', async () => {
    const { credit, refund } = newHolder();
    const use = (key: string) => credit('pay-1', { units: 1 }, { key, units: 1 });
    const refundUse = async (key: string, { consumption }: Awaited<ReturnType<typeof use>>) =>
      refund(key, 'consumptionId' in consumption ? consumption.consumptionId : '');
    const first = await use('settle-1');
    expect(await refundUse('refund-1', first)).toMatchObject({ ok: true, remaining: 1 });
    expect(await use('settle-1')).toMatchObject({ consumption: { by: 'refunded' }, remaining: 0 });
    const second = await use('settle-2');
    expect(second).toMatchObject({ consumption: { by: 'mine' }, remaining: 0 });
    expect(await use('settle-3')).toEqual({ ...second, consumption: { ...second.consumption, by: 'other' } });
    expect(await use('settle-1')).toMatchObject({ consumption: { by: 'refunded' } });
    expect(await refundUse('refund-2', second)).toMatchObject({ ok: true, remaining: 1 });
    for (const key of ['settle-1', 'settle-2']) expect(await use(key)).toMatchObject({ consumption: { by: 'refunded' } });
    expect(await use('settle-3')).toMatchObject({ consumption: { by: 'mine' } });
  });

  it('revoking a payment leaves used units and other purchases', async () => {
    const { stub, credit, consume, grant, revoke } = newHolder();
    await credit('pay-1', { units: 10 });
    await grant('grant-1', { units: 2 });
    await consume('key-1', 4);
    await revoke('pay-1');
    await revoke('pay-1');
    expect(await stub.read({ now: Date.now() })).toMatchObject({
      status: 'exhausted',
      grantedUnits: 4,
      usedUnits: 4,
      remaining: 0,
      version: 4,
    });
    await credit('pay-2', { units: 3 });
    expect(await stub.read({ now: Date.now() })).toMatchObject({ status: 'active', grantedUnits: 7, remaining: 3 });
    expect(await credit('pay-1', { units: 10 }, { key: 'late', units: 1 })).toMatchObject({ consumption: { by: 'none' } });
    expect((await stub.read({ now: Date.now() }))?.remaining).toBe(3);
  });

  it('a payment revoked before its credit adds nothing', async () => {
    const { stub, credit, revoke } = newHolder();
    await revoke('pay-1');
    expect(await stub.read({ now: Date.now() })).toBeNull();
    await evictDurableObject(stub);
    const late = await credit('pay-1', { units: 10 }, { key: 'settle-1', units: 1 });
    expect(late).toEqual({ grantedUnits: 0, consumption: { by: 'none' }, remaining: 0, paidThrough: null });
    expect(await stub.read({ now: Date.now() })).toBeNull();
    await credit('pay-2', { units: null, days: 30 });
    await revoke('pay-2');
    expect(await readStatus({ stub } as Holder)).toBe('revoked');
  });
});
