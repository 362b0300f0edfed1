/**
 * RPC between the Worker and an entitlement's object. Expected failures are answers. A rejected call is a fault.
 * @module
 */

import type { Addition, DenialReason, EntitlementKey, EntitlementSnapshot, MovedParts } from './balance.ts';
import type { Renewal } from './subscriptions/served.ts';

export interface Called {
  now: number;
  /** Offset of business time from wall time, in a sandbox session or on a local machine with a moved chain. */
  aheadMs?: number;
  requestId?: string | undefined;
  /** Remaining time of the caller. An operation that waited longer for its commit is not started. */
  leftMs?: number;
  /** True for uses, of which one in a hundred commits is logged. */
  isRoutine?: boolean;
}

/** Idempotent operation, once per key while the key is retained. `fingerprint` detects key reuse with another request. */
export interface Operation<T> extends Called {
  identity: EntitlementKey;
  key: string;
  fingerprint: string;
  input: T;
}

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

/** Key storage of the last day is full. From `until` (ms) on, the oldest keys expire. */
export interface Full {
  ok: false;
  reason: 'full';
  until: number;
}

export interface UseRequest {
  units: number;
  /**
   * Nonce of the wallet's sign-in, which serves one key. Null for a sign-in that is no longer valid: it is answered only if it was served
   * under this key before. Absent if the caller named the customer.
   */
  nonce?: string | null;
}

export type ConsumeAnswer =
  | ({ ok: true; replayed: boolean; remaining: number | null; paidThrough: number | null } & Consumption)
  /** No units, or not enough. Not stored under the key, because a purchase may change the answer. */
  | { ok: false; reason: DenialReason; remaining: number; paidThrough: number | null }
  | Full
  /**
   * `refunded`: this key's consumption was refunded and is never served again for free. `sign_in_refused`: another key used the sign-in,
   * or it is no longer valid. Not stored.
   */
  | { ok: false; reason: 'conflict' | 'refunded' | 'sign_in_refused' };

/** The entitlement was merged and does not know the payment or key. The caller repeats the call there. */
export interface Redirected {
  mergedInto: EntitlementKey;
}

export type GrantAnswer =
  | { ok: true; replayed: boolean; snapshot: EntitlementSnapshot }
  | ({ ok: false; reason: 'merged' } & Redirected)
  | { ok: false; reason: 'conflict' | 'too_many' | 'not_sold' }
  | Full;

export type RefundAnswer =
  | ({ ok: true; replayed: boolean; remaining: number | null; paidThrough: number | null } & Consumption)
  | { ok: false; reason: 'conflict' | 'not_found' | 'already_refunded' }
  | Full;

/** Purchase of a payment, optionally with its first use in the same step. Applied once per payment, ever. */
export interface Credit extends Called {
  identity: EntitlementKey;
  paymentId: string;
  addition: Addition;
  /**
   * `key` identifies the consumer: a payment's first use belongs to one caller. `isAnswered`: the payment's success was already
   * returned to a caller, so only a refunded use is free.
   */
  consume: { key: string; units: number; isAnswered: boolean } | null;
}

export interface CreditAnswer {
  grantedUnits: number | null;
  /**
   * Outcome of the requested use. `mine`: made under this key. `other`: another call was faster, so this one must not be served.
   * `refunded`: this key's use was refunded. `none`: not requested, or not enough units.
   */
  consumption: ({ by: 'mine' | 'other' } & Consumption) | { by: 'refunded' } | { by: 'none' };
  /** State right after the credit and its first use. Never changes. */
  remaining: number | null;
  paidThrough: number | null;
}

export interface PaymentCall extends Called {
  identity: EntitlementKey;
  paymentId: string;
  /** Payment version read by the caller. A call with an older version than the object has seen changes nothing. */
  paymentVersion: number;
}

export interface RenewalCall extends Called, Renewal {
  identity: EntitlementKey;
}

/** Customer that an entitlement is merged into. */
export interface MergeTarget {
  customerId: string;
  identity: EntitlementKey;
}

