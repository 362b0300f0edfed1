import { Table } from '../../parts/table.tsx';
import { acted, idempotent, mayAct } from '../frame/acts.ts';
import { ActForm, ActSection } from '../frame/fields.tsx';
import { type Amount, amountOf, optionalAmount, Time } from '../frame/format.tsx';
import { linkTo } from '../frame/head.tsx';
import { DAYS, Facts, type Filter, listBody } from '../frame/list.tsx';
import type { Definition, Screen } from '../frame/screen.tsx';
import { REFUND, RESEND, RefundForms, type TimelineEntry } from './shop/payment-acts.tsx';
import { type Paid, PaymentLink, refundedOf, STATUSES, statusOf } from './shop/payment-parts.tsx';

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
interface Payment extends Paid {
  kind: string;
  product_id: string;
  failure_code?: string;
  fee?: Amount;
  net?: Amount;
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
  unmatched?: Unmatched[];
}

/** Meaning of each reason of unmatched money. */
const REASONS: Record<string, string> = {
  late: 'It came after the checkout had ended.',
  underpaid: 'It is less than the price.',
  second_payment: 'The checkout was paid before.',
  identity_missing: 'The buyer was not identified.',
};

const FILTERS: Filter[] = [
  { name: 'status', label: 'Status', options: Object.entries(STATUSES) },
  { name: 'product_id', label: 'Template id' },
  { name: 'customer_ref', label: 'Your customer id' },
  { name: 'customer_id', label: 'Customer id' },
  ...DAYS,
  { name: 'q', label: 'Payment id, signature, wallet or words' },
];

export const PAYMENTS: Definition = {
  path: '/dashboard/payments',
  title: 'Payments',
  body: listBody<Payment>({
    operation: 'listPayments',
    filters: FILTERS,
    caption: 'Payments, newest first',
    head: ['Payment of', 'Status', 'Amount', 'Customer', 'When'],
    empty: (
      <p>
        Nobody has paid yet. Send a buyer to the page of a product: <a href="/docs/checkout">how a sale begins</a>
      </p>
    ),
    row: (payment, screen) => [
      <PaymentLink screen={screen} payment={payment} />,
      statusOf(payment),
      amountOf(payment.price),
      <bdi>{payment.customer_ref ?? payment.payer_wallet ?? ''}</bdi>,
      <Time at={payment.created_at} />,
    ],
  }),
  acts: {},
};

/** Says what each way to settle unmatched money means. The service has no call that sends it back. */
const Choices = () => (
  <p>
    “Accept as paid” gives the buyer all that the price buys, also for less money. To send money back, pay it from your own wallet to the
    one that it came from. <a href="/docs/unmatched-and-refunds">What arrives here</a>
  </p>
);

/** Accepts money of a row: `id` is the payment, `tx_signature` its transaction. */
const ACCEPT: Definition['acts'] = {
  accept: {
    needs: 'payments:write',
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

const unmatchedRow = (money: Unmatched, screen: Screen) => [
  <a href={linkTo(screen, `/dashboard/payments/${money.payment_id}`)}>{money.tx_signature.slice(0, 16)}…</a>,
  amountOf(money.amount),
  REASONS[money.reason] ?? money.reason,
  money.payer_wallet,
  <Time at={money.block_time} />,
  money.status === 'open' && mayAct(screen, 'accept') ? (
    <ActForm screen={screen} act="accept" id={money.payment_id} submit="Accept as paid">
      <input type="hidden" name="tx_signature" value={money.tx_signature} />
    </ActForm>
  ) : (
    money.status
  ),
];
const UNMATCHED_HEAD = ['Transaction', 'Amount', 'Reason', 'From', 'When', 'Act'];

export const UNMATCHED: Definition = {
  path: '/dashboard/unmatched',
  title: 'Unmatched money',
  async countIn({ operations, mode }) {
    const open = await operations.call<{ total: number }>('listUnmatchedPayments', { query: { status: 'open', per_page: '1', mode } });
    return open.ok ? open.value.total : 0;
  },
  body: listBody<Unmatched>({
    operation: 'listUnmatchedPayments',
    filters: [{ name: 'status', label: 'Status', options: ['accepted'], unset: 'open' }],
    before: () => <Choices />,
    caption: 'Money that paid no checkout, newest first',
    head: UNMATCHED_HEAD,
    empty: <p>All money found its checkout.</p>,
    row: unmatchedRow,
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
            <Choices />
            <Table
              caption="Money that paid no checkout"
              head={UNMATCHED_HEAD}
              rows={unmatched.map((money) => unmatchedRow(money, screen))}
            />
          </section>
        )}
        {refunded.length > 0 && (
          <section>
            <Table
              caption="Refunds"
              head={['Transaction', 'Amount', 'When']}
              rows={refunded.map(({ tx_signature: signature, amount, at }) => [signature, amountOf(amount), <Time at={at} />])}
            />
          </section>
        )}
        {payment.value.status === 'CONFIRMED' && mode === 'live' && <RefundForms screen={screen} payment={payment.value} />}
        {timeline.ok && <Timeline screen={screen} items={timeline.value.items} />}
        {timeline.ok && timeline.value.items.some(({ delivery_id: id }) => id !== undefined) && (
          <ActSection screen={screen} act="resend" title="Send events again">
            <p>Each endpoint gets the events of this payment once more, as new deliveries.</p>
            <ActForm screen={screen} act="resend" submit="Send events again" />
          </ActSection>
        )}
      </>
    );
  },
  acts: {
    ...ACCEPT,
    ...REFUND,
    ...RESEND,
  },
};

const PaymentFacts = ({ screen, payment }: { screen: Screen; payment: Payment }) => (
  <Facts
    rows={[
      ['Payment', payment.payment_id],
      ['Status', [statusOf(payment), payment.failure_code].filter(Boolean).join(' · ')],
      ['Price', amountOf(payment.price)],
      ['Fee', optionalAmount(payment.fee)],
      ['After the fee', optionalAmount(payment.net)],
      ['Overpaid', optionalAmount(payment.overpaid)],
      ['Refunded', optionalAmount(refundedOf(payment))],
      ['Kind', payment.kind],
      ['Template', <a href={linkTo(screen, `/dashboard/templates/${payment.product_id}`)}>{payment.slug}</a>],
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
    <Table
      caption="What happened, newest first"
      head={['What', 'When', 'Status']}
      rows={items.map(({ at, kind, type, event_id: eventId, delivery_id: deliveryId, status }) => [
        <a href={linkTo(screen, `/dashboard/webhooks/${kind === 'event' ? `events/${eventId}` : `deliveries/${deliveryId}`}`)}>
          {kind === 'event' ? type : `Delivery of ${type}`}
        </a>,
        <Time at={at} hasSeconds />,
        status,
      ])}
    />
  </section>
);
