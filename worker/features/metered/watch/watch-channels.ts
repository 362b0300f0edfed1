import { SECOND, unixSeconds } from '#core/time.ts';
import { calledBy } from '#features/entitlements/entitlement.ts';
import type { Ctx, Scope, Shard } from '#platform/context.ts';
import { forEach } from '#platform/db/commit.ts';
import { shardsOf } from '#platform/db/directory.ts';
import type { MeteredSessionRow } from '#platform/db/tables/settlements.ts';
import type { MeteredSnapshot } from '#rules/metered/rpc.ts';
import type { ChainAccount } from '#solana/chain.ts';
import type { Channel } from '#solana/programs/payment-channels/channel.ts';
import { isProvenAbsent, type Look, lookOf } from '../channel/look.ts';
import { bookPaidOut } from '../channel/payouts.ts';
import { followEnded } from '../channel/reclaim.ts';
import { settleChannel } from '../channel/settle.ts';
import { endSession } from '../close.ts';
import { askSession, callSession, isOpened, lookAgain, type OpenedSession, scopeOfSession } from '../session.ts';
import { sessionSnapshotOf } from '../store.ts';
import { takeSessions } from './due.store.ts';
import { followOpening } from './opening.ts';

/** Objects called at once. */
const LANES = 6;
/** A voucher that ends within this time is settled now, or within the grace period where that is longer. */
const VOUCHER_END_SECONDS = 600;

/** For the alarms of sessions' objects. A session with nothing left to look at is not looked at again. */
export async function watchSessions(ctx: Ctx, ids: readonly string[]): Promise<void> {
  const watched = new Set<string>();
  for (const shard of shardsOf(ctx)) {
    const rows = await takeSessions(shard, ids);
    for (const { id } of rows) watched.add(id);
    await watchPage(shard, rows);
  }
  const over = ids.filter((id) => !watched.has(id));
  await forEach(ctx, over, (sessionId) => lookAgain(ctx, { sessionId }, null), LANES);
}

/** A session that is looked at. `look`: null where there is no channel to look at. */
interface Watched {
  ctx: Scope;
  row: MeteredSessionRow;
  session: MeteredSnapshot;
  channelId: string | null;
  look: Look | null;
  account: ChainAccount | null;
}

/**
 * Looks at some sessions at once, whose channels a node shows together: an opening whose caller went away is followed up; what was not used
 * for long is closed; a channel whose payer asked to close behind our back is sealed with its best voucher, well within the grace period;
 * what was promised for long, or is much, is settled; what closes and is not on the chain yet is sent again; what another party had a
 * channel pay out is written down.
 */
export async function watchPage(ctx: Shard, rows: MeteredSessionRow[]): Promise<void> {
  const watched = await lookAt(ctx, await readSessions(ctx, rows));
  await forEach(ctx, inOrder(watched), followUp, LANES);
}

/** A look waits for no settlement to land: the next one finds it. */
const unwaiting = (ctx: Scope): Scope => ({ ...ctx, config: { ...ctx.config, SETTLE_PATIENCE_MS: 0 } });

/** The channel is what the object says, once it has one: what was only noted in the row may be another session's. */
async function readSessions(shard: Shard, rows: MeteredSessionRow[]): Promise<Watched[]> {
  const watched: Watched[] = [];
  await forEach(
    shard,
    rows,
    async (row) => {
      const known = await askSession<MeteredSnapshot>(shard, row.id, (object) => object.read(calledBy(shard)));
      const session = known ?? sessionSnapshotOf(row);
      const ctx = unwaiting(await scopeOfSession(shard, session));
      const channelId = session.bound?.channelId ?? (session.stage === 'created' ? row.channelId : null);
      watched.push({ ctx, row, session, channelId, look: null, account: null });
    },
    LANES,
  );
  return watched;
}

async function lookAt(ctx: Shard, watched: Watched[]): Promise<Watched[]> {
  const standing = watched.filter(({ session, channelId }) => session.livemode && channelId !== null);
  if (standing.length === 0) return watched;
  const read = await ctx.chain.readAccounts(standing.map(({ channelId }) => channelId!));
  if (read.kind === 'unavailable') ctx.note(`rpc: ${read.reason}`);
  const seen = new Map(standing.map(({ row }, i) => [row.id, read.kind === 'accounts' ? (read.accounts[i] ?? null) : undefined]));
  return watched.map((one) => {
    const account = seen.get(one.row.id);
    if (account === undefined || read.kind === 'unavailable') return one;
    return { ...one, account, look: lookOf(one.session, account, read.slot) };
  });
}

