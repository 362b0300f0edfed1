// @module-tag volume
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { afterEach, describe, expect, it } from 'vitest';
import { HOUR } from '#core/time.ts';
import type { ConsumeAnswer } from '#rules/entitlement-rpc.ts';
import { Ledger } from '../../durable-objects/ledger.ts';
import { abort, interceptJobs, newHolder, silence, untilAnswered } from '../support/clients/entitlement.ts';
import { seededRandom, shuffled } from '../support/faults/faults.ts';
import { letTimeRun, setTime } from '../support/runner/clock.ts';
import { SEED, SOAK } from '../support/runner/env.ts';

afterEach(letTimeRun);

const okOnly = (answers: ConsumeAnswer[]) => answers.filter((answer) => answer.ok);

describe('10,000 consumes from 64 clients, a fifth of them repeated, on 1,000 units', () => {
  it('exactly 1,000 units are consumed, and every replay equals its first answer', async () => {
    const { stub, consume, grant } = newHolder();
    const random = seededRandom(SEED);
    await interceptJobs(stub);
    await grant('grant-1', { units: 1000 });
    const keys = shuffled(
      [...Array.from({ length: 8000 }, (_, i) => `key-${i}`), ...Array.from({ length: 2000 }, (_, i) => `key-${i}`)],
      random,
    );
    const answers = new Map<string, ConsumeAnswer[]>();
    const client = async () => {
      for (let key = keys.pop(); key; key = keys.pop()) {
        const answer = await consume(key);
        answers.set(key, [...(answers.get(key) ?? []), answer]);
      }
    };
    await Promise.all(Array.from({ length: 64 }, client));
    const consumed = [...answers.values()].flatMap(okOnly).filter(({ replayed }) => !replayed);
    expect(consumed).toHaveLength(1000);
    expect(new Set(consumed.map(({ consumptionId }) => consumptionId)).size).toBe(1000);
    expect(new Set(consumed.map(({ remaining }) => remaining)).size).toBe(1000);
    for (const same of answers.values()) {
      const first = same.find((answer) => answer.ok && !answer.replayed);
      for (const answer of okOnly(same)) expect({ ...answer, replayed: false }).toEqual(first);
    }
    expect(await stub.read({ now: Date.now() })).toMatchObject({ status: 'exhausted', usedUnits: 1000, remaining: 0, version: 1001 });
    await evictDurableObject(stub);
    const replays = await Promise.all([...answers.keys()].slice(0, 2000).map(async (key) => [key, await consume(key)] as const));
    for (const [key, replay] of replays) {
      const first = answers.get(key)!.find(({ ok }) => ok);
      expect(replay).toEqual(first ? { ...first, replayed: true } : expect.objectContaining({ ok: false }));
    }
  });
});

describe('concurrent credits of one payment', () => {
  it('the payment is added once and first consumed by exactly one caller, through crashes and evictions', async () => {
    for (let round = 0; round < 10 * SOAK; round++) {
      const holder = newHolder();
      const keys = Array.from({ length: 20 }, (_, i) => `settle-${i % 10}`);
      const calls = keys.map((key) => untilAnswered(holder, () => holder.credit('pay-1', { units: 3 }, { key, units: 2 })));
      if (round % 2) await abort(holder);
      const answers = await Promise.all(calls);
      const mine = new Set(answers.flatMap(({ consumption }, i) => (consumption.by === 'mine' ? [keys[i]] : [])));
      expect(mine.size).toBe(1);
      expect(answers.filter(({ consumption }) => consumption.by === 'mine')).toHaveLength(2);
      expect(new Set(answers.map(({ consumption: { by: _, ...use }, ...answer }) => JSON.stringify([use, answer]))).size).toBe(1);
      expect(await holder.stub.read({ now: Date.now() })).toMatchObject({ grantedUnits: 3, usedUnits: 2, remaining: 1, version: 2 });
      await silence(holder.stub);
    }
  });
});

describe('random sequences of operations, evictions and crashes', () => {
  it('no answered operation is lost, and none runs twice', async () => {
    const random = seededRandom(SEED);
    const below = (n: number) => Math.floor(random() * n);
    for (let round = 0; round < 8 * SOAK; round++) {
      const holder = newHolder();
      const { consume, grant, refund, credit } = holder;
      const again = new Map<string, () => Promise<void>>();
      const uses = new Map<string, ConsumeAnswer & { ok: true }>();
      let granted = 0;
      let changes = 0;
      /** Makes each call, which may be cut off, and repeats it until answered. */
      const ask = async <T extends object>(key: string, call: () => Promise<T>): Promise<T> => {
        const first = call().catch(() => null);
        if (below(4) === 0) await abort(holder);
        await first;
        if (below(4) === 0) await evictDurableObject(holder.stub).catch(() => null);
        const answer = await untilAnswered(holder, call);
        again.set(key, async () => expect({ ...(await call()), replayed: true }).toEqual({ ...answer, replayed: true }));
        return answer;
      };
      for (let step = 0; step < 40; step++) {
        const key = `key-${step}`;
        const units = 1 + below(5);
        const left = granted - [...uses.values()].reduce((sum, use) => sum + use.units, 0);
        const verb = below(10);
        if (verb < 5) {
          const answer = await ask(key, () => consume(key, units));
          expect(answer.ok).toBe(left >= units);
          // A refusal is not stored, so the same key may succeed later and is not repeated.
          if (!answer.ok) again.delete(key);
          else uses.set(key, answer);
          changes += answer.ok ? 1 : 0;
        } else if (verb < 7) {
          await ask(key, () => grant(key, { units }));
          granted += units;
          changes++;
        } else if (verb < 9) {
          const answer = await ask(key, () => credit(key, { units: units + 1 }, { key, units }));
          expect(answer).toMatchObject({ consumption: { by: 'mine', units }, remaining: left + 1 });
          granted += 1;
          changes += 2;
        } else if (uses.size > 0) {
          const [used, { consumptionId, units }] = [...uses][below(uses.size)]!;
          expect(await ask(key, () => refund(key, consumptionId))).toMatchObject({ ok: true, units });
          again.set(used, async () => expect(await consume(used, units)).toEqual({ ok: false, reason: 'refunded' }));
          uses.delete(used);
          changes++;
        }
      }
      for (const check of again.values()) await untilAnswered(holder, check);
      const left = granted - [...uses.values()].reduce((sum, use) => sum + use.units, 0);
      if (granted > 0) expect(await holder.stub.read({ now: Date.now() })).toMatchObject({ remaining: left, version: changes });
      await silence(holder.stub);
    }
  });
});

