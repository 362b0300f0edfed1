import { ApiError } from '#core/errors.ts';
import type { Ctx } from '#platform/context.ts';
import type { MeteredSnapshot } from '#rules/metered/rpc.ts';
import { decodeChannel } from '#solana/programs/payment-channels/channel.ts';
import { readAccounts } from '../channel/read.ts';
import { callSession, type OpenedSession, programOf } from '../session.ts';

type ToppedUp = { ok: true; session: MeteredSnapshot } | { ok: false; reason: string };

/**
 * Raises a session's deposit to what its channel's account shows, after the buyer topped the channel up. The sandbox has no account and
 * believes the credential. 410 channel_closed, 503 rpc_unavailable.
 */
export async function topUp(ctx: Ctx, session: OpenedSession, action: { channelId: string; newDeposit: string }): Promise<ToppedUp> {
  if (action.channelId !== session.bound.channelId) return { ok: false, reason: 'channel-mismatch' };
  if (session.stage === 'closing') return { ok: false, reason: 'channel-close-pending' };
  if (session.stage !== 'open') throw new ApiError('channel_closed');
  const claimed = BigInt(action.newDeposit);
  if (claimed > BigInt(session.cap)) return { ok: false, reason: 'exceeds-cap' };
  // A caller without proof causes no chain read for a deposit that is known.
  if (claimed <= BigInt(session.deposit)) return { ok: true, session };
  const seen = session.livemode ? await readDeposit(ctx, session) : { deposit: claimed, settled: BigInt(session.settled) };
  if (seen === null || seen.deposit < claimed) return { ok: false, reason: 'exceeds-deposit' };
  const answer = await callSession(ctx, session.sessionId, (object, caller) => object.seen({ ...seen, ...caller }));
  return answer.ok ? { ok: true, session: answer.snapshot } : { ok: false, reason: answer.reason };
}

async function readDeposit(ctx: Ctx, session: OpenedSession): Promise<{ deposit: bigint; settled: bigint } | null> {
  const program = programOf(session);
  const [account] = await readAccounts(ctx, [session.bound.channelId]);
  const decoded = account && account.owner === program.address ? decodeChannel(program, account.data) : null;
  return decoded?.ok ? { deposit: decoded.value.deposit, settled: decoded.value.settled } : null;
}
