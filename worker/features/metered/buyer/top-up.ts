import { ApiError } from '#core/errors.ts';
import { calledBy } from '#features/entitlements/entitlement.ts';
import type { Ctx } from '#platform/context.ts';
import type { MeteredSnapshot } from '#rules/metered/rpc.ts';
import { decodeChannel } from '#solana/programs/payment-channels/channel.ts';
import { callSession, type OpenedSession, programOf } from '../session.ts';

type ToppedUp = { ok: true; session: MeteredSnapshot } | { ok: false; reason: string };

/**
 * The buyer has added to the channel's deposit by themselves. What it is by now, the channel's account says, and never the credential: more
 * than that is refused. In the sandbox there is no account to ask. 410 channel_closed, 503 rpc_unavailable.
 */
export async function topUp(ctx: Ctx, session: OpenedSession, action: { channelId: string; newDeposit: string }): Promise<ToppedUp> {
  if (action.channelId !== session.bound.channelId) return { ok: false, reason: 'channel-mismatch' };
  if (session.stage === 'closing') return { ok: false, reason: 'channel-close-pending' };
  if (session.stage !== 'open') throw new ApiError('channel_closed');
  const claimed = BigInt(action.newDeposit);
  if (claimed > BigInt(session.cap)) return { ok: false, reason: 'exceeds-cap' };
  // It is known already: no node is asked for what a caller may say without a proof.
  if (claimed <= BigInt(session.deposit)) return { ok: true, session };
  const seen = session.livemode ? await depositOf(ctx, session) : { deposit: claimed, settled: BigInt(session.settled) };
  if (seen === null || seen.deposit < claimed) return { ok: false, reason: 'exceeds-deposit' };
  const answer = await callSession(ctx, session.sessionId, (object) => object.seen({ ...seen, ...calledBy(ctx) }));
  return answer.ok ? { ok: true, session: answer.snapshot } : { ok: false, reason: answer.reason };
}

async function depositOf(ctx: Ctx, session: OpenedSession): Promise<{ deposit: bigint; settled: bigint } | null> {
  const program = programOf(session);
  const read = await ctx.chain.readAccounts([session.bound.channelId]);
  if (read.kind === 'unavailable') {
    ctx.note(`rpc: ${read.reason}`);
    throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
  }
  const [account] = read.accounts;
  const decoded = account && account.owner === program.address ? decodeChannel(program, account.data) : null;
  return decoded?.ok ? { deposit: decoded.value.deposit, settled: decoded.value.settled } : null;
}
