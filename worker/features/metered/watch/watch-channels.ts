import { MINUTE, SECOND, unixSeconds } from '#core/time.ts';
import { calledBy } from '#features/entitlements/entitlement.ts';
import { heldKey } from '#platform/chain/fee-payer.ts';
import type { Ctx, Scope, Shard } from '#platform/context.ts';
import { forEach } from '#platform/db/commit.ts';
import { shardsOf } from '#platform/db/directory.ts';
import type { MeteredSessionRow } from '#platform/db/tables/settlements.ts';
import type { MeteredSnapshot } from '#rules/metered/rpc.ts';
import type { ChainAccount } from '#solana/chain.ts';
import type { Channel } from '#solana/programs/payment-channels/channel.ts';
import { buildReclaim } from '#solana/programs/payment-channels/settlement.ts';
import { openFromChain } from '../buyer/open.ts';
import { isProvenAbsent, type Look, lookOf } from '../channel/look.ts';
import { bookAll, bookPaidOut } from '../channel/payouts.ts';
import { settleChannel } from '../channel/settle.ts';
import { endSession } from '../close.ts';
import { askSession, callSession, isOpened, lookAgain, type OpenedSession, programOf, releaseChannel, scopeOfSession } from '../session.ts';
import { isNoted, noteFreed, OPENING_DEAD_MS, sessionSnapshotOf } from '../store.ts';
import { expireOpening, takeSessions } from './due.store.ts';

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

interface Opening {
  ctx: Scope;
  row: MeteredSessionRow;
  channelId: string | null;
  look: Look | null;
  account: ChainAccount | null;
}

/**
 * An opening that was noted and whose caller went away: its channel opens the session, or its session ends with the time to open it. The
 * row ends first, under a condition that a later opening breaks, so that nothing is sent for a session that is over.
 */
async function followOpening({ ctx, row, channelId, look, account }: Opening): Promise<void> {
  if (account && isNoted(row) && (await openFromChain(ctx, row, account))) return;
  const mayLand = look === null || ctx.now < row.updatedAt + OPENING_DEAD_MS;
  if (ctx.now < row.expiresAt || (row.livemode && mayLand)) return;
  // What was broadcast and never landed is claimed still.
  if ((await expireOpening(ctx, row)) && channelId !== null)
    await releaseChannel(ctx, { sessionId: row.id, livemode: row.livemode }, channelId);
}

/**
 * Looks once more at the channel of a session that has ended, until nothing of it is left. One that stands still, because the chain dropped
 * its seal, is sealed again with the vouchers that are kept; the rent of one that is over is taken back once its program gives it.
 */
async function followEnded(ctx: Scope, session: OpenedSession, row: MeteredSessionRow, look: Look): Promise<void> {
  if (!session.livemode) return noteFreed(ctx, session);
  switch (look.kind) {
    case 'unknown':
      return;
    case 'absent':
      return (await isProvenAbsent(ctx, session)) ? leave(ctx, session, row) : lookAgain(ctx, session, MINUTE);
    case 'over':
      return look.channel === null ? leave(ctx, session, row) : reclaimRent(ctx, session, look.channel);
    case 'standing': {
      const vouchers = await callSession(ctx, session.sessionId, (object) => object.vouchers(calledBy(ctx)));
      await settleChannel(ctx, session, { channel: look.channel, vouchers, step: 'last' });
    }
  }
}

/** Nothing more can come out of it, so once all that did is written down it is never looked at again. */
async function leave(ctx: Scope, session: OpenedSession, row: MeteredSessionRow): Promise<void> {
  if (await bookAll(ctx, session, row)) await noteFreed(ctx, session);
}

/** The current program keeps the rent until the channel's address can never come again. */
async function reclaimRent(ctx: Scope, session: OpenedSession, channel: Channel): Promise<void> {
  const operator = heldKey(ctx.config, 'CHANNEL_KEYS', session.operator);
  if (operator === null) return ctx.note(`operator ${session.operator} is not in CHANNEL_KEYS: rent of ${session.sessionId} waits`);
  const prepared = await ctx.chain.prepare([]);
  if (prepared.kind === 'unavailable') return ctx.note(`rpc: ${prepared.reason}`);
  const settling = { program: programOf(session), channelId: session.bound.channelId, channel };
  const wire = buildReclaim(settling, prepared.lifetime, operator);
  // Before the window is over the program refuses it, and a refusal would cost the fee.
  const simulated = await ctx.chain.simulate(wire);
  const sent = simulated.kind === 'passed' ? await ctx.chain.sendTransaction(wire, { preflight: false }) : null;
  if (sent === null) return;
  if (sent.kind !== 'sent') ctx.note(`broadcast: ${sent.reason}`);
  await lookAgain(ctx, session, MINUTE);
}
