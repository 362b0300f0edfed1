import { createRoute, z } from '@hono/zod-openapi';
import type { PaymentId } from '#core/ids.ts';
import { COUNTED_FILTERED_MAX } from '#core/limits.ts';
import { type Receipt, ReceiptBody, toReceiptResource } from '#features/receipts/receipt.ts';
import { MONEY_KEEP_MS } from '#platform/db/idempotency-record.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { TxSignature } from '#platform/http/bodies/tx-signature.ts';
import { merchantErrors, merchantRoute, merchantWriteErrors, writeRoute } from '#platform/http/callers.ts';
import { answerLeased, answerOnce, OptionalIdempotencyHeader, sendStored } from '#platform/http/idempotency-key.ts';
import { countedLessWith, idOf, idParam, jsonBody, ModeQuery, ok, PageQuery, pageOf, router } from '#platform/http/openapi.ts';
import { claimReceipt } from './claim-receipt.ts';
import { FilterQuery, filterOf, refuseReversed } from './list/filter.ts';
import { listPayments } from './list/store.ts';
import { PaymentBody, toPaymentResource } from './resource.ts';
import { listUnmatchedOf } from './store.ts';
import { acceptUnmatched } from './unmatched/accept-unmatched.ts';

const list = createRoute({
  method: 'get',
  path: '/payments',
  operationId: 'listPayments',
  tags: ['Payments'],
  summary: 'List payments',
  description: `Payments, newest first, with money that missed its session. ${countedLessWith('`status` and `product_id` together')}`,
  ...merchantRoute('read'),
  request: {
    query: z.object({ ...PageQuery, ...FilterQuery, ...ModeQuery }).check(refuseReversed),
  },
  responses: { ...ok(pageOf(PaymentBody, 'PaymentPage')), ...merchantErrors() },
});

const accept = createRoute({
  method: 'post',
  path: '/payments/{payment_id}/accept-unmatched',
  operationId: 'acceptUnmatched',
  tags: ['Payments'],
  summary: 'Accept unmatched money',
  description:
    'For a late, short or second payment of this session, or one of a buyer who did not show who they are. A second time the answer is the ' +
    'same. The first period of a native subscription begins it. ' +
    'Money that the chain dropped meanwhile cannot be accepted: 409 `state_conflict`, `meta.reason: transaction_orphaned`.',
  ...writeRoute,
  request: {
    headers: OptionalIdempotencyHeader,
    params: idParam('payment_id', idOf<PaymentId>()),
    query: z.object(ModeQuery),
    ...jsonBody(z.object({ tx_signature: TxSignature }).openapi('AcceptUnmatchedRequest')),
  },
  responses: {
    ...ok(PaymentBody, 'The payment that recovers it'),
    ...merchantWriteErrors('not_found', 'state_conflict', 'rpc_unavailable'),
  },
});

const receipt = createRoute({
  method: 'post',
  path: '/receipt',
  operationId: 'claimReceipt',
  tags: ['Receipts'],
  summary: 'Claim a receipt',
  description: 'Idempotent: one transaction, one receipt. An open payment it pays is confirmed first.',
  ...writeRoute,
  request: {
    headers: OptionalIdempotencyHeader,
    query: z.object(ModeQuery),
    ...jsonBody(z.object({ tx_sig: TxSignature }).openapi('ReceiptRequest')),
  },
  responses: {
    ...ok(ReceiptBody),
    ...merchantWriteErrors(
      'not_found',
      'payment_transaction_conflict',
      'payment_failed',
      'session_expired',
      'payment_mismatch',
      'identity_verification_required',
      'rpc_unavailable',
    ),
  },
});

export const merchantPaymentRoutes = router()
  .openapi(list, async (c) => {
    const { scope: ctx } = c.var;
    const query = c.req.valid('query');
    const filter = filterOf(query);
    const page = pageRequest(query, filter.status !== undefined && filter.productId !== undefined ? COUNTED_FILTERED_MAX : undefined);
    const found = await listPayments(ctx, filter, page);
    const paymentIds = found.items.map(({ id }) => id);
    const unmatched = Map.groupBy(await listUnmatchedOf(ctx.db, paymentIds), ({ paymentId }) => paymentId);
    return c.json(
      toPage(page, found, (payment) => toPaymentResource(ctx, payment, 'merchant', unmatched.get(payment.id))),
      200,
    );
  })
  .openapi(accept, async (c) => {
    const { scope: ctx } = c.var;
    const named = { paymentId: c.req.valid('param').payment_id, txSignature: c.req.valid('json').tx_signature };
    const answer = await answerOnce<Payment>(
      c,
      (storeAnswer) => acceptUnmatched(ctx, { ...named, storeAnswer }),
      (payment) => ({ status: 200, body: toPaymentResource(ctx, payment, 'merchant') }),
      { keepMs: MONEY_KEEP_MS },
    );
    return sendStored(c, answer);
  })
  .openapi(receipt, async (c) => {
    const { scope: ctx } = c.var;
    const run = () => claimReceipt(ctx, c.req.valid('json').tx_sig);
    const present = (claimed: Receipt) => ({ status: 200, body: toReceiptResource(claimed, ctx.baseUrl, 'merchant') });
    return sendStored(c, await answerLeased(c, run, present, { keepMs: MONEY_KEEP_MS }));
  });
