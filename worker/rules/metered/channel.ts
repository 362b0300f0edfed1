/**
 * The pure rules of a metered session: one payment channel whose buyer signs ever higher vouchers. One Durable Object keeps one
 * `MeteredChannel`; nothing else counts. The order of the checks is that of the reference server (`@solana/pay-kit` 0.5), so that its clients
 * are told the same reason. Amounts are base units of the channel's mint, instants milliseconds, but for a voucher's own end. No clock,
 * no storage.
 * @module
 */

import { assert, err, ok, type Result } from '#core/errors.ts';
import { MONEY_UNITS_MAX } from '#core/money.ts';

export type ChannelStage = 'created' | 'open' | 'closing' | 'closed' | 'expired' | 'failed';

/** A voucher that was accepted: enough of it to settle on chain. */
export interface AcceptedVoucher {
  cumulative: bigint;
  /** Base58 of 64 bytes. */
  signature: string;
  /** Unix seconds; 0: it never ends. */
  expiresAt: bigint;
}

/** A delivery that was announced and is not committed yet. */
export interface Reservation {
  deliveryId: string;
  amount: bigint;
  /** Counted from 1 over all reservations of the channel. */
  sequence: number;
  expiresAt: number;
  /**
   * True where the merchant reserved: the amount is kept free until it is committed. What a client may announce that knows no more than
   * the channel's public address, keeps nothing free.
   */
  holdsMoney: boolean;
}

/** What became of a delivery. Kept as long as it may be asked for again. */
export interface CommittedDelivery extends Pick<Reservation, 'deliveryId' | 'amount' | 'sequence' | 'expiresAt'> {
  /** What it was announced with: `amount`, which was paid, may be less. */
  announced: bigint;
  cumulative: bigint;
  signature: string;
}

/** 0 <= settled <= cumulative, and cumulative + reserved <= deposit. */
export interface MeteredChannel {
  stage: ChannelStage;
  /** What the buyer locked up, as the chain says. Never less than it was. */
  deposit: bigint;
  /** The highest amount a voucher promised, or the chain settled. Never less than it was. */
  cumulative: bigint;
  /** Of that, what the program has accepted. Never less than it was. */
  settled: bigint;
  /**
   * Vouchers to settle with, the highest first; each lower one ends later than those before it. Kept when the chain has settled them
   * too, because a fork may drop that settlement.
   */
  vouchers: readonly AcceptedVoucher[];
  pending: readonly Reservation[];
  /** Of the last reservation. */
  sequence: number;
  /** Of the last change. */
  version: number;
  /** When a voucher or reservation of it last came, or it was opened. */
  usedAt: number;
}

/** What was agreed when the session was made. */
export interface ChannelTerms {
  cap: bigint;
  minVoucherDelta: bigint;
  gracePeriodSeconds: number;
}

export type OpenProblem = 'already-open' | 'channel-sealed' | 'invalid-deposit' | 'exceeds-cap';

/** `replayed`: it had happened before, and nothing changes. */
export type ChannelStep<Extra = object> = { channel: MeteredChannel; replayed: boolean } & Extra;

export const newChannel = (now: number): MeteredChannel => ({
  stage: 'created',
  deposit: 0n,
  cumulative: 0n,
  settled: 0n,
  vouchers: [],
  pending: [],
  sequence: 0,
  version: 0,
  usedAt: now,
});

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);
export const reservedIn = (pending: readonly Reservation[]): bigint =>
  sum(pending.flatMap(({ holdsMoney, amount }) => (holdsMoney ? [amount] : [])));
/** What reservations keep free. */
export const reservedOf = ({ pending }: MeteredChannel): bigint => reservedIn(pending);

export const ENDED: readonly ChannelStage[] = ['closed', 'expired', 'failed'];
export const isOver = ({ stage }: Pick<MeteredChannel, 'stage'>): boolean => ENDED.includes(stage);

/** Throws for a bug. */
export function assertChannel(channel: MeteredChannel): MeteredChannel {
  const { settled, cumulative, deposit, pending, vouchers, sequence } = channel;
  const isOrdered = 0n <= settled && settled <= cumulative && cumulative + reservedIn(pending) <= deposit && deposit <= MONEY_UNITS_MAX;
  const isDistinct = new Set(pending.map(({ deliveryId }) => deliveryId)).size === pending.length;
  const isNumbered = pending.every((one) => one.sequence <= sequence && one.amount > 0n);
  const isFront = vouchers.every((one, i) => {
    const above = i === 0 ? null : vouchers[i - 1]!;
    return above === null ? one.cumulative <= cumulative : one.cumulative < above.cumulative && isOutlasting(one, above);
  });
  assert(isOrdered && isDistinct && isNumbered && isFront, `impossible channel at ${channel.version}`);
  return channel;
}

