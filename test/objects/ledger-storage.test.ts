import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { afterEach, describe, expect, it } from 'vitest';
import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { DAY, HOUR, SECOND } from '#core/time.ts';
import type { EntitlementKey } from '#rules/balance.ts';
import type { KeyedUse } from '#rules/entitlement-rpc.ts';
import { BLOCK_TABLES } from '../../durable-objects/blocks.ts';
import { type Content, packContent, unpackContent } from '../../durable-objects/contents.ts';
import { EntitlementObject } from '../../durable-objects/entitlement.ts';
import { Operations } from '../../durable-objects/operations.ts';
import { Tables } from '../../durable-objects/tables.ts';
import { newHolder, silence } from '../support/clients/entitlement.ts';
import { seededRandom } from '../support/faults/faults.ts';
import { letTimeRun, setTime } from '../support/runner/clock.ts';
import { SEED, SOAK, testEnv } from '../support/runner/env.ts';

afterEach(letTimeRun);

const use = (key: string, now: number): KeyedUse => ({ key: `consume:${key}`, fingerprint: sha256Hex(utf8(key)), now, units: 1 });
const uuids = (count: number) => Array.from({ length: count }, () => crypto.randomUUID());

/** Runs the object's code on its storage and counts written rows as the platform bills them. */
async function billed(stub: ReturnType<typeof newHolder>['stub'], work: (object: EntitlementObject) => Promise<unknown>) {
  return runInDurableObject(stub, async (_, state) => {
    let rows = 0;
    const { sql } = state.storage;
    const exec = (...args: Parameters<SqlStorage['exec']>) => {
      const cursor = sql.exec(...args);
      rows += cursor.rowsWritten;
      return cursor;
    };
    // Disk time is not measured.
    Object.defineProperty(state.storage, 'sync', { value: async () => {} });
    Object.defineProperty(state.storage, 'sql', { value: { exec, databaseSize: 0 } });
    const object = new EntitlementObject(state, testEnv);
    const bytes = sql.databaseSize;
    await work(object);
    return { rows, bytes: sql.databaseSize - bytes };
  });
}

describe('2,000 consumes with keys of 36 characters', () => {
  const COUNT = 2000;
  const spent = async (group: number) => {
    const { stub, identity, grant } = newHolder();
    await grant('grant-1', { units: 1_000_000_000 });
    const keys = uuids(COUNT);
    const now = Date.now();
    const { rows, bytes } = await billed(stub, async (object) => {
      for (let i = 0; i < COUNT; i += group)
        await object.consumeMany(
          identity,
          keys.slice(i, i + group).map((key) => use(key, now)),
        );
    });
    await silence(stub);
    return { rows: rows / COUNT, bytes: bytes / COUNT };
  };

  it('each consume takes at most 90 bytes, and a commit writes one row plus a fiftieth of one per consume', async () => {
    for (const group of [1, 8, 100]) {
      const { rows, bytes } = await spent(group);
      expect(bytes, `${group} at once`).toBeLessThanOrEqual(90);
      expect(rows, `${group} at once`).toBeLessThanOrEqual(1 / group + 0.02);
    }
  });
});

describe('settled payment and its first use', () => {
  it('a payment leaves at most 200 characters permanently, whatever names its caller', async () => {
    const { stub, credit } = newHolder();
    const payments = uuids(20);
    for (const id of payments) await credit(id, { units: 1 }, { key: sha256Hex(utf8(id)), units: 1 });
    const lengths = await runInDurableObject(stub, (_, { storage }) =>
      storage.sql.exec<{ stored: number }>('SELECT length(payment_id || addition || credited) AS stored FROM grants').toArray(),
    );
    expect(lengths).toHaveLength(payments.length);
    for (const { stored } of lengths) expect(stored).toBeLessThanOrEqual(200);
    await silence(stub);
  });
});

describe('stored form of an object', () => {
  it('an unknown stored form refuses every call and changes nothing', async () => {
    const { stub, identity, grant } = newHolder();
    await grant('grant-1', { units: 5 });
    const read = (storage: DurableObjectStorage) => storage.sql.exec<{ content: string }>('SELECT content FROM page').one().content;
    const unknown = await runInDurableObject(stub, (_, { storage }) => {
      storage.sql.exec("UPDATE page SET content = json_set(content, '$.form', 99)");
      return read(storage);
    });
    await runInDurableObject(stub, (_, state) => {
      expect(() => new EntitlementObject(state, testEnv)).toThrow('stored in form 99');
      expect(read(state.storage)).toBe(unknown);
      state.storage.sql.exec("UPDATE page SET content = json_set(content, '$.form', 1)");
    });
    expect(await stub.consumeMany(identity, [use('after', Date.now())])).toMatchObject([{ ok: true, remaining: 4 }]);
    await silence(stub);
  });
});

