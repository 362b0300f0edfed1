import { z } from '@hono/zod-openapi';
import { isDate } from '#core/days.ts';
import { readNear } from '#platform/db/directory.ts';
import { positiveInteger } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { readAnalytics, WINDOW_DAYS_MAX } from './read.ts';
import { AnalyticsBody, SummaryBody, toAnalyticsResource, toCsv, toSummaryResource } from './resource.ts';
import { readSummary } from './summary.ts';

const daysBetween = (min: number, max: number, usual: number) =>
  positiveInteger(max).pipe(z.number().min(min)).default(usual).openapi({ type: 'integer', minimum: min, maximum: max, default: usual });
const DateQuery = z.string().refine(isDate, 'Expected a date as YYYY-MM-DD').optional().openapi({ format: 'date' });

const AnalyticsQuery = {
  window_days: daysBetween(3, WINDOW_DAYS_MAX, 30).describe('Number of days back, if no dates are given.'),
  daily_days: daysBetween(3, 30, 14).describe('Number of recent days in `daily`.'),
  start_date: DateQuery.describe('First day, such as `2026-11-21`.'),
  end_date: DateQuery.describe('Last day, such as `2026-11-21`.'),
};

const DAYS =
  'Days are in the account’s time zone. `start_date` and `end_date` are inclusive and take precedence over `window_days`; ' +
  `at most ${WINDOW_DAYS_MAX} days. Refunds and orphaned payments change the day of the payment.`;

type Query = z.infer<z.ZodObject<typeof AnalyticsQuery>>;
const asked = ({ window_days, daily_days, start_date, end_date }: Query) => ({
  windowDays: window_days,
  dailyDays: daily_days,
  startDate: start_date,
  endDate: end_date,
});

export const analyticsRoutes = routes('Account', 'figures')
  .read({
    path: 'GET /account/summary',
    id: 'getAccountSummary',
    sdk: 'account.getSummary',
    summary: 'Get the summary',
    description: 'Returns the current totals of the account, separately for each asset.',
    returns: SummaryBody,
    answer: async ({ scope }) => toSummaryResource(await readSummary(scope)),
  })
  .read({
    path: 'GET /account/analytics',
    id: 'getAnalytics',
    sdk: 'analytics.get',
    summary: 'Get analytics',
    description: `Returns payments, members and deliveries by day. ${DAYS}`,
    query: AnalyticsQuery,
    returns: AnalyticsBody,
    answer: async ({ scope, query }) => toAnalyticsResource(await readNear(scope, (near) => readAnalytics(near, asked(query)))),
  })
  .read({
    path: 'GET /account/analytics.csv',
    id: 'exportAnalytics',
    sdk: 'analytics.export',
    summary: 'Export analytics',
    description: `Exports the daily figures as CSV. ${DAYS}`,
    query: AnalyticsQuery,
    returns: { 200: { description: 'One row per day, oldest first', content: { 'text/csv': { schema: z.string() } } } },
    respond: async ({ c, scope, query }) => {
      const table = toCsv(await readNear(scope, (near) => readAnalytics(near, asked(query))));
      const headers = { 'content-type': 'text/csv; charset=utf-8', 'content-disposition': 'attachment; filename="analytics.csv"' };
      return c.body(table, 200, headers) as never;
    },
  });