export const changed = (channel: MeteredChannel, change: Partial<MeteredChannel>): MeteredChannel =>
  assertChannel({ ...channel, ...change, version: channel.version + 1 });
export const same = (channel: MeteredChannel): { channel: MeteredChannel; replayed: true } => ({ channel, replayed: true });
export const movedChannel = (channel: MeteredChannel, change: Partial<MeteredChannel>): { channel: MeteredChannel; replayed: false } => ({
  channel: changed(channel, change),
  replayed: false,
});

/** The channel stands on the chain with this deposit. Once; the caller has told that it is this session's channel. */
export function planOpen(
  channel: MeteredChannel,
  terms: ChannelTerms,
  seen: { deposit: bigint; settled: bigint },
  now: number,
): Result<ChannelStep, OpenProblem> {
  if (channel.stage === 'open' || channel.stage === 'closing') return ok(same(channel));
  if (isOver(channel)) return err('channel-sealed');
  if (seen.deposit <= 0n) return err('invalid-deposit');
  if (seen.deposit > terms.cap) return err('exceeds-cap');
  return ok(movedChannel(channel, { stage: 'open', deposit: seen.deposit, cumulative: seen.settled, settled: seen.settled, usedAt: now }));
}

/** Reservations whose time is over are as if they had never been made. */
export const withoutExpired = (channel: MeteredChannel, now: number): MeteredChannel => {
  const pending = channel.pending.filter(({ expiresAt }) => expiresAt > now);
  return pending.length === channel.pending.length ? channel : { ...channel, pending };
};

/**
 * What the chain says of the channel: deposit and settled only grow, so a look that is behind changes nothing. Another party may have
 * settled a voucher that was never shown to us; then what is reserved beyond the rest is let go, the newest first.
 */
export function planSeen(channel: MeteredChannel, seen: { deposit: bigint; settled: bigint }): ChannelStep {
  const deposit = seen.deposit > channel.deposit ? seen.deposit : channel.deposit;
  const settled = seen.settled > channel.settled ? seen.settled : channel.settled;
  const isNews = deposit !== channel.deposit || settled !== channel.settled;
  if (!isNews || channel.stage === 'created') return same(channel);
  const cumulative = settled > channel.cumulative ? settled : channel.cumulative;
  let pending = channel.pending;
  while (cumulative + reservedIn(pending) > deposit) {
    const last = pending.findLast(({ holdsMoney }) => holdsMoney)!;
    pending = pending.filter((one) => one !== last);
  }
  return movedChannel(channel, { deposit, settled, cumulative, pending });
}

/** No voucher is taken any more, so that what is settled last is the highest that was ever accepted. Once. */
export function planClose(channel: MeteredChannel): Result<ChannelStep, 'not-open' | 'channel-sealed'> {
  if (channel.stage === 'closing') return ok(same(channel));
  if (isOver(channel)) return err('channel-sealed');
  return channel.stage === 'open' ? ok(movedChannel(channel, { stage: 'closing', pending: [] })) : err('not-open');
}

/** The most vouchers that a channel keeps. */
const FRONT_MAX = 3;

const isOutlasting = (one: AcceptedVoucher, other: AcceptedVoucher): boolean =>
  other.expiresAt !== 0n && (one.expiresAt === 0n || one.expiresAt > other.expiresAt);

/**
 * Adds a voucher higher than all before. A lower one is kept where it ends later and the chain has not used it yet: it still pays its part if
 * the service is away until the higher one has ended. The payer chooses amounts and dates, so where there are too many, the one that pays
 * least beyond the next lower one gives way.
 */
export function addVoucher(vouchers: readonly AcceptedVoucher[], highest: AcceptedVoucher, settled: bigint): AcceptedVoucher[] {
  const lower = vouchers.filter((voucher) => voucher.cumulative > settled && isOutlasting(voucher, highest));
  if (lower.length < FRONT_MAX) return [highest, ...lower];
  const gains = lower.map(({ cumulative }, i) => cumulative - (lower[i + 1]?.cumulative ?? settled));
  const least = gains.reduce((best, gain, i) => (gain < gains[best]! ? i : best), 0);
  return [highest, ...lower.toSpliced(least, 1)];
}

/** The end of a session whose channel is sealed. One that was never opened has no channel, and its row alone says how it ended. */
export const planEnd = (channel: MeteredChannel): ChannelStep =>
  isOver(channel) ? same(channel) : movedChannel(channel, { stage: 'closed', pending: [] });
