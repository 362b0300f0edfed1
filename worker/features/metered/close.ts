import { ApiError } from '#core/errors.ts';
import { HOUR, MINUTE } from '#core/time.ts';
import type { Actor, Scope } from '#platform/context.ts';
import { poll } from '#platform/deadline.ts';
import { type AcceptedVoucher, isOver } from '#rules/metered/channel.ts';
import type { MeteredSnapshot } from '#rules/metered/rpc.ts';
import type { PresentedVoucher } from '#rules/metered/vouchers.ts';
import { type ChannelReading, isProvenAbsent, readChannel } from './channel/read.ts';
import { findLandedSlot, noteSettled, readSettledTotal, settleChannel } from './channel/settle.ts';
import { callSession, isOpened, type OpenedSession, readOwnSession, readSession, releaseChannel, scheduleRead } from './session.ts';
import { postponeSessionRead, sessionSnapshotOf } from './store.ts';
import { closeUnopened } from './watch/due.store.ts';

export type Closed = { ok: true; session: MeteredSnapshot } | { ok: false; reason: string };

/**
 * Closes a session for its merchant with the highest voucher it has. A session that was never opened closes with nothing settled. 404, 409
 * state_conflict while a buyer is opening it.
 */
export async function closeOwnSession(ctx: Scope, actor: Actor, sessionId: string): Promise<MeteredSnapshot> {
  const read = await readOwnSession(ctx, actor, sessionId);
  const session = isOpened(read) || isOver(read) ? read : await endUnopened(ctx, read);
  if (!isOpened(session)) return session;
  const closed = await endSession(ctx, session, null);
  if (!closed.ok) throw new ApiError('state_conflict', { meta: { reason: closed.reason } });
  return closed.session;
}

/** Ends a session without a channel. Returns it as it is if a buyer has opened it since. */
async function endUnopened(ctx: Scope, { sessionId, livemode }: MeteredSnapshot): Promise<MeteredSnapshot> {
  const row = await closeUnopened(ctx, sessionId);
  if (row !== null && row.channelId !== null) await releaseChannel(ctx, { sessionId, livemode }, row.channelId);
  const session = row === null ? await readSession(ctx, sessionId) : sessionSnapshotOf(row);
  if (session.stage !== 'created') return session;
  throw new ApiError('state_conflict', {
    detail: 'A buyer is opening this session. Retry in some minutes.',
    meta: { reason: 'opening-pending' },
  });
}

/** Stops taking vouchers and brings the highest one onto the chain. */
export async function endSession(ctx: Scope, session: OpenedSession, voucher: PresentedVoucher | null): Promise<Closed> {
  const { sessionId, livemode } = session;
  const answer = await callSession(ctx, sessionId, (object, caller) => object.close({ voucher, ...caller }));
  if (!answer.ok) return answer;
  const current = { ...answer.snapshot, bound: session.bound };
  if (current.stage !== 'closing') return { ok: true, session: current };
  if (livemode) await sealChannel(ctx, current, answer.vouchers);
  else await closeSimulated(ctx, current, answer.vouchers);
  return { ok: true, session: await readSession(ctx, sessionId) };
}

/** Pays out the highest voucher. The simulated chain has no channel to seal. */
async function closeSimulated(ctx: Scope, session: OpenedSession, vouchers: AcceptedVoucher[]): Promise<void> {
  const settled = await settleChannel(ctx, session, { channel: null, vouchers, step: 'last' });
  if (settled.kind !== 'landed' && settled.kind !== 'nothing') return;
  // An earlier call may have settled and crashed before it updated the object.
  const [best] = vouchers;
  if (settled.kind === 'nothing' && best) await noteSettled(ctx, session, best.cumulative);
  await callSession(ctx, session.sessionId, (object, caller) => object.end(caller));
}

/** A distribution, a seal, and the read of their result. */
const TURNS_MAX = 3;

/**
 * Settles the highest voucher, seals and distributes the channel, and ends the session's object once nothing is left. Safe to repeat: the
 * program settles no voucher twice. A voucher that ended before it landed never counts as settled.
 */
async function sealChannel(ctx: Scope, session: OpenedSession, vouchers: AcceptedVoucher[]): Promise<void> {
  let reading = await readChannel(ctx, session);
  for (let turn = 0; turn < TURNS_MAX && reading.kind === 'present'; turn++) {
    const settled = await settleChannel(ctx, session, { channel: reading.channel, vouchers, step: 'last' });
    if (settled.kind === 'waiting') await backOff(ctx, session);
    if (settled.kind !== 'landed') return;
    reading = await readChannelPast(ctx, session, settled.slot);
  }
  if (!(await isChannelOver(ctx, session, reading))) return;
  const total = await readSettledTotal(ctx, session);
  if (total === null) return;
  await noteSettled(ctx, session, total);
  await callSession(ctx, session.sessionId, (object, caller) => object.end(caller));
}

/** Doubles the interval between reads of a sealed channel: it may wait for a token account for ever, and its money is safe. */
async function backOff(ctx: Scope, session: OpenedSession): Promise<void> {
  const waitedMs = ctx.now - (session.closingAt ?? session.usedAt);
  const afterMs = Math.min(HOUR, Math.max(MINUTE, waitedMs));
  await scheduleRead(ctx, session, afterMs);
  await postponeSessionRead(ctx, session, afterMs);
}

/** Believes an absent channel if the node is at our last settlement's slot, or if every node misses it. */
async function isChannelOver(ctx: Scope, session: OpenedSession, reading: ChannelReading): Promise<boolean> {
  if (reading.kind !== 'absent') return reading.kind === 'over';
  const landed = await findLandedSlot(ctx, session);
  return (landed !== null && reading.slot >= landed) || isProvenAbsent(ctx, session);
}

const WAITS_MS = [0, 250, 400, 600, 900, 1300, 1800, 2500];

/** Reads the channel from a node at `slot` or later. */
async function readChannelPast(ctx: Scope, session: OpenedSession, slot: number): Promise<ChannelReading> {
  const reading = await poll(ctx, { waitsMs: WAITS_MS, patienceMs: ctx.config.SETTLE_PATIENCE_MS }, async () => {
    const read = await readChannel(ctx, session);
    return read.kind !== 'unknown' && read.slot >= slot ? read : null;
  });
  return reading ?? { kind: 'unknown', slot: 0 };
}
