import { ASSETS, type Asset, DECIMALS } from '#core/money.ts';
import type { PaymentStatus } from '../states.ts';

/** Numbers by name; a name that is absent is zero. All of them are sums, so metrics of two spans add up to those of both. */
export type Counts = Record<string, bigint>;

/** What an event adds to a merchant's metrics, at the instant (epoch ms) that it counts for. */
export interface MetricDelta {
  merchantId: string;
  livemode: boolean;
  at: number;
  counts: Counts;
  /** Of money: the product it was for. */
  productId?: string;
}

/** Adds in place. */
export function addCounts(to: Counts, more: Counts): void {
  for (const [name, value] of Object.entries(more)) {
    const sum = (to[name] ?? 0n) + value;
    if (sum === 0n) delete to[name];
    else to[name] = sum;
  }
}

export const countsOf = (...summands: (Counts | undefined)[]): Counts => {
  const sum: Counts = {};
  for (const counts of summands) if (counts) addCounts(sum, counts);
  return sum;
};

/** Returns the deltas that take these back. */
export const negated = (deltas: readonly MetricDelta[]): MetricDelta[] =>
  deltas.map((delta) => ({
    ...delta,
    counts: Object.fromEntries(Object.entries(delta.counts).map(([name, value]) => [name, -value])),
  }));

/** The facts of a payment that metrics are made of. Amounts in base units of its asset. */
export interface PaymentFacts {
  merchantId: string;
  livemode: boolean;
  productId: string;
  /** A checkout: it was opened before it was paid, and may have ended without. */
  isSession: boolean;
  status: PaymentStatus;
  failureCode: string | null;
  asset: Asset;
  /** Price and what came beyond it. */
  grossUnits: bigint;
  /** What the service was paid of it; a fee that is owed is none. */
  feeUnits: bigint;
  refundedUnits: bigint;
  hasReceipt: boolean;
  isOrphaned: boolean;
  createdAt: number;
  confirmedAt: number | null;
}

/** By the state a checkout is in; one that is under way counts among the sessions alone. */
function outcomeOf({ status, failureCode }: PaymentFacts): Counts {
  if (status === 'CONFIRMED') return { confirmed: 1n };
  if (status === 'FAILED') return failureCode === 'session_expired' ? { expired: 1n } : { failed: 1n };
  return {};
}

/**
 * Returns all that a payment adds to the metrics as it is now: a checkout to the funnel of the moment it was created, money to the moment it was
 * confirmed. An orphaned payment brought nothing; what was refunded of it all the same has left the merchant's wallet.
 */
export function deltasOf(facts: PaymentFacts): MetricDelta[] {
  const { merchantId, livemode, productId, asset, createdAt, confirmedAt } = facts;
  const session: MetricDelta[] = facts.isSession
    ? [{ merchantId, livemode, at: createdAt, counts: { sessions: 1n, ...outcomeOf(facts) } }]
    : [];
  if (confirmedAt === null) return session;
  const name = asset.toLowerCase();
  const received = facts.isOrphaned ? {} : { [`${name}_count`]: 1n, [`${name}_gross`]: facts.grossUnits, [`${name}_fee`]: facts.feeUnits };
  const counts = countsOf(received, { [`${name}_refunded`]: facts.refundedUnits });
  const receipt: MetricDelta[] = facts.hasReceipt ? [{ merchantId, livemode, at: confirmedAt, counts: { receipts: 1n } }] : [];
  return [...session, { merchantId, livemode, at: confirmedAt, counts, productId }, ...receipt];
}

/** What a payment's change adds: all that it is after it, less all that it was. `before` is null where there was none. */
export const deltasBetween = (before: PaymentFacts | null, after: PaymentFacts): MetricDelta[] => [
  ...deltasOf(after),
  ...(before ? negated(deltasOf(before)) : []),
];

/** A part of a whole, rounded to four decimals; null where there is no whole. */
export const shareOf = (part: bigint, whole: bigint): number | null =>
  whole === 0n ? null : Number((part * 20_000n + whole) / (whole * 2n)) / 10_000;

/** Money of one asset as it is told: decimals. `net` is below zero where more was refunded than came in. */
interface Sums {
  gross: string;
  net: string;
  fee: string;
  refunded: string;
}

/** Canonical decimal of base units that may be below zero. */
function decimalOf(asset: Asset, units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(DECIMALS[asset] + 1, '0');
  const fraction = digits.slice(-DECIMALS[asset]).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -DECIMALS[asset])}${fraction && `.${fraction}`}`;
}

function sumsOf(counts: Counts, asset: Asset): Sums {
  const of = (what: string): bigint => counts[`${asset.toLowerCase()}_${what}`] ?? 0n;
  const told = (units: bigint): string => decimalOf(asset, units);
  const net = of('gross') - of('fee') - of('refunded');
  return { gross: told(of('gross')), net: told(net), fee: told(of('fee')), refunded: told(of('refunded')) };
}

/** Per asset, because amounts of two assets never add up. */
export const sumsByAsset = (counts: Counts): Record<Asset, Sums> =>
  Object.fromEntries(ASSETS.map((asset) => [asset, sumsOf(counts, asset)])) as Record<Asset, Sums>;

/** Payments that were confirmed in an asset, orphaned ones not. */
export const countOf = (counts: Counts, asset: Asset): number => Number(counts[`${asset.toLowerCase()}_count`] ?? 0n);
/** The same over all assets. */
export const paymentsOf = (counts: Counts): number => ASSETS.reduce((sum, asset) => sum + countOf(counts, asset), 0);
