import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ANSWER_MS, answerClassOf, deliveryCounts, p95Of } from '#rules/analytics/answer-times.ts';
import {
  addCounts,
  type Counts,
  countsOf,
  deltasBetween,
  deltasOf,
  type PaymentFacts,
  shareOf,
  sumsByAsset,
} from '#rules/analytics/metrics.ts';

const units = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const anyFacts: fc.Arbitrary<PaymentFacts> = fc.record({
  merchantId: fc.constant('merchant'),
  livemode: fc.boolean(),
  productId: fc.constantFrom('one', 'two'),
  isSession: fc.boolean(),
  status: fc.constantFrom('PENDING_SIGNATURE' as const, 'PENDING_CONFIRMATION' as const, 'CONFIRMED' as const, 'FAILED' as const),
  failureCode: fc.constantFrom(null, 'session_expired', 'underpaid', 'transaction_failed'),
  asset: fc.constantFrom('USDC' as const, 'SOL' as const),
  grossUnits: units,
  feeUnits: units,
  refundedUnits: units,
  hasReceipt: fc.boolean(),
  isOrphaned: fc.boolean(),
  createdAt: fc.integer({ min: 0, max: 4e12 }),
  confirmedAt: fc.option(fc.integer({ min: 0, max: 4e12 })),
});

function summed(deltas: { at: number; productId?: string; counts: Counts }[]): Record<string, Counts> {
  const sums: Record<string, Counts> = {};
  for (const { at, productId = '', counts } of deltas) {
    const key = `${at} ${productId}`;
    sums[key] ??= {};
    addCounts(sums[key], counts);
  }
  return Object.fromEntries(Object.entries(sums).filter(([, counts]) => Object.keys(counts).length > 0));
}

describe('payment metrics', () => {
  it('summed deltas of a payment’s changes equal the counts of its final state', () => {
    fc.assert(
      fc.property(fc.array(anyFacts, { minLength: 1, maxLength: 8 }), (history) => {
        const steps = history.flatMap((after, i) => deltasBetween(history[i - 1] ?? null, after));
        expect(summed(steps)).toEqual(summed(deltasOf(history.at(-1)!)));
      }),
    );
  });

  it('amounts of two assets are not added, and sums are exact above 2^53', () => {
    const facts: PaymentFacts = {
      merchantId: 'm',
      livemode: true,
      productId: 'p',
      isSession: true,
      status: 'CONFIRMED',
      failureCode: null,
      asset: 'USDC',
      grossUnits: 2n ** 63n + 1n,
      feeUnits: 1n,
      refundedUnits: 0n,
      hasReceipt: true,
      isOrphaned: false,
      createdAt: 1,
      confirmedAt: 2,
    };
    const both = [facts, facts, { ...facts, asset: 'SOL' as const, grossUnits: 5n, feeUnits: 0n }];
    const counts = countsOf(...both.flatMap(deltasOf).map((delta) => delta.counts));
    expect(sumsByAsset(counts)).toEqual({
      USDC: { gross: '18446744073709.551618', net: '18446744073709.551616', fee: '0.000002', refunded: '0' },
      SOL: { gross: '0.000000005', net: '0.000000005', fee: '0', refunded: '0' },
    });
  });

  it('a net amount is negative if refunds and fees exceed the payments', () => {
    const { USDC } = sumsByAsset({ usdc_gross: 5_000_000n, usdc_fee: 250_000n, usdc_refunded: 5_000_000n });
    expect(USDC).toEqual({ gross: '5', net: '-0.25', fee: '0.25', refunded: '5' });
  });

  it('an orphaned payment counts as not received, and its refund still counts', () => {
    const [facts] = fc.sample(anyFacts, 1);
    const dropped = { ...facts!, confirmedAt: 5, isOrphaned: true, refundedUnits: 3n, asset: 'USDC' as const };
    const counts = countsOf(...deltasOf(dropped).map((delta) => delta.counts));
    expect([counts.usdc_gross, counts.usdc_fee, counts.usdc_count, counts.usdc_refunded]).toEqual([undefined, undefined, undefined, 3n]);
  });
});

describe('endpoint answer metrics', () => {
  it('p95 is the smallest bound that covers 95 of 100 answers', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 60 }), (answers) => {
        const counts = countsOf(...answers.map((ms) => deliveryCounts(true, answerClassOf(ms))));
        const sorted = [...answers].sort((a, b) => a - b);
        const exact = sorted[Math.ceil(sorted.length * 0.95) - 1]!;
        expect(p95Of(counts)).toBe(ANSWER_MS.find((bound) => exact <= bound) ?? ANSWER_MS.at(-1));
      }),
    );
    expect(p95Of({})).toBeNull();
  });

  it('success rates have four decimals, and are null without answers', () => {
    expect([shareOf(1n, 3n), shareOf(2n, 3n), shareOf(0n, 5n), shareOf(7n, 7n), shareOf(0n, 0n)]).toEqual([0.3333, 0.6667, 0, 1, null]);
  });
});
