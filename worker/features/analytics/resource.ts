import { z } from '@hono/zod-openapi';
import { ASSETS } from '#core/money.ts';
import { iso } from '#core/time.ts';
import { given, orNull, Timestamp } from '#platform/http/openapi.ts';
import { p95Of } from '#rules/analytics/answer-times.ts';
import { type Counts, countOf, paymentsOf, shareOf, sumsByAsset } from '#rules/analytics/metrics.ts';
import type { Analytics } from './read.ts';
import { RENEWAL_WINDOW_DAYS, type Summary } from './summary.ts';

const SumsBody = z
  .object({
    gross: z.string().describe('Price and overpayment of confirmed payments: a decimal as text.'),
    net: z.string().describe('`gross` minus `fee` and `refunded`.'),
    fee: z.string().describe('Part of the sum that was paid to the service as a fee.'),
    refunded: z.string(),
  })
  .openapi('Sums', {
    description:
      'Totals of one asset, as decimals. `gross` is the price and overpayment of confirmed payments, without orphaned ones; `fee` is the part paid to the service; `net` is gross minus fee minus refunded.',
    example: { gross: '120', net: '112', fee: '3', refunded: '5' },
  });
const ByAsset = { USDC: SumsBody, SOL: SumsBody };
const Count = z.int();
const AssetTotals = z.object({ ...SumsBody.shape, count: Count }).openapi('AssetTotals');

export const SummaryBody = z
  .object({
    active_templates: Count,
    paying_members: Count,
    renewals_due: z
      .object({
        count: Count,
        window_days: z.literal(RENEWAL_WINDOW_DAYS),
      })
      .describe('Number of memberships that end soon.'),
    open_support_threads: Count.describe('Number of open or pending tickets.'),
    receipts_issued: Count,
    confirmed_payments: Count,
    totals: z.object(ByAsset).describe('Totals, separately for each asset.'),
    as_of: Timestamp,
  })
  .openapi('AccountSummary');

const LocalDate = z.string().openapi({ format: 'date', example: '2026-11-21' });

export const AnalyticsBody = z
  .object({
    window: z
      .object({
        start: LocalDate,
        end: LocalDate,
        days: Count,
        timezone: z.string().describe('IANA time zone, such as `Europe/Berlin`. Analytics use its days.'),
      })
      .describe('Date range of the figures.'),
    totals: z.object({ USDC: AssetTotals, SOL: AssetTotals }).describe('Totals, separately for each asset.'),
    funnel: z
      .object({
        sessions: Count,
        pending: Count,
        confirmed: Count,
        failed: Count,
        expired: Count,
        conversion_rate: orNull(z.number()).describe('Share of started checkouts that were paid; null if no checkout started.'),
      })
      .describe('Checkouts that began in the window, by their current status.'),
    daily: z
      .array(
        z.object({
          date: LocalDate,
          sessions: Count,
          confirmed: Count,
          failed: Count,
          ...ByAsset,
        }),
      )
      .describe('Figures of each day, oldest first.'),
    top_products: z
      .array(
        z.object({
          product_id: z.string(),
          name: z.string(),
          count: Count,
          ...ByAsset,
        }),
      )
      .describe('Ten products with the most payments.'),
    members: z.object({
      new: Count,
      renewed: Count,
      expired: Count,
      active: Count,
    }),
    webhooks: z
      .object({
        success_rate: z.number().optional().describe('Share of deliveries that succeeded.'),
        p95_ms: z.number().optional().describe('95th percentile of the response time in milliseconds.'),
      })
      .describe('Deliveries that ended in the window; absent if none did.'),
    as_of: Timestamp,
  })
  .openapi('Analytics');

const number = (counts: Counts, name: string): number => Number(counts[name] ?? 0n);

export const toSummaryResource = ({ totals, ...summary }: Summary): z.infer<typeof SummaryBody> => ({
  active_templates: summary.activeTemplates,
  paying_members: number(totals, 'members_active'),
  renewals_due: { count: summary.renewalsDue, window_days: RENEWAL_WINDOW_DAYS },
  open_support_threads: summary.openSupportThreads,
  receipts_issued: number(totals, 'receipts'),
  confirmed_payments: paymentsOf(totals),
  totals: sumsByAsset(totals),
  as_of: iso(summary.asOf),
});

const toFunnel = (totals: Counts) => {
  const [sessions, confirmed, failed, expired] = ['sessions', 'confirmed', 'failed', 'expired'].map((name) => totals[name] ?? 0n) as [
    bigint,
    bigint,
    bigint,
    bigint,
  ];
  return {
    sessions: Number(sessions),
    pending: Number(sessions - confirmed - failed - expired),
    confirmed: Number(confirmed),
    failed: Number(failed),
    expired: Number(expired),
    conversion_rate: shareOf(confirmed, sessions),
  };
};

const toDay = ({ date, counts }: Analytics['daily'][number]) => ({
  date,
  sessions: number(counts, 'sessions'),
  confirmed: number(counts, 'confirmed'),
  failed: number(counts, 'failed'),
  ...sumsByAsset(counts),
});

export function toAnalyticsResource({ window, totals, daily, topProducts, active, asOf }: Analytics): z.infer<typeof AnalyticsBody> {
  const sums = sumsByAsset(totals);
  return {
    window,
    totals: { USDC: { ...sums.USDC, count: countOf(totals, 'USDC') }, SOL: { ...sums.SOL, count: countOf(totals, 'SOL') } },
    funnel: toFunnel(totals),
    daily: daily.map(toDay),
    top_products: topProducts.map(({ productId, name, counts }) => ({
      product_id: productId,
      name,
      count: paymentsOf(counts),
      ...sumsByAsset(counts),
    })),
    members: {
      new: number(totals, 'members_new'),
      renewed: number(totals, 'members_renewed'),
      expired: number(totals, 'members_expired'),
      active: Number(active),
    },
    webhooks: {
      ...given('success_rate', shareOf(totals.delivered ?? 0n, totals.deliveries ?? 0n)),
      ...given('p95_ms', p95Of(totals)),
    },
    as_of: iso(asOf),
  };
}

const SUM_NAMES = ['gross', 'net', 'fee', 'refunded'] as const;

/** Formats `daily` as CSV (RFC 4180). Cells hold only numbers, dates and fixed names, so none needs quoting. */
export function toCsv({ daily }: Analytics): string {
  const header = [
    'date',
    'sessions',
    'confirmed',
    'failed',
    ...ASSETS.flatMap((asset) => SUM_NAMES.map((sum) => `${asset.toLowerCase()}_${sum}`)),
  ];
  const rows = daily
    .map(toDay)
    .map((day) => [
      day.date,
      day.sessions,
      day.confirmed,
      day.failed,
      ...ASSETS.flatMap((asset) => SUM_NAMES.map((sum) => day[asset][sum])),
    ]);
  return [header, ...rows].map((cells) => `${cells.join()}\r\n`).join('');
}
