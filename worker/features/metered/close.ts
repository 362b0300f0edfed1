import { ApiError } from '#core/errors.ts';
import { calledBy } from '#features/entitlements/entitlement.ts';
import type { Actor, Scope } from '#platform/context.ts';
import type { SignedVoucher } from '#protocols/mpp/session.ts';
import { presentVoucher } from '#protocols/mpp/voucher.ts';
import { type AcceptedVoucher, isOver } from '#rules/metered/channel.ts';
import type { MeteredSnapshot } from '#rules/metered/rpc.ts';
import type { PresentedVoucher } from '#rules/metered/vouchers.ts';
import { sealChannel } from './channel/seal.ts';
import { noteSettled, settleChannel } from './channel/settle.ts';
import { callSession, isOpened, type OpenedSession, readOwnSession, readSession, releaseChannel, voucherForms } from './session.ts';
import { sessionSnapshotOf } from './store.ts';
import { closeUnopened } from './watch/due.store.ts';

type Closed = { ok: true; session: MeteredSnapshot } | { ok: false; reason: string };

/**
 * The merchant closes with the highest voucher there is. A session that was never opened is closed with nothing settled. 404, 409
 * state_conflict while its opening is under way.
 */
export async function closeOwnSession(ctx: Scope, actor: Actor, sessionId: string): Promise<MeteredSnapshot> {
  const read = await readOwnSession(ctx, actor, sessionId);
  const session = isOpened(read) || isOver(read) ? read : await endUnopened(ctx, read);
  if (!isOpened(session)) return session;
  const closed = await endSession(ctx, session, null);
  if (!closed.ok) throw new ApiError('state_conflict', { meta: { reason: closed.reason } });
  return closed.session;
}

/** Closes what no channel was opened for. One that was opened meanwhile is answered as it is by then. */
async function endUnopened(ctx: Scope, { sessionId, livemode }: MeteredSnapshot): Promise<MeteredSnapshot> {
  const row = await closeUnopened(ctx, sessionId);
  if (row !== null && row.channelId !== null) await releaseChannel(ctx, { sessionId, livemode }, row.channelId);
  const session = row === null ? await readSession(ctx, sessionId) : sessionSnapshotOf(row);
  if (session.stage !== 'created') return session;
  throw new ApiError('state_conflict', {
    detail: 'A buyer is opening this session. Try again in some minutes.',
    meta: { reason: 'opening-pending' },
  });
}

/**
 * The buyer closes, with a last voucher or without. From then on no voucher is taken; what comes of it on the chain is told as far as it is
 * known, and followed up where it is not. The same credential again: the session as it is by then.
 */
export async function closeByBuyer(
  ctx: Scope,
  session: OpenedSession,
  action: { channelId: string; voucher?: SignedVoucher | undefined },
): Promise<Closed> {
  if (action.channelId !== session.bound.channelId) return { ok: false, reason: 'channel-mismatch' };
  const presented =
    action.voucher === undefined ? null : await presentVoucher(action.voucher, { ...session.bound, forms: voucherForms(session) });
  if (presented !== null && !presented.ok) return presented;
  return endSession(ctx, session, presented?.voucher ?? null);
}

/** Takes no voucher any more, and brings the highest one onto the chain. */
export async function endSession(ctx: Scope, session: OpenedSession, voucher: PresentedVoucher | null): Promise<Closed> {
  const { sessionId, livemode } = session;
  const answer = await callSession(ctx, sessionId, (object) => object.close({ voucher, ...calledBy(ctx) }));
  if (!answer.ok) return answer;
  const now = { ...answer.snapshot, bound: session.bound };
  if (now.stage !== 'closing') return { ok: true, session: now };
  if (livemode) await sealChannel(ctx, now, answer.vouchers);
  else await closeSimulated(ctx, now, answer.vouchers);
  return { ok: true, session: await readSession(ctx, sessionId) };
}

/** The simulated chain knows no channels: what was promised is paid out, and there is nothing to seal. */
async function closeSimulated(ctx: Scope, session: OpenedSession, vouchers: AcceptedVoucher[]): Promise<void> {
  const settled = await settleChannel(ctx, session, { channel: null, vouchers, step: 'last' });
  if (settled.kind !== 'landed' && settled.kind !== 'nothing') return;
  // What an earlier call settled and had no time to tell.
  const [best] = vouchers;
  if (settled.kind === 'nothing' && best) await noteSettled(ctx, session, best.cumulative);
  await callSession(ctx, session.sessionId, (object) => object.end(calledBy(ctx)));
}
