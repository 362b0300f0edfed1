import { z } from '@hono/zod-openapi';
import { isDate } from '#core/days.ts';
import { positiveInteger } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { readAnalytics, WINDOW_DAYS_MAX } from './read.ts';
import { AnalyticsBody, SummaryBody, toAnalyticsResource, toCsv, toSummaryResource } from './resource.ts';
import { readSummary } from './summary.ts';

const daysBetween = (min: number, max: number, usual: number) =>
  positiveInteger(max).pipe(z.number().min(min)).default(usual).openapi({ type: 'integer', minimum: min, maximum: max, default: usual });
const DateQuery = z.string().refine(isDate, 'Expected a date as YYYY-MM-DD').optional().openapi({ format: 'date' });

const AnalyticsQuery = {
  window_days: daysBetween(3, WINDOW_DAYS_MAX, 30),
  daily_days: daysBetween(3, 30, 14),
  start_date: DateQuery,
  end_date: DateQuery,
};

const DESCRIPTION =
  'Days are those of the account’s time zone. `start_date` and `end_date`, both included, go together and win over `window_days`; a window is ' +
  `at most ${WINDOW_DAYS_MAX} days. Refunds and payments that the chain dropped restate the day of the payment.`;

type Query = z.infer<z.ZodObject<typeof AnalyticsQuery>>;
const asked = ({ window_days, daily_days, start_date, end_date }: Query) => ({
  windowDays: window_days,
  dailyDays: daily_days,
  startDate: start_date,
  endDate: end_date,
});

export const analyticsRoutes = routes('Account')
  .read({
    path: 'GET /account/summary',
    id: 'getAccountSummary',
    summary: 'Get the summary',
    description: 'How the workspace stands, each asset by itself.',
    returns: SummaryBody,
    answer: async ({ scope }) => toSummaryResource(await readSummary(scope)),
  })
  .read({
    path: 'GET /account/analytics',
    id: 'getAnalytics',
    summary: 'Get analytics',
    description: DESCRIPTION,
    query: AnalyticsQuery,
    returns: AnalyticsBody,
    answer: async ({ scope, query }) => toAnalyticsResource(await readAnalytics(scope, asked(query))),
  })
  .read({
    path: 'GET /account/analytics.csv',
    id: 'exportAnalytics',
    summary: 'Export analytics',
    description: DESCRIPTION,
    query: AnalyticsQuery,
    returns: { 200: { description: 'One line a day, the oldest first', content: { 'text/csv': { schema: z.string() } } } },
    respond: async ({ c, scope, query }) => {
      const table = toCsv(await readAnalytics(scope, asked(query)));
      const headers = { 'content-type': 'text/csv; charset=utf-8', 'content-disposition': 'attachment; filename="analytics.csv"' };
      return c.body(table, 200, headers) as never;
    },
  });