describe('group commit', () => {
  interface Count {
    version: number;
  }

  async function counting(
    test: (
      ledger: Ledger<Count, string, string>,
      commits: { transactions: number; syncs: number },
      storage: DurableObjectStorage,
    ) => Promise<void>,
  ) {
    const { stub } = newHolder();
    await runInDurableObject(stub, async (_, { storage }) => {
      const commits = { transactions: 0, syncs: 0 };
      const counted = new Proxy(storage, {
        get(target, name) {
          if (name === 'transactionSync') commits.transactions++;
          if (name === 'sync') commits.syncs++;
          const value = Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
      await test(newLedger(counted), commits, counted);
      await storage.deleteAlarm();
    });
  }
  const newLedger = (storage: DurableObjectStorage) =>
    new Ledger<Count, string, string>(storage, {
      kind: 'entitlement',
      pack: (content) => content,
      unpack: (text) => text,
      idOf: () => 'counter',
      empty: { version: 0 },
      tables: {},
      versionOf: ({ version }) => version,
      dueAt: () => null,
      passTime: () => {},
      publish: async () => {},
    });
  const count = (ledger: Ledger<Count, string, string>, key: string) =>
    ledger.run({ now: Date.now() }, () => {
      ledger.state = { version: ledger.state.version + 1 };
      ledger.operations.record(ledger.nextTick(), key, '', key);
      return ledger.state.version;
    });

  it('operations that arrive during a commit run together in order, and a single one does not wait', async () => {
    await counting(async (ledger, commits) => {
      const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => count(ledger, `key-${i}`)));
      expect(answers).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
      expect(commits).toEqual({ transactions: 2, syncs: 2 });
      for (const key of ['a', 'b', 'c']) await count(ledger, key);
      expect(commits).toEqual({ transactions: 5, syncs: 5 });
      expect(await ledger.run({ now: 0 }, () => ledger.operations.find('key-7', 0)?.content)).toBe('key-7');
      expect(commits.syncs).toBe(5);
    });
  });

  it('an operation that throws is refused alone: its neighbours are stored and answered', async () => {
    await counting(async (ledger, _, storage) => {
      const broken = (key: string) =>
        ledger.run({ now: Date.now() }, () => {
          ledger.state = { version: ledger.state.version + 100 };
          ledger.operations.record(ledger.nextTick(), key, '', key);
          ledger.emit(key);
          raise();
        });
      const first = count(ledger, 'before');
      const group = [count(ledger, 'good'), broken('bad'), count(ledger, 'other'), broken('worse'), count(ledger, 'last')];
      expect(await first).toBe(1);
      const answers = await Promise.allSettled(group);
      expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.reason.message))).toEqual([
        2,
        'a bug',
        3,
        'a bug',
        4,
      ]);
      const stored = (of: Ledger<Count, string, string>) =>
        of.run({ now: 0 }, () => [
          of.state.version,
          ...['good', 'bad', 'other', 'worse', 'last'].map((key) => of.operations.find(key, 0)?.content),
        ]);
      expect(await stored(ledger)).toEqual([4, 'good', undefined, 'other', undefined, 'last']);
      expect(await stored(newLedger(storage))).toEqual([4, 'good', undefined, 'other', undefined, 'last']);
      expect(storage.sql.exec('SELECT * FROM outbox').toArray()).toEqual([]);
    });
  });

  it('a throw in the very first write leaves no table', async () => {
    await counting(async (ledger, _, storage) => {
      const broken = ledger.run({ now: 0 }, () => {
        ledger.operations.record(ledger.nextTick(), 'key', '', '');
        raise();
      });
      await expect(broken).rejects.toThrow('a bug');
      expect(storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'operations'").toArray()).toEqual([]);
      expect(await count(ledger, 'key')).toBe(1);
    });
  });

  it('ticks grow with the time and never repeat, even if the clock steps back', async () => {
    await counting(async (ledger, _, storage) => {
      const start = Date.now() + HOUR;
      const tick = (from: Ledger<Count, string, string>, now: number) => {
        setTime(start + now);
        return from.run({ now: start + now }, () => from.nextTick() - start);
      };
      expect([await tick(ledger, 1000), await tick(ledger, 1000), await tick(ledger, 500), await tick(ledger, 5000)]).toEqual([
        1000, 1001, 1002, 5000,
      ]);
      const reopened = newLedger(storage);
      expect(await tick(reopened, 10)).toBe(5001);
    });
  });
});

function raise(): never {
  throw new Error('a bug');
}
