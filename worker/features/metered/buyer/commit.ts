import { ApiError } from '#core/errors.ts';
import type { Ctx } from '#platform/context.ts';
import { SessionAction, type SignedVoucher } from '#protocols/mpp/session.ts';
import { parseCredential } from '#protocols/mpp/wire.ts';
import { isOver } from '#rules/metered/channel.ts';
import type { MeteredSnapshot } from '#rules/metered/rpc.ts';
import type { CommitProblem, VoucherProblem } from '#rules/metered/vouchers.ts';
import type { CommitReceipt } from '../resource.ts';
import { callSession, isOpened, type OpenedSession, presentTo, rememberSession } from '../session.ts';

interface Commit {
  deliveryId: string;
  voucher: SignedVoucher;
}
export type CommitRefusal = CommitProblem | 'channel-mismatch' | 'voucher-mismatch';
type Committed = { ok: true; committed: CommitReceipt } | { ok: false; reason: CommitRefusal };

const isSameVoucher = (a: SignedVoucher, b: SignedVoucher): boolean =>
  a.signature === b.signature && a.data.cumulativeAmount === b.data.cumulativeAmount && a.data.channelId === b.data.channelId;

/**
 * Reads a commit from the body, from the credential in `Authorization`, or from both. Returns `voucher-mismatch` if they differ, null if
 * neither has a voucher. Ignores other schemes in the header.
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

/** Counts a use for the session's merchant. Throws beyond the merchant's limit. */
export type CountUse = (session: MeteredSnapshot) => Promise<void>;

/**
 * Takes a voucher for one delivery without a database read. Only a voucher that the buyer has just signed counts as a use: forged and
 * published ones do not spend the merchant's calls. 410 channel_closed, and the errors of `count`.
 */
export async function commitDelivery(
  ctx: Ctx,
  session: MeteredSnapshot,
  { deliveryId, voucher }: Commit,
  count: CountUse,
): Promise<Committed> {
  if (!isOpened(session)) {
    if (isOver(session)) throw new ApiError('channel_closed');
    return { ok: false, reason: 'not-open' };
  }
  const presented = await presentTo(session, voucher);
  if (!presented.ok) return presented;
  if (presented.voucher.isSigned && presented.voucher.cumulative > BigInt(session.cumulative)) await count(session);
  const answer = await callSession(ctx, session.sessionId, (object, caller) =>
    object.commit({ deliveryId, voucher: presented.voucher, ...caller }),
  );
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
    session_id: session.sessionId,
  };
  return { ok: true, committed: receipt };
}

type Taken = { ok: true; session: MeteredSnapshot } | { ok: false; reason: VoucherProblem | 'channel-mismatch' };

/** Takes a voucher that names no delivery. 410 channel_closed. */
export async function takeVoucher(ctx: Ctx, session: OpenedSession, signed: SignedVoucher): Promise<Taken> {
  const presented = await presentTo(session, signed);
  if (!presented.ok) return presented;
  const answer = await callSession(ctx, session.sessionId, (object, caller) => object.voucher({ voucher: presented.voucher, ...caller }));
  if (answer.ok) return { ok: true, session: answer.snapshot };
  if (answer.reason === 'channel-sealed') throw new ApiError('channel_closed');
  return answer;
}
