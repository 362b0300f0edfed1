/**
 * Pure rules of an entitlement: purchases, grants, use and end. No clock, no storage. Each Durable Object holds one `Balance`, the only
 * authority. Counted units, which may have an end, and a period of uncounted use are separate, so that a few units without an end never
 * become endless free use.
 * @module
 */

import { addDays } from '#core/time.ts';
import { paidThroughAfter } from './subscriptions/paid-time.ts';

export type Customer = { walletAddress: string } | { customerRef: string };

export interface EntitlementKey {
  entitlementId: string;
  merchantId: string;
  livemode: boolean;
  productId: string;
  customer: Customer;
}

export interface Balance {
  grantedUnits: number;
  drawnUnits: number;
  /** Granted units that remain only because they were used before their grant was revoked. A refund does not restore them. */
  writtenOffUnits: number;
  uncountedUnits: number;
  /** Counted units ever freed by refunds. With `drawnUnits`, the total ever drawn. */
  refundedUnits: number;
  /** Last draw of counted units, ms. 0 means never. */
  drawnAt: number;
  /** End of the counted units, ms. Null means no end. 0 means none were granted, or all were revoked. */
  unitsThrough: number | null;
  /** End of uncounted use, ms. Null means no end. 0 means it never was, or counted units were drawn since it ended. */
  unlimitedThrough: number | null;
  version: number;
  updatedAt: number;
}

export type EntitlementStatus = 'active' | 'exhausted' | 'expired' | 'revoked';

export interface EntitlementSnapshot extends EntitlementKey {
  status: EntitlementStatus;
  /** Null while use is not counted. */
  grantedUnits: number | null;
  /** All units ever used and not refunded, counted or not. */
  usedUnits: number;
  remaining: number | null;
  /** End of access by time, ms. Null if access has no end. */
  paidThrough: number | null;
  unlimited: boolean;
  /** Customer that the balance was moved to. Only in answers of the object. */
  mergedInto?: string;
  version: number;
  updatedAt: number;
}

/** Numbers add, null removes the limit or end, absent leaves the value unchanged. On an empty balance, absent means null. */
export interface Addition {
  units?: number | null;
  days?: number | null;
  /** Minimum end, ms, instead of days. */
  through?: number | undefined;
  /** Time, ms, instead of days. */
  ms?: number | undefined;
}

/** Parts of a merged balance that its target gets. Null for a part with nothing left. */
export interface MovedParts {
  counted: Addition | null;
  uncounted: Addition | null;
}

export type DenialReason = 'entitlement_missing' | 'subscription_expired';
type AdditionPlan = { ok: true; balance: Balance } | { ok: false; reason: 'too_many' };
type ConsumePlan = { ok: true; balance: Balance; isCounted: boolean } | { ok: false; reason: DenialReason };

export const UNITS_MAX = Number.MAX_SAFE_INTEGER;
const END_MAX = 8_640_000_000_000_000;
const NO_UNITS = { grantedUnits: 0, drawnUnits: 0, writtenOffUnits: 0, uncountedUnits: 0, refundedUnits: 0, drawnAt: 0 };
export const emptyBalance = (): Balance => ({ ...NO_UNITS, unitsThrough: 0, unlimitedThrough: 0, version: 0, updatedAt: 0 });
const isCount = (n: number): boolean => Number.isSafeInteger(n) && n >= 0;

export function assertBalance(balance: Balance): Balance {
  const { grantedUnits, drawnUnits, writtenOffUnits, uncountedUnits, unitsThrough } = balance;
  const areCounts = [grantedUnits + uncountedUnits, ...Object.values(balance)].every((count) => isCount(count ?? 0));
  const isUsedUp = drawnUnits === grantedUnits;
  const holds = areCounts && writtenOffUnits <= drawnUnits && drawnUnits <= grantedUnits && (unitsThrough !== 0 || isUsedUp);
  if (!holds) throw new Error(`impossible balance: ${JSON.stringify(balance)}`);
  return balance;
}

const changed = (balance: Balance, now: number, change: Partial<Balance>): Balance =>
  assertBalance({ ...balance, ...change, version: balance.version + 1, updatedAt: now });
export const isOn = (through: number | null, now: number): boolean => through === null || now < through;
const isNothing = ({ unitsThrough, unlimitedThrough }: Balance): boolean => unitsThrough === 0 && unlimitedThrough === 0;
export const leftOf = (balance: Balance): number => balance.grantedUnits - balance.drawnUnits;

