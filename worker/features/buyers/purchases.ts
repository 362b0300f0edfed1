import { z } from '@hono/zod-openapi';
import { toMoneyResource } from '#core/money.ts';
import { iso } from '#core/time.ts';
import type { BuyerSession } from '#features/buyer-sign-in/token.ts';
import { listPayments, type PaymentFilter } from '#features/payments/list/store.ts';
import type { Ctx, Scope } from '#platform/context.ts';
import type { Listed, PageRequest } from '#platform/db/page.ts';
import { narrowToCustomers } from '#platform/db/search/customer.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { given, Livemode, MoneyBody, PaymentUuid, ReceiptUuid, Timestamp } from '#platform/http/openapi.ts';
import { PAYMENT } from '#rules/states.ts';
import { mergePages } from './merge-pages.ts';
import { type Seller, SellerBody } from './sellers.ts';

export const PurchaseBody = z
  .object({
    payment_id: PaymentUuid,
    receipt_id: ReceiptUuid.optional(),
    product_name: z.string(),
    seller: SellerBody,
    amount: MoneyBody,
    paid_at: Timestamp,
    refunded: MoneyBody,
    status: z.enum(PAYMENT.states),
    receipt_url: z.string().optional(),
    pdf_url: z.string().optional(),
    livemode: Livemode,
  })
  .openapi('BuyerPurchase');

/** Purchase with its seller. */
interface Purchase {
  seller: Seller;
  payment: Payment;
}

/** Confirmed payments that a subject opens at one seller. */
async function readFilter(scope: Scope, { subject }: BuyerSession): Promise<PaymentFilter> {
  if (subject.kind === 'wallet') return { status: 'CONFIRMED', buyer: subject.wallet_address };
  if (subject.kind === 'email') return { status: 'CONFIRMED', email: subject.email };
  const [key, ...merged] = (await narrowToCustomers(scope, subject.customer_id))!;
  if (merged.length > 0) return { status: 'CONFIRMED', customers: [key!, ...merged] };
  return { status: 'CONFIRMED', ...('customerRef' in key! ? { customerRef: key.customerRef } : { customerWallet: key!.walletAddress }) };
}

/** Lists purchases of all these sellers, newest first. */
export const listPurchases = (
  session: BuyerSession,
  sellers: readonly Seller[],
  page: PageRequest,
  only: Pick<PaymentFilter, 'paymentId'> = {},
): Promise<Listed<Purchase>> =>
  mergePages(sellers, page, {
    read: async ({ scope }, part) => {
      const { items, total } = await listPayments(scope, { ...(await readFilter(scope, session)), ...only }, part);
      return { items: items as Payment[], total };
    },
    timeOf: ({ createdAt }) => createdAt,
    present: (seller, payment) => ({ seller, payment }),
  });

export function toPurchaseResource({ baseUrl }: Ctx, { seller, payment }: Purchase): z.infer<typeof PurchaseBody> {
  const { asset, receiptId, livemode } = payment;
  const units = (payment.refunds ?? []).reduce((sum, refund) => sum + BigInt(refund.units), 0n);
  return {
    payment_id: payment.id,
    ...given('receipt_id', receiptId),
    product_name: payment.terms.productName,
    seller: seller.shown,
    amount: toMoneyResource({ asset, units: payment.priceAmount + (payment.overpaidAmount ?? 0n) }),
    paid_at: iso(payment.blockTime ?? payment.confirmedAt ?? payment.createdAt),
    refunded: toMoneyResource({ asset, units }),
    status: payment.status,
    ...given('receipt_url', receiptId && `${baseUrl}/r/${receiptId}`),
    ...given('pdf_url', receiptId && `${baseUrl}/v1/receipt/${receiptId}/pdf`),
    livemode,
  };
}
