import { z } from '@hono/zod-openapi';
import { COUNTED_FILTERED_MAX } from '#core/limits.ts';
import { listLinks } from '#features/receipts/hash-chain.ts';
import { ReceiptBody, toReceiptResource } from '#features/receipts/receipt.ts';
import { MONEY_RETENTION_MS } from '#platform/db/idempotency-record.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { narrowToCustomers } from '#platform/db/search/customer.ts';
import { TxSignature } from '#platform/http/bodies/tx-signature.ts';
import { countedLessWith, ModeQuery, ok, PageQuery, pageOf } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { UNMATCHED } from '#rules/states.ts';
import { claimReceipt } from './claim-receipt.ts';
import { FilterQuery, filterOf, refuseReversedRanges } from './list/filter.ts';
import { listPayments } from './list/store.ts';
import { loadPayment } from './payment.ts';
import { PaymentBody, toPaymentResource, toUnmatchedResource, UnmatchedBody } from './resource.ts';
import { listUnmatched, listUnmatchedOf } from './store.ts';
import { acceptUnmatched } from './unmatched/accept-unmatched.ts';

export const merchantPaymentRoutes = routes('Payments', 'payments')
  .read({
    path: 'GET /payments',
    id: 'listPayments',
    sdk: 'payments.list',
    summary: 'List payments',
    description: `Lists payments, newest first, including unmatched money. ${countedLessWith('`status` and `product_id` together')}`,
    query: z.object({ ...PageQuery, ...FilterQuery, ...ModeQuery }).check(refuseReversedRanges),
    returns: pageOf(PaymentBody, 'PaymentPage'),
    answer: async ({ scope, query }) => {
      const customers = await narrowToCustomers(scope, query.customer_id, { customerRef: query.customer_ref });
      const filter = filterOf(query, customers);
      const page = pageRequest(query, filter.status !== undefined && filter.productId !== undefined ? COUNTED_FILTERED_MAX : undefined);
      const found = await listPayments(scope, filter, page);
      const paymentIds = found.items.map(({ id }) => id);
      const unmatched = Map.groupBy(await listUnmatchedOf(scope.db, paymentIds), ({ paymentId }) => paymentId);
      return toPage(page, found, (payment) => toPaymentResource(scope, payment, 'merchant', unmatched.get(payment.id)));
    },
  })
  .read({
    path: 'GET /payments/unmatched',
    id: 'listUnmatchedPayments',
    sdk: 'payments.listUnmatched',
    summary: 'List unmatched money',
    description: 'Lists money that arrived and paid no session, newest first.',
    query: {
      ...PageQuery,
      ...ModeQuery,
      status: z.enum(UNMATCHED.states).default('open').describe('Return only objects with this status.'),
    },
    returns: pageOf(UnmatchedBody, 'UnmatchedPage'),
    answer: async ({ scope, query: { status, page: number, per_page } }) => {
      const page = pageRequest({ page: number, per_page });
      return toPage(page, await listUnmatched(scope, status, page), toUnmatchedResource);
    },
  })
  .write({
    path: 'POST /payments/{payment_id}/accept-unmatched',
    id: 'acceptUnmatched',
    sdk: 'payments.acceptUnmatched',
    agent: { confirm: true },
    summary: 'Accept unmatched money',
    description:
      'Accepts a late, short or second payment of this session, or one of an unidentified buyer, as a new payment. Money that the chain has dropped: 409 `state_conflict`, `meta.reason: transaction_orphaned`.',
    body: z.object({ tx_signature: TxSignature }).openapi('AcceptUnmatchedRequest'),
    returns: ok(PaymentBody, 'Payment that was created from the money'),
    codes: ['not_found', 'state_conflict', 'rpc_unavailable'],
    load: ({ scope, params }) => loadPayment(scope, params.payment_id, scope),
    owner: (payment) => payment,
    once: ({ scope, row, body }, storeAnswer) => acceptUnmatched(scope, { paymentId: row.id, txSignature: body.tx_signature, storeAnswer }),
    audit: {
      action: 'payment.accepted',
      subject: 'payment',
      fields: ({ id }, { row, body }) => ({ id, session_payment_id: row.id, tx_signature: body.tx_signature }),
    },
    present: (payment, { scope }) => toPaymentResource(scope, payment, 'merchant'),
    retentionMs: MONEY_RETENTION_MS,
  })
  .write({
    path: 'POST /receipt',
    id: 'claimReceipt',
    sdk: 'receipts.claim',
    tag: 'Receipts',
    summary: 'Claim a receipt',
    description:
      'Creates the receipt of a transaction. Idempotent: one transaction has one receipt. An open payment of the transaction is confirmed first.',
    body: z.object({ tx_sig: TxSignature }).openapi('ReceiptRequest'),
    returns: ReceiptBody,
    codes: [
      'not_found',
      'payment_transaction_conflict',
      'payment_failed',
      'session_expired',
      'payment_mismatch',
      'identity_verification_required',
      'rpc_unavailable',
    ],
    // Confirms a buyer's payment, as POST /pay/confirm does.
    audit: false,
    leased: async ({ scope, body }) => {
      const receipt = await claimReceipt(scope, body.tx_sig);
      return { receipt, link: (await listLinks(scope, [receipt])).get(receipt.id) };
    },
    present: ({ receipt, link }, { scope }) => toReceiptResource(receipt, scope.baseUrl, { link }),
    retentionMs: MONEY_RETENTION_MS,
  });
