import { acted, idempotent, textOf } from '../frame/acts.ts';
import { ActForm, SelectField, Table, TextField } from '../frame/fields.tsx';
import { type Amount, amountOf, optionalAmount, Time } from '../frame/format.tsx';
import { linkTo, signPathOf } from '../frame/head.tsx';
import { Facts, type Filter, listBody } from '../frame/list.tsx';
import type { Acted, Definition, Form, Screen } from '../frame/screen.tsx';

interface Unmatched {
  unmatched_id: string;
  payment_id: string;
  tx_signature: string;
  amount: Amount;
  payer_wallet: string;
  block_time: string;
  reason: string;
  status: string;
  recovered_payment_id?: string;
}
interface Payment {
  payment_id: string;
  kind: string;
  product_id: string;
  status: string;
  failure_code?: string;
  price: Amount;
  fee?: Amount;
  net?: Amount;
  overpaid?: Amount;
  payer_wallet?: string;
  recipient_wallet: string;
  tx_signature?: string;
  confirmed_at?: string;
  finalized_at?: string;
  orphaned_at?: string;
  customer_ref?: string;
  membership_id?: string;
  receipt_id?: string;
  recovers_payment_id?: string;
  created_at: string;
  unmatched?: Unmatched[];
  refunded?: { refund_id: string; amount: Amount; status: string }[];
}
export interface TimelineEntry {
  at: string;
  kind: string;
  type: string;
  event_id?: string;
  delivery_id?: number;
  status?: string;
}

/** Meaning of each reason of unmatched money. */
const REASONS: Record<string, string> = {
  late: 'It came after the checkout had ended.',
  underpaid: 'It is less than the price.',
  second_payment: 'The checkout was paid before.',
  identity_missing: 'The buyer was not identified.',
};

const FILTERS: Filter[] = [
  { name: 'status', label: 'Status', options: ['PENDING_SIGNATURE', 'PENDING_CONFIRMATION', 'CONFIRMED', 'FAILED'] },
  { name: 'product_id', label: 'Product id' },
  { name: 'customer_ref', label: 'Your customer id' },
  { name: 'customer_id', label: 'Customer' },
  { name: 'q', label: 'Payment id, signature, wallet or words' },
];

export const PAYMENTS: Definition = {
  path: '/dashboard/payments',
  title: 'Payments',
  body: listBody<Payment>({
    operation: 'listPayments',
    filters: FILTERS,
    caption: 'Payments, newest first',
    head: ['Payment', 'Status', 'Amount', 'Customer', 'When'],
    empty: (
      <p>
        Nobody has paid yet. Send a buyer to the page of a product: <a href="/docs/checkout">how a sale begins</a>
      </p>
    ),
    row: ({ payment_id: id, status, price, customer_ref: customer, payer_wallet: wallet, created_at: at }, screen) => (
      <tr>
        <th scope="row">
          <a href={linkTo(screen, `/dashboard/payments/${id}`)}>{id}</a>
        </th>
        <td>{status}</td>
        <td>{amountOf(price)}</td>
        <td>
          <bdi>{customer ?? wallet ?? ''}</bdi>
        </td>
        <td>
          <Time at={at} />
        </td>
      </tr>
    ),
  }),
  acts: {},
};

/** Accepts money of a row: `id` is the payment, `tx_signature` its transaction. */
const ACCEPT: Definition['acts'] = {
  accept: {
    done: 'The money is accepted as paid. The buyer has access.',
    run: async ({ operations, mode }, form) =>
      acted(
        await operations.call('acceptUnmatched', {
          params: { payment_id: form.id ?? '' },
          query: { mode },
          body: { tx_signature: form.tx_signature },
          ...idempotent(form),
        }),
      ),
  },
};

const UnmatchedRow = ({ money, screen }: { money: Unmatched; screen: Screen }) => (
  <tr>
    <th scope="row">
      <a href={linkTo(screen, `/dashboard/payments/${money.payment_id}`)}>{money.tx_signature.slice(0, 16)}…</a>
    </th>
    <td>{amountOf(money.amount)}</td>
    <td>
      {money.reason}. {REASONS[money.reason]}
    </td>
    <td>
      <Time at={money.block_time} />
    </td>
    <td>
      {money.status === 'open' ? (
        <ActForm screen={screen} act="accept" id={money.payment_id} submit="Accept as paid">
          <input type="hidden" name="tx_signature" value={money.tx_signature} />
        </ActForm>
      ) : (
        money.status
      )}
    </td>
  </tr>
);
const UNMATCHED_HEAD = ['Transaction', 'Amount', 'Reason', 'When', 'Act'];

