import { MINUTE, SECOND, unixSeconds } from '#core/time.ts';
import { heldKey } from '#platform/chain/fee-payer.ts';
import type { Ctx, Scope, Shard } from '#platform/context.ts';
import { forEach } from '#platform/db/commit.ts';
import { groupByHome } from '#platform/db/directory.ts';
import { mayGoOn, type Swept, sweepRounds } from '#platform/db/sweeps.ts';
import type { MeteredSessionRow } from '#platform/db/tables/settlements.ts';
import type { MeteredSnapshot } from '#rules/metered/rpc.ts';
import type { ChainAccount } from '#solana/chain.ts';
import type { Channel } from '#solana/programs/payment-channels/channel.ts';
import { buildReclaim } from '#solana/programs/payment-channels/settlement.ts';
import { openFromChain } from '../buyer/open.ts';
import { bookAll, bookPaidOut } from '../channel/payouts.ts';
import { type ChannelReading, interpretAccount, isProvenAbsent } from '../channel/read.ts';
import { settleChannel } from '../channel/settle.ts';
import { endSession } from '../close.ts';
import {
  askSession,
  callSession,
  isOpened,
  type OpenedSession,
  programOf,
  releaseChannel,
  scheduleRead,
  scopeOfSession,
} from '../session.ts';
import { hasNotedChannel, OPENING_DEAD_MS, sessionSnapshotOf, stopReads } from '../store.ts';
import { type DueClass, expireOpening, expireUnopened, takeDueInSandbox, takeDueSessions, takeSessions } from './due.store.ts';

/** Channels that a node returns at once. */
const PAGE_MAX = 100;
/** Most calls that one session takes, when its channel is sealed. Most sessions take three. */
const CALLS_EACH = 40;
/** Objects called at once. */
const LANES = 6;
const UNOPENED = { max: 500, roundsMax: 30 };

/** Sweeps the sessions of a class after failed alarms of their objects. */
export const sweepChannels =
  (dueClass: DueClass) =>
  (ctx: Shard): Promise<Swept> =>
    sweepTaken(ctx, (max) => takeDueSessions(ctx, dueClass, max));

/** Expires sessions that were not opened in time. */
export const sweepUnopened = (ctx: Shard): Promise<Swept> => sweepRounds(ctx, UNOPENED, (max) => expireUnopened(ctx, max));

/** Sweeps all classes on one sandbox clock. */
export async function sweepSandboxSessions(ctx: Shard): Promise<void> {
  await sweepUnopened(ctx);
  await sweepTaken(ctx, (max) => takeDueInSandbox(ctx, max));
}

/** Takes only as many as the invocation can finish: a session that was taken is due again only after a while. */
async function sweepTaken(ctx: Shard, take: (max: number) => Promise<MeteredSessionRow[]>): Promise<Swept> {
  let taken = 0;
  while (mayGoOn(ctx)) {
    const max = ctx.budget.rows(CALLS_EACH, PAGE_MAX);
    if (max === 0) break;
    const rows = await take(max);
    taken += rows.length;
    await watchPage(ctx, rows);
    if (rows.length < max) return { taken, end: 'empty' };
  }
  return { taken, end: 'bound' };
}

/** Watches the sessions that their objects' alarms named. Cancels the alarm of a session with nothing left to read. */
export async function watchSessions(ctx: Ctx, ids: readonly string[]): Promise<void> {
  const watched = new Set<string>();
  for (const { home, items } of groupByHome(ctx, ids, (id) => id)) {
    const rows = await takeSessions(home, items);
    for (const { id } of rows) watched.add(id);
    await watchPage(home, rows);
  }
  const over = ids.filter((id) => !watched.has(id));
  await forEach(ctx, over, (sessionId) => scheduleRead(ctx, { sessionId }, null), LANES);
}

/** `reading`: null if the session has no channel to read, or no node answered. */
interface Watched {
  ctx: Scope;
  row: MeteredSessionRow;
  session: MeteredSnapshot;
  channelId: string | null;
  reading: ChannelReading | null;
  account: ChainAccount | null;
}

/** Reads the channels of a page together, and follows up each session: opens, settles, closes, seals or books what its channel needs. */
async function watchPage(ctx: Shard, rows: MeteredSessionRow[]): Promise<void> {
  const watched = await readChannels(ctx, await readSessions(ctx, rows));
  await forEach(ctx, byUrgency(watched), followUp, LANES);
}

