// @module-tag quick
import { sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '#core/crypto.ts';
import { canonicalJson, utf8 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import type { AccountId, ProductId } from '#core/ids.ts';
import { type Env, newCtx } from '#platform/context.ts';
import { commit } from '#platform/db/commit.ts';
import { type IdempotentRequest, sweepIdempotencyRecords } from '#platform/db/idempotency-record.ts';
import { answerLeased, type Lease, takeLease } from '#platform/db/lease.ts';
import { answerOnce, commitWithAnswer, type StoreAnswer } from '#platform/db/once.ts';
import { guard } from '#platform/db/tables/idempotency.ts';
import { products } from '#platform/db/tables/products.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { World } from '../../support/world.ts';

const w = new World();
const NOW = Date.UTC(2026, 10, 21);
const ctxAt = (now = NOW, env: Env = w.env) => newCtx(env, { requestId: 'req_idempotency', now, defer: () => {} });
let keys = 0;
const request = (body: unknown = { a: 1 }): IdempotentRequest => ({
  scope: 'account:live:POST /v1/things',
  key: `key-${++keys}`,
  text: JSON.stringify(body),
});
const saying = (r: IdempotentRequest, text: string): IdempotentRequest => ({ ...r, text });
const DONE = { status: 200, body: '{"done":true}' };
const finish = (held: Lease, answer = DONE, now = NOW) => commit(ctxAt(now), { events: [], writes: held.finish(answer), result: null });
const taken = async (r: IdempotentRequest, now = NOW): Promise<Lease> => {
  const held = await takeLease(ctxAt(now), r);
  if (!('lease' in held)) throw new Error('expected a lease');
  return held.lease;
};

/** An effect whose count is what the promise is about: one product row per execution. */
function effect(ctx: ReturnType<typeof ctxAt>, externalId: string) {
  const row = {
    id: crypto.randomUUID() as ProductId,
    merchantId: 'merchant' as AccountId,
    livemode: true,
    slug: crypto.randomUUID(),
    externalProductId: null,
    name: externalId,
    productType: 'api',
    status: 'active',
    asset: 'USDC',
    priceAmount: 1n,
    billingModel: 'one_off',
    graceHours: 1,
    metadata: {},
    liveModeConfirmed: false,
    createdAt: 1,
    updatedAt: 1,
    version: 1,
  } as const;
  return (storeAnswer: StoreAnswer<string>) =>
    commitWithAnswer(ctx, { events: [], writes: [ctx.db.insert(products).values(row)], result: row.id }, storeAnswer);
}
const present = (id: string) => ({ status: 201, body: { id } });
const effects = (name: string) => w.db.$count(products, sql`name = ${name}`);
const codeOf = (error: unknown) => (error instanceof ApiError ? error.code : String(error));

describe('an idempotency key whose effect is in the database', () => {
  it('gives the first answer back, byte for byte, and runs the effect once', async () => {
    const r = request();
    const first = await answerOnce(ctxAt(), r, effect(ctxAt(), r.key), present);
    const again = await answerOnce(ctxAt(NOW + 1000), r, effect(ctxAt(), r.key), present);
    expect(again).toEqual({ ...first, replayed: true });
    expect(await effects(r.key)).toBe(1);
  });

  it('runs the effect once for twenty callers at the same moment', async () => {
    const r = request();
    const answers = await Promise.allSettled(Array.from({ length: 20 }, () => answerOnce(ctxAt(), r, effect(ctxAt(), r.key), present)));
    const bodies = new Set(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.body : codeOf(answer.reason))));
    expect(bodies.size).toBe(1);
    expect(await effects(r.key)).toBe(1);
  });

  it('conflicts with another body under the same key, and does nothing', async () => {
    const r = request();
    await answerOnce(ctxAt(), r, effect(ctxAt(), r.key), present);
    await expect(answerOnce(ctxAt(), saying(r, '{"a":2}'), effect(ctxAt(), r.key), present)).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    expect(await effects(r.key)).toBe(1);
  });

  it('keeps nothing of a refusal: the same key is judged afresh', async () => {
    const r = request();
    const refuse = async () => {
      throw new ApiError('setup_not_ready');
    };
    await expect(answerOnce(ctxAt(), r, refuse, present)).rejects.toMatchObject({ code: 'setup_not_ready' });
    expect((await answerOnce(ctxAt(), r, effect(ctxAt(), r.key), present)).replayed).toBe(false);
  });

  it('returns its answer although the answer of the commit was lost', async () => {
    const r = request();
    const { env } = withFaults(w.env, { after: ({ kind }) => kind === 'batch' });
    const ctx = ctxAt(NOW, env);
    expect(await answerOnce(ctx, r, effect(ctx, r.key), present)).toMatchObject({ status: 201, replayed: false });
    expect(await effects(r.key)).toBe(1);
  });

  it('tells a caller to retry when the effect lost a race of its own', async () => {
    const r = request();
    const aborting = { events: [], writes: [ctxAt().db.insert(guard).select(sql`SELECT NULL WHERE 1`)], result: 'x' };
    const abort = (storeAnswer: StoreAnswer<string>) => commitWithAnswer(ctxAt(), aborting, storeAnswer);
    await expect(answerOnce(ctxAt(), r, abort, present)).rejects.toMatchObject({
      code: 'idempotency_race',
      options: { retryAfterSeconds: 1 },
    });
  });

  it('is free again after its life', async () => {
    const r = { ...request(), keepMs: 1000 };
    await answerOnce(ctxAt(), r, effect(ctxAt(), r.key), present);
    expect((await answerOnce(ctxAt(NOW + 2000), r, effect(ctxAt(), r.key), present)).replayed).toBe(false);
    expect(await effects(r.key)).toBe(2);
  });
});