export const UNMATCHED: Definition = {
  path: '/dashboard/unmatched',
  title: 'Unmatched money',
  async countIn({ operations, mode }) {
    const open = await operations.call<{ total: number }>('listUnmatchedPayments', { query: { status: 'open', per_page: '1', mode } });
    return open.ok ? open.value.total : 0;
  },
  body: listBody<Unmatched>({
    operation: 'listUnmatchedPayments',
    filters: [{ name: 'status', label: 'Status', options: ['open', 'accepted'] }],
    caption: 'Money that matched no open checkout, newest first',
    head: UNMATCHED_HEAD,
    empty: (
      <p>
        All money found its checkout. <a href="/docs/unmatched-and-refunds">What arrives here</a>
      </p>
    ),
    row: (money, screen) => <UnmatchedRow money={money} screen={screen} />,
  }),
  acts: ACCEPT,
};

export const PAYMENT: Definition = {
  path: '/dashboard/payments/:payment_id',
  title: 'Payment',
  async body(screen) {
    const { c, operations, mode } = screen;
    const paymentId = c.req.param('payment_id') ?? '';
    const [payment, timeline] = await Promise.all([
      operations.call<Payment>('getPayment', { params: { payment_id: paymentId }, query: { mode } }),
      operations.call<{ items: TimelineEntry[] }>('getWebhookTimeline', { query: { payment_id: paymentId, order: 'desc', mode } }),
    ]);
    if (!payment.ok) return payment;
    const { unmatched = [], refunded = [] } = payment.value;
    return (
      <>
        <section>
          <PaymentFacts screen={screen} payment={payment.value} />
        </section>
        {unmatched.length > 0 && (
          <section>
            <Table caption="Money that matched no open checkout" head={UNMATCHED_HEAD}>
              {unmatched.map((money) => (
                <UnmatchedRow money={money} screen={screen} />
              ))}
            </Table>
          </section>
        )}
        {refunded.length > 0 && (
          <section>
            <Table caption="Refunds" head={['Refund', 'Amount', 'Status']}>
              {refunded.map(({ refund_id: id, amount, status }) => (
                <tr>
                  <th scope="row">{id}</th>
                  <td>{amountOf(amount)}</td>
                  <td>{status}</td>
                </tr>
              ))}
            </Table>
          </section>
        )}
        {payment.value.status === 'CONFIRMED' && mode === 'live' && <RefundForm screen={screen} price={payment.value.price} />}
        {timeline.ok && <Timeline screen={screen} items={timeline.value.items} />}
        {timeline.ok && timeline.value.items.some(({ delivery_id: id }) => id !== undefined) && (
          <section>
            <h2>Send events again</h2>
            <p>Each endpoint gets the events of this payment once more, as new deliveries.</p>
            <ActForm screen={screen} act="resend" submit="Send events again" />
          </section>
        )}
      </>
    );
  },
  acts: {
    ...ACCEPT,
    refund: { done: '', run: (screen, form) => beginRefund(screen, form) },
    resend: { done: 'The events are on their way again.', run: (screen, form) => resend(screen, form) },
  },
};

const REVOKES = [
  ['false', 'stays'],
  ['true', 'ends'],
] as const;

const RefundForm = ({ screen, price }: { screen: Screen; price: Amount }) => (
  <section>
    <h2>Refund</h2>
    <p>The wallet that was paid signs on the next page. The payment shows the refund once the chain has it.</p>
    <ActForm screen={screen} act="refund" submit="Refund" isFinal>
      <input type="hidden" name="asset" value={price.asset} />
      <TextField
        screen={screen}
        act="refund"
        name="amount.amount"
        label={`Amount in ${price.asset}`}
        help="Empty: all that is left"
        isOptional
      />
      <SelectField screen={screen} act="refund" name="revoke_access" label="Access that it paid" options={REVOKES} value="false" />
    </ActForm>
  </section>
);

