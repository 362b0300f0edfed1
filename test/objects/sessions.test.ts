import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, describe, expect, it } from 'vitest';
import type { SessionId } from '#core/ids.ts';
import { DAY, MINUTE, SECOND } from '#core/time.ts';
import { SEEN_MS, SESSION_MS, SESSIONS_MAX, type Session } from '#rules/access/sessions.ts';
import type { Credential } from '#rules/admission.ts';
import type { Admission } from '../../durable-objects/admission.ts';
import { admissionRequest, admittedAccount, admittedKey, jwt, personSession } from '../support/fixtures/admitted.ts';
import { letTimeRun, setTime } from '../support/runner/clock.ts';
import { testEnv } from '../support/runner/env.ts';

const NOW = 1_800_000_000_000;
const newObject = async () => {
  const stub = testEnv.ADMISSION.getByName(`account:${crypto.randomUUID()}`);
  await stub.load(admittedAccount(), [admittedKey()]);
  return stub;
};
type Stub = Awaited<ReturnType<typeof newObject>>;

const session = (id: string, change: Partial<Session> = {}) =>
  personSession({ sessionId: `session-${id}` as SessionId, createdAt: NOW, ...change });
const ask = async (stub: Stub, sessionId: string, now = NOW) => {
  const answer = await stub.admit(admissionRequest({ credential: { ...jwt, sessionId }, now }));
  return answer.ok ? 'ok' : answer.reason;
};
const listed = async (stub: Stub, now = NOW) => (await stub.listSessions(now)).map(({ sessionId }) => sessionId);
const rowsOf = (stub: Stub) =>
  runInDurableObject(stub, (_, { storage }) => storage.sql.exec<{ n: number }>('SELECT count(*) AS n FROM sessions').one().n);

afterEach(letTimeRun);

