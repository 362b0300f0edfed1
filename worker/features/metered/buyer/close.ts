import type { Scope } from '#platform/context.ts';
import type { SignedVoucher } from '#protocols/mpp/session.ts';
import { type Challenge, isOurs } from '#protocols/mpp/wire.ts';
import { type Closed, endSession } from '../close.ts';
import { callSession, type OpenedSession, presentTo } from '../session.ts';

/**
 * Closes a session for its buyer, with or without a last voucher. The same credential again returns the session as it is. What the chain
 * does not show yet is followed up later.
 */
export async function closeByBuyer(
  ctx: Scope,
  session: OpenedSession,
  challenge: Challenge,
  action: { channelId: string; voucher?: SignedVoucher | undefined },
): Promise<Closed> {
  const presented = action.voucher === undefined ? null : await presentTo(session, action.voucher);
  const problem = await findCloseProblem(ctx, session, challenge, presented);
  if (problem !== null) return { ok: false, reason: problem };
  if (action.channelId !== session.bound.channelId) return { ok: false, reason: 'channel-mismatch' };
  if (presented !== null && !presented.ok) return presented;
  return endSession(ctx, session, presented?.voucher ?? null);
}

/**
 * Finds why a caller may not close. The channel's address is public, so the caller proves to be the buyer: by the challenge that opened the
 * session, which only its client knows, or by a signed voucher that no transaction has published.
 */
async function findCloseProblem(
  ctx: Scope,
  session: OpenedSession,
  challenge: Challenge,
  presented: Awaited<ReturnType<typeof presentTo>> | null,
): Promise<string | null> {
  const mayClose = (proof: { challengeId?: string; cumulative?: bigint }) =>
    callSession(ctx, session.sessionId, (object) => object.mayClose({ challengeId: null, cumulative: null, ...proof }));
  if (isOurs(challenge, ctx.config.CHALLENGE_KEYS!) && (await mayClose({ challengeId: challenge.id }))) return null;
  if (presented === null) return 'voucher-required';
  if (!presented.ok) return presented.reason;
  const { isSigned, cumulative } = presented.voucher;
  if (!isSigned) return 'invalid-signature';
  // A repeated credential changes nothing once the session is closing.
  return session.stage !== 'open' || (await mayClose({ cumulative })) ? null : 'voucher-required';
}
