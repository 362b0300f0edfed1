/**
 * The pure rules of an entitlement: what was bought or given, what is used, and until when. One Durable Object per
 * (merchant, mode, product, customer) keeps one `Balance`; nothing else counts. No clock, no storage.
 *
 * Two things can be held at once, and a purchase adds to one of them: counted units, which may have an end, and a time in
 * which use is not counted. Kept apart, so that a few units without an end never become endless free use, nor the other way.
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
  /** Counted units ever bought or given. */
  grantedUnits: number;
  /** How many of them are used up. Never more than granted. */
  drawnUnits: number;
  /** Granted units that stand only because they were used when what gave them was taken back: a refund does not revive them. */
  writtenOffUnits: number;
  /** Units used while use was not counted. */
  uncountedUnits: number;
  /** Counted units ever freed by refunds: with `drawnUnits`, all that were ever drawn. */
  refundedUnits: number;
  /** When counted units were last drawn, ms; 0: never. */
  drawnAt: number;
  /** Until when the counted units can be used, ms; null: without end; 0: none were given, or all were taken back. */
  unitsThrough: number | null;
  /** Until when use is not counted, ms; null: without end; 0: it never was, or counted units were drawn since it ended. */
  unlimitedThrough: number | null;
  /** Of the last operation that changed something. */
  version: number;
  updatedAt: number;
}

export type EntitlementStatus = 'active' | 'exhausted' | 'expired' | 'revoked';

/** A balance as it stands at one moment, as callers are told. */
export interface EntitlementSnapshot extends EntitlementKey {
  status: EntitlementStatus;
  /** null while use is not counted. */
  grantedUnits: number | null;
  /** All units ever used and not refunded, counted or not. */
  usedUnits: number;
  remaining: number | null;
  /** When access ends by time, ms; null: it does not. */
  paidThrough: number | null;
  /** Use is not counted, and no time ends that. */
  unlimited: boolean;
  version: number;
  updatedAt: number;
}

/** A number adds, null means without limit (or end), absent leaves as it is; on an empty balance absent is null. */
export interface Addition {
  /** 0: only the time of counted units, which then have an end. */
  units?: number | null;
  days?: number | null;
  /** Until then at least, ms, in place of the days. */
  through?: number | undefined;
}

export type DenialReason = 'entitlement_missing' | 'subscription_expired';
type AdditionPlan = { ok: true; balance: Balance } | { ok: false; reason: 'too_many' };
type ConsumePlan = { ok: true; balance: Balance; isCounted: boolean } | { ok: false; reason: DenialReason };

/** More cannot be counted exactly. */
export const UNITS_MAX = Number.MAX_SAFE_INTEGER;
/** The last instant that can be written as a date. */
const END_MAX = 8_640_000_000_000_000;
const NO_UNITS = { grantedUnits: 0, drawnUnits: 0, writtenOffUnits: 0, uncountedUnits: 0, refundedUnits: 0, drawnAt: 0 };
export const emptyBalance = (): Balance => ({ ...NO_UNITS, unitsThrough: 0, unlimitedThrough: 0, version: 0, updatedAt: 0 });
const isCount = (n: number): boolean => Number.isSafeInteger(n) && n >= 0;

/** Throws for a bug. */
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

/** What can be used at this moment; null: as much as one likes. */
export function remainingOf(balance: Balance, now: number): number | null {
  if (isOn(balance.unlimitedThrough, now)) return null;
  return isOn(balance.unitsThrough, now) ? leftOf(balance) : 0;
}

/** The ends of what there is: used-up units end nothing. */
const endsOf = (balance: Balance): (number | null)[] =>
  [leftOf(balance) > 0 ? balance.unitsThrough : 0, balance.unlimitedThrough].filter((end) => end !== 0);

/** The moment by which all access ends by time; null where it does not end by time. */
export function paidThroughOf(balance: Balance): number | null {
  const ends = endsOf(balance);
  if (ends.length === 0) return balance.unitsThrough || null;
  return ends.includes(null) ? null : Math.max(...ends.map(Number));
}

/** The next moment at which time alone changes what can be used; null: never. */
export function nextEndOf(balance: Balance, after: number): number | null {
  const ends = endsOf(balance).filter((end) => end !== null && end > after);
  return ends.length > 0 ? Math.min(...ends.map(Number)) : null;
}

