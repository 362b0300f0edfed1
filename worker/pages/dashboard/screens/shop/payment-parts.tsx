import { compareAmounts, sumOf, without } from '../../../parts/text.ts';
import type { Amount } from '../../frame/format.tsx';
import { linkTo } from '../../frame/head.tsx';
import type { Screen } from '../../frame/screen.tsx';

export interface Refunded {
  amount: Amount;
  tx_signature: string;
  at: string;
}

/** Fields of a payment that lists and its page show. */
export interface Paid {
  payment_id: string;
  slug: string;
  status: string;
  price: Amount;
  overpaid?: Amount;
  refunded?: Refunded[];
  created_at: string;
}

export const refundedOf = ({ refunded = [] }: Paid): Amount | null =>
  refunded.length > 0 ? sumOf(refunded.map(({ amount }) => amount)) : null;

/** Computes what a refund can still send back. */
export function leftOf(payment: Paid): Amount {
  const paid = payment.overpaid ? sumOf([payment.price, payment.overpaid]) : payment.price;
  const refunded = refundedOf(payment);
  return refunded ? without(paid, refunded) : paid;
}

export const isLeft = (payment: Paid): boolean => compareAmounts(leftOf(payment), { asset: payment.price.asset, amount: '0' }) > 0;

/** Words of each status of a payment. */
export const STATUSES: Readonly<Record<string, string>> = {
  PENDING_SIGNATURE: 'not paid yet',
  PENDING_CONFIRMATION: 'being confirmed',
  CONFIRMED: 'paid',
  FAILED: 'not paid',
};

/** Status of a payment in words, with its refunds. */
export function statusOf(payment: Paid): string {
  if (refundedOf(payment) === null) return STATUSES[payment.status] ?? payment.status;
  return isLeft(payment) ? 'partly refunded' : 'refunded';
}

export const PaymentLink = ({ screen, payment }: { screen: Screen; payment: Paid }) => (
  <a href={linkTo(screen, `/dashboard/payments/${payment.payment_id}`)}>
    <bdi>{payment.slug}</bdi>
  </a>
);
