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

/** Inserts one product row per execution, so that rows count executions. */
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

describe('answerOnce', () => {
  it('a repeated request gets the first answer byte for byte and runs the effect once', async () => {
    const r = request();
    const first = await answerOnce(ctxAt(), r, effect(ctxAt(), r.key), present);
    const again = await answerOnce(ctxAt(NOW + 1000), r, effect(ctxAt(), r.key), present);
    expect(again).toEqual({ ...first, replayed: true });
    expect(await effects(r.key)).toBe(1);
  });

  it('twenty concurrent callers run the effect once', async () => {
    const r = request();
    const answers = await Promise.allSettled(Array.from({ length: 20 }, () => answerOnce(ctxAt(), r, effect(ctxAt(), r.key), present)));
    const bodies = new Set(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.body : codeOf(answer.reason))));
    expect(bodies.size).toBe(1);
    expect(await effects(r.key)).toBe(1);
  });

  it('another body under the key is idempotency_conflict and has no effect', async () => {
    const r = request();
    await answerOnce(ctxAt(), r, effect(ctxAt(), r.key), present);
    await expect(answerOnce(ctxAt(), saying(r, '{"a":2}'), effect(ctxAt(), r.key), present)).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    expect(await effects(r.key)).toBe(1);
  });

  it('a refusal is not stored, and the key can be used again', async () => {
    const r = request();
    const refuse = async () => {
      throw new ApiError('setup_not_ready');
    };
    await expect(answerOnce(ctxAt(), r, refuse, present)).rejects.toMatchObject({ code: 'setup_not_ready' });
    expect((await answerOnce(ctxAt(), r, effect(ctxAt(), r.key), present)).replayed).toBe(false);
  });

  it('the answer is returned although the answer of the commit was lost', async () => {
    const r = request();
    const { env } = withFaults(w.env, { after: ({ kind }) => kind === 'batch' });
    const ctx = ctxAt(NOW, env);
    expect(await answerOnce(ctx, r, effect(ctx, r.key), present)).toMatchObject({ status: 201, replayed: false });
    expect(await effects(r.key)).toBe(1);
  });

  it('an effect that lost a race is idempotency_race with a retry delay', async () => {
    const r = request();
    const aborting = { events: [], writes: [ctxAt().db.insert(guard).select(sql`SELECT NULL WHERE 1`)], result: 'x' };
    const abort = (storeAnswer: StoreAnswer<string>) => commitWithAnswer(ctxAt(), aborting, storeAnswer);
    await expect(answerOnce(ctxAt(), r, abort, present)).rejects.toMatchObject({
      code: 'idempotency_race',
      options: { retryAfterSeconds: 1 },
    });
  });

  it('a key can be used again after its retention', async () => {
    const r = { ...request(), retentionMs: 1000 };
    await answerOnce(ctxAt(), r, effect(ctxAt(), r.key), present);
    expect((await answerOnce(ctxAt(NOW + 2000), r, effect(ctxAt(), r.key), present)).replayed).toBe(false);
    expect(await effects(r.key)).toBe(2);
  });
});

