import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { DAY, HOUR, MINUTE, SECOND } from '#core/time.ts';
import type { AdmissionAnswer, AdmissionRequest } from '#rules/admission.ts';
import type { CallOutcome } from '#rules/analytics/key-usage.ts';
import { admissionRequest, admittedAccount, admittedKey, jwt, personSession } from '../support/fixtures/admitted.ts';
import { letTimeRun, setTime } from '../support/runner/clock.ts';
import { testEnv } from '../support/runner/env.ts';

const newObject = (kind = 'account') => testEnv.ADMISSION.getByName(`${kind}:${crypto.randomUUID()}`);
type Stub = ReturnType<typeof newObject>;

const NOW = 1_800_000_000_000;
const request = (change: Partial<AdmissionRequest> = {}) => admissionRequest({ now: NOW, ...change });
const outcome = (change: Partial<CallOutcome> = {}): CallOutcome => ({
  keyId: 'key-1',
  at: NOW,
  method: 'GET',
  endpoint: '/v1/products',
  status: 200,
  requestId: 'request-1',
  ...change,
});

const reasonOf = (answer: AdmissionAnswer) => (answer.ok ? 'ok' : answer.reason);
const ask = async (stub: Stub, change: Partial<AdmissionRequest> = {}) => reasonOf(await stub.admit(request(change)));
const readRemaining = async (stub: Stub) => {
  const answer = await stub.admit(request());
  return 'rate' in answer ? answer.rate?.remaining : answer.reason;
};
/** Tables of the object. Platform tables begin with an underscore. */
const readTables = (stub: Stub) =>
  runInDurableObject(stub, (_, { storage }) =>
    storage.sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
      .toArray()
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('_')),
  );
const readAlarm = (stub: Stub) => runInDurableObject(stub, (_, { storage }) => storage.getAlarm());
const loaded = async () => {
  const stub = newObject();
  await stub.load(admittedAccount(), [admittedKey()]);
  return stub;
};

describe('admission of credentials', () => {
  it('an empty object answers unknown and stores nothing', async () => {
    const stub = newObject();
    expect(await ask(stub)).toBe('unknown');
    expect(await ask(stub, { credential: jwt })).toBe('unknown');
    expect(await stub.usage()).toEqual({});
    expect(await readTables(stub)).toEqual([]);
    expect(await readAlarm(stub)).toBeNull();
  });

  it('a loaded credential is known, also after an eviction', async () => {
    const stub = await loaded();
    for (const _ of ['before', 'after']) {
      expect(await stub.admit(request({ now: NOW + (_ === 'after' ? HOUR : 0) }))).toMatchObject({
        ok: true,
        caller: { accountId: 'account-1', keyId: 'key-1', livemode: true, permissions: ['read', 'execute'], plan: 'free', isStaff: false },
        rate: { limit: 60, remaining: 59 },
      });
      await evictDurableObject(stub);
    }
    expect(await ask(stub, { credential: { kind: 'key', keyHash: 'hash-2' } })).toBe('unknown_key');
  });

  it('a revoked key is refused from the next call on, through evictions and every later load', async () => {
    const stub = await loaded();
    expect(await ask(stub)).toBe('ok');
    await stub.revokeKey('hash-1', NOW);
    expect(await ask(stub)).toBe('revoked');
    await stub.load(admittedAccount({ version: 9 }), [admittedKey()]);
    await stub.putKey(admittedKey());
    expect(await ask(stub)).toBe('revoked');
    await evictDurableObject(stub);
    expect(await ask(stub)).toBe('revoked');
    await stub.load(admittedAccount({ version: 10 }), [admittedKey()]);
    expect(await ask(stub)).toBe('revoked');
  });

  it('a slow load started before a revocation does not restore the key', async () => {
    for (const evicts of [false, true]) {
      const stub = newObject();
      await stub.revokeKey('hash-1', NOW);
      if (evicts) await evictDurableObject(stub);
      await stub.load(admittedAccount(), [admittedKey(), admittedKey({ keyId: 'key-2', keyHash: 'hash-2' })]);
      expect(await ask(stub)).toBe('revoked');
      expect(await ask(stub, { credential: { kind: 'key', keyHash: 'hash-2' } })).toBe('ok');
    }
  });

  it('the newest account version wins in any order of arrival', async () => {
    const stub = await loaded();
    await stub.load(admittedAccount({ version: 3, status: 'suspended', tokenVersion: 2 }), []);
    await stub.load(admittedAccount({ version: 2 }), []);
    expect(await ask(stub)).toBe('account_suspended');
    await evictDurableObject(stub);
    await stub.load(admittedAccount({ version: 1 }), [admittedKey()]);
    expect(await ask(stub)).toBe('account_suspended');
    await stub.load(admittedAccount({ version: 4, tokenVersion: 2 }), []);
    expect(await ask(stub)).toBe('ok');
    expect(await ask(stub, { credential: jwt })).toBe('stale_token');
  });

  it('a change that a writer did not complete is read from the database, although another writer completed its own', async () => {
    const stub = await loaded();
    const underWay = admittedAccount({ version: 2 });
    for (const writer of [1, 2, 2]) await stub.stage(underWay, writer);
    await stub.unstage(underWay, 2);
    // The row of the other change may still be as it was.
    if ((await ask(stub)) === 'unknown') await stub.load(admittedAccount(), [admittedKey()]);
    expect(await ask(stub)).toBe('ok');
    setTime(Date.now() + MINUTE);
    expect(await ask(stub)).toBe('unknown');
    await stub.load(admittedAccount(), [admittedKey({ version: 2, scopes: [] })]);
    expect(await ask(stub, { scope: 'log:read' })).toBe('scope');
    letTimeRun();
  });
});

