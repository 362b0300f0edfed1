import { ASSETS, type Asset, DECIMALS } from '#core/money.ts';
import type { PaymentStatus } from '../states.ts';

/** Numbers by name. An absent name is zero. All are sums, so metrics of two spans add up. */
export type Counts = Record<string, bigint>;

export interface MetricDelta {
  merchantId: string;
  livemode: boolean;
  at: number;
  counts: Counts;
  productId?: string;
}

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

export const negated = (deltas: readonly MetricDelta[]): MetricDelta[] =>
  deltas.map((delta) => ({
    ...delta,
    counts: Object.fromEntries(Object.entries(delta.counts).map(([name, value]) => [name, -value])),
  }));

/** Payment facts for metrics. Amounts in base units of the asset. */
export interface PaymentFacts {
  merchantId: string;
  livemode: boolean;
  productId: string;
  /** True for a checkout, which is created before it is paid and may end unpaid. */
  isSession: boolean;
  status: PaymentStatus;
  failureCode: string | null;
  asset: Asset;
  /** Price plus overpayment. */
  grossUnits: bigint;
  /** Fee paid to the service. A fee that is owed does not count. */
  feeUnits: bigint;
  refundedUnits: bigint;
  hasReceipt: boolean;
  isOrphaned: boolean;
  createdAt: number;
  confirmedAt: number | null;
}

function outcomeOf({ status, failureCode }: PaymentFacts): Counts {
  if (status === 'CONFIRMED') return { confirmed: 1n };
  if (status === 'FAILED') return failureCode === 'session_expired' ? { expired: 1n } : { failed: 1n };
  return {};
}

/**
 * Returns the payment's full contribution: a checkout to the funnel at its creation, money at its confirmation. An orphaned payment adds no
 * revenue, but its refunds count, because they left the merchant's wallet.
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

/** Difference between the contributions after and before a change. `before` is null for a new payment. */
export const deltasBetween = (before: PaymentFacts | null, after: PaymentFacts): MetricDelta[] => [
  ...deltasOf(after),
  ...(before ? negated(deltasOf(before)) : []),
];

/** Ratio rounded to four decimals. Null if the total is zero. */
export const shareOf = (part: bigint, total: bigint): number | null =>
  total === 0n ? null : Number((part * 20_000n + total) / (total * 2n)) / 10_000;

interface Sums {
  gross: string;
  net: string;
  fee: string;
  refunded: string;
}

function decimalOf(asset: Asset, units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(DECIMALS[asset] + 1, '0');
  const fraction = digits.slice(-DECIMALS[asset]).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -DECIMALS[asset])}${fraction && `.${fraction}`}`;
}

function sumsOf(counts: Counts, asset: Asset): Sums {
  const of = (what: string): bigint => counts[`${asset.toLowerCase()}_${what}`] ?? 0n;
  const decimal = (units: bigint): string => decimalOf(asset, units);
  const net = of('gross') - of('fee') - of('refunded');
  return { gross: decimal(of('gross')), net: decimal(net), fee: decimal(of('fee')), refunded: decimal(of('refunded')) };
}

export const sumsByAsset = (counts: Counts): Record<Asset, Sums> =>
  Object.fromEntries(ASSETS.map((asset) => [asset, sumsOf(counts, asset)])) as Record<Asset, Sums>;

export const countOf = (counts: Counts, asset: Asset): number => Number(counts[`${asset.toLowerCase()}_count`] ?? 0n);
export const paymentsOf = (counts: Counts): number => ASSETS.reduce((sum, asset) => sum + countOf(counts, asset), 0);
