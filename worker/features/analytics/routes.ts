import { createRoute, z } from '@hono/zod-openapi';
import { isDate } from '#core/days.ts';
import { merchantErrors, merchantRoute } from '#platform/http/callers.ts';
import { ModeQuery, ok, positiveInteger, router } from '#platform/http/openapi.ts';
import { readAnalytics, WINDOW_DAYS_MAX } from './read.ts';
import { AnalyticsBody, SummaryBody, toAnalyticsResource, toCsv, toSummaryResource } from './resource.ts';
import { readSummary } from './summary.ts';

const tags = ['Account'];

const daysBetween = (min: number, max: number, usual: number) =>
  positiveInteger(max).pipe(z.number().min(min)).default(usual).openapi({ type: 'integer', minimum: min, maximum: max, default: usual });
const DateQuery = z.string().refine(isDate, 'Expected a date as YYYY-MM-DD').optional().openapi({ format: 'date' });

const AnalyticsQueryBody = z.object({
  window_days: daysBetween(3, WINDOW_DAYS_MAX, 30),
  daily_days: daysBetween(3, 30, 14),
  start_date: DateQuery,
  end_date: DateQuery,
  ...ModeQuery,
});

const summary = createRoute({
  method: 'get',
  path: '/account/summary',
  operationId: 'getAccountSummary',
  tags,
  summary: 'Get the summary',
  description: 'How the workspace stands, each asset by itself.',
  ...merchantRoute('read'),
  request: { query: z.object(ModeQuery) },
  responses: { ...ok(SummaryBody), ...merchantErrors() },
});

const DESCRIPTION =
  'Days are those of the account’s time zone. `start_date` and `end_date`, both included, go together and win over `window_days`; a window is ' +
  `at most ${WINDOW_DAYS_MAX} days. Refunds and payments that the chain dropped restate the day of the payment.`;

const analytics = createRoute({
  method: 'get',
  path: '/account/analytics',
  operationId: 'getAnalytics',
  tags,
  summary: 'Get analytics',
  description: DESCRIPTION,
  ...merchantRoute('read'),
  request: { query: AnalyticsQueryBody },
  responses: { ...ok(AnalyticsBody), ...merchantErrors() },
});

const csv = createRoute({
  method: 'get',
  path: '/account/analytics.csv',
  operationId: 'exportAnalytics',
  tags,
  summary: 'Export analytics',
  description: DESCRIPTION,
  ...merchantRoute('read'),
  request: { query: AnalyticsQueryBody },
  responses: {
    200: { description: 'One line a day, the oldest first', content: { 'text/csv': { schema: z.string() } } },
    ...merchantErrors(),
  },
});

type Query = z.infer<typeof AnalyticsQueryBody>;
const asked = ({ window_days, daily_days, start_date, end_date }: Query) => ({
  windowDays: window_days,
  dailyDays: daily_days,
  startDate: start_date,
  endDate: end_date,
});

export const analyticsRoutes = router()
  .openapi(summary, async (c) => c.json(toSummaryResource(await readSummary(c.var.scope)), 200))
  .openapi(analytics, async (c) => c.json(toAnalyticsResource(await readAnalytics(c.var.scope, asked(c.req.valid('query')))), 200))
  .openapi(csv, async (c) => {
    const table = toCsv(await readAnalytics(c.var.scope, asked(c.req.valid('query'))));
    const headers = { 'content-type': 'text/csv; charset=utf-8', 'content-disposition': 'attachment; filename="analytics.csv"' };
    return c.body(table, 200, headers) as never;
  });
