import { ApiError } from '#core/errors.ts';
import type { MeteredSessionId } from '#core/ids.ts';
import { calledBy } from '#features/entitlements/entitlement.ts';
import type { Shard } from '#platform/context.ts';
import { isConstraint } from '#platform/db/commit.ts';
import type { MeteredSessionRow } from '#platform/db/tables/settlements.ts';
import { isOver, type OpenProblem } from '#rules/metered/channel.ts';
import type { BoundChannel, MeteredSnapshot, MeteredTerms } from '#rules/metered/rpc.ts';
import type { AccountProblem, OpeningProblem } from '#solana/programs/payment-channels/opening.ts';
import { claimChannel, openObject, releaseLost } from '../session.ts';
import { findMeteredSession, sessionTermsOf, takeSession } from '../store.ts';
import type { BroadcastRefusal } from './broadcast.ts';

export type OpenRefusal =
  | OpenProblem
  | OpeningProblem
  | AccountProblem
  | 'invalid-challenge'
  | 'payment-expired'
  | 'transaction-required'
  | 'payout-account-missing'
  | 'payer-account-missing'
  | BroadcastRefusal;
export type Opened = { ok: true; session: MeteredSnapshot } | { ok: false; reason: OpenRefusal };

/** A channel that may open a session. */
export interface FoundChannel {
  ok: true;
  bound: BoundChannel;
  deposit: bigint;
  settled: bigint;
}

/**
 * Makes a channel the session's own, counted by its object. The row is taken first: a session that was never opened ends by its row alone,
 * and one that ended first opens no more. 410 channel_closed.
 */
export async function bindChannel(
  ctx: Shard,
  session: Pick<MeteredTerms, 'sessionId' | 'livemode'>,
  { bound, deposit, settled }: FoundChannel,
  challengeId: string | null,
): Promise<Opened> {
  if (!(await claimChannel(ctx, session, bound.channelId))) return { ok: false, reason: 'channel-mismatch' };
  const row = await takeRow(ctx, session.sessionId, bound);
  if (typeof row === 'string') {
    await releaseLost(ctx, session, bound.channelId);
    if (row === 'channel-sealed') throw new ApiError('channel_closed');
    return { ok: false, reason: row };
  }
  const answer = await openObject(ctx, { ...bound, terms: sessionTermsOf(row), deposit, settled, challengeId, ...calledBy(ctx) });
  if (answer.ok) return { ok: true, session: answer.snapshot };
  if (answer.reason === 'channel-sealed') throw new ApiError('channel_closed');
  await releaseLost(ctx, session, bound.channelId);
  return { ok: false, reason: answer.reason };
}

async function takeRow(ctx: Shard, sessionId: string, bound: BoundChannel): Promise<MeteredSessionRow | OpenRefusal> {
  try {
    const row = await takeSession(ctx, sessionId, bound);
    if (row !== null) return row;
  } catch (error) {
    if (isConstraint(error)) return 'channel-mismatch';
    throw error;
  }
  const stored = await findMeteredSession(ctx.db, sessionId as MeteredSessionId);
  if (stored === null || isOver({ stage: stored.status })) return 'channel-sealed';
  if (stored.channelId === null) return 'payment-expired';
  return stored.channelId === bound.channelId ? stored : 'already-open';
}
