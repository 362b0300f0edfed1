import { HOUR, MINUTE } from '#core/time.ts';
import { calledBy } from '#features/entitlements/entitlement.ts';
import type { Scope } from '#platform/context.ts';
import type { AcceptedVoucher } from '#rules/metered/channel.ts';
import { callSession, lookAgain, type OpenedSession } from '../session.ts';
import { putOff } from '../store.ts';
import { isProvenAbsent, type Look, lookAtChannel } from './look.ts';
import { findLandedSlot, noteSettled, type Settled, settleChannel, settledInAll } from './settle.ts';

/** A distribution, a seal, and the look at what they left. */
const TURNS_MAX = 3;
const LOOKS_MS = [250, 400, 600, 900, 1300, 1800, 2500];

/**
 * Brings the end of a session onto the chain: its highest voucher, the seal and the distribution in one transaction, so that the merchant
 * is paid and the buyer gets the rest. Its object takes no voucher any more. Safe to repeat: a channel that is over is only noted, and the
 * program settles no voucher twice. True once it is over. Of a voucher that came too late, after the grace period of a payer who closed behind
 * our back, it is never said that it was settled.
 */
export async function sealChannel(ctx: Scope, session: OpenedSession, vouchers: AcceptedVoucher[]): Promise<boolean> {
  let look = await lookAtChannel(ctx, session);
  for (let turn = 0; turn < TURNS_MAX && look.kind === 'standing'; turn++) {
    const settled = await settleChannel(ctx, session, { channel: look.channel, vouchers, step: 'last' });
    if (settled.kind === 'waiting') await backOff(ctx, session);
    if (settled.kind !== 'landed') return false;
    look = await lookPast(ctx, session, settled);
  }
  if (!(await isOver(ctx, session, look))) return false;
  const settled = await settledInAll(ctx, session);
  if (settled === null) return false;
  await noteSettled(ctx, session, settled);
  await callSession(ctx, session.sessionId, (object) => object.end(calledBy(ctx)));
  return true;
}

/** A sealed channel that waits for a token account is safe, and may wait for ever: it is looked at after as long again as it has waited. */
async function backOff(ctx: Scope, session: OpenedSession): Promise<void> {
  const waitedMs = ctx.now - (session.closingAt ?? session.usedAt);
  const afterMs = Math.min(HOUR, Math.max(MINUTE, waitedMs));
  await lookAgain(ctx, session, afterMs);
  await putOff(ctx, session, afterMs);
}

/** Absence is believed of a node that has come as far as a settlement of ours that the channel took, and else only where it is proven. */
async function isOver(ctx: Scope, session: OpenedSession, look: Look): Promise<boolean> {
  if (look.kind !== 'absent') return look.kind === 'over';
  const landed = await findLandedSlot(ctx, session);
  return (landed !== null && look.slot >= landed) || isProvenAbsent(ctx, session);
}

/** The channel as a node shows it that has come as far as a transaction of ours. */
async function lookPast(ctx: Scope, session: OpenedSession, { slot }: Extract<Settled, { kind: 'landed' }>): Promise<Look> {
  let waited = 0;
  for (const wait of [0, ...LOOKS_MS]) {
    waited += wait;
    if (waited > ctx.config.SETTLE_PATIENCE_MS || ctx.leftMs() <= wait) break;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const look = await lookAtChannel(ctx, session);
    if (look.kind !== 'unknown' && look.slot >= slot) return look;
  }
  return { kind: 'unknown', slot: 0 };
}