describe('rate limits', () => {
  it('the limit is exact with 200 concurrent calls', async () => {
    const stub = await loaded();
    const answers = await Promise.all(Array.from({ length: 200 }, () => stub.admit(request())));
    const passed = answers.filter((answer) => answer.ok);
    expect(passed).toHaveLength(60);
    // Distinct remaining numbers show that every call was counted exactly once.
    expect(new Set(passed.map(({ rate }) => rate.remaining)).size).toBe(60);
    const refused = answers.filter((answer) => !answer.ok);
    for (const answer of refused)
      expect(answer).toEqual({ ok: false, reason: 'rate', keyId: 'key-1', rate: { limit: 60, remaining: 0, resetAt: NOW + MINUTE } });
    expect(await ask(stub, { now: NOW + MINUTE - 1 })).toBe('rate');
    expect(await ask(stub, { now: NOW + MINUTE })).toBe('ok');
  });

  it('live and sandbox have separate counts', async () => {
    const stub = newObject();
    await stub.load(admittedAccount(), [admittedKey(), admittedKey({ keyId: 'key-2', keyHash: 'hash-2', livemode: false })]);
    const sandbox = { credential: { kind: 'key', keyHash: 'hash-2' } } as const;
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(stub, sandbox)));
    expect(answers.filter((answer) => answer === 'ok')).toHaveLength(30);
    expect(await readRemaining(stub)).toBe(59);
  });

  it('all keys and tokens of an account share one count', async () => {
    const stub = newObject();
    await stub.load(admittedAccount(), [admittedKey(), admittedKey({ keyId: 'key-2', keyHash: 'hash-2' })]);
    await stub.beginSession(personSession({ createdAt: NOW }));
    await ask(stub, { credential: { kind: 'key', keyHash: 'hash-2' } });
    expect(await ask(stub, { credential: jwt })).toBe('ok');
    expect(await readRemaining(stub)).toBe(57);
  });

  it('refused calls do not count', async () => {
    const stub = newObject();
    await stub.load(admittedAccount(), [admittedKey(), admittedKey({ keyId: 'key-2', keyHash: 'hash-2', revokedAt: 1 })]);
    const refused = await Promise.all([
      ask(stub, { credential: { kind: 'key', keyHash: 'nobody' } }),
      ask(stub, { credential: { kind: 'key', keyHash: 'hash-2' } }),
      ask(stub, { permission: 'admin' }),
      ask(stub, { mode: 'sandbox' }),
      ask(stub, { credential: { ...jwt, tokenVersion: 7 } }),
    ]);
    expect(refused).toEqual(['unknown_key', 'revoked', 'permission', 'mode', 'stale_token']);
    expect(await readRemaining(stub)).toBe(59);
  });

  it('a counted call writes no row and sets no alarm', async () => {
    const stub = await loaded();
    const rowsWritten = () => runInDurableObject(stub, (_, { storage }) => storage.sql.exec('SELECT name, value FROM facts').toArray());
    const before = await rowsWritten();
    for (let call = 0; call < 10; call++) await ask(stub);
    expect(await readRemaining(stub)).toBe(49);
    expect(await rowsWritten()).toEqual(before);
    expect(await readAlarm(stub)).toBeNull();
  });
});

describe('usage of a key', () => {
  it('usage is readable from memory at once and survives an eviction after the alarm', async () => {
    const stub = await loaded();
    for (const status of [200, 201, 404]) await stub.record(outcome({ status, at: NOW + status }));
    await stub.record(outcome({ keyId: 'key-2' }));
    const usage = await stub.usage();
    expect(usage['key-1']).toMatchObject({ totalCalls: 3, successCalls: 2, errorCalls: 1, latestActivityAt: NOW + 404 });
    expect(usage['key-2']).toMatchObject({ totalCalls: 1 });
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    await evictDurableObject(stub);
    expect(await stub.usage()).toEqual(usage);
  });

  it('usage is written within eight seconds, and again after each alarm', async () => {
    const stub = await loaded();
    for (let round = 1; round <= 3; round++) {
      const before = Date.now();
      await Promise.all(Array.from({ length: 20 }, () => stub.record(outcome())));
      const alarm = await readAlarm(stub);
      expect(alarm).toBeGreaterThanOrEqual(before);
      expect(alarm).toBeLessThanOrEqual(Date.now() + 8 * SECOND);
      expect(await runDurableObjectAlarm(stub)).toBe(true);
      expect(await readAlarm(stub)).toBeNull();
      // The object sets its alarm both while awake and after an eviction.
      if (round === 2) await evictDurableObject(stub);
      expect((await stub.usage())['key-1']!.totalCalls).toBe(20 * round);
    }
    await evictDurableObject(stub);
    expect((await stub.usage())['key-1']!.totalCalls).toBe(60);
  });

  it('a lone call is stored at once without an alarm, so that it survives an eviction', async () => {
    const stub = await loaded();
    await stub.record(outcome());
    expect(await readAlarm(stub)).toBeNull();
    await evictDurableObject(stub);
    expect((await stub.usage())['key-1']!.totalCalls).toBe(1);
  });

  it('concurrent calls are counted exactly, and the last twenty are listed', async () => {
    const stub = await loaded();
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => stub.record(outcome({ requestId: `request-${i}`, status: i % 4 === 0 ? 500 : 200 }))),
    );
    const usage = (await stub.usage())['key-1']!;
    expect(usage).toMatchObject({ totalCalls: 100, successCalls: 75, errorCalls: 25 });
    expect(new Set(usage.recent.map(({ requestId }) => requestId)).size).toBe(20);
  });
});