describe('sessions of a person', () => {
  it('a token passes while its session is open, also after an eviction', async () => {
    const stub = await newObject();
    expect(await ask(stub, 'session-1')).toBe('session_ended');
    await stub.beginSession(session('1'));
    for (const _ of ['before', 'after']) {
      expect([await ask(stub, 'session-1'), await ask(stub, 'session-2')]).toEqual(['ok', 'session_ended']);
      await evictDurableObject(stub);
    }
  });

  it('an ended session is refused from the next call on, through evictions, and is known as ended', async () => {
    const stub = await newObject();
    for (const id of ['1', '2']) await stub.beginSession(session(id));
    expect(await stub.endSession('session-1', NOW)).toBe(true);
    for (const _ of ['before', 'after']) {
      expect([await ask(stub, 'session-1'), await ask(stub, 'session-2')]).toEqual(['session_ended', 'ok']);
      expect(await stub.useSession({ sessionId: 'session-1', tokenVersion: 1 }, NOW)).toBe(false);
      expect([await stub.endSession('session-1', NOW), await stub.endSession('session-3', NOW)]).toEqual([false, null]);
      await evictDurableObject(stub);
    }
    expect(await listed(stub)).toEqual(['session-2']);
  });

  it('a session ends thirty days after it began', async () => {
    const stub = await newObject();
    await stub.beginSession(session('1'));
    expect([await ask(stub, 'session-1', NOW + SESSION_MS - 1), await ask(stub, 'session-1', NOW + SESSION_MS)]).toEqual([
      'ok',
      'session_ended',
    ]);
  });

  it('a later token version ends the sessions of earlier ones', async () => {
    const stub = await newObject();
    await stub.beginSession(session('1'));
    await stub.load(admittedAccount({ version: 2, tokenVersion: 2 }), []);
    expect([await ask(stub, 'session-1'), await listed(stub)]).toEqual(['stale_token', []]);
    const forged = { ...jwt, sessionId: 'session-1', tokenVersion: 2 };
    expect(await stub.admit(admissionRequest({ credential: forged, now: NOW }))).toMatchObject({ reason: 'session_ended' });
    await stub.beginSession(session('2', { tokenVersion: 2 }));
    expect(await listed(stub)).toEqual(['session-2']);
    expect(await stub.endSessions({ except: null }, NOW)).toBe(1);
  });

  it('the 51st session ends the one unused longest', async () => {
    const stub = await newObject();
    for (let i = 1; i <= SESSIONS_MAX; i++) await stub.beginSession(session(`${i}`, { createdAt: NOW + i }));
    expect(await ask(stub, 'session-1', NOW + SEEN_MS + MINUTE)).toBe('ok');
    await stub.beginSession(session('51', { createdAt: NOW + SEEN_MS + 2 * MINUTE }));
    const open = await listed(stub);
    expect(open.slice(0, 2)).toEqual(['session-51', 'session-1']);
    expect([open.length, open.some((id) => id === 'session-2')]).toEqual([SESSIONS_MAX, false]);
    expect(await ask(stub, 'session-2', NOW + SEEN_MS + 2 * MINUTE)).toBe('session_ended');
  });

  it('fifty concurrent sign-ins leave fifty sessions, and 300 sign-ins a bounded number of rows', async () => {
    const stub = await newObject();
    await Promise.all(Array.from({ length: SESSIONS_MAX }, (_, i) => stub.beginSession(session(`${i}`))));
    expect(await listed(stub)).toHaveLength(SESSIONS_MAX);
    for (let i = 0; i < 250; i++) await stub.beginSession(session(`late-${i}`, { createdAt: NOW + i }));
    expect([(await listed(stub)).length, await rowsOf(stub)]).toEqual([SESSIONS_MAX, 2 * SESSIONS_MAX]);
  });

  it('the time of use is exact within five minutes, and stored once in that time', async () => {
    const stub = await newObject();
    await stub.beginSession(session('1'));
    for (let at = NOW; at <= NOW + 30 * MINUTE; at += 40 * SECOND) {
      await ask(stub, 'session-1', at);
      const [{ lastSeenAt } = { lastSeenAt: 0 }] = await stub.listSessions(at);
      expect(at - lastSeenAt).toBeLessThan(SEEN_MS);
      expect(lastSeenAt).toBeLessThanOrEqual(at);
    }
  });

  it('a request with a token reads one row and writes none, one with a key does neither', async () => {
    const stub = await newObject();
    for (const id of ['1', '2', '3']) await stub.beginSession(session(id));
    await ask(stub, 'session-2');
    const spent = await runInDurableObject(stub, async (object: Admission, { storage }) => {
      const { sql } = storage;
      const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
      const exec = sql.exec.bind(sql);
      Object.defineProperty(sql, 'exec', {
        value: (...args: Parameters<typeof exec>) => {
          const cursor = exec(...args);
          cursors.push(cursor);
          return cursor;
        },
      });
      const count = async (credential: Credential) => {
        cursors.length = 0;
        const answer = await object.admit(admissionRequest({ credential, now: NOW + SECOND }));
        const sum = (of: 'rowsRead' | 'rowsWritten') => cursors.reduce((rows, cursor) => rows + cursor[of], 0);
        return [answer.ok, sum('rowsRead'), sum('rowsWritten')];
      };
      return [await count({ ...jwt, sessionId: 'session-2' }), await count({ kind: 'key', keyHash: 'hash-1' })];
    });
    expect(spent).toEqual([
      [true, 1, 0],
      [true, 0, 0],
    ]);
  });

  it('sessions of a removed sign-in method end, and all but one', async () => {
    const stub = await newObject();
    const methods = ['password', 'google', 'google', 'github', 'siws'] as const;
    for (const [i, method] of methods.entries()) await stub.beginSession(session(`${i}`, { method }));
    expect(await stub.endSessions({ methods: ['google'] }, NOW)).toBe(2);
    expect((await listed(stub)).sort()).toEqual(['session-0', 'session-3', 'session-4']);
    expect(await stub.endSessions({ except: 'session-3' }, NOW)).toBe(2);
    expect(await listed(stub)).toEqual(['session-3']);
    expect(await stub.endSessions({ except: null }, NOW)).toBe(1);
    expect(await stub.endSessions({ except: null }, NOW)).toBe(0);
  });

  it('the first session of a person begins once, whatever became of it', async () => {
    const stub = await newObject();
    for (const _ of ['first', 'repeated']) await stub.beginSession(session('1'), true);
    expect(await listed(stub)).toEqual(['session-1']);
    await stub.endSession('session-1', NOW);
    await stub.beginSession(session('1'), true);
    expect(await ask(stub, 'session-1')).toBe('session_ended');
  });

  it('the alarm deletes expired sessions, also after it stored usage', async () => {
    const stub = await newObject();
    setTime(NOW);
    await stub.beginSession(session('1'));
    await stub.beginSession(session('2', { createdAt: NOW + DAY }));
    const call = { keyId: 'key-1', at: NOW, method: 'GET', endpoint: '/v1/products', status: 200, requestId: 'request-1' };
    for (let i = 0; i < 2; i++) await stub.record(call);
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    expect(await rowsOf(stub)).toBe(2);
    for (const [at, left] of [
      [NOW + SESSION_MS, 1],
      [NOW + DAY + SESSION_MS, 0],
    ] as const) {
      setTime(at);
      expect(await runDurableObjectAlarm(stub)).toBe(true);
      expect(await rowsOf(stub)).toBe(left);
    }
    expect(await runDurableObjectAlarm(stub)).toBe(false);
  });
});