/** Usable units at a moment. Null means unlimited. */
export function remainingOf(balance: Balance, now: number): number | null {
  if (isOn(balance.unlimitedThrough, now)) return null;
  return isOn(balance.unitsThrough, now) ? leftOf(balance) : 0;
}

const endsOf = (balance: Balance): (number | null)[] =>
  [leftOf(balance) > 0 ? balance.unitsThrough : 0, balance.unlimitedThrough].filter((end) => end !== 0);

/** Time when all access ends. Null if access has no end. */
export function paidThroughOf(balance: Balance): number | null {
  const ends = endsOf(balance);
  if (ends.length === 0) return balance.unitsThrough || null;
  return ends.includes(null) ? null : Math.max(...ends.map(Number));
}

export function nextEndOf(balance: Balance, after: number): number | null {
  const ends = endsOf(balance).filter((end) => end !== null && end > after);
  return ends.length > 0 ? Math.min(...ends.map(Number)) : null;
}

export function entitlementStatusOf(balance: Balance, now: number): EntitlementStatus {
  if (remainingOf(balance, now) !== 0) return 'active';
  if (isNothing(balance)) return 'revoked';
  return balance.unlimitedThrough !== 0 || leftOf(balance) > 0 ? 'expired' : 'exhausted';
}

/** True if units were used or freed between two balances, and grants, ends and status are the same. */
export const isUse = (before: Balance, after: Balance): boolean =>
  before.version > 0 &&
  after.grantedUnits === before.grantedUnits &&
  after.writtenOffUnits === before.writtenOffUnits &&
  after.unitsThrough === before.unitsThrough &&
  after.unlimitedThrough === before.unlimitedThrough &&
  leftOf(after) > 0 === leftOf(before) > 0;

export function snapshotOf(balance: Balance, identity: EntitlementKey, now: number): EntitlementSnapshot {
  const remaining = remainingOf(balance, now);
  const usedUnits = balance.drawnUnits + balance.uncountedUnits;
  const grantedUnits = remaining === null ? null : balance.grantedUnits;
  const access = { status: entitlementStatusOf(balance, now), grantedUnits, usedUnits, remaining };
  const { unlimitedThrough, version, updatedAt } = balance;
  return { ...identity, ...access, paidThrough: paidThroughOf(balance), unlimited: unlimitedThrough === null, version, updatedAt };
}

/** Units and days of one purchase. Null means uncounted, or no end. */
export interface Sold {
  usageUnits: number | null;
  accessPeriodDays: number | null;
}
export type GrantProblem = { field: 'units' | 'days'; reason: 'nothing_granted' | 'not_sold' };

/**
 * Plans a grant within what the product sells, so that grants of one product add up in any order. A product without units or end is granted
 * forever by naming neither.
 */
export function planGrant(
  { usageUnits, accessPeriodDays }: Sold,
  { units, days }: { units?: number; days?: number },
): Addition | GrantProblem {
  const [sellsUnits, sellsTime] = [usageUnits !== null, accessPeriodDays !== null];
  if (units !== undefined && !sellsUnits) return { field: 'units', reason: 'not_sold' };
  if (days !== undefined && !sellsTime) return { field: 'days', reason: 'not_sold' };
  if (units === undefined && days === undefined && (sellsUnits || sellsTime))
    return { field: sellsUnits ? 'units' : 'days', reason: 'nothing_granted' };
  return { units: sellsUnits ? (units ?? 0) : null, ...(!sellsTime ? { days: null } : days === undefined ? {} : { days }) };
}

/** Consumes all units or none. Uncounted use comes first, so it never costs units. `at` is the time by which ends are judged. */
export function planConsume(balance: Balance, units: number, now: number, at = now): ConsumePlan {
  if (!Number.isSafeInteger(units) || units < 1) throw new Error(`not a number of units: ${units}`);
  const remaining = remainingOf(balance, at);
  if (remaining === null) {
    const uncountedUnits = balance.uncountedUnits + units;
    if (!Number.isSafeInteger(balance.grantedUnits + uncountedUnits)) return { ok: false, reason: 'entitlement_missing' };
    return { ok: true, isCounted: false, balance: changed(balance, now, { uncountedUnits }) };
  }
  const reason = entitlementStatusOf(balance, at) === 'expired' ? 'subscription_expired' : 'entitlement_missing';
  if (remaining < units) return { ok: false, reason };
  // Resets the ended uncounted period, so that its end is not reported as the reason once the units are used up.
  const drawn = { drawnUnits: balance.drawnUnits + units, drawnAt: at, unlimitedThrough: 0 };
  return { ok: true, isCounted: true, balance: changed(balance, now, drawn) };
}

