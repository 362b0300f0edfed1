import { acted, idempotent } from '../../frame/acts.ts';
import { ActForm, ActSection } from '../../frame/fields.tsx';
import { type Amount, amountOf, Time } from '../../frame/format.tsx';
import { linkTo } from '../../frame/head.tsx';
import { Facts, listBody } from '../../frame/list.tsx';
import type { Definition } from '../../frame/screen.tsx';

interface Subscription {
  authorization_id: string;
  product_id: string;
  subscriber_wallet: string;
  plan_address: string;
  status: string;
  amount: Amount;
  period_hours: number;
  current_period_end?: string;
  paid_through: string | null;
  last_collection?: { at: string; status: string; code?: string };
  cancel?: { requested_at: string; effective_at: string };
  stopped_at?: string;
}

const STATES = ['pending', 'active', 'past_due', 'requires_reapproval', 'cancel_requested', 'cancelled', 'expired'];
/** States in which the service collects, now or later. */
const COLLECTED = ['active', 'past_due', 'cancel_requested'];

const hoursOf = (hours: number): string => (hours % 24 === 0 ? `${hours / 24} days` : `${hours} hours`);
/** Time of the next collection. Null if none follows. */
const nextChargeOf = ({ status, stopped_at: stopped, current_period_end: end }: Subscription) =>
  end !== undefined && stopped === undefined && (status === 'active' || status === 'past_due') ? <Time at={end} /> : null;
const words = (state: string): string => state.replaceAll('_', ' ');

export const SUBSCRIPTIONS: Definition = {
  path: '/dashboard/subscriptions',
  title: 'Subscriptions',
  body: listBody<Subscription>({
    operation: 'listNativeSubscriptions',
    filters: [
      { name: 'status', label: 'Status', options: STATES },
      { name: 'product_id', label: 'Template id' },
    ],
    caption: 'Subscriptions, newest first',
    head: ['Subscriber', 'Status', 'Amount', 'Every', 'Next charge'],
    empty: (
      <p>
        A buyer approves once, and each period is collected from their wallet. <a href="/docs/subscriptions">Sell a subscription</a>
      </p>
    ),
    row: (one, screen) => [
      <a href={linkTo(screen, `/dashboard/subscriptions/${one.authorization_id}`)}>{one.subscriber_wallet}</a>,
      words(one.status),
      amountOf(one.amount),
      hoursOf(one.period_hours),
      nextChargeOf(one),
    ],
  }),
  acts: {},
};

export const SUBSCRIPTION: Definition = {
  path: '/dashboard/subscriptions/:authorization_id',
  title: 'Subscription',
  async body(screen) {
    const { c, operations, mode } = screen;
    const params = { authorization_id: c.req.param('authorization_id') ?? '' };
    const found = await operations.call<Subscription>('getNativeSubscription', { params, query: { mode } });
    if (!found.ok) return found;
    const { value } = found;
    const { last_collection: collected, cancel } = value;
    return (
      <>
        <section>
          <Facts
            rows={[
              ['Status', words(value.status)],
              ['Amount', `${amountOf(value.amount)} every ${hoursOf(value.period_hours)}`],
              ['Paid through', value.paid_through && <Time at={value.paid_through} />],
              ['Next charge', nextChargeOf(value)],
              [
                'Latest collection',
                collected && (
                  <>
                    {collected.status}
                    {collected.code && `: ${words(collected.code)}`}, <Time at={collected.at} />
                  </>
                ),
              ],
              ['Cancelled by its buyer', cancel && <Time at={cancel.requested_at} />],
              ['Ends', cancel && <Time at={cancel.effective_at} />],
              ['Stopped', value.stopped_at && <Time at={value.stopped_at} />],
              ['Subscriber', value.subscriber_wallet],
              ['Template', <a href={linkTo(screen, `/dashboard/templates/${value.product_id}`)}>{value.product_id}</a>],
              ['Plan on the chain', value.plan_address],
              ['Page for its buyer', mode === 'live' && <a href={`/s/${value.authorization_id}`}>{`/s/${value.authorization_id}`}</a>],
            ]}
          />
        </section>
        {COLLECTED.includes(value.status) && value.stopped_at === undefined && (
          <ActSection screen={screen} act="stop" title="Stop collecting">
            <p>No further period is collected. Access stays until the end of the paid one. Only the buyer can approve again.</p>
            <ActForm screen={screen} act="stop" submit="Stop collecting" isFinal />
          </ActSection>
        )}
      </>
    );
  },
  acts: {
    stop: {
      needs: 'payouts:write',
      done: 'Nothing more is collected.',
      run: async ({ c, operations, mode }, form) =>
        acted(
          await operations.call('stopNativeSubscription', {
            params: { authorization_id: c.req.param('authorization_id') ?? '' },
            query: { mode },
            ...idempotent(form),
          }),
        ),
    },
  },
};
