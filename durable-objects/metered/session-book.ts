import { newId } from '#core/ids.ts';
import { DAY, SECOND } from '#core/time.ts';
import {
  type AcceptedVoucher,
  isOver,
  type MeteredChannel,
  newChannel,
  type Reservation,
  reservedOf,
  vouchersOf,
  withoutExpired,
} from '#rules/metered/channel.ts';
import {
  type BoundChannel,
  type DeliveryAnswer,
  type DeliveryRequest,
  fromStoredChannel,
  type MeteredEventType,
  type MeteredProjection,
  type MeteredSnapshot,
  type MeteredTerms,
  type StoredChannel,
  toStoredChannel,
} from '#rules/metered/rpc.ts';
import { planReserve } from '#rules/metered/vouchers.ts';
import type { Ledger } from '../ledger.ts';
import { CommittedDeliveries } from './deliveries.ts';
import { NO_OPENINGS, type Openings } from './openings.ts';

/** So long after its end a session still answers repeated commits. */
export const SESSION_KEPT_MS = 30 * DAY;

/** More than a stranger can announce while a client's commit is on its way. */
const OUSTED_MAX = 2_000;

export interface SessionState {
  terms: MeteredTerms | null;
  bound: BoundChannel | null;
  openings: Openings;
  channel: StoredChannel;
  endedAt: number | null;
  /** When no voucher was taken any more. */
  closingAt: number | null;
  /** Since when no look at the chain showed the channel; null: the last one did. */
  absentSince: number | null;
  /** Of the last change: a read is none. */
  changedAt: number;
  /** Vouchers came since the database was last told of any: one event tells of all of them. */
  hasUntoldVouchers: boolean;
  /** Of an object that stands for a channel's address. */
  claimedBy: string | null;
  isPurged: boolean;
}
export type SessionEvent = MeteredProjection['events'][number];
/** What was answered under a key of the merchant's. */
export type KeptDelivery = { deliveryId: string; sequence: number; amount: string; expiresAt: number };

export const EMPTY_SESSION: SessionState = {
  terms: null,
  bound: null,
  openings: NO_OPENINGS,
  channel: toStoredChannel(newChannel(0)),
  endedAt: null,
  closingAt: null,
  absentSince: null,
  changedAt: 0,
  hasUntoldVouchers: false,
  claimedBy: null,
  isPurged: false,
};
/** Sessions that were stored before they kept their times are as old as their last use. */
export const restoreSession = (stored: SessionState): SessionState => {
  const state = { ...EMPTY_SESSION, ...stored };
  const { stage, usedAt } = state.channel;
  return { ...state, changedAt: state.changedAt || usedAt, closingAt: state.closingAt ?? (stage === 'closing' ? usedAt : null) };
};

/** What one session has counted, and the events of it. Used inside operations of its ledger. */
export class SessionBook {
  readonly #ledger: Ledger<SessionState, KeptDelivery, SessionEvent>;
  readonly deliveries: CommittedDeliveries;
  /** Announcements that made room for others. In memory alone: they hold no money, and only a flood makes them needed. */
  readonly #ousted = new Map<string, Reservation>();

  constructor(ledger: Ledger<SessionState, KeptDelivery, SessionEvent>) {
    this.#ledger = ledger;
    this.deliveries = new CommittedDeliveries(ledger.tables);
  }

  get channel(): MeteredChannel {
    return fromStoredChannel(this.#ledger.state.channel);
  }

  get vouchers(): AcceptedVoucher[] {
    return vouchersOf(this.channel);
  }

  get snapshot(): MeteredSnapshot {
    const { terms, bound, endedAt, closingAt, changedAt, channel: stored } = this.#ledger.state;
    const { deposit, cumulative, settled, stage, usedAt, version, best } = stored;
    const voucherEndsAt = best === null || best.expiresAt === '0' ? null : Number(best.expiresAt) * SECOND;
    const reserved = isOver(stored) ? '0' : reservedOf(withoutExpired(this.channel, this.#ledger.now)).toString();
    const counted = { stage, deposit, cumulative, reserved, settled, usedAt, version };
    return { ...terms!, bound, ...counted, voucherEndsAt, closingAt, endedAt, updatedAt: changedAt };
  }

  store(channel: MeteredChannel, change: Partial<SessionState> = {}): void {
    const { state, now } = this.#ledger;
    const closingAt = channel.stage === 'closing' ? (state.closingAt ?? now) : state.closingAt;
    this.#ledger.state = { ...state, closingAt, changedAt: now, ...change, channel: toStoredChannel(channel) };
  }

  /** Announces a delivery. Under the same key of the merchant's it is answered as the first time. */
  reserve({ operation, amount, holdsMoney, lifeMs, ...request }: DeliveryRequest): Exclude<DeliveryAnswer, { reason: 'unknown' }> {
    const answered = operation && this.#ledger.operations.find(operation.key, this.#ledger.now);
    if (answered) {
      if (!answered.isOf(operation.fingerprint, operation.formerFingerprint)) return { ok: false, reason: 'conflict' };
      const delivery = { ...answered.content, amount: BigInt(answered.content.amount) };
      return { ok: true, replayed: true, hasOusted: false, delivery, snapshot: this.snapshot };
    }
    const deliveryId = request.deliveryId ?? `delivery-${newId(this.#ledger.now)}`;
    const asked = { deliveryId, amount, holdsMoney, expiresAt: this.#ledger.now + lifeMs };
    const planned = planReserve(this.channel, asked, this.deliveries.find(deliveryId), this.#ledger.now);
    if (!planned.ok) return planned;
    const { replayed, channel, reservation, ousted } = planned.value;
    if (!replayed) this.store(channel);
    if (ousted) this.#rememberOusted(ousted);
    const delivery = { deliveryId, sequence: reservation.sequence, amount: reservation.amount, expiresAt: reservation.expiresAt };
    const content = { ...delivery, amount: delivery.amount.toString() };
    if (operation) this.#ledger.operations.record(this.#ledger.nextTick(), operation.key, operation.fingerprint, content);
    return { ok: true, replayed, hasOusted: ousted !== null, delivery, snapshot: this.snapshot };
  }

  noteAbsence(since: number | null): void {
    if (this.#ledger.state.absentSince !== since) this.#ledger.state = { ...this.#ledger.state, absentSince: since };
  }

  #rememberOusted(announcement: Reservation): void {
    this.#ousted.set(announcement.deliveryId, announcement);
    if (this.#ousted.size > OUSTED_MAX) this.#ousted.delete(this.#ousted.keys().next().value!);
  }

  findOusted(deliveryId: string): Reservation | null {
    return this.#ousted.get(deliveryId) ?? null;
  }

  emit(type: MeteredEventType): void {
    this.#ledger.emit({ type, snapshot: this.snapshot, requestId: this.#ledger.cause });
  }

  /** Once for all vouchers since the last time, at a version that no other event has: what ends the session comes after it. */
  tellVouchers(): void {
    if (!this.#ledger.state.hasUntoldVouchers) return;
    this.#ledger.state = { ...this.#ledger.state, hasUntoldVouchers: false };
    this.emit('metered_session.committed');
  }

  passTime(): void {
    this.tellVouchers();
    const { endedAt, isPurged } = this.#ledger.state;
    if (endedAt === null || isPurged || this.#ledger.now < endedAt + SESSION_KEPT_MS) return;
    if (this.deliveries.purge()) this.#ledger.state = { ...this.#ledger.state, isPurged: true };
  }
}
