import {
  type Addition,
  addPaid,
  type Balance,
  drained,
  type EntitlementKey,
  type EntitlementSnapshot,
  emptyBalance,
  entitlementStatusOf,
  leftAt,
  nextEndOf,
  paidThroughOf,
  remainingOf,
  snapshotOf,
} from '#rules/balance.ts';
import type {
  Called,
  Credit,
  EntitlementEventType,
  EntitlementProjection,
  ForgetCall,
  MergeTarget,
  Moved,
  Redirected,
} from '#rules/entitlement-rpc.ts';
import { useOf } from '#rules/history.ts';
import { endCounts, isNewer, judgedAt, type Renewal } from '#rules/subscriptions/served.ts';
import { type Credited, type Grant, Grants } from './grants.ts';
import type { Ledger } from './ledger.ts';

/** `identity` is set by the first write. `endsSeenThrough` is the time up to which ends were processed. */
export type State = {
  identity: EntitlementKey | null;
  balance: Balance;
  endsSeenThrough: number;
  renewal: Renewal | null;
  /** Set once the customer was merged. The balance continues to count what is left, for the target. */
  merged?: { at: number; into: MergeTarget };
  /** Time of the customer's last erasure. What customers had that were merged into it up to then does not arrive any more. */
  forgottenThrough?: number;
};
export type Event = EntitlementProjection['events'][number];

export const EMPTY_STATE: State = { identity: null, balance: emptyBalance(), endsSeenThrough: 0, renewal: null };

/** Balance as callers see it. */
export const shownBalance = ({ balance, merged }: State): Balance => (merged ? drained(balance) : balance);

export const movedOf = ({ identity, balance, merged }: State): Moved | null =>
  merged
    ? {
        to: merged.into.identity,
        fromId: identity!.entitlementId,
        version: balance.version,
        at: merged.at,
        parts: leftAt(balance, merged.at),
      }
    : null;

export function dueAt({ balance, endsSeenThrough, renewal, merged }: State): number | null {
  if (merged) return null;
  const end = nextEndOf(balance, endsSeenThrough);
  return end === null ? null : endCounts(renewal, end);
}

const NOTHING: Credited = { grantedUnits: 0, uses: [], remaining: 0, paidThrough: null };

export type Left = { remaining: number | null; paidThrough: number | null };

const isEqual = (one: Addition, other: Addition): boolean => one.units === other.units && one.days === other.days && one.ms === other.ms;

/** Balance, grant history and change events of one customer's entitlement. Used only inside operations of its ledger. */
export class Holding {
  readonly #ledger: Ledger<State, unknown, Event>;
  readonly grants: Grants;

  constructor(ledger: Ledger<State, unknown, Event>) {
    this.#ledger = ledger;
    this.grants = new Grants(ledger.tables);
  }

  get balance(): Balance {
    return this.#ledger.state.balance;
  }

