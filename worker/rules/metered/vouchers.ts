/**
 * Announcements of deliveries on an open channel and the vouchers that pay for them. The order of checks is that of the reference server
 * (`@solana/pay-kit` 0.5), so that its clients get the same reasons.
 * @module
 */

import { assert, err, ok, type Result } from '#core/errors.ts';
import { MONEY_UNITS_MAX } from '#core/money.ts';
import {
  type AcceptedVoucher,
  addVoucher,
  type ChannelStep,
  type ChannelTerms,
  type CommittedDelivery,
  changed,
  ENDED,
  isOver,
  type MeteredChannel,
  movedChannel,
  type Reservation,
  reservedIn,
  reservedOf,
  same,
  withoutExpired,
} from './channel.ts';

/** Voucher from a caller. `isSigned`: signed by the channel's signer in a form its program can settle. */
export interface PresentedVoucher extends AcceptedVoucher {
  isSigned: boolean;
}

/** Limits per channel: announcements that hold no money, and the merchant's reservations. */
export const ANNOUNCED_MAX = 8;
export const RESERVED_MAX = 100;
/** A voucher must outlive the session's grace period by this time (seconds), so that it can still be settled. */
const SETTLEMENT_SECONDS = 600;

export type VoucherProblem =
  | 'not-open'
  | 'channel-sealed'
  | 'channel-close-pending'
  | 'invalid-cumulative'
  | 'cumulative-not-monotonic'
  | 'exceeds-deposit'
  | 'below-min-delta'
  | 'invalid-signature'
  | 'expired'
  | 'expires-within-settlement-window';
export type CommitProblem = VoucherProblem | 'delivery-conflict' | 'unknown-delivery' | 'delivery-expired' | 'exceeds-reservation';
export type ReserveProblem = 'not-open' | 'channel-sealed' | 'delivery-conflict' | 'exceeds-deposit' | 'too-many-reservations';

/** Evicts the oldest announcement: a refusal would end the public client for good. */
function findOusted(pending: readonly Reservation[]): Reservation | null {
  const announced = pending.filter(({ holdsMoney }) => !holdsMoney);
  return announced.length < ANNOUNCED_MAX ? null : announced[0]!;
}

type Asked = Omit<Reservation, 'sequence'>;
const isSameDelivery = (asked: Asked, known: { amount: bigint }): boolean => asked.amount === known.amount;

/**
 * Announces a delivery. A repeat gets the first answer, even after commit. `known` is the committed record. `ousted` is the evicted
 * announcement, which a caller that remembers it may still commit. Announcements without money do not count as use, because a stranger can
 * make them, and a merchant's reservation replaces one under the same id.
 */
export function planReserve(
  channel: MeteredChannel,
  asked: Asked,
  known: CommittedDelivery | null,
  now: number,
): Result<ChannelStep<{ reservation: Omit<Reservation, 'holdsMoney'>; ousted: Reservation | null }>, ReserveProblem> {
  assert(asked.amount > 0n, 'a delivery has an amount');
  const pendingNow = withoutExpired(channel, now);
  const pending = pendingNow.pending.filter((one) => !(asked.holdsMoney && !one.holdsMoney && one.deliveryId === asked.deliveryId));
  const live = { ...pendingNow, pending };
  const before = known ? { ...known, amount: known.announced } : live.pending.find(({ deliveryId }) => deliveryId === asked.deliveryId);
  if (before) return isSameDelivery(asked, before) ? ok({ ...same(channel), reservation: before, ousted: null }) : err('delivery-conflict');
  if (isOver(channel)) return err('channel-sealed');
  if (channel.stage !== 'open') return err('not-open');
  const held = asked.holdsMoney ? reservedOf(live) + asked.amount : reservedOf(live);
  const needed = asked.holdsMoney ? held : held + asked.amount;
  if (channel.cumulative + needed > channel.deposit) return err('exceeds-deposit');
  const mine = live.pending.filter(({ holdsMoney }) => holdsMoney);
  if (asked.holdsMoney && mine.length >= RESERVED_MAX) return err('too-many-reservations');
  const reservation = { ...asked, sequence: channel.sequence + 1 };
  const ousted = asked.holdsMoney ? null : findOusted(live.pending);
  const nextPending = [...live.pending.filter((one) => one !== ousted), reservation];
  const usedAt = asked.holdsMoney ? now : channel.usedAt;
  return ok({ ...movedChannel(channel, { pending: nextPending, sequence: reservation.sequence, usedAt }), reservation, ousted });
}

function stageProblem({ stage }: MeteredChannel): VoucherProblem | null {
  if (ENDED.includes(stage)) return 'channel-sealed';
  if (stage === 'closing') return 'channel-close-pending';
  return stage === 'open' ? null : 'not-open';
}