describe('takeLease', () => {
  it('one of twenty concurrent callers gets the lease, and the others get idempotency_in_progress', async () => {
    const r = request();
    const answers = await Promise.allSettled(Array.from({ length: 20 }, () => takeLease(ctxAt(), r)));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const answer of answers) if (answer.status === 'rejected') expect(codeOf(answer.reason)).toBe('idempotency_in_progress');
  });

  it('an expired lease is taken over, and its former holder cannot finish', async () => {
    const r = request();
    const [first, second] = [await taken(r), await taken(r, NOW + 31_000)];
    await expect(finish(first)).rejects.toThrow();
    await finish(second);
    expect(await takeLease(ctxAt(), r)).toEqual({ answer: { ...DONE, replayed: true }, fence: second.fence });
  });

  it('an expired lease is not taken over by another body', async () => {
    const r = request();
    await takeLease(ctxAt(), r);
    await expect(takeLease(ctxAt(NOW + 31_000), saying(r, '{"other":true}'))).rejects.toMatchObject({ code: 'idempotency_conflict' });
  });

  it('a stale holder never finishes after others took and released the lease, because fences do not repeat', async () => {
    const r = request();
    const sleeper = await taken(r);
    await (await taken(r, NOW + 31_000)).release();
    const other = saying(r, '{"another":"request"}');
    const third = await taken(other, NOW + 32_000);
    expect(third.fence).not.toBe(sleeper.fence);
    await expect(finish(sleeper, { status: 200, body: '{"answer":"of the sleeper"}' })).rejects.toThrow();
    await finish(third, { status: 200, body: '{"answer":"of the third"}' }, NOW + 33_000);
    const replay = await takeLease(ctxAt(NOW + 34_000), other);
    expect(replay).toMatchObject({ answer: { body: '{"answer":"of the third"}', replayed: true } });
  });

  it('an expired record is replaced in one step, and the caller sees no race', async () => {
    const r = { ...request(), retentionMs: 1000 };
    await finish(await taken(r));
    const later = saying(r, '{"new":true}');
    const held = await taken(later, NOW + 2000);
    await finish(held, { status: 200, body: '{"second":"life"}' }, NOW + 2000);
    expect(await takeLease(ctxAt(NOW + 2500), later)).toMatchObject({ answer: { body: '{"second":"life"}' } });
  });

  it('a request finds its lease after a lost answer, and one that cannot check releases it', async () => {
    const [r, unheard] = [request(), request()];
    const lost = withFaults(w.env, { after: ({ kind }) => kind === 'write' });
    const held = await takeLease(ctxAt(NOW, lost.env), r);
    if (!('lease' in held)) throw new Error('expected a lease');
    await commit(ctxAt(NOW, lost.env), { events: [], writes: held.lease.finish(DONE), result: null });
    // Both the answer and the check after it fail. Work deferred after the response succeeds.
    const deferred: Promise<unknown>[] = [];
    const { env } = withFaults(w.env, { after: ({ number }) => number === 1, before: ({ number }) => number === 2 });
    const deaf = newCtx(env, { requestId: 'req_deaf', now: NOW, defer: (work) => deferred.push(work) });
    await expect(takeLease(deaf, unheard)).rejects.toThrow();
    await Promise.all(deferred);
    expect('lease' in (await takeLease(ctxAt(NOW + 1), unheard))).toBe(true);
  });

  it('answerLeased runs work of many steps once, also if the last answer is lost', async () => {
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

describe('request fingerprint', () => {
  const sent = (r: IdempotentRequest) => answerOnce(ctxAt(), r, effect(ctxAt(), r.key), present);
  it.each([
    ['a field that is left out, though the route would have filled it in', '{"a":1}', '{"a":1,"units":1}'],
    ['a field the route does not know', '{"a":1}', '{"a":1,"b":2}'],
    ['blanks around a text', '{"a":"x"}', '{"a":" x "}'],
    ['a number no double holds', '{"a":1e999}', '{"a":2e999}'],
    ['nesting no stack holds', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, `{"a":${'['.repeat(50_001)}${']'.repeat(50_001)}}`],
  ])('the fingerprint covers the body as received: %s is another request', async (_what, first, second) => {
    const r = { ...request(), text: first };
    expect((await sent(r)).replayed).toBe(false);
    expect((await sent(r)).replayed).toBe(true);
    await expect(sent(saying(r, second))).rejects.toMatchObject({ code: 'idempotency_conflict' });
    expect(await effects(r.key)).toBe(1);
  });

  it('the fingerprint ignores field order and white space', async () => {
    const r = { ...request(), text: '{"a":1,"b":{"c":2,"d":3}}' };
    await sent(r);
    expect((await sent(saying(r, ' { "b": {"d":3, "c":2}, "a": 1.0 }'))).replayed).toBe(true);
  });

  const RECEIVED = sha256Hex(utf8(canonicalJson({ a: ' x ' })));
  const recorded = (key: string) => w.env.DB.prepare('SELECT fingerprint FROM claims WHERE key = ?').bind(key).first('fingerprint');

  it('the recorded fingerprint is the hash of the received body', async () => {
    const text = '{"a":" x "}';
    const [answered, held] = [request(), request()];
    await sent({ ...answered, text });
    await taken({ ...held, text });
    expect([await recorded(answered.key), await recorded(held.key)]).toEqual([RECEIVED, RECEIVED]);
  });
});

describe('secret answer', () => {
  it('a secret answer is replayed byte for byte, and its record holds neither the secret nor a plain fingerprint', async () => {
    const r = { ...request({ password: 'correct horse battery' }), isSecret: true };
    const show = (id: string) => ({ status: 201, body: { secret: `whsec_${id}` } });
    const first = await answerOnce(ctxAt(), r, effect(ctxAt(), r.key), show);
    expect(await answerOnce(ctxAt(), r, effect(ctxAt(), r.key), show)).toEqual({ ...first, replayed: true });
    const row = await w.env.DB.prepare('SELECT * FROM claims WHERE key = ?').bind(r.key).first<Record<string, string>>();
    expect(JSON.stringify(row)).not.toContain('whsec_');
    expect(row!.fingerprint).not.toContain(sha256Hex(utf8(canonicalJson(JSON.parse(r.text)))));
    // A row copied to another key cannot be opened.
    const other = { ...request({ password: 'correct horse battery' }), isSecret: true };
    await w.env.DB.prepare('UPDATE claims SET key = ? WHERE key = ?').bind(other.key, r.key).run();
    await expect(answerOnce(ctxAt(), other, effect(ctxAt(), other.key), show)).rejects.toThrow();
  });
});

describe('sweep of idempotency records', () => {
  it('the sweep deletes expired records and unfinished leases in pages and leaves the rest', async () => {
    const { DB } = w.env;
    await DB.prepare('DELETE FROM claims').run();
    const [answered, held] = [request(), request()];
    await answerOnce(ctxAt(), answered, effect(ctxAt(), answered.key), present);
    await taken(held);
    const ended = JSON.stringify(Array.from({ length: 1200 }, (_, i) => `ended-${i}`));
    await DB.prepare("INSERT INTO claims (scope, key, fingerprint, fence, expires_at) SELECT 's', value, '', 1, ? FROM json_each(?)")
      .bind(NOW, ended)
      .run();
    expect((await sweepIdempotencyRecords(ctxAt())).taken).toBe(1200);
    expect((await sweepIdempotencyRecords(ctxAt())).taken).toBe(0);
    const left = async () => (await DB.prepare('SELECT key FROM claims ORDER BY key').all<{ key: string }>()).results.map(({ key }) => key);
    expect(await left()).toEqual([answered.key, held.key].sort());
    expect((await sweepIdempotencyRecords(ctxAt(NOW + 24 * 3_600_000))).taken).toBe(2);
    expect(await left()).toEqual([]);
  });

  it('a run of the sweep walks at most 20,000 records, and the next run continues behind them', async () => {
    const { DB } = w.env;
    await DB.prepare('DELETE FROM claims').run();
    const insert = (scope: string, count: number, expiresAt: number) =>
      DB.prepare(`WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
        INSERT INTO claims (scope, key, fingerprint, fence, expires_at) SELECT ?, printf('%06d', n), '', 1, ? FROM n`)
        .bind(count, scope, expiresAt)
        .run();
    await insert('a', 20_000, NOW + 1);
    await insert('b', 30, NOW);
    expect([await sweepIdempotencyRecords(ctxAt()), await sweepIdempotencyRecords(ctxAt())].map(({ taken }) => taken)).toEqual([0, 30]);
    expect((await sweepIdempotencyRecords(ctxAt(NOW + 1))).taken).toBe(20_000);
    expect((await sweepIdempotencyRecords(ctxAt(NOW + 1))).taken).toBe(0);
  });
});
