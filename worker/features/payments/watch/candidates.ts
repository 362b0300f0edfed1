import { ApiError, formatErrorChain } from '#core/errors.ts';
import type { PaymentId } from '#core/ids.ts';
import { HOUR, MINUTE, SECOND } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { commit, type Write } from '#platform/db/commit.ts';
import type { Candidate } from '#platform/db/tables/candidates.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { sendJob } from '#platform/queues/send-jobs.ts';
import { LANDS_WITHIN_MS } from '#solana/finality.ts';
import { abortIfSentSince, hasSent, insertCandidate, insertFound, isCandidate, isInFlight, type NewCandidate } from './candidate.store.ts';

export { dropRefused } from './candidate.store.ts';

/** Delays in seconds between queue rechecks of a signature. After them only the sweep checks. */
const RECHECK_SECONDS = [2, 4, 8, 16, 30, 60, 90] as const;

/** Returns the delay of check `attempt` (from 0), and whether the queue or only the sweep runs it. */
export function nextCheck(attempt: number, ageMs: number): { delaySeconds: number; isQueued: boolean } {
  const delaySeconds = RECHECK_SECONDS[attempt];
  if (delaySeconds !== undefined) return { delaySeconds, isQueued: true };
  // Doubles the age, so that an unreadable signature costs little over days.
  return { delaySeconds: Math.min(Math.max(ageMs, 10 * MINUTE), 6 * HOUR) / SECOND, isQueued: false };
}

/** Delay after which the sweep runs a due check, because its queue message is lost, not late. */
export const SWEEP_PATIENCE_MS = MINUTE / 2;

const inFlight = (): ApiError =>
  new ApiError('state_conflict', {
    detail: 'Another transaction of this payment may still land. Wait until it lands or expires, otherwise both would be paid.',
    meta: { reason: 'in_flight' },
    retryable: true,
    retryAfterSeconds: 10,
  });

/** Throws 409 state_conflict (in_flight) while a transaction that the service sent may still land. Named ones do not block. */
export async function requireNoSentInFlight(ctx: Shard, paymentId: PaymentId): Promise<void> {
  if (await isSending(ctx, paymentId)) throw inFlight();
}

export const isSending = (ctx: Shard, paymentId: PaymentId): Promise<boolean> => hasSent(ctx.db, paymentId, ctx.now - LANDS_WITHIN_MS);

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

const queueCheck = (ctx: Shard, { paymentId, txSignature }: NewCandidate, delaySeconds: number): void =>
  ctx.defer(sendJob(ctx, { kind: 'recheckCandidate', paymentId, txSignature, attempt: 0 }, delaySeconds));

/** Aborts the batch while any transaction of the payment may still land, so that its signer is not asked to pay again. */
export const abortIfInFlight = (ctx: Shard, paymentId: PaymentId): Write => abortIfSentSince(ctx, paymentId, ctx.now - LANDS_WITHIN_MS);

export async function requireNothingCanLand(ctx: Shard, paymentId: PaymentId): Promise<void> {
  if (await isInFlight(ctx, paymentId, ctx.now - LANDS_WITHIN_MS)) throw inFlight();
}

/**
 * Stores a signature before its broadcast. `isNew`: no earlier request has sent it. `canSend`: false if the payment has failed and nothing
 * may be sent. Throws 409 state_conflict (in_flight) while another sent one may still land.
 */
export async function rememberSent(
  ctx: Shard,
  paymentId: PaymentId,
  txSignature: string,
): Promise<{ candidate: NewCandidate; isNew: boolean; canSend: boolean }> {
  const candidate = newCandidate(ctx, paymentId, txSignature, 'sent');
  const rivalsSince = ctx.now - LANDS_WITHIN_MS;
  const { isNew, canSend, hasRival } = await insertCandidate(ctx, candidate, { rivalsSince });
  if (hasRival) throw inFlight();
  if (isNew) queueCheck(ctx, candidate, nextCheck(0, 0).delaySeconds);
  return { candidate, isNew, canSend };
}

/**
 * Stores a signature that a caller named, for later checks. For an unknown one, `countNew` may refuse with 429. If the count fails for
 * another reason, the signature is stored anyway. At the limit it replaces the oldest named one unknown to the chain, so that an invented
 * signature displaces no real one.
 */
export async function rememberNamed(ctx: Shard, paymentId: PaymentId, txSignature: string, countNew?: () => Promise<void>): Promise<void> {
  if (countNew && !(await isCandidate(ctx.db, paymentId, txSignature)))
    await countNew().catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'rate_limited') throw error;
      ctx.note(`object: ${formatErrorChain(error)}`);
    });
  const candidate = newCandidate(ctx, paymentId, txSignature, 'named');
  const { isNew, isKnown, named } = await insertCandidate(ctx, candidate);
  const displaced = isKnown ? null : await findUnknown(ctx, named);
  const isInstead = displaced !== null && (await insertCandidate(ctx, candidate, { displaced })).isNew;
  if (isNew || isInstead) queueCheck(ctx, candidate, nextCheck(0, 0).delaySeconds);
}

async function findUnknown(ctx: Ctx, named: Candidate[]): Promise<Candidate | null> {
  if (named.length === 0) return null;
  const answer = await ctx.chain.knows(named.map(({ txSignature }) => txSignature));
  if (answer.kind === 'unavailable') ctx.note(`rpc: ${answer.reason}`);
  return answer.kind === 'known' ? (named.find((_, i) => !answer.isKnown[i]) ?? null) : null;
}

/** Stores a transaction seen on the chain that could not be stored as a payment yet, and enqueues an immediate check. */
export async function rememberFound(ctx: Shard, payment: Payment, txSignature: string): Promise<void> {
  await commit(ctx, { events: [], writes: [planFound(ctx, payment, txSignature)], result: null });
  followFound(ctx, payment, txSignature);
}

export const planFound = (ctx: Shard, { nonce }: Payment, txSignature: string): Write =>
  insertFound(ctx, [{ signature: txSignature, nonce }], ctx.now - SWEEP_PATIENCE_MS);

/** Enqueues the check of a found transaction after its batch. A lost message costs a minute, because the sweep checks too. */
export const followFound = (ctx: Shard, { id: paymentId }: Payment, txSignature: string): void =>
  ctx.defer(sendJob(ctx, { kind: 'recheckCandidate', paymentId, txSignature, attempt: 0 }));
