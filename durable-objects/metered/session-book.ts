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

/** So long after its end a session still answers repeated commits. */
export const SESSION_KEPT_MS = 30 * DAY;

/** Between two looks at an open channel: a tenth of the time that its payer leaves us after asking to close, and at most a minute. */
const lookEveryMs = ({ gracePeriodSeconds }: MeteredTerms): number => Math.min(MINUTE, (gracePeriodSeconds * SECOND) / 10);
/** Between two looks at one that closes, and is not sealed yet. */
const CLOSING_LOOK_MS = 30 * SECOND;
/** After its end a channel is looked at when the seal is final, and then ever less often. */
const endedLookMs = (sinceEndMs: number): number => Math.min(DAY, Math.max(MINUTE, sinceEndMs));

/** More than a stranger can announce while a client's commit is on its way. */
const OUSTED_MAX = 2_000;

export interface SessionState {
  terms: MeteredTerms | null;
  bound: BoundChannel | null;
  /** Id of the challenge that the opener answered, which no other caller can show; null: not known. */
  openedBy: string | null;
  channel: StoredChannel;
  /** The highest amount of a voucher that was handed out to be settled, and may be public. */
  handedOut: string;
  /** When its channel is looked at next, by the clock of alarms; null: never. */
  lookAt: number | null;
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
  openedBy: null,
  channel: toStoredChannel(newChannel(0)),
  handedOut: '0',
  lookAt: null,
  endedAt: null,
  closingAt: null,
  absentSince: null,
  changedAt: 0,
  hasUntoldVouchers: false,
  claimedBy: null,
  isPurged: false,
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

  /** Hands the vouchers out to be settled: what a transaction shows, anyone may show from then on. */
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
    if (isMoved) this.#ledger.state = { ...this.#ledger.state, lookAt: this.#nextLookAt() };
  }

  /** In the sandbox no channel stands on any chain. */
  #nextLookAt(): number | null {
    const { terms, channel, endedAt } = this.#ledger.state;
    if (!terms?.livemode) return null;
    const now = Date.now();
    if (endedAt !== null) return now + endedLookMs(now - endedAt);
    return now + (channel.stage === 'closing' ? CLOSING_LOOK_MS : lookEveryMs(terms));
  }

  /** True where its time has come; a look that is lost is made up for by the next. */
  takeLook(): boolean {
    const { lookAt } = this.#ledger.state;
    if (lookAt === null || lookAt > Date.now()) return false;
    this.#ledger.state = { ...this.#ledger.state, lookAt: this.#nextLookAt() };
    return true;
  }

  lookAgain(afterMs: number | null): void {
    const lookAt = afterMs === null ? null : Date.now() + afterMs;
    if (this.#ledger.state.lookAt !== lookAt) this.#ledger.state = { ...this.#ledger.state, lookAt };
  }

  /** Announces a delivery. Under the same key of the merchant's it is answered as the first time. */
  reserve({ operation, amount, holdsMoney, lifeMs, mayOust, ...request }: DeliveryRequest): Exclude<DeliveryAnswer, { reason: 'unknown' }> {
    const answered = operation && this.#ledger.operations.find(operation.key, this.#ledger.now);
    if (answered) {
      if (!answered.isOf(operation.fingerprint)) return { ok: false, reason: 'conflict' };
      const delivery = { ...answered.content, amount: BigInt(answered.content.amount) };
      return { ok: true, replayed: true, delivery, snapshot: this.snapshot };
    }
    const deliveryId = request.deliveryId ?? `delivery-${newId(this.#ledger.now)}`;
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
