/**
 * Pure rules of a metered session: one payment channel, increasing vouchers signed by its buyer. Each Durable Object holds one
 * `MeteredChannel`, the only authority. Checks run in the order of the reference server (`@solana/pay-kit` 0.5), so that its clients get
 * the same reasons. Amounts in base units, times in milliseconds except a voucher's expiry (seconds).
 * @module
 */

import { assert, err, ok, type Result } from '#core/errors.ts';
import { MONEY_UNITS_MAX } from '#core/money.ts';

export type ChannelStage = 'created' | 'open' | 'closing' | 'closed' | 'expired' | 'failed';

export interface AcceptedVoucher {
  cumulative: bigint;
  signature: string;
  /** Unix seconds. 0 means no expiry. */
  expiresAt: bigint;
}

export interface Reservation {
  deliveryId: string;
  amount: bigint;
  /** Counts from 1 over all reservations of the channel. */
  sequence: number;
  expiresAt: number;
  /**
   * True if the merchant reserved: the amount is held until commit. A client's announcement holds nothing, because it proves only knowledge
   * of the public channel address.
   */
  holdsMoney: boolean;
}

export interface CommittedDelivery extends Pick<Reservation, 'deliveryId' | 'amount' | 'sequence' | 'expiresAt'> {
  announced: bigint;
  cumulative: bigint;
  signature: string;
}

/** Invariants: 0 <= settled <= cumulative, and cumulative + reserved <= deposit. */
export interface MeteredChannel {
  stage: ChannelStage;
  /** Deposit of the buyer on chain. Never decreases. */
  deposit: bigint;
  /** Highest amount promised by a voucher or settled on chain. Never decreases. */
  cumulative: bigint;
  /** Amount accepted by the program on chain. Never decreases. */
  settled: bigint;
  /** Vouchers for settlement, highest first, each lower one with a later expiry. Retained after settlement, because a fork may drop it. */
  vouchers: readonly AcceptedVoucher[];
  pending: readonly Reservation[];
  sequence: number;
  version: number;
  /** Time of the last voucher or merchant reservation, or of the opening. */
  usedAt: number;
}

export interface ChannelTerms {
  cap: bigint;
  minVoucherDelta: bigint;
  gracePeriodSeconds: number;
}

export type OpenProblem = 'already-open' | 'channel-sealed' | 'invalid-deposit' | 'exceeds-cap';

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
export const reservedOf = ({ pending }: MeteredChannel): bigint => reservedIn(pending);

export const ENDED: readonly ChannelStage[] = ['closed', 'expired', 'failed'];
export const isOver = ({ stage }: Pick<MeteredChannel, 'stage'>): boolean => ENDED.includes(stage);

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

/** Opens the session with the deposit on chain. Idempotent. The caller has verified that the channel belongs to this session. */
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

export const withoutExpired = (channel: MeteredChannel, now: number): MeteredChannel => {
  const pending = channel.pending.filter(({ expiresAt }) => expiresAt > now);
  return pending.length === channel.pending.length ? channel : { ...channel, pending };
};

/**
 * Applies a chain reading. Deposit and settled only grow, so a stale reading changes nothing. If another party settled an unknown voucher,
 * reservations beyond the rest are dropped, newest first.
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

/** Stops accepting vouchers, so that the last settlement uses the highest accepted one. Idempotent. */
export function planClose(channel: MeteredChannel): Result<ChannelStep, 'not-open' | 'channel-sealed'> {
  if (channel.stage === 'closing') return ok(same(channel));
  if (isOver(channel)) return err('channel-sealed');
  return channel.stage === 'open' ? ok(movedChannel(channel, { stage: 'closing', pending: [] })) : err('not-open');
}

const FRONT_MAX = 3;

const isOutlasting = (one: AcceptedVoucher, other: AcceptedVoucher): boolean =>
  other.expiresAt !== 0n && (one.expiresAt === 0n || one.expiresAt > other.expiresAt);

/**
 * Adds a voucher higher than all before. A lower one stays if it expires later and is not settled: it still pays its part if the service is
 * down until the higher one expires. At the limit, the one that adds least is dropped, because the payer chooses amounts and dates.
 */
export function addVoucher(vouchers: readonly AcceptedVoucher[], highest: AcceptedVoucher, settled: bigint): AcceptedVoucher[] {
  const lower = vouchers.filter((voucher) => voucher.cumulative > settled && isOutlasting(voucher, highest));
  if (lower.length < FRONT_MAX) return [highest, ...lower];
  const gains = lower.map(({ cumulative }, i) => cumulative - (lower[i + 1]?.cumulative ?? settled));
  const least = gains.reduce((best, gain, i) => (gain < gains[best]! ? i : best), 0);
  return [highest, ...lower.toSpliced(least, 1)];
}

/** Ends a session after its channel was sealed. A session that was never opened has no channel, and only its row records the end. */
export const planEnd = (channel: MeteredChannel): ChannelStep =>
  isOver(channel) ? same(channel) : movedChannel(channel, { stage: 'closed', pending: [] });
