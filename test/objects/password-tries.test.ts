import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { newFence } from '#core/ids.ts';
import { DAY, HOUR, MINUTE, SECOND } from '#core/time.ts';
import { FAILED_MAX, FAILED_MS, KNOWN_MS, NETWORKS_MAX } from '#rules/access/password-tries.ts';
import { letTimeRun, setTime } from '../support/runner/clock.ts';
import { testEnv } from '../support/runner/env.ts';

const NOW = 1_800_000_000_000;
const newObject = () => testEnv.ADMISSION.getByName(`passwords:${crypto.randomUUID()}`);
type Stub = ReturnType<typeof newObject>;

const fail = async (stub: Stub, at: number, network = 'strange') => stub.tryPassword({ tryId: newFence(), network }, at);
const failTimes = async (stub: Stub, times: number, at: number) => {
  for (let i = 0; i < times; i++) await fail(stub, at + i);
};
const rowsOf = (stub: Stub) =>
  runInDurableObject(stub, (_, { storage }) => {
    const tables = storage.sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'")
      .toArray();
    return Object.fromEntries(
      tables.map(({ name }) => [name, storage.sql.exec<{ n: number }>(`SELECT count(*) AS n FROM ${name}`).one().n]),
    );
  });

afterEach(letTimeRun);

describe('failed passwords of an address', () => {
  it('the count is that of the sixty minutes before, also after an eviction', async () => {
    const stub = newObject();
    await failTimes(stub, 60, NOW);
    await evictDurableObject(stub);
    await failTimes(stub, 39, NOW + 30 * MINUTE);
    expect((await fail(stub, NOW + FAILED_MS - 1)).failures).toBe(100);
    expect((await fail(stub, NOW + FAILED_MS + SECOND)).failures).toBe(41);
  });

  it('the count equals a plain list of times, for any times', async () => {
    const step = fc.record({ waitMs: fc.nat({ max: 5 * MINUTE }), isRight: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const stub = newObject();
        let [now, wrong] = [NOW, [] as number[]];
        for (const { waitMs, isRight } of steps) {
          now += waitMs;
          const tryId = newFence();
          const { failures } = await stub.tryPassword({ tryId, network: 'strange' }, now);
          expect(failures).toBe(wrong.filter((at) => at > now - FAILED_MS).length + 1);
          if (isRight) await stub.withdrawPassword(tryId);
          else wrong = [...wrong, now];
        }
      }),
      { numRuns: 30 },
    );
  });

  it('200 concurrent tries count exactly, and rows are bounded', async () => {
    const stub = newObject();
    const answers = await Promise.all(Array.from({ length: 200 }, () => fail(stub, NOW)));
    const counts = answers.map(({ failures }) => failures).sort((a, b) => a - b);
    expect(counts.slice(0, FAILED_MAX)).toEqual(Array.from({ length: FAILED_MAX }, (_, i) => i + 1));
    expect(new Set(counts.slice(FAILED_MAX))).toEqual(new Set([FAILED_MAX + 1]));
    expect(await rowsOf(stub)).toEqual({ failures: FAILED_MAX + 1, networks: 0, notices: 0 });
  });

  it('a network is known for ninety days after its latest sign-in', async () => {
    const stub = newObject();
    const isKnown = async (network: string, at: number) => (await fail(stub, at, network)).isKnown;
    await stub.learnNetworks(['home'], NOW);
    await stub.learnNetworks(['home', 'work'], NOW + 60 * DAY);
    await stub.learnNetworks(['home'], NOW);
    expect([await isKnown('home', NOW), await isKnown('strange', NOW)]).toEqual([true, false]);
    const end = NOW + 60 * DAY + KNOWN_MS;
    expect([await isKnown('home', end - 1), await isKnown('home', end), await isKnown('work', end)]).toEqual([true, false, false]);
    expect(await stub.knownNetworks(end - 1)).toEqual(['home', 'work']);
  });

  it('networks are bounded, the least recent one goes first', async () => {
    const stub = newObject();
    await stub.learnNetworks(['first'], NOW);
    await stub.learnNetworks(
      Array.from({ length: NETWORKS_MAX }, (_, i) => `n${i}`),
      NOW + 1,
    );
    expect((await stub.knownNetworks(NOW + 1)).includes('first')).toBe(false);
    expect((await rowsOf(stub)).networks).toBe(NETWORKS_MAX);
  });

  it('one warning goes out a day, and one link in ten minutes', async () => {
    const stub = newObject();
    const claims = async (notice: 'warning' | 'link', times: number[]) => {
      const answers = [];
      for (const at of times) answers.push(await stub.claimNotice(notice, at));
      return answers;
    };
    expect(await claims('warning', [NOW, NOW + DAY - 1, NOW + DAY])).toEqual([true, false, true]);
    expect(await claims('link', [NOW, NOW + 10 * MINUTE - 1, NOW + 10 * MINUTE])).toEqual([true, false, true]);
    const parallel = newObject();
    expect((await Promise.all(Array.from({ length: 20 }, () => parallel.claimNotice('link', NOW)))).filter(Boolean)).toHaveLength(1);
  });

  it('the alarm deletes what has expired, and then the storage', async () => {
    const stub = newObject();
    setTime(NOW);
    await fail(stub, NOW);
    expect(await rowsOf(stub)).toEqual({ failures: 1, networks: 0, notices: 0 });
    setTime(NOW + HOUR);
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    expect([await rowsOf(stub), await runDurableObjectAlarm(stub)]).toEqual([{}, false]);
    setTime(NOW);
    await fail(stub, NOW);
    await stub.learnNetworks(['home'], NOW);
    setTime(NOW + HOUR);
    await runDurableObjectAlarm(stub);
    expect(await rowsOf(stub)).toEqual({ failures: 0, networks: 1, notices: 0 });
    setTime(NOW + KNOWN_MS);
    await runDurableObjectAlarm(stub);
    expect(await rowsOf(stub)).toEqual({});
  });
});