describe('an idempotency key with an external call in the middle', () => {
  it('lets one of twenty in; the others are told it is in progress', async () => {
    const r = request();
    const answers = await Promise.allSettled(Array.from({ length: 20 }, () => takeLease(ctxAt(), r)));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const answer of answers) if (answer.status === 'rejected') expect(codeOf(answer.reason)).toBe('idempotency_in_progress');
  });

  it('is taken over from a holder that died, and the dead one can no longer finish', async () => {
    const r = request();
    const [first, second] = [await taken(r), await taken(r, NOW + 31_000)];
    await expect(finish(first)).rejects.toThrow();
    await finish(second);
    expect(await takeLease(ctxAt(), r)).toEqual({ answer: { ...DONE, replayed: true }, fence: second.fence });
  });

  it('is not taken over with another body', async () => {
    const r = request();
    await takeLease(ctxAt(), r);
    await expect(takeLease(ctxAt(NOW + 31_000), saying(r, '{"other":true}'))).rejects.toMatchObject({ code: 'idempotency_conflict' });
  });

  it('is never finished by a holder that slept while others took and released it: no fence comes again, whatever is asked for next', async () => {
    const r = request();
    const sleeper = await taken(r);
    await (await taken(r, NOW + 31_000)).release();
    const other = saying(r, '{"another":"request"}');
    const third = await taken(other, NOW + 32_000);
    expect(third.fence).not.toBe(sleeper.fence);
    await expect(finish(sleeper, { status: 200, body: '{"answer":"of the sleeper"}' })).rejects.toThrow();
    await finish(third, { status: 200, body: '{"answer":"of the third"}' }, NOW + 33_000);
    const told = await takeLease(ctxAt(NOW + 34_000), other);
    expect(told).toMatchObject({ answer: { body: '{"answer":"of the third"}', replayed: true } });
  });

  it('is taken anew after its life in one step, whatever it was used for before: the caller is told of no race', async () => {
    const r = { ...request(), keepMs: 1000 };
    await finish(await taken(r));
    const later = saying(r, '{"new":true}');
    const held = await taken(later, NOW + 2000);
    await finish(held, { status: 200, body: '{"second":"life"}' }, NOW + 2000);
    expect(await takeLease(ctxAt(NOW + 2500), later)).toMatchObject({ answer: { body: '{"second":"life"}' } });
  });

  it('is held by a request that did not hear that it got the lease; one that cannot ask gives it back', async () => {
    const [r, unheard] = [request(), request()];
    const lost = withFaults(w.env, { after: ({ kind }) => kind === 'write' });
    const held = await takeLease(ctxAt(NOW, lost.env), r);
    if (!('lease' in held)) throw new Error('expected a lease');
    await commit(ctxAt(NOW, lost.env), { events: [], writes: held.lease.finish(DONE), result: null });
    // Neither the answer nor the question after it comes through; what is done after the response does.
    const deferred: Promise<unknown>[] = [];
    const { env } = withFaults(w.env, { after: ({ number }) => number === 1, before: ({ number }) => number === 2 });
    const deaf = newCtx(env, { requestId: 'req_deaf', now: NOW, defer: (work) => deferred.push(work) });
    await expect(takeLease(deaf, unheard)).rejects.toThrow();
    await Promise.all(deferred);
    expect('lease' in (await takeLease(ctxAt(NOW + 1), unheard))).toBe(true);
  });

  it('answers once where the work is in many steps, also when the answer of the last one is lost', async () => {
    const r = request();
    let times = 0;
    const work = async () => ({ times: ++times });
    const present = (body: { times: number }) => ({ status: 202, body });
    const { env } = withFaults(w.env, { after: ({ kind }) => kind === 'batch' });
    const first = await answerLeased(ctxAt(NOW, env), r, work, present);
    const again = await answerLeased(ctxAt(NOW + 60_000), r, work, present);
    expect([first, again]).toEqual([
      { status: 202, body: '{"times":1}', replayed: false },
      { status: 202, body: '{"times":1}', replayed: true },
    ]);
    const refuse = async () => {
      throw new ApiError('setup_not_ready');
    };
    const refused = request();
    await expect(answerLeased(ctxAt(), refused, refuse, present)).rejects.toMatchObject({ code: 'setup_not_ready' });
    expect((await answerLeased(ctxAt(), refused, work, present)).body).toBe('{"times":2}');
  });
});

