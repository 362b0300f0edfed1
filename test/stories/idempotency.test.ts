import { sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import type { Env } from '../../worker/context.ts';
import { newCtx } from '../../worker/context.ts';
import { ApiError } from '../../worker/core/errors.ts';
import type { AccountId, ProductId } from '../../worker/core/ids.ts';
import { products } from '../../worker/db/commerce.ts';
import { commit } from '../../worker/db/commit.ts';
import { guard } from '../../worker/db/messaging.ts';
import { type IdempotentRequest, lease, once } from '../../worker/db/once.ts';
import { withFaults } from '../world/faults.ts';
import { World } from '../world/world.ts';

const w = new World();
const NOW = Date.UTC(2026, 10, 21);
const ctxAt = (now = NOW, env: Env = w.env) => newCtx(env, { requestId: 'req_idempotency', now, defer: () => {} });
let keys = 0;
const request = (body: unknown = { a: 1 }): IdempotentRequest => ({ scope: 'account:live:POST /v1/things', key: `key-${++keys}`, body });

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
  return async () => ({ events: [], writes: [ctx.db.insert(products).values(row)], result: row.id });
}
const present = (id: string) => ({ status: 201, body: { id } });
const effects = (name: string) => w.db.$count(products, sql`name = ${name}`);
const codeOf = (error: unknown) => (error instanceof ApiError ? error.code : String(error));

describe('an idempotency key whose effect is in the database', () => {
  it('gives the first answer back, byte for byte, and runs the effect once', async () => {
    const r = request();
    const first = await once(ctxAt(), r, effect(ctxAt(), r.key), present);
    const again = await once(ctxAt(NOW + 1000), r, effect(ctxAt(), r.key), present);
    expect(again).toEqual({ ...first, replayed: true });
    expect(await effects(r.key)).toBe(1);
  });

  it('runs the effect once for twenty callers at the same moment', async () => {
    const r = request();
    const answers = await Promise.allSettled(Array.from({ length: 20 }, () => once(ctxAt(), r, effect(ctxAt(), r.key), present)));
    const bodies = new Set(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.body : codeOf(answer.reason))));
    expect(bodies.size).toBe(1);
    expect(await effects(r.key)).toBe(1);
  });

  it('conflicts with another body under the same key, and does nothing', async () => {
    const r = request();
    await once(ctxAt(), r, effect(ctxAt(), r.key), present);
    await expect(once(ctxAt(), { ...r, body: { a: 2 } }, effect(ctxAt(), r.key), present)).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    expect(await effects(r.key)).toBe(1);
  });

  it('keeps nothing of a refusal: the same key is judged afresh', async () => {
    const r = request();
    const refuse = async () => {
      throw new ApiError('setup_not_ready');
    };
    await expect(once(ctxAt(), r, refuse, present)).rejects.toMatchObject({ code: 'setup_not_ready' });
    expect((await once(ctxAt(), r, effect(ctxAt(), r.key), present)).replayed).toBe(false);
  });

  it('returns its answer although the answer of the commit was lost', async () => {
    const r = request();
    const { env } = withFaults(w.env, { after: ({ kind }) => kind === 'batch' });
    const ctx = ctxAt(NOW, env);
    expect(await once(ctx, r, effect(ctx, r.key), present)).toMatchObject({ status: 201, replayed: false });
    expect(await effects(r.key)).toBe(1);
  });

  it('tells a caller to retry when the effect lost a race of its own', async () => {
    const r = request();
    const vetoed = async () => ({ events: [], writes: [ctxAt().db.insert(guard).select(sql`SELECT NULL WHERE 1`)], result: 'x' });
    await expect(once(ctxAt(), r, vetoed, present)).rejects.toMatchObject({ code: 'idempotency_race', options: { retryAfterSeconds: 1 } });
  });

  it('is free again after its life', async () => {
    const r = { ...request(), keepMs: 1000 };
    await once(ctxAt(), r, effect(ctxAt(), r.key), present);
    expect((await once(ctxAt(NOW + 2000), r, effect(ctxAt(), r.key), present)).replayed).toBe(false);
    expect(await effects(r.key)).toBe(2);
  });
});

describe('an idempotency key with an external call in the middle', () => {
  it('lets one of twenty in; the others are told it is in progress', async () => {
    const r = request();
    const answers = await Promise.allSettled(Array.from({ length: 20 }, () => lease(ctxAt(), r)));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const answer of answers) if (answer.status === 'rejected') expect(codeOf(answer.reason)).toBe('idempotency_in_progress');
  });

  it('is taken over from a holder that died, and the dead one can no longer finish', async () => {
    const r = request();
    const first = await lease(ctxAt(), r);
    const second = await lease(ctxAt(NOW + 31_000), r);
    if (!('lease' in first && 'lease' in second)) throw new Error('expected two leases');
    expect(second.lease.fence).toBe(2);
    const answer = { status: 200, body: '{"done":true}' };
    await expect(commit(ctxAt(), { events: [], writes: first.lease.finish(answer), result: null })).rejects.toThrow();
    await commit(ctxAt(), { events: [], writes: second.lease.finish(answer), result: null });
    expect(await lease(ctxAt(), r)).toEqual({ answer: { ...answer, replayed: true }, fence: 2 });
  });

  it('is not taken over with another body', async () => {
    const r = request();
    await lease(ctxAt(), r);
    await expect(lease(ctxAt(NOW + 31_000), { ...r, body: { other: true } })).rejects.toMatchObject({ code: 'idempotency_conflict' });
  });
});
