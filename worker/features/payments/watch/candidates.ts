import { ApiError, storyOf } from '#core/errors.ts';
import type { PaymentId } from '#core/ids.ts';
import { HOUR, MINUTE, SECOND } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { commit, type Write } from '#platform/db/commit.ts';
import type { Candidate } from '#platform/db/tables/candidates.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { sendJob } from '#platform/queues/send-jobs.ts';
import { abortIfSentSince, hasSent, insertFound, isCandidate, isInFlight, keepCandidate, type NewCandidate } from './candidate.store.ts';

export { dropRefused } from './candidate.store.ts';

/** Seconds after the previous look at which a signature is looked up again by the queue; after them only the sweep does. */
const RECHECK_SECONDS = [2, 4, 8, 16, 30, 60, 90] as const;

/** When look number `attempt` (from 0) is due after the one before it, and whether the queue brings it or only the sweep. */
export function nextCheck(attempt: number, ageMs: number): { delaySeconds: number; isQueued: boolean } {
  const delaySeconds = RECHECK_SECONDS[attempt];
  if (delaySeconds !== undefined) return { delaySeconds, isQueued: true };
  // As long as it was looked for already, so that what cannot be read for days costs little.
  return { delaySeconds: Math.min(Math.max(ageMs, 10 * MINUTE), 6 * HOUR) / SECOND, isQueued: false };
}

/** The sweep takes a look this long after it was due: by then its queue message is lost, not late. */
export const SWEEP_PATIENCE_MS = MINUTE / 2;

/** A transaction can land as long as its blockhash lives, 150 slots or about a minute and a half: until then another pays twice. */
const IN_FLIGHT_MS = 2 * MINUTE;

const inFlight = (): ApiError =>
  new ApiError('state_conflict', {
    detail: 'Another transaction of this payment may still land. Wait until it lands or expires, otherwise both would be paid.',
    meta: { reason: 'in_flight' },
    retryable: true,
    retryAfterSeconds: 10,
  });

/** 409 state_conflict (in_flight) while a transaction that we sent may still land. What callers name holds nothing up. */
export async function requireNoneInFlight(ctx: Shard, paymentId: PaymentId): Promise<void> {
  if (await isSending(ctx, paymentId)) throw inFlight();
}

/** True while a transaction that we sent for this payment may still land. */
export const isSending = (ctx: Shard, paymentId: PaymentId): Promise<boolean> => hasSent(ctx.db, paymentId, ctx.now - IN_FLIGHT_MS);

const newCandidate = (ctx: Ctx, paymentId: PaymentId, txSignature: string, origin: 'sent' | 'named'): NewCandidate => ({
  paymentId,
  txSignature,
  origin,
  attempt: 0,
  nextCheckAt: ctx.now + nextCheck(0, 0).delaySeconds * SECOND,
  createdAt: ctx.now,
  sentAt: origin === 'sent' ? ctx.now : null,
  livemode: ctx.sandbox === null,
});

/** Has the first look of a candidate brought by the queue. */
const queueLook = (ctx: Shard, { paymentId, txSignature }: NewCandidate, delaySeconds: number): void =>
  ctx.defer(sendJob(ctx, { kind: 'recheckCandidate', paymentId, txSignature, attempt: 0 }, delaySeconds));

/** Fails a batch while any transaction of the payment may still land: its signer is not asked to pay again. */
export const abortIfInFlight = (ctx: Shard, paymentId: PaymentId): Write => abortIfSentSince(ctx, paymentId, ctx.now - IN_FLIGHT_MS);

/** 409 state_conflict (in_flight) where `abortIfInFlight` would fail a batch. */
export async function requireUnsigned(ctx: Shard, paymentId: PaymentId): Promise<void> {
  if (await isInFlight(ctx, paymentId, ctx.now - IN_FLIGHT_MS)) throw inFlight();
}

/**
 * Keeps the signature of what the service is about to broadcast, before it does. `isNew`: no earlier request has sent it; `isSent`: false
 * where the payment has failed meanwhile, and nothing may be sent. 409 state_conflict (in_flight) while another that we sent may still land.
 */
export async function rememberSent(
  ctx: Shard,
  paymentId: PaymentId,
  txSignature: string,
): Promise<{ candidate: NewCandidate; isNew: boolean; isSent: boolean }> {
  const candidate = newCandidate(ctx, paymentId, txSignature, 'sent');
  const rivalsSince = ctx.now - IN_FLIGHT_MS;
  const { isNew, isSent, hasRival } = await keepCandidate(ctx, candidate, { rivalsSince });
  if (hasRival) throw inFlight();
  if (isNew) queueLook(ctx, candidate, nextCheck(0, 0).delaySeconds);
  return { candidate, isNew, isSent };
}

/**
 * Keeps a signature that a caller named, so that the caller need not stay and ask; where it is not known yet, only `countNew` may keep it
 * out, with 429: one that cannot be counted, because time is up or an object is away, is kept all the same. Where all places of the
 * payment are taken, it takes that of the oldest named one that the chain does not know either; a made-up one displaces no real one.
 */
export async function rememberNamed(ctx: Shard, paymentId: PaymentId, txSignature: string, countNew?: () => Promise<void>): Promise<void> {
  if (countNew && !(await isCandidate(ctx.db, paymentId, txSignature)))
    await countNew().catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'rate_limited') throw error;
      ctx.note(`object: ${storyOf(error)}`);
    });
  const candidate = newCandidate(ctx, paymentId, txSignature, 'named');
  const { isNew, isKnown, named } = await keepCandidate(ctx, candidate);
  const displaced = isKnown ? null : await findUnknown(ctx, named);
  const isInstead = displaced !== null && (await keepCandidate(ctx, candidate, { displaced })).isNew;
  if (isNew || isInstead) queueLook(ctx, candidate, nextCheck(0, 0).delaySeconds);
}

/** The oldest named one that the node does not know; null where it knows all of them, or does not answer. */
async function findUnknown(ctx: Ctx, named: Candidate[]): Promise<Candidate | null> {
  if (named.length === 0) return null;
  const answer = await ctx.chain.knows(named.map(({ txSignature }) => txSignature));
  if (answer.kind === 'unavailable') ctx.note(`rpc: ${answer.reason}`);
  return answer.kind === 'known' ? (named.find((_, i) => !answer.isKnown[i]) ?? null) : null;
}

/** Keeps a transaction that the chain has shown, and that could not be stored yet, first in line: by the queue at once, and by the next sweep. */
export async function rememberFound(ctx: Shard, payment: Payment, txSignature: string): Promise<void> {
  await commit(ctx, { events: [], writes: [planFound(ctx, payment, txSignature)], result: null });
  followFound(ctx, payment, txSignature);
}

/** The same, for a batch in which more is stored. */
export const planFound = (ctx: Shard, { nonce }: Payment, txSignature: string): Write =>
  insertFound(ctx, [{ signature: txSignature, nonce }], ctx.now - SWEEP_PATIENCE_MS);

/** Has the service look at what was found once it is stored. A lost message costs a minute: the sweep looks too. */
export const followFound = (ctx: Shard, { id: paymentId }: Payment, txSignature: string): void =>
  ctx.defer(sendJob(ctx, { kind: 'recheckCandidate', paymentId, txSignature, attempt: 0 }));