/** Waits for no settlement to land: the next read finds it. */
const withoutPatience = (ctx: Scope): Scope => ({ ...ctx, config: { ...ctx.config, SETTLE_PATIENCE_MS: 0 } });

async function readSessions(shard: Shard, rows: MeteredSessionRow[]): Promise<Watched[]> {
  const watched: Watched[] = [];
  await forEach(
    shard,
    rows,
    async (row) => {
      const known = await askSession<MeteredSnapshot>(shard, row.id, (object, caller) => object.read(caller));
      const session = known ?? sessionSnapshotOf(row);
      const ctx = withoutPatience(await scopeOfSession(shard, session));
      // The object decides: a channel that was only noted in the row may be another session's.
      const channelId = session.bound?.channelId ?? (session.stage === 'created' ? row.channelId : null);
      watched.push({ ctx, row, session, channelId, reading: null, account: null });
    },
    LANES,
  );
  return watched;
}

async function readChannels(ctx: Shard, watched: Watched[]): Promise<Watched[]> {
  const live = watched.filter(({ session, channelId }) => session.livemode && channelId !== null);
  if (live.length === 0) return watched;
  const read = await ctx.chain.readAccounts(live.map(({ channelId }) => channelId!));
  if (read.kind === 'unavailable') {
    ctx.note(`rpc: ${read.reason}`);
    return watched;
  }
  const accounts = new Map(live.map(({ row }, i) => [row.id, read.accounts[i] ?? null]));
  return watched.map((one) => {
    const account = accounts.get(one.row.id);
    return account === undefined ? one : { ...one, account, reading: interpretAccount(one.session, account, read.slot) };
  });
}

const isClosing = ({ session, reading }: Watched): boolean =>
  session.stage === 'closing' || (reading?.kind === 'present' && reading.channel.status !== 'open');
const voucherEnd = ({ session: { voucherEndsAt } }: Watched): number => voucherEndsAt ?? Number.POSITIVE_INFINITY;

/** Sorts first what a delay costs money: running grace periods, then vouchers by their end. */
const byUrgency = (watched: Watched[]): Watched[] =>
  watched.toSorted(
    (one, other) => Number(isClosing(other)) - Number(isClosing(one)) || Math.sign(voucherEnd(one) - voucherEnd(other)) || 0,
  );

async function followUp(watched: Watched): Promise<void> {
  const { ctx, row, session, reading } = watched;
  if (!isOpened(session)) return session.stage === 'created' ? followOpening(watched) : undefined;
  if (session.endedAt !== null) return followEnded(ctx, session, row, reading);
  const channel = reading?.kind === 'present' ? reading.channel : null;
  if (channel && hasChanged(session, channel)) await noteChannelAmounts(ctx, session, channel);
  if (session.stage === 'closing' || isIdle(watched) || (await isUnbacked(ctx, session, reading))) await endSession(ctx, session, null);
  else if (channel !== null) {
    await settleIfDue(ctx, row, session, channel);
    await bookPaidOut(ctx, session, row, channel);
  }
}

/** True if the session is unused for `idleSeconds` and nothing is reserved. The claim of an account sets 0, which ends its sessions. */
function isIdle({ ctx, row, session }: Watched): boolean {
  if (row.idleSeconds === 0) return true;
  return session.reserved === '0' && session.usedAt + Math.min(row.idleSeconds, session.idleSeconds) * SECOND <= ctx.now;
}

/** True if the channel is gone or closing: vouchers for further deliveries would not be paid. */
async function isUnbacked(ctx: Scope, session: OpenedSession, reading: ChannelReading | null): Promise<boolean> {
  if (reading?.kind === 'absent') return isProvenAbsent(ctx, session);
  return reading?.kind === 'over' || (reading?.kind === 'present' && reading.channel.status !== 'open');
}

const hasChanged = ({ deposit, settled, absentSince }: MeteredSnapshot, channel: Channel): boolean =>
  absentSince !== null || channel.deposit > BigInt(deposit) || channel.settled > BigInt(settled);

const noteChannelAmounts = (ctx: Scope, { sessionId }: MeteredSnapshot, { deposit, settled }: Channel) =>
  callSession(ctx, sessionId, (object, caller) => object.seen({ deposit, settled, ...caller }));

