import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, describe, expect, it } from 'vitest';
import { DAY, HOUR, MINUTE } from '#core/time.ts';
import { type Holder, interceptJobs, listTables, newHolder, readAlarm } from '../support/clients/entitlement.ts';
import { letTimeRun, setTime } from '../support/runner/clock.ts';

const NONCE = '0102030405060708a1b2c3d4e5f60718';
const REFUSED = { ok: false, reason: 'sign_in_refused' };
const idOf = (answer: object): string => ('consumptionId' in answer ? String(answer.consumptionId) : '');
/** Operations that the object stores, as text. */
const readLines = ({ stub }: Holder): Promise<string[]> =>
  runInDurableObject(stub, (_, { storage }) => {
    const { content } = storage.sql.exec<{ content: string }>('SELECT content FROM page').one();
    return (JSON.parse(content) as { tail: string }).tail.split('\n').filter((line) => line !== '');
  });

afterEach(letTimeRun);

describe('use by a sign-in', () => {
  it('a sign-in serves one key, which is answered again through evictions, and every other key is refused', async () => {
    const holder = newHolder();
    await holder.grant('grant-1', { units: 5 });
    const first = await holder.consumeBy(NONCE, 'key-1');
    expect(first).toMatchObject({ ok: true, replayed: false, remaining: 4 });
    for (const _ of ['awake', 'woken']) {
      expect(await holder.consumeBy(NONCE, 'key-2')).toEqual(REFUSED);
      expect(await holder.consumeBy(NONCE, 'key-1')).toEqual({ ...first, replayed: true });
      await evictDurableObject(holder.stub);
    }
    expect(await holder.consumeBy(NONCE.replace('0', '9'), 'key-2')).toMatchObject({ ok: true, remaining: 3 });
    expect(await holder.consume('key-3')).toMatchObject({ ok: true, remaining: 2 });
  });

  it('one sign-in under 20 keys at once uses one unit', async () => {
    const holder = newHolder();
    await holder.grant('grant-1', { units: 50 });
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => holder.consumeBy(NONCE, `key-${index}`)));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    expect(answers.filter(({ ok }) => !ok)).toEqual(Array(19).fill(REFUSED));
    expect(await holder.read()).toMatchObject({ remaining: 49 });
  });

  it('a denied sign-in stores nothing, and serves after a purchase', async () => {
    const holder = newHolder();
    expect(await holder.consumeBy(NONCE, 'key-1')).toEqual({ ok: false, reason: 'entitlement_missing', remaining: 0, paidThrough: null });
    expect(await holder.consumeBy(null, 'key-1')).toEqual(REFUSED);
    expect([await listTables(holder.stub), await readAlarm(holder.stub)]).toEqual([[], null]);
    await holder.grant('grant-1', { units: 1 });
    expect(await holder.consumeBy(NONCE, 'key-1')).toMatchObject({ ok: true, remaining: 0 });
    expect(await holder.consumeBy(NONCE, 'key-2')).toEqual(REFUSED);
  });

  it('a refund does not free a sign-in, and its key answers that it was refunded', async () => {
    const holder = newHolder();
    await holder.grant('grant-1', { units: 1 });
    const used = await holder.consumeBy(NONCE, 'key-1');
    expect(await holder.refund('refund-1', idOf(used))).toMatchObject({ ok: true, remaining: 1 });
    expect(await holder.consumeBy(NONCE, 'key-2')).toEqual(REFUSED);
    for (const nonce of [NONCE, null]) expect(await holder.consumeBy(nonce, 'key-1')).toEqual({ ok: false, reason: 'refunded' });
    expect(await holder.consume('key-3')).toMatchObject({ ok: true, remaining: 0 });
  });

  it('an expired sign-in is answered under its key alone, and uses nothing', async () => {
    const holder = newHolder();
    await holder.grant('grant-1', { units: 5 });
    const used = await holder.consumeBy(NONCE, 'key-1');
    expect(await holder.consumeBy(null, 'key-1')).toEqual({ ...used, replayed: true });
    expect(await holder.consumeBy(null, 'key-2')).toEqual(REFUSED);
    expect(await holder.read()).toMatchObject({ remaining: 4 });
  });

  it('a used sign-in is stored in the row of the use, for a day, and deleted with the first use after it', async () => {
    const holder = newHolder();
    const now = Date.now();
    const jobs = await interceptJobs(holder.stub);
    setTime(now);
    await holder.grant('grant-1', { units: 5 });
    await holder.consumeBy(NONCE, 'key-1');
    expect(await readLines(holder)).toHaveLength(3);
    await runDurableObjectAlarm(holder.stub);
    await jobs.acknowledge();
    setTime(now + 6 * MINUTE + 1);
    expect(await holder.consumeBy(NONCE, 'key-2')).toEqual(REFUSED);
    setTime(now + DAY + HOUR);
    await runDurableObjectAlarm(holder.stub);
    expect(await readAlarm(holder.stub)).toBeNull();
    await holder.consume('key-3');
    expect(await readLines(holder)).toHaveLength(1);
  });
});