/** Remainder of a merged entitlement for its target, as of a version. A later version replaces it. */
export interface Moved {
  to: EntitlementKey;
  fromId: string;
  version: number;
  /** Time of the merge, from which remaining time counts. */
  at: number;
  parts: MovedParts;
}

export interface MergeCall extends Called {
  identity: EntitlementKey;
  into: MergeTarget;
}

export interface ForgetCall extends Called {
  /** Number up to which payments are forgotten, but for those that are `spared`. */
  tick: number;
  spared: readonly string[];
  /** Time up to which all else is forgotten. */
  through: number;
}

export interface EntitlementRpc {
  consume(operation: Operation<UseRequest>): Promise<ConsumeAnswer>;
  /** Several uses of one entitlement, in order and independent. Null if a use threw, so its outcome is unknown. */
  consumeMany(identity: EntitlementKey, uses: KeyedUse[]): Promise<(ConsumeAnswer | null)[]>;
  /** `addition` is null if the product does not sell the request, so only a known key is answered. */
  grant(operation: Operation<{ addition: Addition | null; reason: string }>): Promise<GrantAnswer>;
  refund(operation: Operation<{ consumptionId: string; reason: string }>): Promise<RefundAnswer>;
  credit(credit: Credit): Promise<CreditAnswer | Redirected>;
  /**
   * Removes a payment from the history, as if it was never made. Used units stay used. Idempotent. An unknown payment is recorded as
   * revoked.
   */
  revoke(revocation: PaymentCall): Promise<Redirected | null>;
  /**
   * Undoes `revoke`. Idempotent. Does nothing for a payment that is not revoked. A payment revoked before its credit is added now, or on
   * arrival of the credit.
   */
  reinstate(reinstatement: PaymentCall): Promise<Redirected | null>;
  /**
   * Declares the outcome of payments final: none will be revoked or reinstated. Optional hint that shortens the history read by `revoke`
   * and `reinstate`. Unknown payments are ignored.
   */
  finalize(finality: Called & { paymentIds: string[] }): Promise<void>;
  /** Records the state of the subscription that pays, for the hour of service after paid time. An older state changes nothing. */
  noteRenewal(call: RenewalCall): Promise<void>;
  /** Ends an entitlement for good and returns what its target gets. Idempotent. Null if nothing was ever granted. */
  mergeAway(call: MergeCall): Promise<Moved | null>;
  /** Grants what a merged entitlement has left, once. A later version replaces the grant, an older one changes nothing. */
  receive(call: Called & { moved: Moved }): Promise<void>;
  /**
   * Acknowledges what the database stores. Safe if late, repeated or out of order. Returns the version up to which the copy is an erased
   * customer's, or null.
   */
  published(projected: Projected): Promise<number | null>;
  read(called: Called): Promise<EntitlementSnapshot | null>;
  /** Payments that were credited since a time, and the number of the newest one. */
  creditedSince(call: Called & { since: number }): Promise<{ tick: number; paymentIds: string[] }>;
  /**
   * Forgets the erased customer: its keys, a merge, and what it was granted, for good. Versions and ids of consumptions go on. False while
   * an event waits to be stored, else the version up to which copies and events are the erased customer's.
   */
  forget(call: ForgetCall): Promise<number | false>;
  /** Ends the merge into another customer, and forgets what was granted before. False while an event waits to be stored. */
  part(called: Called): Promise<boolean>;
  /** Deletes a sandbox entitlement permanently. Throws for a live one. */
  erase(): Promise<void>;
}

export type EntitlementEventType = 'entitlement.granted' | 'entitlement.exhausted' | 'entitlement.expired';
/** Queue message of the object: its state and its new or unacknowledged events, repeated until the database acknowledges them. */
export interface EntitlementProjection {
  snapshot: EntitlementSnapshot;
  events: { type: EntitlementEventType; snapshot: EntitlementSnapshot; requestId?: string | undefined }[];
  /** Remainder that the target must have before the projection is acknowledged. */
  moved?: Moved;
}

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
