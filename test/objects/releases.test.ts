import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MINUTE, SECOND } from '#core/time.ts';
import type { Job } from '#platform/context.ts';
import type { EntitlementProjection } from '#rules/entitlement-rpc.ts';
import { letTimeRun, setTime } from '../world/clock.ts';
import { alarmOf, interceptJobs, newHolder, tablesOf } from '../world/entitlement.ts';
import { SEED, SOAK, testEnv } from '../world/env.ts';
import { seededRandom } from '../world/faults.ts';
import { ask, contentOf, LEFT, type Left, MADE_AT, openLeft, type Release, withReader, withReleased } from '../world/releases.ts';

beforeEach(() => setTime(MADE_AT));
afterEach(letTimeRun);

/** As bytes: what a caller is answered must not differ in a letter. */
async function replaysOf(object: Release, { identity, replays }: Pick<Left, 'identity' | 'replays'>): Promise<string[]> {
  const answers = [];
  for (const { verb, input } of replays) answers.push(JSON.stringify(await ask(object, verb, { identity, ...input, now: Date.now() })));
  return answers;
}
const expectedReplays = ({ replays }: Pick<Left, 'replays'>) => replays.map(({ answer }) => JSON.stringify(answer));
const eventVersions = (sent: EntitlementProjection[]) => sent.flatMap(({ events }) => events.map(({ snapshot }) => snapshot.version));