describe('windows of an address', () => {
  const hitTimes = (stub: Stub, times: number, windowMs: number, now = NOW, name = 'connect') =>
    Promise.all(Array.from({ length: times }, () => stub.hit([{ name, max: 10, windowMs }], now)));
  const allowed = (answers: { allowed: boolean }[]) => answers.filter(({ allowed }) => allowed).length;

  it.each([
    ['a minute', MINUTE],
    ['an hour', HOUR],
  ])('exactly the allowed number passes in %s, of any number of concurrent calls', async (_, windowMs) => {
    const stub = newObject('address');
    const answers = await hitTimes(stub, 100, windowMs);
    expect(allowed(answers)).toBe(10);
    expect(answers.at(-1)).toEqual({ allowed: false, full: 'connect', rate: { limit: 10, remaining: 0, resetAt: NOW + windowMs } });
    expect(allowed(await hitTimes(stub, 20, windowMs, NOW + windowMs - 1))).toBe(0);
    expect(allowed(await hitTimes(stub, 20, windowMs, NOW + windowMs))).toBe(10);
  });

  it.each([
    ['a minute', MINUTE],
    ['an hour', HOUR],
  ])('an eviction does not reset windows of %s', async (_, windowMs) => {
    const stub = newObject('address');
    for (const left of [7, 3, 0]) {
      expect(allowed(await hitTimes(stub, 7, windowMs))).toBe(left);
      await evictDurableObject(stub);
    }
  });

  it('the windows of a minute share one row, and each longer window has its own', async () => {
    const stub = newObject('address');
    const windows = ['one', 'two', 'three'].map((name) => ({ name, max: 9, windowMs: MINUTE }));
    for (let i = 0; i < 3; i++) await stub.hit([...windows, { name: 'long', max: 9, windowMs: HOUR }], Date.now());
    const rows = await runInDurableObject(stub, (_, { storage }) => storage.sql.exec('SELECT name FROM facts ORDER BY name').toArray());
    expect(rows).toEqual([{ name: 'hit:long' }, { name: 'hits' }]);
  });

  it('a call counts in all its windows, or in none if one is full', async () => {
    const stub = newObject('address');
    const ask = (name: string) =>
      stub.hit(
        [
          { name, max: 3, windowMs: MINUTE },
          { name: 'all', max: 5, windowMs: MINUTE },
        ],
        NOW,
      );
    for (let i = 0; i < 3; i++) expect((await ask('one')).allowed).toBe(true);
    for (let i = 0; i < 9; i++) expect(await ask('one')).toMatchObject({ allowed: false, full: 'one' });
    for (let i = 0; i < 2; i++) expect((await ask('two')).allowed).toBe(true);
    expect(await ask('three')).toMatchObject({ allowed: false, full: 'all', rate: { limit: 5, remaining: 0 } });
  });

  it('expired windows leave nothing in storage, also after an eviction, and restart', async () => {
    const stub = newObject('address');
    const past = Date.now() - HOUR;
    await hitTimes(stub, 20, MINUTE, past);
    await hitTimes(stub, 20, 2 * HOUR, past, 'long');
    expect(await readTables(stub)).toEqual(['facts']);
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    const rows = await runInDurableObject(stub, (_, { storage }) => storage.sql.exec('SELECT name FROM facts').toArray());
    expect(rows).toEqual([{ name: 'hit:long' }]);
    expect(Math.abs((await readAlarm(stub))! - past - 2 * HOUR)).toBeLessThan(MINUTE);
    const ended = newObject('address');
    await hitTimes(ended, 20, MINUTE, past);
    await evictDurableObject(ended);
    expect(await runDurableObjectAlarm(ended)).toBe(true);
    expect([await readTables(ended), await readAlarm(ended)]).toEqual([[], null]);
    expect(allowed(await hitTimes(ended, 20, MINUTE, Date.now() + DAY))).toBe(10);
  });
});