describe('operation ledger', () => {
  const packing = { pack: packContent, unpack: unpackContent };
  const content = (units: number): Content => ({
    verb: 'consume',
    units,
    isCounted: units % 2 === 0,
    isRefunded: false,
    paymentId: units % 5 === 0 ? 'pay-1' : null,
    remaining: units % 3 === 0 ? null : units * 7,
    paidThrough: units % 4 === 0 ? null : 1_800_000_000_000 + units,
  });

  it('the ledger equals a plain table through blocks, indexes, changes, sleep and purging', async () => {
    const random = seededRandom(SEED);
    const { stub } = newHolder();
    await runInDurableObject(stub, async (_, { storage }) => {
      const open = (tail: string) => {
        const tables = new Tables(storage.sql, BLOCK_TABLES);
        tables.load();
        const operations = new Operations<Content>(tables, packing);
        operations.load(tail);
        return operations;
      };
      let operations = open('');
      const expected = new Map<string, { tick: number; fingerprint: string; content: Content }>();
      let tick = 1_800_000_000_000;
      const check = (key: string) => {
        const known = expected.get(key);
        const found = operations.find(key, tick);
        expect(found && { tick: found.tick, content: found.content }).toEqual(known ? { tick: known.tick, content: known.content } : null);
        if (known) {
          expect([found!.isOf(known.fingerprint), found!.isOf('another')]).toEqual([true, false]);
          expect(operations.at(known.tick, tick)?.content).toEqual(known.content);
        }
      };
      for (let step = 0; step < 10_000 * SOAK; step++) {
        tick += Math.floor(random() * 3) + 1;
        const key = `key-${step}`;
        const entry = { tick, fingerprint: sha256Hex(utf8(key)), content: content(step % 100) };
        operations.record(tick, key, entry.fingerprint, entry.content);
        expected.set(key, entry);
        if (random() < 0.02) {
          const [other, known] = [...expected][Math.floor(random() * expected.size)]!;
          const amended = { ...known.content, isRefunded: true } as Content;
          operations.amend(known.tick, amended);
          expected.set(other, { ...known, content: amended });
        }
        if (random() < 0.05) for (const one of [`key-${Math.floor(random() * step * 1.1)}`, 'unknown']) check(one);
        if (random() < 0.002) operations = open(operations.tail);
      }
      expect(storage.sql.exec('SELECT 1 FROM indexes').toArray().length).toBeGreaterThanOrEqual(2);
      for (const key of expected.keys()) check(key);
      tick += DAY + HOUR;
      operations.record(tick, 'young', '', content(1));
      operations.purge(tick - HOUR / 2);
      operations.purge(tick);
      expect(storage.sql.exec('SELECT 1 FROM blocks UNION ALL SELECT 1 FROM indexes').toArray()).toEqual([]);
      expect([operations.find('key-1', tick), operations.find('young', tick)?.tick]).toEqual([null, tick]);
      expect(operations.purgeAt).toBeNull();
    });
  });

  it('an object with 100,000 grants and 100,000 consumes of a day wakes within 50 ms', async () => {
    const { stub, identity, grant, consume } = newHolder();
    await grant('grant-1', { units: 1_000_000 });
    const now = Date.now();
    await silence(stub);
    await runInDurableObject(stub, async (object, { storage }) => {
      for (let i = 0; i < 100; i++) {
        const uses = Array.from({ length: 1000 }, (_, j) => use(`key-${i}-${j}`, now));
        await (object as unknown as { consumeMany(identity: EntitlementKey, uses: KeyedUse[]): Promise<unknown> }).consumeMany(
          identity,
          uses,
        );
      }
      storage.sql.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
        INSERT INTO grants SELECT i, 'pay-' || i, '{"units":1}', i, 0, '{"grantedUnits":1,"uses":[],"remaining":1,"paidThrough":null}' FROM n`);
      await storage.deleteAlarm();
    });
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      await evictDurableObject(stub);
      await runInDurableObject(stub, (_, state) => {
        const from = performance.now();
        new EntitlementObject(state, testEnv);
        times.push(performance.now() - from);
      });
    }
    expect(Math.min(...times)).toBeLessThanOrEqual(50);
    for (const key of ['key-0-0', 'key-50-7', 'key-99-999'])
      expect(await stub.consume({ ...use(key, now), identity, input: { units: 1 } })).toMatchObject({ ok: true, replayed: true });
    expect(await consume('new')).toMatchObject({ ok: true, replayed: false });
    await silence(stub);
  });
});

describe('nearly full object', () => {
  it('a full object refuses new operations with a retry time, and still credits payments and replays answers', async () => {
    const { stub, identity, grant, consume } = newHolder();
    const now = Date.now();
    setTime(now);
    await grant('grant-1', { units: 10 });
    const first = await consume('first');
    await silence(stub);
    await runInDurableObject(stub, async (_, state) => {
      const { sql } = state.storage;
      Object.defineProperty(state.storage, 'sql', { value: { exec: sql.exec.bind(sql), databaseSize: 9_500_000_000 } });
      const full = new EntitlementObject(state, testEnv);
      const operation = (key: string, units: number) => ({ identity, key, fingerprint: JSON.stringify({ units }), now, input: { units } });
      const refused = { ok: false, reason: 'full', until: now + DAY + HOUR };
      expect(await full.consume(operation('second', 1))).toEqual(refused);
      expect(await full.consume(operation('first', 1))).toEqual({ ...first, replayed: true });
      const credit = {
        identity,
        paymentId: 'pay-1',
        addition: { units: 5 },
        now,
        consume: { key: 'settle-1', units: 1, isAnswered: false },
      };
      expect(await full.credit(credit)).toMatchObject({ grantedUnits: 5, consumption: { by: 'mine' } });
      await state.storage.deleteAlarm();
    });
    await evictDurableObject(stub);
    expect(await stub.read({ now: now + SECOND })).toMatchObject({ grantedUnits: 15, usedUnits: 2 });
  });
});