/** Seconds before a voucher's end at which it is settled, unless the grace period is longer. */
const VOUCHER_END_SECONDS = 600;

/** Settles vouchers that are old, large, or might end before the service could settle them, and pays out what is settled and was not. */
async function settleIfDue(ctx: Scope, row: MeteredSessionRow, session: OpenedSession, channel: Channel): Promise<void> {
  const promised = BigInt(session.cumulative);
  if (promised <= channel.payoutWatermark) return;
  const { CHANNEL_UNSETTLED_UNITS: unitsMax, CHANNEL_SETTLE_SECONDS: secondsMax } = ctx.config;
  const isOld = ctx.now >= (row.settledAt ?? row.createdAt) + secondsMax * SECOND;
  const isLarge = promised - channel.settled >= BigInt(unitsMax);
  const endsIn = Math.max(VOUCHER_END_SECONDS, session.gracePeriodSeconds);
  const isEnding =
    promised > channel.settled && session.voucherEndsAt !== null && unixSeconds(session.voucherEndsAt) <= unixSeconds(ctx.now) + endsIn;
  if (isLarge || isOld || isEnding) await settleVouchers(ctx, session, channel, 'settle');
}

async function settleVouchers(ctx: Scope, session: OpenedSession, channel: Channel, step: 'settle' | 'last'): Promise<void> {
  const vouchers = await callSession(ctx, session.sessionId, (object, caller) => object.vouchers(caller));
  await settleChannel(ctx, session, { channel, vouchers, step });
}

/**
 * Opens a session from an opening without a caller, or expires it. The row ends first, under a condition that a later opening breaks, so
 * that nothing is sent for a session that is over.
 */
async function followOpening({ ctx, row, channelId, reading, account }: Watched): Promise<void> {
  if (account && hasNotedChannel(row) && (await openFromChain(ctx, row, account))) return;
  const mayLand = reading === null || ctx.now < row.updatedAt + OPENING_DEAD_MS;
  if (ctx.now < row.expiresAt || (row.livemode && mayLand)) return;
  // A channel that was broadcast and never landed is still claimed.
  if ((await expireOpening(ctx, row)) && channelId !== null)
    await releaseChannel(ctx, { sessionId: row.id, livemode: row.livemode }, channelId);
}

/** Follows the channel of an ended session until nothing of it is left. Seals again after the chain dropped the seal. */
async function followEnded(ctx: Scope, session: OpenedSession, row: MeteredSessionRow, reading: ChannelReading | null): Promise<void> {
  if (!session.livemode) return stopReads(ctx, session);
  switch (reading?.kind) {
    case 'absent':
      return (await isProvenAbsent(ctx, session)) ? bookRest(ctx, session, row) : scheduleRead(ctx, session, MINUTE);
    case 'over':
      return reading.channel === null ? bookRest(ctx, session, row) : reclaimRent(ctx, session, reading.channel);
    case 'present':
      return settleVouchers(ctx, session, reading.channel, 'last');
  }
}

/** Books the last payouts of a channel that cannot pay out again. */
async function bookRest(ctx: Scope, session: OpenedSession, row: MeteredSessionRow): Promise<void> {
  if (await bookAll(ctx, session, row)) await stopReads(ctx, session);
}

/** Reclaims the rent, which the current program holds until the channel's address can never be opened again. */
async function reclaimRent(ctx: Scope, session: OpenedSession, channel: Channel): Promise<void> {
  const operator = heldKey(ctx.config, 'CHANNEL_KEYS', session.operator);
  if (operator === null) return ctx.note(`operator ${session.operator} is not in CHANNEL_KEYS: rent of ${session.sessionId} waits`);
  const prepared = await ctx.chain.prepare([]);
  if (prepared.kind === 'unavailable') return ctx.note(`rpc: ${prepared.reason}`);
  const settling = { program: programOf(session), channelId: session.bound.channelId, channel };
  const wire = buildReclaim(settling, prepared.lifetime, operator);
  // The simulation refuses an early reclaim, which would cost the fee.
  const simulated = await ctx.chain.simulate(wire);
  const sent = simulated.kind === 'passed' ? await ctx.chain.sendTransaction(wire, { preflight: false }) : null;
  if (sent === null) return;
  if (sent.kind !== 'sent') ctx.note(`broadcast: ${sent.reason}`);
  await scheduleRead(ctx, session, MINUTE);
}
