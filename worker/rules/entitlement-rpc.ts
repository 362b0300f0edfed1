/**
 * What the Worker and an entitlement's object say to each other. Expected failures are answers; a rejected call is a fault.
 * @module
 */

import type { Addition, DenialReason, EntitlementKey, EntitlementSnapshot } from './balance.ts';
import type { Renewal } from './subscriptions/served.ts';

/** What every call says of its caller. */
export interface Called {
  /** Business time. */
  now: number;
  /** How far that is ahead of wall time: in a sandbox session, and on a local machine whose chain was moved on. */
  aheadMs?: number;
  /** Id of the caller's request, for the log. */
  requestId?: string | undefined;
  /** How long the caller still waits: an operation that has waited longer for its commit is not begun. */
  leftMs?: number;
}

/** A caller's operation, exactly once per key while it is kept. `fingerprint` tells another request with the same key. */
export interface Operation<T> extends Called {
  identity: EntitlementKey;
  key: string;
  fingerprint: string;
  input: T;
}

/** A consume without whose it is: what an account's admission object passes on, many at a time. */
/** What became of a use that was passed on. */
export type PassedOutcome = ConsumeAnswer | { ok: false; reason: 'overloaded' };

export interface KeyedUse extends Called {
  key: string;
  fingerprint: string;
  units: number;
}

export interface Consumption {
  consumptionId: string;
  units: number;
}

/** The object remembers as many keys of the last day as it can; from `until` on, ms, the oldest of them are forgotten. */
export interface Full {
  ok: false;
  reason: 'full';
  until: number;
}

export type ConsumeAnswer =
  | ({ ok: true; replayed: boolean; remaining: number | null; paidThrough: number | null } & Consumption)
  /** Nothing, or not enough, to use: not remembered, since a purchase may change it. */
  | { ok: false; reason: DenialReason; remaining: number; paidThrough: number | null }
  | Full
  /** `refunded`: this key's consumption was taken back; it is never served again for free. */
  | { ok: false; reason: 'conflict' | 'refunded' };

export type GrantAnswer =
  | { ok: true; replayed: boolean; snapshot: EntitlementSnapshot }
  | { ok: false; reason: 'conflict' | 'too_many' | 'not_sold' }
  | Full;

export type RefundAnswer =
  | ({ ok: true; replayed: boolean; remaining: number | null; paidThrough: number | null } & Consumption)
  | { ok: false; reason: 'conflict' | 'not_found' | 'already_refunded' }
  | Full;

/** What a payment bought, and optionally its first use in the same step. Once per payment, for ever. */
export interface Credit extends Called {
  identity: EntitlementKey;
  paymentId: string;
  addition: Addition;
  /**
   * `key` tells who consumes: a payment's first use belongs to one caller. `isTold`: a caller was told of this payment's success
   * before, so only a use that was given back is free.
   */
  consume: { key: string; units: number; isTold?: boolean } | null;
}

export interface CreditAnswer {
  /** What this payment added; null: uncounted use. */
  grantedUnits: number | null;
  /**
   * The use that was asked for with the payment. `mine`: by this key. `other`: another call was faster, so nothing may be
   * served for this one. `refunded`: this key's use was taken back. `none`: not asked for, or not enough units.
   */
  consumption: ({ by: 'mine' | 'other' } & Consumption) | { by: 'refunded' } | { by: 'none' };
  /** Right after the payment was credited (and its first use made): the same for ever. */
  remaining: number | null;
  paidThrough: number | null;
}

/** What is said of one payment of a customer. */
export interface PaymentCall extends Called {
  identity: EntitlementKey;
  paymentId: string;
  /** The payment's version as the caller read it. A call about an older version than the object knows comes too late, and changes nothing. */
  paymentVersion: number;
}

/** What is said of the native subscription that pays for an entitlement. */
export interface RenewalCall extends Called, Renewal {
  identity: EntitlementKey;
}

/** What the Worker knows of the object. The class in durable-objects/ implements it. */
export interface EntitlementRpc {
  consume(operation: Operation<{ units: number }>): Promise<ConsumeAnswer>;
  /** Several for one entitlement, in order and each for itself. null: it failed, so what became of it is not known. */
  consumeMany(identity: EntitlementKey, uses: KeyedUse[]): Promise<(ConsumeAnswer | null)[]>;
  /** `addition` null: the product sells no such thing (any more), so only a known key is answered. */
  grant(operation: Operation<{ addition: Addition | null; reason: string }>): Promise<GrantAnswer>;
  refund(operation: Operation<{ consumptionId: string; reason: string }>): Promise<RefundAnswer>;
  credit(credit: Credit): Promise<CreditAnswer>;
  /**
   * Takes a payment out of the history: the balance is as if it had never been made, but used units stay used. Once; unknown
   * payments are remembered as revoked.
   */
  revoke(revocation: PaymentCall): Promise<void>;
  /**
   * Undoes `revoke`: the balance is as if it had never been called. Once; for a payment that is not revoked it does nothing. One
   * that was revoked before its credit came is added now, or when that comes.
   */
  reinstate(reinstatement: PaymentCall): Promise<void>;
  /**
   * Says that the fate of these payments is decided: none of them will be revoked or reinstated. Optional, and a hint: it
   * shortens the history that `revoke` and `reinstate` read. Payments the object does not know are ignored.
   */
  finalize(finality: Called & { paymentIds: string[] }): Promise<void>;
  /** How the subscription stands that pays for it, for the hour after paid time. An older word changes nothing. */
  noteRenewal(call: RenewalCall): Promise<void>;
  /** The database holds this. Late, doubled or out of order: harmless. */
  published(projected: Projected): Promise<void>;
  /** null where nothing was ever granted: asking leaves nothing behind. */
  read(called: Called): Promise<EntitlementSnapshot | null>;
  /** Forgets everything of a test entitlement, for good; of a live one it throws. */
  erase(): Promise<void>;
}

export type EntitlementEventType = 'entitlement.granted' | 'entitlement.exhausted' | 'entitlement.expired';
/**
 * What the object tells the database, by way of the queue: its state, and events that it tells for the first time or again. It
 * repeats them until the database acknowledges them.
 */
export interface EntitlementProjection {
  snapshot: EntitlementSnapshot;
  events: { type: EntitlementEventType; snapshot: EntitlementSnapshot; requestId?: string | undefined }[];
}

/** The database's acknowledgement of what an object told it: the state's version, and those of its events, oldest first. */
export interface Projected {
  version: number;
  eventVersions: number[];
  requestId?: string | undefined;
}
type Versioned = { version: number };
export const projectedOf = ({ snapshot, events }: { snapshot: Versioned; events: readonly { snapshot: Versioned }[] }): Projected => ({
  version: snapshot.version,
  eventVersions: events.map(({ snapshot: { version } }) => version),
});