  /** Time by which ends are judged: an active subscription is served for one hour after its paid time. */
  get judgedAt(): number {
    return judgedAt(this.#ledger.state.renewal, this.#ledger.now);
  }

  get left(): Left {
    const balance = shownBalance(this.#ledger.state);
    return { remaining: remainingOf(balance, this.judgedAt), paidThrough: paidThroughOf(balance) };
  }

  get snapshot(): EntitlementSnapshot {
    return snapshotOf(shownBalance(this.#ledger.state), this.#ledger.state.identity!, this.judgedAt);
  }

  /** Customer that the entitlement was merged into. */
  get mergedInto(): string | null {
    return this.#ledger.state.merged?.into.customerId ?? null;
  }

  /** Target of a payment, or of a manual grant (null), that arrives after the merge. Null for one that counts here. */
  redirect(paymentId: string | null): Redirected | null {
    const { merged } = this.#ledger.state;
    if (!merged || (paymentId !== null && this.grants.find(paymentId))) return null;
    return { mergedInto: merged.into.identity };
  }

  mergeAway(into: MergeTarget): Moved | null {
    const { state, now } = this.#ledger;
    if (state.identity === null || state.balance.version === 0) return null;
    if (!state.merged) {
      const balance = { ...state.balance, version: state.balance.version + 1, updatedAt: now };
      this.#ledger.state = { ...state, balance, merged: { at: now, into } };
    }
    return movedOf(this.#ledger.state);
  }

  /** Grants the parts of a merged entitlement, or replaces what an earlier version granted. */
  receive({ to, fromId, version, at, parts }: Moved): void {
    if (at <= (this.#ledger.state.forgottenThrough ?? -1) || !this.grants.recordVersion(`merge:${fromId}`, version)) return;
    for (const [part, addition] of Object.entries(parts)) this.#receivePart(to, `merge:${fromId}:${part}`, addition, at);
  }

  #receivePart(to: EntitlementKey, id: string, addition: Addition | null, at: number): void {
    const grant = this.grants.find(id);
    const { now } = this.#ledger;
    if (!grant) {
      if (!addition) return;
      const use = useOf(this.balance);
      this.change(to, { ...addPaid(this.balance, addition, at), updatedAt: now });
      this.emit('entitlement.granted');
      this.grants.add(this.#ledger.nextTick(), at, { addition, use, paymentId: id, credited: null });
    } else if (addition ? grant.isRevoked || !isEqual(grant.addition, addition) : !grant.isRevoked)
      this.change(to, addition ? this.grants.replace(grant, addition, this.balance, now) : this.#setRevoked(grant, true));
  }

  noteRenewal(identity: EntitlementKey, reported: Renewal): void {
    const { state } = this.#ledger;
    if (isNewer(state.renewal, reported)) this.#ledger.state = { ...state, identity: state.identity ?? identity, renewal: reported };
  }

  /** Throws if the call names another customer: a bug of the caller. */
  assertSame({ entitlementId }: EntitlementKey): void {
    const known = this.#ledger.state.identity?.entitlementId ?? entitlementId;
    if (known !== entitlementId) throw new Error(`this is the object of ${known}, not of ${entitlementId}`);
  }

  change(identity: EntitlementKey, balance: Balance): void {
    this.#ledger.state = { ...this.#ledger.state, identity, balance };
  }

  emit(type: EntitlementEventType): void {
    this.#ledger.emit({ type, snapshot: this.snapshot, requestId: this.#ledger.cause });
  }

  add(
    identity: EntitlementKey,
    addition: Addition,
    after: Balance,
    payment: { paymentId: string | null; credited: Credited | null } = { paymentId: null, credited: null },
  ): number {
    const use = useOf(this.balance);
    this.change(identity, after);
    this.emit('entitlement.granted');
    const tick = this.#ledger.nextTick();
    this.grants.add(tick, this.#ledger.now, { addition, use, ...payment });
    return tick;
  }

  /** Credits a payment once. A payment that was revoked before its credit adds nothing. */
  creditOnce({ identity, paymentId, addition }: Pick<Credit, 'identity' | 'paymentId' | 'addition'>): Credited {
    const grant = this.grants.find(paymentId);
    if (grant?.isForgotten) return NOTHING;
    if (grant?.credited) return grant.credited;
    const { now } = this.#ledger;
    const before = this.balance;
    const after = grant ? before : addPaid(before, addition, now);
    const addsUncounted = !grant && (addition.units === null || after.unlimitedThrough !== before.unlimitedThrough);
    const grantedUnits = addsUncounted ? null : after.grantedUnits - before.grantedUnits;
    const credited: Credited = { grantedUnits, uses: [], remaining: remainingOf(after, now), paidThrough: paidThroughOf(after) };
    if (grant) this.grants.setWithheld(paymentId, addition, credited);
    else this.add(identity, addition, after, { paymentId, credited });
    return credited;
  }

  /** Forgets what is the erased customer's, and a merge. What remains is without the units that were used. */
  forget(forgotten: Omit<ForgetCall, keyof Called>): void {
    const { state, now } = this.#ledger;
    const { identity, balance, renewal } = state;
    const after = { ...EMPTY_STATE, forgottenThrough: Math.max(forgotten.through, state.forgottenThrough ?? 0) };
    if (!this.#ledger.tables.isEmpty && this.grants.forgetUpTo(forgotten))
      this.#ledger.state = { ...after, identity, balance: this.grants.replayed(balance, now), renewal };
    else this.#ledger.forget({ ...after, balance: { ...emptyBalance(), version: balance.version } });
  }

  /** Ends the merge into another customer, with all that was granted before. */
  part(): void {
    const { state, now } = this.#ledger;
    if (state.merged) this.forget({ tick: Number.MAX_SAFE_INTEGER, through: now, spared: [] });
  }

  revoke(identity: EntitlementKey, paymentId: string): void {
    const grant = this.grants.find(paymentId);
    if (grant?.isRevoked) return;
    const { now } = this.#ledger;
    if (!grant) this.grants.add(this.#ledger.nextTick(), now, { addition: {}, use: null, paymentId, credited: null });
    this.change(identity, grant ? this.#setRevoked(grant, true) : this.balance);
  }

  reinstate(identity: EntitlementKey, paymentId: string): void {
    const grant = this.grants.find(paymentId);
    if (!grant?.isRevoked || grant.isForgotten) return;
    if (grant.isAdded) this.change(identity, this.#setRevoked(grant, false));
    else this.#release(identity, paymentId, grant);
  }

  /** Undoes a revocation that preceded the credit. If the credit arrived meanwhile, adds it now. Otherwise it is added on arrival. */
  #release(identity: EntitlementKey, paymentId: string, grant: Grant): void {
    this.grants.forget(grant);
    // After a merge the credit is repeated and goes to the target.
    if (grant.credited && this.mergedInto === null) this.creditOnce({ identity, paymentId, addition: grant.addition });
  }

  /** Emits the new state after a grant or a paid period ended, and `entitlement.expired` once when all access ended. */
  passTime(): void {
    const { identity, balance } = this.#ledger.state;
    const { now } = this.#ledger;
    const end = dueAt(this.#ledger.state);
    if (end === null || end > now) return;
    this.change(identity!, { ...balance, version: balance.version + 1, updatedAt: now });
    this.#ledger.state = { ...this.#ledger.state, endsSeenThrough: now };
    if (entitlementStatusOf(balance, now) === 'expired') this.emit('entitlement.expired');
  }

  #setRevoked(grant: Grant, isRevoked: boolean): Balance {
    return this.grants.setRevoked(grant, isRevoked, this.balance, this.#ledger.now);
  }
}