/** Refunds a consumption, except units of a grant that was revoked meanwhile. */
export function planRefund(balance: Balance, { units, isCounted }: { units: number; isCounted: boolean }, now: number): Balance {
  if (!isCounted) return changed(balance, now, { uncountedUnits: balance.uncountedUnits - units });
  const { grantedUnits, drawnUnits, writtenOffUnits, refundedUnits } = balance;
  const gone = Math.min(units, writtenOffUnits);
  const left = { grantedUnits: grantedUnits - gone, drawnUnits: drawnUnits - units, writtenOffUnits: writtenOffUnits - gone };
  return changed(balance, now, { ...left, refundedUnits: Math.min(refundedUnits + units, UNITS_MAX) });
}

/** A `through` of 0 means nothing was held, so absent days mean no end. An endless period stays endless. */
function extended(through: number | null, days: number | null | undefined, now: number): number | null {
  if (days === undefined) return through === 0 ? null : through;
  return days === null || through === null ? null : Math.min(END_MAX, addDays(Math.max(now, through), days));
}

/** Adds a purchase or grant. Days without units extend active access, or the expired one if nothing is active. */
export function planAddition(balance: Balance, { units, days, through, ms }: Addition, now: number): AdditionPlan {
  if (![units ?? 0, days ?? 0, through ?? 0, ms ?? 0].every(isCount))
    throw new Error(`not numbers of units and days: ${units}, ${days}, ${through}, ${ms}`);
  const endAfter = (end: number | null): number | null => {
    if (ms !== undefined) return end === null ? null : Math.min(END_MAX, Math.max(now, end) + ms);
    return through === undefined ? extended(end, days, now) : paidThroughAfter(end, { accessPeriodDays: 0, periodEndsAt: through }, now);
  };
  // Used-up units have no end, so an addition starts its own. Paid time is never lost by using units up.
  const buysTime = typeof days === 'number' || through !== undefined || ms !== undefined;
  const isCounted = typeof units === 'number';
  const { unitsThrough: end } = balance;
  const hasEnd = leftOf(balance) > 0 || (isCounted && end !== null && (buysTime || isOn(end, now)));
  const live = hasEnd ? balance : { ...balance, unitsThrough: 0 };
  const { unlimitedThrough, unitsThrough } = live;
  const isAnyOn = isOn(unitsThrough, now) || isOn(unlimitedThrough, now);
  const isMeant = (through: number | null): boolean => units === undefined && through !== 0 && (!isAnyOn || isOn(through, now));
  const addsUncounted = units === null || (units === undefined && isNothing(live)) || isMeant(unlimitedThrough);
  const next = {
    grantedUnits: balance.grantedUnits + (units ?? 0),
    unitsThrough: isCounted || isMeant(unitsThrough) ? endAfter(units === 0 ? (unitsThrough ?? 0) : unitsThrough) : balance.unitsThrough,
    unlimitedThrough: addsUncounted ? endAfter(unlimitedThrough) : unlimitedThrough,
  };
  if (!Number.isSafeInteger(next.grantedUnits + balance.uncountedUnits)) return { ok: false, reason: 'too_many' };
  return { ok: true, balance: changed(balance, now, next) };
}

/** Balance of a merged entitlement as callers see it: what was left has moved. */
export const drained = (balance: Balance): Balance =>
  assertBalance({ ...balance, grantedUnits: balance.drawnUnits, unitsThrough: 0, unlimitedThrough: 0 });

/** Returns what a balance has left for another one at the moment of a merge. */
export function leftAt(balance: Balance, at: number): MovedParts {
  const timeOf = (through: number | null): Addition => (through === null ? { days: null } : { ms: through - at });
  const { unitsThrough, unlimitedThrough } = balance;
  const units = leftOf(balance);
  return {
    counted: units > 0 && isOn(unitsThrough, at) ? { units, ...timeOf(unitsThrough) } : null,
    uncounted: isOn(unlimitedThrough, at) ? { units: null, ...timeOf(unlimitedThrough) } : null,
  };
}

/** Adds a payment, which is never refused: units above UNITS_MAX are dropped. */
export function addPaid(balance: Balance, { units, ...time }: Addition, now: number): Balance {
  const room = UNITS_MAX - balance.grantedUnits - balance.uncountedUnits;
  const planned = planAddition(balance, { ...time, units: typeof units === 'number' ? Math.min(units, room) : units }, now);
  if (!planned.ok) throw new Error(`no room for ${units} units in ${JSON.stringify(balance)}`);
  return planned.balance;
}