/** Prepares the transaction of a refund, and leads to the page where the wallet signs it. */
async function beginRefund(screen: Screen, form: Form): Promise<Acted> {
  const { c, operations, mode } = screen;
  const amount = textOf(form['amount.amount']);
  const prepared = await operations.call<{ transaction: string }>('prepareRefund', {
    params: { payment_id: c.req.param('payment_id') ?? '' },
    query: { mode },
    body: { ...(amount === undefined ? {} : { amount: { asset: form.asset, amount } }), revoke_access: form.revoke_access === 'true' },
    ...idempotent(form),
  });
  if (prepared.ok) return { ok: true, leaveTo: signPathOf(screen, prepared.value.transaction) };
  // The form has one field for the amount, which the API also refuses as a pair.
  const problems = prepared.problems.map((problem) =>
    problem.loc[1] === 'amount' ? { ...problem, loc: ['body', 'amount', 'amount'] } : problem,
  );
  return { ...prepared, problems };
}

/** Most entries of the timeline that one press sends again. */
const RESENT_MAX = 120;

/** Replays one delivery for each event and endpoint of the payment. */
async function resend({ c, operations, mode }: Screen, { idempotency_key: key }: Form): Promise<Acted> {
  const query = { payment_id: c.req.param('payment_id') ?? '', order: 'desc', limit: String(RESENT_MAX), mode };
  const timeline = await operations.call<{ items: TimelineEntry[] }>('getWebhookTimeline', { query });
  if (!timeline.ok) return timeline;
  const again = new Map<string, string>();
  for (const { delivery_id: id } of timeline.value.items) {
    if (id === undefined) continue;
    const at = { params: { delivery_id: String(id) }, query: { mode } };
    const sent = await operations.call<{ event_id: string; endpoint_id: string }>('getWebhookDelivery', at);
    if (sent.ok) again.set(`${sent.value.event_id} ${sent.value.endpoint_id}`, String(id));
  }
  let refused: Acted = { ok: true };
  let count = 0;
  for (const id of again.values()) {
    const at = { params: { delivery_id: id }, query: { mode }, idempotencyKey: `${key}-${id}` };
    const replayed = await operations.call('replayWebhookDelivery', at);
    if (replayed.ok) count++;
    else refused = replayed;
  }
  // A disabled endpoint does not hold up the others.
  return count > 0 ? { ok: true } : refused;
}

const PaymentFacts = ({ screen, payment }: { screen: Screen; payment: Payment }) => (
  <Facts
    rows={[
      ['Payment', payment.payment_id],
      ['Status', [payment.status, payment.failure_code].filter(Boolean).join(' · ')],
      ['Price', amountOf(payment.price)],
      ['Fee', optionalAmount(payment.fee)],
      ['Yours', optionalAmount(payment.net)],
      ['Overpaid', optionalAmount(payment.overpaid)],
      ['Kind', payment.kind],
      ['Product', payment.product_id],
      ['Your customer id', payment.customer_ref && <bdi>{payment.customer_ref}</bdi>],
      ['Paid by', payment.payer_wallet],
      ['Paid to', payment.recipient_wallet],
      ['Transaction', payment.tx_signature],
      ['Receipt', payment.receipt_id && <a href={linkTo(screen, `/dashboard/receipts/${payment.receipt_id}`)}>{payment.receipt_id}</a>],
      ['Membership', payment.membership_id],
      [
        'Recovers',
        payment.recovers_payment_id && (
          <a href={linkTo(screen, `/dashboard/payments/${payment.recovers_payment_id}`)}>{payment.recovers_payment_id}</a>
        ),
      ],
      ['Begun', <Time at={payment.created_at} />],
      ['Confirmed', payment.confirmed_at && <Time at={payment.confirmed_at} />],
      ['Final', payment.finalized_at && <Time at={payment.finalized_at} />],
      ['Dropped by the chain', payment.orphaned_at && <Time at={payment.orphaned_at} />],
    ]}
  />
);

export const Timeline = ({ screen, items }: { screen: Screen; items: TimelineEntry[] }) => (
  <section>
    <Table caption="What happened, newest first" head={['What', 'When', 'Status']}>
      {items.map(({ at, kind, type, event_id: eventId, delivery_id: deliveryId, status }) => (
        <tr>
          <th scope="row">
            <a href={linkTo(screen, `/dashboard/webhooks/${kind === 'event' ? `events/${eventId}` : `deliveries/${deliveryId}`}`)}>
              {kind === 'event' ? type : `Delivery of ${type}`}
            </a>
          </th>
          <td>
            <Time at={at} />
          </td>
          <td>{status}</td>
        </tr>
      ))}
    </Table>
  </section>
);
