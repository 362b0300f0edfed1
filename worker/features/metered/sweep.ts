import { SECOND, unixSeconds } from '#core/time.ts';
import { calledBy } from '#features/entitlements/entitlement.ts';
import type { Scope, Shard } from '#platform/context.ts';
import { forEach } from '#platform/db/commit.ts';
import type { Swept } from '#platform/db/sweep-pages.ts';
import type { MeteredSessionRow } from '#platform/db/tables/settlements.ts';
import type { MeteredSnapshot } from '#rules/metered/rpc.ts';
import type { ChainAccount } from '#solana/chain.ts';
import type { Channel } from '#solana/programs/payment-channels/channel.ts';
import { openFromChain } from './buyer/open.ts';
import { isProvenAbsent, type Look, lookOf } from './channel/look.ts';
import { bookPaidOut } from './channel/payouts.ts';
import { followEnded } from './channel/reclaim.ts';
import { settleChannel } from './channel/settle.ts';
import { endSession } from './close.ts';
import { callSession, findClaim, isOpened, type OpenedSession, readSession, releaseLost, scopeOfSession } from './session.ts';
import { forgetOpening, isNoted, OPENING_DEAD_MS, takeDueSessions } from './store.ts';

/** As many as one call of a node shows. */
const PAGE_MAX = 100;
const PAGES_MAX = 20;
/** Objects called at once. */
const LANES = 6;
const SWEEP_MS = 20 * SECOND;
/** A voucher that ends within this time is settled now, or within the grace period where that is longer. */
const VOUCHER_END_SECONDS = 600;

/**
 * Looks at sessions whose time has come: what was never opened ends; an opening whose caller went away is followed up; what was not used for
 * long is closed; a channel whose payer asked to close behind our back is sealed with its best voucher, well within the grace period; what
 * was promised for long, or is much, is settled; what closes and is not on the chain yet is sent again; what another party had a
 * channel pay out is written down. Asks a node for a page of
 * channels at once.
 */
export async function sweepMeteredSessions(ctx: Shard): Promise<Swept> {
  let taken = 0;
  for (let page = 0; page < PAGES_MAX && ctx.elapsedMs() < SWEEP_MS; page++) {
    const rows = await takeDueSessions(ctx, PAGE_MAX);
    taken += rows.length;
    const due = await lookAt(ctx, await readDue(ctx, rows));
    await forEach(ctx, inOrder(due), followUp, LANES);
    if (rows.length < PAGE_MAX) return { taken, isFinished: true };
  }
  return { taken, isFinished: false };
}

/** A session whose time has come. `look`: null where there is no channel to look at. */
interface Due {
  ctx: Scope;
  row: MeteredSessionRow;
  session: MeteredSnapshot;
  channelId: string | null;
  look: Look | null;
  account: ChainAccount | null;
}

/** A sweep waits for no settlement to land: the next look finds it. */
const unwaiting = (ctx: Scope): Scope => ({ ...ctx, config: { ...ctx.config, SETTLE_PATIENCE_MS: 0 } });

/** The channel is what the object says, once it has one: what was only noted in the row may be another session's. */
async function readDue(shard: Shard, rows: MeteredSessionRow[]): Promise<Due[]> {
  const due: Due[] = [];
  await forEach(
    shard,
    rows,
    async (row) => {
      const session = await readSession(shard, row.id);
      const ctx = unwaiting(await scopeOfSession(shard, session));
      const channelId = session.bound?.channelId ?? (session.stage === 'created' ? row.channelId : null);
      due.push({ ctx, row, session, channelId, look: null, account: null });
    },
    LANES,
  );
  return due;
}

async function lookAt(ctx: Shard, due: Due[]): Promise<Due[]> {
  const standing = due.filter(({ session, channelId }) => session.livemode && channelId !== null);
  if (standing.length === 0) return due;
  const read = await ctx.chain.readAccounts(standing.map(({ channelId }) => channelId!));
  if (read.kind === 'unavailable') ctx.note(`rpc: ${read.reason}`);
  const seen = new Map(standing.map(({ row }, i) => [row.id, read.kind === 'accounts' ? (read.accounts[i] ?? null) : undefined]));
  return due.map((one) => {
    const account = seen.get(one.row.id);
    if (account === undefined || read.kind === 'unavailable') return one;
    return { ...one, account, look: lookOf(one.session, account, read.slot) };
  });
}