/** Checks signature and expiry: a voucher must live long enough to be settled. */
function voucherProblem(
  { isSigned, expiresAt }: PresentedVoucher,
  { gracePeriodSeconds }: ChannelTerms,
  now: number,
): VoucherProblem | null {
  if (!isSigned) return 'invalid-signature';
  if (expiresAt === 0n) return null;
  const seconds = BigInt(Math.floor(now / 1000));
  if (expiresAt <= seconds) return 'expired';
  return expiresAt < seconds + BigInt(gracePeriodSeconds + SETTLEMENT_SECONDS) ? 'expires-within-settlement-window' : null;
}

const acceptedOf = ({ cumulative, signature, expiresAt }: PresentedVoucher): AcceptedVoucher => ({ cumulative, signature, expiresAt });

function raise(
  channel: MeteredChannel,
  terms: ChannelTerms,
  voucher: PresentedVoucher,
  pending: readonly Reservation[],
  now: number,
): Result<MeteredChannel, VoucherProblem> {
  if (voucher.cumulative <= channel.cumulative) return err('cumulative-not-monotonic');
  if (voucher.cumulative + reservedIn(pending) > channel.deposit) return err('exceeds-deposit');
  if (voucher.cumulative - channel.cumulative < terms.minVoucherDelta) return err('below-min-delta');
  const problem = voucherProblem(voucher, terms, now);
  if (problem) return err(problem);
  return ok(
    changed(channel, {
      cumulative: voucher.cumulative,
      vouchers: addVoucher(channel.vouchers, acceptedOf(voucher), channel.settled),
      pending,
      usedAt: now,
    }),
  );
}

const isSameVoucher = (voucher: AcceptedVoucher, known: Pick<AcceptedVoucher, 'cumulative' | 'signature'>): boolean =>
  voucher.cumulative === known.cumulative && voucher.signature === known.signature;
const isCumulative = ({ cumulative }: PresentedVoucher): boolean => cumulative > 0n && cumulative <= MONEY_UNITS_MAX;

/** Accepts a voucher without a delivery. A repeat of the watermark gets the first answer. */
export function planVoucher(
  channel: MeteredChannel,
  terms: ChannelTerms,
  voucher: PresentedVoucher,
  now: number,
): Result<ChannelStep, VoucherProblem> {
  if (!isCumulative(voucher)) return err('invalid-cumulative');
  const stage = stageProblem(channel);
  if (stage) return err(stage);
  const [best] = channel.vouchers;
  if (best && isSameVoucher(voucher, best)) {
    const problem = voucherProblem(voucher, terms, now);
    return problem ? err(problem) : ok(same(channel));
  }
  const raised = raise(channel, terms, voucher, withoutExpired(channel, now).pending, now);
  return raised.ok ? ok({ channel: raised.value, replayed: false }) : raised;
}

interface CommitRequest {
  deliveryId: string;
  voucher: PresentedVoucher;
  known: CommittedDelivery | null;
  ousted?: Reservation | null;
}

/**
 * Accepts a voucher for one delivery. A lower amount frees the rest. `known`: as for `planReserve`. `ousted`: the evicted announcement of
 * this delivery, so that a stranger's flood of announcements ends no buyer's stream.
 */
export function planCommit(
  channel: MeteredChannel,
  terms: ChannelTerms,
  { deliveryId, voucher, known, ousted = null }: CommitRequest,
  now: number,
): Result<ChannelStep<{ committed: CommittedDelivery }>, CommitProblem> {
  if (known) return isSameVoucher(voucher, known) ? ok({ ...same(channel), committed: known }) : err('delivery-conflict');
  if (!isCumulative(voucher)) return err('invalid-cumulative');
  const stage = stageProblem(channel);
  if (stage) return err(stage);
  const reservation = channel.pending.find((one) => one.deliveryId === deliveryId) ?? ousted;
  if (!reservation) return err('unknown-delivery');
  if (reservation.expiresAt <= now) return err('delivery-expired');
  const delta = voucher.cumulative - channel.cumulative;
  if (delta > reservation.amount) return err('exceeds-reservation');
  const others = withoutExpired(channel, now).pending.filter((one) => one !== reservation);
  const raised = raise(channel, terms, voucher, others, now);
  if (!raised.ok) return raised;
  const { sequence, expiresAt, amount: announced } = reservation;
  const { cumulative, signature } = voucher;
  return ok({
    channel: raised.value,
    replayed: false,
    committed: { deliveryId, sequence, expiresAt, announced, amount: delta, cumulative, signature },
  });
}
