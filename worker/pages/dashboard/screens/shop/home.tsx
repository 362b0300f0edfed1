import type { Child } from 'hono/jsx';
import { Table } from '../../../parts/table.tsx';

import { amountOf, Time } from '../../frame/format.tsx';
import { linkTo } from '../../frame/head.tsx';
import { Facts } from '../../frame/list.tsx';
import type { Definition, Screen } from '../../frame/screen.tsx';
import { Chart, type Day } from './chart.tsx';
import { type Paid, PaymentLink, statusOf } from './payment-parts.tsx';

interface Summary {
  active_templates: number;
  paying_members: number;
  renewals_due: { count: number };
  confirmed_payments: number;
}
interface Figures {
  totals: Record<'USDC' | 'SOL', { net: string; count: number }>;
  daily: Day[];
}
interface Counted {
  total: number;
}
interface Endpoint {
  endpoint_id: string;
  url: string;
  status: string;
  failing_since?: string;
}
const WINDOW_DAYS = '30';
const LATEST = '5';

function emailStep({ email, email_verified: isDone }: Screen['me']): string {
  if (email === null) return 'Add an email address';
  return `Confirm your email address${isDone ? '' : `: open the link that was sent to ${email}`}`;
}

/** Steps to the first sale, done or not. In test mode a test wallet is paid. */
const stepsOf = (screen: Screen, { active_templates: templates, confirmed_payments: sales }: Summary, wallets: number) =>
  [
    [screen.me.email_verified, emailStep(screen.me), '/dashboard/security'],
    [wallets > 0 || screen.mode === 'sandbox', 'Name the wallet that buyers pay to', '/dashboard/payouts'],
    [templates > 0, 'Create a template', '/dashboard/templates/new'],
    [sales > 0, 'Make the first sale: open the page of your template and pay', '/dashboard/templates'],
  ] as const;

export const HOME: Definition = {
  path: '/dashboard',
  title: 'Home',
  async body(screen) {
    const { operations, mode } = screen;
    const query = { mode };
    const [summary, figures, wallets, unmatched, endpoints, pastDue, answered, latest] = await Promise.all([
      operations.call<Summary>('getAccountSummary', { query }),
      operations.call<Figures>('getAnalytics', { query: { ...query, window_days: WINDOW_DAYS, daily_days: WINDOW_DAYS } }),
      operations.call<Counted>('listPayoutWallets', { query }),
      operations.call<Counted>('listUnmatchedPayments', { query: { ...query, status: 'open', per_page: '1' } }),
      operations.call<{ items: Endpoint[] }>('listWebhookEndpoints', { query }),
      operations.call<Counted>('listNativeSubscriptions', { query: { ...query, status: 'past_due', per_page: '1' } }),
      operations.call<Counted>('listTickets', { query: { ...query, status: 'pending', per_page: '1' } }),
      operations.call<{ items: Paid[] }>('listPayments', { query: { ...query, per_page: LATEST } }),
    ]);
    const countOf = (list: typeof unmatched): number => (list.ok ? list.value.total : 0);
    const failing = endpoints.ok ? endpoints.value.items.filter((one) => one.failing_since !== undefined || one.status === 'disabled') : [];
    const needs: (Child | false)[] = [
      countOf(unmatched) > 0 && <a href={linkTo(screen, '/dashboard/unmatched')}>{`Money that paid no checkout: ${countOf(unmatched)}`}</a>,
      ...failing.map(({ endpoint_id: id, url, status }) => (
        <a href={linkTo(screen, `/dashboard/webhooks/${id}`)}>
          {status === 'disabled' ? 'An endpoint is disabled: ' : 'An endpoint fails: '}
          <bdi>{url}</bdi>
        </a>
      )),
      countOf(pastDue) > 0 && (
        <a href={`/dashboard/subscriptions?${new URLSearchParams({ ...query, status: 'past_due' })}`}>
          {`Subscriptions past due: ${countOf(pastDue)}`}
        </a>
      ),
      countOf(answered) > 0 && (
        <a
          href={`/dashboard/support?${new URLSearchParams({ ...query, status: 'pending' })}`}
        >{`Answered tickets: ${countOf(answered)}`}</a>
      ),
    ].filter(Boolean);
    return (
      <>
        {summary.ok && <Checklist screen={screen} steps={stepsOf(screen, summary.value, countOf(wallets))} />}
        {needs.length > 0 && (
          <section>
            <h2>Needs you</h2>
            <ul>
              {needs.map((need) => (
                <li>{need}</li>
              ))}
            </ul>
          </section>
        )}
        {summary.ok && <Totals summary={summary.value} />}
        {figures.ok && <Earned figures={figures.value} screen={screen} />}
        {latest.ok && latest.value.items.length > 0 && <Latest screen={screen} payments={latest.value.items} />}
      </>
    );
  },
  acts: {},
};

const Checklist = ({ screen, steps }: { screen: Screen; steps: ReturnType<typeof stepsOf> }) =>
  steps.every(([isDone]) => isDone) ? null : (
    <section>
      <h2>To your first sale</h2>
      <ol>
        {steps.map(([isDone, text, path]) => (
          <li>{isDone ? `Done: ${text}` : <a href={linkTo(screen, path)}>{text}</a>}</li>
        ))}
      </ol>
    </section>
  );

const Totals = ({ summary }: { summary: Summary }) => (
  <section>
    <Facts
      rows={[
        ['Templates on sale', String(summary.active_templates)],
        ['Members with access', String(summary.paying_members)],
        ['Renewals in the next seven days', String(summary.renewals_due.count)],
        ['Payments so far', String(summary.confirmed_payments)],
      ]}
    />
  </section>
);

const Earned = ({ figures: { totals, daily }, screen }: { figures: Figures; screen: Screen }) => (
  <>
    {(['USDC', 'SOL'] as const)
      .filter((asset) => totals[asset].count > 0)
      .map((asset) => (
        <section>
          <h2>{`${totals[asset].net} ${asset} in 30 days`}</h2>
          <p>After fees and refunds.</p>
          <Chart asset={asset} days={daily} />
          <p>
            <a
              href={`/dashboard/analytics.csv?${new URLSearchParams({ mode: screen.mode, window_days: WINDOW_DAYS, daily_days: WINDOW_DAYS })}`}
            >
              CSV
            </a>
          </p>
        </section>
      ))}
  </>
);

const Latest = ({ screen, payments }: { screen: Screen; payments: Paid[] }) => (
  <section>
    <Table
      caption="Latest payments"
      head={['Payment of', 'Status', 'Amount', 'When']}
      rows={payments.map((payment) => [
        <PaymentLink screen={screen} payment={payment} />,
        statusOf(payment),
        amountOf(payment.price),
        <Time at={payment.created_at} />,
      ])}
    />
  </section>
);