const isClosing = ({ session, look }: Due): boolean =>
  session.stage === 'closing' || (look?.kind === 'standing' && look.channel.status !== 'open');
const endOf = ({ session: { voucherEndsAt } }: Due): number => voucherEndsAt ?? Number.POSITIVE_INFINITY;

/** First those that a delay costs money: whose payer's grace period is running, and then those whose voucher ends, the next end first. */
const inOrder = (due: Due[]): Due[] =>
  due.toSorted((one, other) => Number(isClosing(other)) - Number(isClosing(one)) || Math.sign(endOf(one) - endOf(other)) || 0);

async function followUp(due: Due): Promise<void> {
  const { ctx, row, session, look } = due;
  if (session.stage === 'created') return followOpening(due);
  if (!isOpened(session)) return;
  if (session.endedAt !== null) return followEnded(ctx, session, row, look ?? { kind: 'unknown', slot: 0 });
  const channel = look?.kind === 'standing' ? look.channel : null;
  if (channel) await noteSeen(ctx, session, channel);
  if (session.stage === 'closing' || isIdle(due) || (await isLeaving(ctx, session, look))) await endSession(ctx, session, null);
  else if (channel !== null) {
    await settleIfDue(ctx, row, session, channel);
    await bookPaidOut(ctx, session, row, channel);
  }
}

/**
 * Not used for as long as was agreed, and nothing is reserved: what the merchant reserved may be delivered by now, and its voucher on its way.
 * The row says no time at all once the account is another person's: then it ends now.
 */
function isIdle({ ctx, row, session }: Due): boolean {
  if (row.idleSeconds === 0) return true;
  return session.reserved === '0' && session.usedAt + Math.min(row.idleSeconds, session.idleSeconds) * SECOND <= ctx.now;
}

/** Nothing stands behind its vouchers any more, or soon nothing will: what is delivered from now on would never be paid. */
async function isLeaving(ctx: Scope, session: OpenedSession, look: Look | null): Promise<boolean> {
  if (look?.kind === 'absent') return isProvenAbsent(ctx, session);
  return look?.kind === 'over' || (look?.kind === 'standing' && look.channel.status !== 'open');
}

const noteSeen = (ctx: Scope, { sessionId }: MeteredSnapshot, { deposit, settled }: Channel) =>
  callSession(ctx, sessionId, (object) => object.seen({ deposit, settled, ...calledBy(ctx) }));

/**
 * Settles what was promised for long, is much, or is promised by a voucher that would end within the grace period of a payer who asks to
 * close, in which the service may be away; and pays out what is settled and could not be paid out then.
 */
async function settleIfDue(ctx: Scope, row: MeteredSessionRow, session: OpenedSession, channel: Channel): Promise<void> {
  if (BigInt(session.cumulative) <= channel.payoutWatermark) return;
  const vouchers = await callSession(ctx, session.sessionId, (object) => object.vouchers(calledBy(ctx)));
  const [best] = vouchers;
  const { CHANNEL_UNSETTLED_UNITS: most, CHANNEL_SETTLE_SECONDS: longest } = ctx.config;
  const isLong = ctx.now >= (row.settledAt ?? row.createdAt) + longest * SECOND;
  const isOpen = best !== undefined && best.cumulative > channel.settled;
  const isMuch = isOpen && best.cumulative - channel.settled >= BigInt(most);
  const endsIn = Math.max(VOUCHER_END_SECONDS, session.gracePeriodSeconds);
  const isEnding = isOpen && best.expiresAt !== 0n && best.expiresAt <= BigInt(unixSeconds(ctx.now) + endsIn);
  if (isMuch || isLong || isEnding) await settleChannel(ctx, session, { channel, vouchers, step: 'settle' });
}

async function followOpening({ ctx, row, session, channelId, look, account }: Due): Promise<void> {
  if (channelId !== null && account && isNoted(row)) {
    if (await openFromChain(ctx, row, account)) return;
    const owner = await findClaim(ctx, row, channelId);
    if (owner !== null && owner !== row.id) return forgetOpening(ctx, row);
  }
  const mayLand = channelId !== null && (look === null || ctx.now < row.updatedAt + OPENING_DEAD_MS);
  if (ctx.now < row.expiresAt || (row.livemode && mayLand)) return;
  await callSession(ctx, row.id, (object) => object.end({ stage: 'expired', ...calledBy(ctx) }));
  // What was broadcast and never landed is claimed still.
  if (channelId !== null) await releaseLost(ctx, session, channelId);
}