const isClosing = ({ session, look }: Watched): boolean =>
  session.stage === 'closing' || (look?.kind === 'standing' && look.channel.status !== 'open');
const endOf = ({ session: { voucherEndsAt } }: Watched): number => voucherEndsAt ?? Number.POSITIVE_INFINITY;

/** First those that a delay costs money: whose payer's grace period is running, and then those whose voucher ends, the next end first. */
const inOrder = (watched: Watched[]): Watched[] =>
  watched.toSorted((one, other) => Number(isClosing(other)) - Number(isClosing(one)) || Math.sign(endOf(one) - endOf(other)) || 0);

async function followUp(watched: Watched): Promise<void> {
  const { ctx, row, session, look } = watched;
  if (!isOpened(session)) return session.stage === 'created' ? followOpening(watched) : undefined;
  if (session.endedAt !== null) return followEnded(ctx, session, row, look ?? { kind: 'unknown', slot: 0 });
  const channel = look?.kind === 'standing' ? look.channel : null;
  if (channel && isNews(session, channel)) await noteSeen(ctx, session, channel);
  if (session.stage === 'closing' || isIdle(watched) || (await isLeaving(ctx, session, look))) await endSession(ctx, session, null);
  else if (channel !== null) {
    await settleIfDue(ctx, row, session, channel);
    await bookPaidOut(ctx, session, row, channel);
  }
}

/**
 * Not used for as long as was agreed, and nothing is reserved: what the merchant reserved may be delivered by now, and its voucher on its way.
 * The row says no time at all once the account is another person's: then it ends now.
 */
function isIdle({ ctx, row, session }: Watched): boolean {
  if (row.idleSeconds === 0) return true;
  return session.reserved === '0' && session.usedAt + Math.min(row.idleSeconds, session.idleSeconds) * SECOND <= ctx.now;
}

/** Nothing stands behind its vouchers any more, or soon nothing will: what is delivered from now on would never be paid. */
async function isLeaving(ctx: Scope, session: OpenedSession, look: Look | null): Promise<boolean> {
  if (look?.kind === 'absent') return isProvenAbsent(ctx, session);
  return look?.kind === 'over' || (look?.kind === 'standing' && look.channel.status !== 'open');
}

const isNews = ({ deposit, settled, absentSince }: MeteredSnapshot, channel: Channel): boolean =>
  absentSince !== null || channel.deposit > BigInt(deposit) || channel.settled > BigInt(settled);

const noteSeen = (ctx: Scope, { sessionId }: MeteredSnapshot, { deposit, settled }: Channel) =>
  callSession(ctx, sessionId, (object) => object.seen({ deposit, settled, ...calledBy(ctx) }));

/**
 * Settles what was promised for long, is much, or is promised by a voucher that would end within the grace period of a payer who asks to
 * close, in which the service may be away; and pays out what is settled and could not be paid out then.
 */
async function settleIfDue(ctx: Scope, row: MeteredSessionRow, session: OpenedSession, channel: Channel): Promise<void> {
  const promised = BigInt(session.cumulative);
  if (promised <= channel.payoutWatermark) return;
  const { CHANNEL_UNSETTLED_UNITS: most, CHANNEL_SETTLE_SECONDS: longest } = ctx.config;
  const isLong = ctx.now >= (row.settledAt ?? row.createdAt) + longest * SECOND;
  const isMuch = promised - channel.settled >= BigInt(most);
  const endsIn = Math.max(VOUCHER_END_SECONDS, session.gracePeriodSeconds);
  const isEnding =
    promised > channel.settled && session.voucherEndsAt !== null && unixSeconds(session.voucherEndsAt) <= unixSeconds(ctx.now) + endsIn;
  if (!isMuch && !isLong && !isEnding) return;
  const vouchers = await callSession(ctx, session.sessionId, (object) => object.vouchers(calledBy(ctx)));
  await settleChannel(ctx, session, { channel, vouchers, step: 'settle' });
}
