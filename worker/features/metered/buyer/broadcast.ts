import { ApiError } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import { spendFees } from '#features/settlements/fee-budget.ts';
import { heldKey } from '#platform/chain/fee-payer.ts';
import type { Shard } from '#platform/context.ts';
import { commit, isConstraint } from '#platform/db/commit.ts';
import { isOver } from '#rules/metered/channel.ts';
import type { MeteredSnapshot } from '#rules/metered/rpc.ts';
import type { VerifiedOpening } from '#solana/programs/payment-channels/opening.ts';
import { claimChannel, readSession, releaseLost } from '../session.ts';
import { holdsChannel, noteOpening } from '../store.ts';

/** An opening costs us as much as ten payments: a fee of two signatures, and on the current program the rent until it is reclaimed. */
const OPENING_FEES = 10;
/** Another broadcast of the channel costs its signatures alone: its rent is paid once. */
const REPEATED_FEES = 1;

type Opening = VerifiedOpening & { authorizedSigner: string };
export type BroadcastRefusal = 'simulation-failed' | 'channel-mismatch' | 'already-open';

/**
 * Co-signs an opening, makes its channel the session's, notes that and broadcasts; null once it is sent. The claim comes first, so that no
 * other session is opened by what this one has broadcast. What would fail is not sent, and costs nothing; all that is sent is paid for,
 * because each variant of an opening that loses against another one costs us its fee. 410 channel_closed, 429 rate_limited, 503
 * rpc_unavailable, and temporarily_unavailable where the session's operator is not a key of ours any more.
 */
export async function broadcastOpening(ctx: Shard, session: MeteredSnapshot, opening: Opening): Promise<BroadcastRefusal | null> {
  const operator = heldKey(ctx.config, 'CHANNEL_KEYS', session.operator);
  if (operator === null) {
    ctx.note(`operator ${session.operator} is not in CHANNEL_KEYS: session ${session.sessionId} cannot be opened`);
    throw new ApiError('temporarily_unavailable', { retryAfterSeconds: 30 });
  }
  const wire = opening.wire.slice();
  wire.set(operator.sign(opening.messageBytes), 1);
  const simulated = await ctx.chain.simulate(wire);
  if (simulated.kind === 'unavailable') throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
  if (simulated.kind === 'failed') {
    ctx.note(`simulation: ${simulated.reason}`);
    return 'simulation-failed';
  }
  if (!(await claimChannel(ctx, session, opening.channelId))) return 'channel-mismatch';
  const noted = await note(ctx, session, opening);
  if (noted === 'other') {
    await releaseLost(ctx, session, opening.channelId);
    if (isOver(await readSession(ctx, session.sessionId))) throw new ApiError('channel_closed');
    return 'already-open';
  }
  if (noted === 'before') await spendFees(ctx, spenderOf(session, opening), REPEATED_FEES);
  const sent = await ctx.chain.sendTransaction(wire, { preflight: false });
  if (sent.kind !== 'sent') ctx.note(`broadcast: ${sent.reason}`);
  return null;
}

const spenderOf = ({ merchantId, livemode }: MeteredSnapshot, { payer }: Opening) => ({
  merchantId: merchantId as AccountId,
  livemode,
  payerWallet: payer,
});

/**
 * Notes the channel as the session's, and spends what its opening costs. `before`: it was noted by an earlier call, which paid for it;
 * `other`: the session has another channel. Where the batch was refused nothing is sent, so its fees are given back; where its answer was
 * lost they are spent, because it may be stored.
 */
async function note(ctx: Shard, session: MeteredSnapshot, opening: Opening): Promise<'now' | 'before' | 'other'> {
  if (await holdsChannel(ctx.db, session, opening.channelId)) return 'before';
  const giveBack = await spendFees(ctx, spenderOf(session, opening), OPENING_FEES);
  try {
    await commit(ctx, { events: [], writes: noteOpening(ctx, session, opening), result: null });
    return 'now';
  } catch (error) {
    if (!isConstraint(error)) throw error;
    await giveBack();
    return (await holdsChannel(ctx.db, session, opening.channelId)) ? 'before' : 'other';
  }
}
