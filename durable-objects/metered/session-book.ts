import { newId } from '#core/ids.ts';
import { DAY, MINUTE, SECOND } from '#core/time.ts';
import {
  type AcceptedVoucher,
  isOver,
  type MeteredChannel,
  newChannel,
  type Reservation,
  reservedOf,
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

/** Time after its end for which a session answers repeated commits. */
export const SESSION_RETENTION_MS = 30 * DAY;

/** Interval of chain checks of an open channel: a tenth of the grace period after the payer's close request, at most a minute. */
const checkEveryMs = ({ gracePeriodSeconds }: MeteredTerms): number => Math.min(MINUTE, (gracePeriodSeconds * SECOND) / 10);
const CLOSING_CHECK_MS = 30 * SECOND;
/** Interval of chain checks after the end, which grows with the age of the end up to a day. */
const endedCheckMs = (sinceEndMs: number): number => Math.min(DAY, Math.max(MINUTE, sinceEndMs));

/** More announcements than a stranger can make while a client's commit is in flight. */
const OUSTED_MAX = 2_000;

export interface SessionState {
  terms: MeteredTerms | null;
  bound: BoundChannel | null;
  /** Id of the challenge that the opener answered. No other caller can present it. Null if unknown. */
  openedBy: string | null;
  channel: StoredChannel;
  /** Highest voucher amount handed out for settlement, and so possibly public. */
  handedOut: string;
  nextCheckAt: number | null;
  endedAt: number | null;
  closingAt: number | null;
  absentSince: number | null;
  changedAt: number;
  /** Set if vouchers arrived after the last event. One event covers all of them. */
  hasUnpublishedVouchers: boolean;
  /** Session that claimed a channel address. Set only on objects that represent an address. */
  claimedBy: string | null;
  isPurged: boolean;
}
export type SessionEvent = MeteredProjection['events'][number];
export type StoredDelivery = { deliveryId: string; sequence: number; amount: string; expiresAt: number };

export const EMPTY_SESSION: SessionState = {
  terms: null,
  bound: null,
  openedBy: null,
  channel: toStoredChannel(newChannel(0)),
  handedOut: '0',
  nextCheckAt: null,
  endedAt: null,
  closingAt: null,
  absentSince: null,
  changedAt: 0,
  hasUnpublishedVouchers: false,
  claimedBy: null,
  isPurged: false,
};

export class SessionBook {
  readonly #ledger: Ledger<SessionState, StoredDelivery, SessionEvent>;
  readonly deliveries: CommittedDeliveries;
  readonly #ousted = new Map<string, Reservation>();

  constructor(ledger: Ledger<SessionState, StoredDelivery, SessionEvent>) {
    this.#ledger = ledger;
    this.deliveries = new CommittedDeliveries(ledger.tables);
  }

  get channel(): MeteredChannel {
    return fromStoredChannel(this.#ledger.state.channel);
  }

  /** Returns the vouchers for settlement and records the highest amount, because a transaction makes them public. */
  handOut(): AcceptedVoucher[] {
    const vouchers = [...this.channel.vouchers];
    const highest = (vouchers[0]?.cumulative ?? 0n).toString();
    if (this.#ledger.state.handedOut !== highest) this.#ledger.state = { ...this.#ledger.state, handedOut: highest };
    return vouchers;
  }

  get snapshot(): MeteredSnapshot {
    const { terms, bound, endedAt, closingAt, absentSince, changedAt, channel: stored } = this.#ledger.state;
    const { deposit, cumulative, settled, stage, usedAt, version, vouchers } = stored;
    const [best = null] = vouchers;
    const voucherEndsAt = best === null || best.expiresAt === '0' ? null : Number(best.expiresAt) * SECOND;
    const reserved = isOver(stored) ? '0' : reservedOf(withoutExpired(this.channel, this.#ledger.now)).toString();
    const counted = { stage, deposit, cumulative, reserved, settled, usedAt, version };
    return { ...terms!, bound, ...counted, voucherEndsAt, closingAt, endedAt, absentSince, updatedAt: changedAt };
  }

  store(channel: MeteredChannel, change: Partial<SessionState> = {}): void {
    const { state, now } = this.#ledger;
    const closingAt = channel.stage === 'closing' ? (state.closingAt ?? now) : state.closingAt;
    const isMoved = channel.stage !== state.channel.stage;
    this.#ledger.state = { ...state, closingAt, changedAt: now, ...change, channel: toStoredChannel(channel) };
    if (isMoved) this.#ledger.state = { ...this.#ledger.state, nextCheckAt: this.#nextCheckAt() };
  }

  /** Sandbox channels do not exist on a chain. */
  #nextCheckAt(): number | null {
    const { terms, channel, endedAt } = this.#ledger.state;
    if (!terms?.livemode) return null;
    const now = Date.now();
    if (endedAt !== null) return now + endedCheckMs(now - endedAt);
    return now + (channel.stage === 'closing' ? CLOSING_CHECK_MS : checkEveryMs(terms));
  }

  /** Claims a due chain check and schedules the next, which makes up for a lost one. */
  claimCheck(): boolean {
    const { nextCheckAt } = this.#ledger.state;
    if (nextCheckAt === null || nextCheckAt > Date.now()) return false;
    this.#ledger.state = { ...this.#ledger.state, nextCheckAt: this.#nextCheckAt() };
    return true;
  }

  checkAgain(afterMs: number | null): void {
    const nextCheckAt = afterMs === null ? null : Date.now() + afterMs;
    if (this.#ledger.state.nextCheckAt !== nextCheckAt) this.#ledger.state = { ...this.#ledger.state, nextCheckAt };
  }

  /** Announces a delivery. A repeat under the same merchant key gets the first answer. */
  reserve({ operation, amount, holdsMoney, lifeMs, mayOust, ...request }: DeliveryRequest): Exclude<DeliveryAnswer, { reason: 'unknown' }> {
    const answered = operation && this.#ledger.operations.find(operation.key, this.#ledger.now);
    if (answered) {
      if (!answered.isOf(operation.fingerprint)) return { ok: false, reason: 'conflict' };
      const delivery = { ...answered.content, amount: BigInt(answered.content.amount) };
      return { ok: true, replayed: true, delivery, snapshot: this.snapshot };
    }
    const deliveryId = request.deliveryId ?? `delivery-${newId(this.#ledger.now, this.#ledger.state.terms?.merchantId ?? null)}`;
    const asked = { deliveryId, amount, holdsMoney, expiresAt: this.#ledger.now + lifeMs };
    const planned = planReserve(this.channel, asked, this.deliveries.find(deliveryId), this.#ledger.now);
    if (!planned.ok) return planned;
    const { replayed, channel, reservation, ousted } = planned.value;
    if (ousted && !mayOust) return { ok: false, reason: 'crowded' };
    if (!replayed) this.store(channel);
    if (ousted) this.#rememberOusted(ousted);
    const delivery = { deliveryId, sequence: reservation.sequence, amount: reservation.amount, expiresAt: reservation.expiresAt };
    const content = { ...delivery, amount: delivery.amount.toString() };
    if (operation) this.#ledger.operations.record(this.#ledger.nextTick(), operation.key, operation.fingerprint, content);
    return { ok: true, replayed, delivery, snapshot: this.snapshot };
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

  /** Emits one event for all vouchers since the last one, at a version of its own. Events that end the session come after it. */
  publishVouchers(): void {
    if (!this.#ledger.state.hasUnpublishedVouchers) return;
    this.#ledger.state = { ...this.#ledger.state, hasUnpublishedVouchers: false };
    this.emit('metered_session.committed');
  }

  passTime(): void {
    this.publishVouchers();
    const { endedAt, isPurged } = this.#ledger.state;
    if (endedAt === null || isPurged || this.#ledger.now < endedAt + SESSION_RETENTION_MS) return;
    if (this.deliveries.purge()) this.#ledger.state = { ...this.#ledger.state, isPurged: true };
  }
}