export function entitlementStatusOf(balance: Balance, now: number): EntitlementStatus {
  if (remainingOf(balance, now) !== 0) return 'active';
  if (isNothing(balance)) return 'revoked';
  return balance.unlimitedThrough !== 0 || leftOf(balance) > 0 ? 'expired' : 'exhausted';
}

/** `now`: the moment by which ends are judged. */
export function snapshotOf(balance: Balance, identity: EntitlementKey, now: number): EntitlementSnapshot {
  const remaining = remainingOf(balance, now);
  const usedUnits = balance.drawnUnits + balance.uncountedUnits;
  const grantedUnits = remaining === null ? null : balance.grantedUnits;
  const access = { status: entitlementStatusOf(balance, now), grantedUnits, usedUnits, remaining };
  const { unlimitedThrough, version, updatedAt } = balance;
  return { ...identity, ...access, paidThrough: paidThroughOf(balance), unlimited: unlimitedThrough === null, version, updatedAt };
}

/** Number of units and days that a product sells with one purchase; null: not counted, without end. */
export interface Sold {
  usageUnits: number | null;
  accessPeriodDays: number | null;
}
export type GrantProblem = { field: 'units' | 'days'; reason: 'nothing_granted' | 'not_sold' };

/**
 * Plans a grant of what a product sells, so that grants of one product add up alike in every order. A product without units and without an
 * end is granted for ever by naming neither.
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

/** All or nothing. Use that is not counted comes first, so that it never costs units. `at`: the moment by which ends are judged. */
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
  // Uncounted use is over here; its old end must not pass for the reason when the units are used up.
  const drawn = { drawnUnits: balance.drawnUnits + units, drawnAt: at, unlimitedThrough: 0 };
  return { ok: true, isCounted: true, balance: changed(balance, now, drawn) };
}

/** Frees what a consumption used, but nothing that was taken back meanwhile. */
export function planRefund(balance: Balance, { units, isCounted }: { units: number; isCounted: boolean }, now: number): Balance {
  if (!isCounted) return changed(balance, now, { uncountedUnits: balance.uncountedUnits - units });
  const { grantedUnits, drawnUnits, writtenOffUnits, refundedUnits } = balance;
  const gone = Math.min(units, writtenOffUnits);
  const left = { grantedUnits: grantedUnits - gone, drawnUnits: drawnUnits - units, writtenOffUnits: writtenOffUnits - gone };
  return changed(balance, now, { ...left, refundedUnits: Math.min(refundedUnits + units, UNITS_MAX) });
}

/** 0: there was nothing, so absent days mean no end. What has no end keeps none. */
function extended(through: number | null, days: number | null | undefined, now: number): number | null {
  if (days === undefined) return through === 0 ? null : through;
  return days === null || through === null ? null : Math.min(END_MAX, addDays(Math.max(now, through), days));
}

/** A purchase or a grant. Days without units extend what is running, or, where nothing is, what there was. */
export function planAddition(balance: Balance, { units, days, through }: Addition, now: number): AdditionPlan {
  if (![units ?? 0, days ?? 0, through ?? 0].every(isCount))
    throw new Error(`not numbers of units and days: ${units}, ${days}, ${through}`);
  const endAfter = (end: number | null): number | null =>
    through === undefined ? extended(end, days, now) : paidThroughAfter(end, { accessPeriodDays: 0, periodEndsAt: through }, now);
  // Units that are used up end nothing, so what is added begins an end of its own; but time that was paid for is never lost by using units up.
  const buysTime = typeof days === 'number' || through !== undefined;
  const isCounted = typeof units === 'number';
  const { unitsThrough: end } = balance;
  const keepsEnd = leftOf(balance) > 0 || (isCounted && end !== null && (buysTime || isOn(end, now)));
  const live = keepsEnd ? balance : { ...balance, unitsThrough: 0 };
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

/** A payment's addition always counts: units beyond what can be counted exactly are left out instead of refused. */
export function addPaid(balance: Balance, { units, ...time }: Addition, now: number): Balance {
  const room = UNITS_MAX - balance.grantedUnits - balance.uncountedUnits;
  const planned = planAddition(balance, { ...time, units: typeof units === 'number' ? Math.min(units, room) : units }, now);
  if (!planned.ok) throw new Error(`no room for ${units} units in ${JSON.stringify(balance)}`);
  return planned.balance;
}