describe.each(LEFT)('an object that the release before filled: $label', (left) => {
  const { identity } = left;
  const held = async (object: Pick<Release, 'read'>, now: number) => {
    const { version: _, updatedAt: __, ...snapshot } = (await object.read(now)) ?? { version: 0, updatedAt: 0 };
    return snapshot;
  };

  it('answers every known key byte for byte, and reads as it did, today and long after', async () => {
    const stub = await openLeft(left);
    expect(await replaysOf(stub as unknown as Release, left)).toEqual(expectedReplays(left));
    for (const { at, snapshot } of left.readings) {
      setTime(at);
      expect(await stub.read(at)).toEqual(snapshot);
    }
  });

  it('keeps its rows as they are: a new operation is stored in the new form, and copies none', async () => {
    const stub = await openLeft(left);
    const before = await Promise.all(['operations', 'grants'].map((table) => contentOf(stub, table)));
    const grant = { identity, key: 'grant:new', fingerprint: '', now: MADE_AT, input: { units: 3, reason: 'test' } };
    expect(await stub.grant(grant)).toMatchObject({ ok: true, replayed: false });
    const after = await Promise.all(['operations', 'grants'].map((table) => contentOf(stub, table)));
    expect([after[0], after[1]!.slice(0, -1)]).toEqual(before);
    expect(await tablesOf(stub)).toEqual(expect.arrayContaining(['checkpoint', 'blocks']));
    expect(await stub.grant(grant)).toMatchObject({ ok: true, replayed: true });
  });

  it('tells the database what was not told, and forgets it when it has it', async () => {
    const stub = await openLeft(left);
    const waiting = (await contentOf(stub, 'outbox')).map((row) => JSON.parse(row).version);
    const jobs = await interceptJobs(stub);
    setTime(MADE_AT + 2 * SECOND);
    if (left.alarmAt !== null) await runDurableObjectAlarm(stub);
    expect(eventVersions(jobs.sent)).toEqual(waiting);
    await jobs.acknowledge();
    expect(await contentOf(stub, 'outbox')).toEqual([]);
    if (left.alarmAt !== null && waiting.length > 0) expect(await alarmOf(stub)).toBeGreaterThan(MADE_AT + MINUTE);
  });

  it('takes back exactly what is bought from now on, and knows what was taken back before', async () => {
    const stub = await openLeft(left);
    const buy = (paymentId: string, addition: { units: number | null; days: number | null }) =>
      stub.credit({ identity, paymentId, addition, now: MADE_AT, consume: null });
    const before = await held(stub, MADE_AT);
    await buy('new-1', { units: 1, days: 30 });
    const one = await held(stub, MADE_AT);
    await buy('new-2', { units: null, days: 30 });
    await evictDurableObject(stub);
    await stub.revoke({ identity, paymentId: 'new-2', now: MADE_AT });
    expect(await held(stub, MADE_AT)).toEqual(one);
    await stub.finalize({ paymentIds: ['pay-1', 'pay-2', 'pay-3'], now: MADE_AT });
    await stub.revoke({ identity, paymentId: 'new-1', now: MADE_AT });
    // Where there was nothing, there is something taken back now.
    const nothing = { ...identity, status: 'revoked', grantedUnits: 0, usedUnits: 0, remaining: 0, paidThrough: null };
    expect(await held(stub, MADE_AT)).toEqual('status' in before ? before : nothing);
  });

  it('takes back what that release sold as that release would have', async () => {
    const paymentIds = left.replays.flatMap(({ verb, input }) => (verb === 'credit' ? [(input as { paymentId: string }).paymentId] : []));
    for (const paymentId of new Set(paymentIds.slice(0, 4))) {
      const [mine, theirs] = [await openLeft(left), await openLeft(left)];
      await mine.revoke({ identity, paymentId, now: MADE_AT });
      await withReleased(theirs, (released) => released.revoke({ identity, paymentId, now: MADE_AT }));
      expect(await mine.read(MADE_AT)).toEqual(await theirs.read(MADE_AT));
    }
  });

  it('survives a release that reads both forms going back to that one, and coming forward again to this', async () => {
    const stub = await openLeft(left);
    // A denial is not remembered: after a purchase it is another answer.
    const known = { identity, replays: left.replays.filter(({ answer }) => !JSON.stringify(answer).includes('entitlement_missing')) };
    const consume = (key: string) => ({ identity, key, fingerprint: '', now: MADE_AT, input: { units: 1 } });
    const credit = { identity, paymentId: 'new-1', addition: { units: 5, days: null }, now: MADE_AT, consume: null };
    const [credited, used] = await withReader(stub, async (reader) => {
      const answers = [await reader.credit(credit), await reader.consume(consume('new'))];
      for (const paymentId of ['new-2', 'new-3']) await reader.credit({ ...credit, paymentId });
      await reader.revoke({ identity, paymentId: 'new-2', now: MADE_AT });
      await reader.revoke({ identity, paymentId: 'new-3', now: MADE_AT });
      await reader.reinstate({ identity, paymentId: 'new-3', now: MADE_AT });
      await reader.finalize({ paymentIds: ['new-3'], now: MADE_AT });
      return answers;
    });
    const expected = await stub.read(MADE_AT);
    const sent: EntitlementProjection[] = [];
    const send = async (job: Job) => void (job.kind === 'projectEntitlement' && sent.push(job.projection));
    const waiting = (await contentOf(stub, 'outbox')).map((row) => JSON.parse(row).version);
    await withReleased(
      stub,
      async (released) => {
        expect(await released.read(MADE_AT)).toEqual(expected);
        expect(await replaysOf(released, known)).toEqual(expectedReplays(known));
        expect(await released.credit(credit)).toEqual(credited);
        expect(await released.consume(consume('new'))).toEqual({ ...used, replayed: true });
        expect(await released.credit({ ...credit, paymentId: 'new-2' })).toMatchObject({ grantedUnits: 5 });
        expect(await released.read(MADE_AT)).toEqual(expected);
        await released.alarm();
        expect(await released.consume(consume('back'))).toMatchObject({ ok: true });
      },
      { ...testEnv, JOBS: { send } },
    );
    expect(eventVersions(sent)).toEqual(waiting.slice(0, 50));
    for (const forward of [withReader, onThis]) {
      await forward(stub, async (later) => {
        expect(await replaysOf(later, known)).toEqual(expectedReplays(known));
        expect(await later.consume(consume('back'))).toMatchObject({ ok: true, replayed: true });
        expect(await later.credit(credit)).toEqual(credited);
      });
    }
    const jobs = await interceptJobs(stub);
    await stub.grant({ ...consume('last'), input: { units: 1, reason: 'test' } });
    setTime(MADE_AT + 5 * SECOND);
    await runDurableObjectAlarm(stub);
    // Of the past as this clock is, the alarm may have rung by itself.
    const last = await stub.read(MADE_AT);
    await vi.waitFor(() => expect(jobs.sent.at(-1)?.snapshot).toEqual(last));
  });
});

