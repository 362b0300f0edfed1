import { ApiError } from '#core/errors.ts';
import { calledBy } from '#features/entitlements/entitlement.ts';
import type { Ctx } from '#platform/context.ts';
import { SessionAction, type SignedVoucher } from '#protocols/mpp/session.ts';
import { presentVoucher } from '#protocols/mpp/voucher.ts';
import { parseCredential } from '#protocols/mpp/wire.ts';
import { isOver } from '#rules/metered/channel.ts';
import type { MeteredSnapshot } from '#rules/metered/rpc.ts';
import type { CommitProblem } from '#rules/metered/vouchers.ts';
import type { CommitReceipt } from '../resource.ts';
import { callSession, recallSession, rememberSession, voucherForms } from '../session.ts';

interface Commit {
  deliveryId: string;
  voucher: SignedVoucher;
}
export type CommitRefusal = CommitProblem | 'channel-mismatch' | 'voucher-mismatch';
type Committed = { ok: true; receipt: CommitReceipt } | { ok: false; reason: CommitRefusal };

const isSameVoucher = (a: SignedVoucher, b: SignedVoucher): boolean =>
  a.signature === b.signature && a.data.cumulativeAmount === b.data.cumulativeAmount && a.data.channelId === b.data.channelId;

/**
 * What a commit says, in any of its forms: the voucher in the body, in the credential of `Authorization`, or the same in both. Another
 * scheme in the header is not ours to read. `voucher-mismatch` where the two differ; null where there is no voucher at all.
 */
export function readCommit(
  header: string | undefined,
  body: { deliveryId: string; voucher?: SignedVoucher },
): Commit | 'voucher-mismatch' | null {
  const credential = header === undefined ? null : parseCredential(header);
  const action = credential?.ok ? SessionAction.safeParse(credential.value.payload) : null;
  const shown = action?.success && action.data.action === 'commit' ? action.data : null;
  const voucher = body.voucher ?? shown?.voucher;
  if (voucher === undefined) return null;
  if (shown && (shown.deliveryId !== body.deliveryId || !isSameVoucher(shown.voucher, voucher))) return 'voucher-mismatch';
  return { deliveryId: body.deliveryId, voucher };
}

/** Counts a use for the session's merchant, or refuses it. */
export type CountUse = (session: MeteredSnapshot) => Promise<void>;

/**
 * Takes a voucher for one delivery. Its signature is checked here, so that the session's one object only counts; whether it counts is told
 * in the reference's order. Only what the buyer has just signed is counted for the merchant: neither a forged voucher nor an old one, which
 * the chain has made public, uses up the merchant's calls. No database is asked. 404, 410 channel_closed, and what `count` refuses;
 * other refusals are answers.
 */
export async function commitDelivery(ctx: Ctx, sessionId: string, { deliveryId, voucher }: Commit, count: CountUse): Promise<Committed> {
  const session = await recallSession(ctx, sessionId);
  if (session.bound === null && isOver(session)) throw new ApiError('channel_closed');
  if (session.bound === null) return { ok: false, reason: 'not-open' };
  const presented = await presentVoucher(voucher, { ...session.bound, forms: voucherForms(session) });
  if (!presented.ok) return presented;
  if (presented.voucher.isSigned && presented.voucher.cumulative > BigInt(session.cumulative)) await count(session);
  const call = { deliveryId, voucher: presented.voucher, ...calledBy(ctx) };
  const answer = await callSession(ctx, sessionId, (object) => object.commit(call));
  if (!answer.ok && answer.reason === 'channel-sealed') throw new ApiError('channel_closed');
  if (!answer.ok) return answer;
  const { committed, replayed, snapshot } = answer;
  rememberSession(snapshot);
  const receipt: CommitReceipt = {
    amount: committed.amount.toString(),
    cumulative: committed.cumulative.toString(),
    deliveryId,
    sessionId: session.bound.channelId,
    status: replayed ? 'replayed' : 'committed',
    session_id: sessionId,
  };
  return { ok: true, receipt };
}