describe('what tells a request from another under its key', () => {
  const sent = (r: IdempotentRequest) => answerOnce(ctxAt(), r, effect(ctxAt(), r.key), present);
  it.each([
    ['a field that is left out, though the route would have filled it in', '{"a":1}', '{"a":1,"units":1}'],
    ['a field the route does not know', '{"a":1}', '{"a":1,"b":2}'],
    ['blanks around a text', '{"a":"x"}', '{"a":" x "}'],
    ['a number no double holds', '{"a":1e999}', '{"a":2e999}'],
    ['nesting no stack holds', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, `{"a":${'['.repeat(50_001)}${']'.repeat(50_001)}}`],
  ])('is the body as it was received: %s is another request', async (_what, first, second) => {
    const r = { ...request(), text: first };
    expect((await sent(r)).replayed).toBe(false);
    expect((await sent(r)).replayed).toBe(true);
    await expect(sent(saying(r, second))).rejects.toMatchObject({ code: 'idempotency_conflict' });
    expect(await effects(r.key)).toBe(1);
  });

  it('is not the order of its fields, nor the white space between them', async () => {
    const r = { ...request(), text: '{"a":1,"b":{"c":2,"d":3}}' };
    await sent(r);
    expect((await sent(saying(r, ' { "b": {"d":3, "c":2}, "a": 1.0 }'))).replayed).toBe(true);
  });

  const RECEIVED = sha256Hex(utf8(canonicalJson({ a: ' x ' })));
  const recorded = (key: string) => w.env.DB.prepare('SELECT fingerprint FROM claims WHERE key = ?').bind(key).first('fingerprint');

  it('is recorded by its body as it was received', async () => {
    const text = '{"a":" x "}';
    const [answered, held] = [request(), request()];
    await sent({ ...answered, text });
    await taken({ ...held, text });
    expect([await recorded(answered.key), await recorded(held.key)]).toEqual([RECEIVED, RECEIVED]);
  });
});

describe('an answer that holds a secret', () => {
  it('is replayed to the byte and stands nowhere in clear, nor does anything one could guess it by', async () => {
    const r = { ...request({ password: 'correct horse battery' }), isSecret: true };
    const show = (id: string) => ({ status: 201, body: { secret: `whsec_${id}` } });
    const first = await answerOnce(ctxAt(), r, effect(ctxAt(), r.key), show);
    expect(await answerOnce(ctxAt(), r, effect(ctxAt(), r.key), show)).toEqual({ ...first, replayed: true });
    const row = await w.env.DB.prepare('SELECT * FROM claims WHERE key = ?').bind(r.key).first<Record<string, string>>();
    expect(JSON.stringify(row)).not.toContain('whsec_');
    expect(row!.fingerprint).not.toContain(sha256Hex(utf8(canonicalJson(JSON.parse(r.text)))));
    // A row copied to another key does not open there.
    const other = { ...request({ password: 'correct horse battery' }), isSecret: true };
    await w.env.DB.prepare('UPDATE claims SET key = ? WHERE key = ?').bind(other.key, r.key).run();
    await expect(answerOnce(ctxAt(), other, effect(ctxAt(), other.key), show)).rejects.toThrow();
  });
});

describe('the sweep of idempotency records', () => {
  it('deletes those past their life and leases that were never finished, page by page, and leaves the rest', async () => {
    const { DB } = w.env;
    await DB.prepare('DELETE FROM claims').run();
    const [kept, held] = [request(), request()];
    await answerOnce(ctxAt(), kept, effect(ctxAt(), kept.key), present);
    await taken(held);
    const ended = JSON.stringify(Array.from({ length: 1200 }, (_, i) => `ended-${i}`));
    await DB.prepare("INSERT INTO claims (scope, key, fingerprint, fence, expires_at) SELECT 's', value, '', 1, ? FROM json_each(?)")
      .bind(NOW, ended)
      .run();
    expect((await sweepIdempotencyRecords(ctxAt())).taken).toBe(1200);
    expect((await sweepIdempotencyRecords(ctxAt())).taken).toBe(0);
    const left = async () => (await DB.prepare('SELECT key FROM claims ORDER BY key').all<{ key: string }>()).results.map(({ key }) => key);
    expect(await left()).toEqual([kept.key, held.key].sort());
    expect((await sweepIdempotencyRecords(ctxAt(NOW + 24 * 3_600_000))).taken).toBe(2);
    expect(await left()).toEqual([]);
  });
});