type Stub = Awaited<ReturnType<typeof openLeft>>;
type On = <T>(stub: Stub, work: (object: Release) => Promise<T>) => Promise<T>;
const onThis: On = (stub, work) => work(stub as unknown as Release);

describe('what this release wrote', () => {
  it('is read and gone on with by the release before it, and refused by the one that does not know its form', async () => {
    const { stub, identity } = newHolder();
    const operation = (key: string, units = 1) => ({ identity, key, fingerprint: '', now: MADE_AT, input: { units, reason: 'test' } });
    await stub.grant(operation('grant', 200));
    const used = await stub.consume(operation('first'));
    await withReader(stub, async (reader) => {
      expect(await reader.consume(operation('first'))).toEqual({ ...used, replayed: true });
      for (let i = 0; i < 150; i++) expect(await reader.consume(operation(`more-${i}`))).toMatchObject({ ok: true, remaining: 198 - i });
    });
    expect(await stub.consume(operation('more-7'))).toMatchObject({ ok: true, replayed: true, remaining: 191 });
    await expect(withReleased(stub, (released) => released.consume(operation('first')))).rejects.toThrow();
    expect(await stub.consume(operation('first'))).toEqual({ ...used, replayed: true });
    await runInDurableObject(stub, (_, { storage }) => storage.sql.exec(`UPDATE page SET content = '{"form":3}'`));
    await evictDurableObject(stub);
    await expect(async () => stub.read(MADE_AT)).rejects.toThrow('form 3');
  });
});

describe('an object that two releases serve by turns', () => {
  it.each<[string, [On, On]]>([
    ['the first, and one that reads both forms', [withReleased, withReader]],
    ['that one, and this', [withReader, onThis]],
  ])('does everything once, answers every key the same, and counts every unit: %s', async (_, releases) => {
    const random = seededRandom(SEED);
    const below = (n: number) => Math.floor(random() * n);
    for (let round = 0; round < SOAK; round++) {
      const { stub, identity } = newHolder();
      const known: { verb: 'consume' | 'grant' | 'credit'; input: object; answer: string }[] = [];
      let now = MADE_AT;
      let left = 0;
      const byTurns = <T>(work: (object: Release) => Promise<T>): Promise<T> => releases[below(2)]!(stub, work);
      for (let step = 0; step < 30; step++) {
        now += below(10) * MINUTE;
        setTime(now);
        const units = 1 + below(4);
        const operation = { key: `key-${step}`, fingerprint: '', input: { units, reason: 'test' } };
        const verb = (['consume', 'consume', 'grant', 'credit'] as const)[below(4)]!;
        const input = verb === 'credit' ? { paymentId: `pay-${step}`, addition: { units, days: null }, consume: null } : operation;
        const answer = await byTurns((object) => ask(object, verb, { identity, ...input, now }));
        const isDone = answer.ok ?? true;
        expect(isDone).toBe(verb !== 'consume' || left >= units);
        if (!isDone) continue;
        left += verb === 'consume' ? -units : units;
        known.push({ verb, input, answer: JSON.stringify('ok' in answer ? { ...answer, replayed: true } : answer) });
        if (below(4) === 0) await byTurns((object) => object.revoke({ identity, paymentId: 'unknown', now }));
        expect((await stub.read(now))!.remaining).toBe(left);
      }
      for (const { verb, input, answer } of known)
        expect(JSON.stringify(await byTurns((object) => ask(object, verb, { identity, ...input, now })))).toBe(answer);
    }
  });
});
