import { createRoute, z } from '@hono/zod-openapi';
import type { PaymentId } from '#core/ids.ts';
import { ASSETS } from '#core/money.ts';
import { iso } from '#core/time.ts';
import { MONEY_KEEP_MS } from '#platform/db/idempotency-record.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { TxSignature } from '#platform/http/bodies/tx-signature.ts';
import { merchantWriteErrors, writeRoute } from '#platform/http/callers.ts';
import { answerOnce, OptionalIdempotencyHeader, sendStored } from '#platform/http/idempotency-key.ts';
import { idOf, idParam, jsonBody, ModeQuery, ok, optionalJsonBody, router, Timestamp } from '#platform/http/openapi.ts';
import { PaymentBody, toPaymentResource } from '../resource.ts';
import { type PreparedRefund, prepareRefund } from './refund.ts';
import { confirmRefund } from './seen.ts';

const tags = ['Payments'];
const RefundRequestBody = z
  .object({
    amount: z
      .object({ asset: z.enum(ASSETS), amount: z.string().max(64) })
      .optional()
      .openapi({ description: 'Without one all that is left of price and overpaid.' }),
    revoke_access: z.boolean().optional().openapi({
      default: false,
      description: 'Take back what the payment bought when the refund is seen, and stop the subscription that it paid a period of.',
    }),
  })
  .openapi('RefundTransactionRequest', { example: { amount: { asset: 'USDC', amount: '2.5' } } });

const prepare = createRoute({
  method: 'post',
  path: '/payments/{payment_id}/refund-transaction',
  operationId: 'prepareRefund',
  tags,
  summary: 'Prepare a refund',
  description:
    'From the wallet that was paid to the wallet that paid. Open `/sign#<transaction>` of this service to sign and send it. Once the chain shows it, it stands in `refunded` of the payment: never more than ' +
    'came in. While one that was prepared may still land: 409 `state_conflict` with `meta.reason` `in_flight`.',
  ...writeRoute,
  request: {
    headers: OptionalIdempotencyHeader,
    params: idParam('payment_id', idOf<PaymentId>()),
    query: z.object(ModeQuery),
    ...optionalJsonBody(RefundRequestBody),
  },
  responses: {
    ...ok(z.object({ transaction: z.string(), expires_at: Timestamp }).openapi('RefundTransaction'), 'Unsigned, base64'),
    ...merchantWriteErrors('not_found', 'state_conflict', 'rpc_unavailable'),
  },
});

const confirm = createRoute({
  method: 'post',
  path: '/payments/{payment_id}/refund-confirm',
  operationId: 'confirmRefund',
  tags,
  summary: 'Confirm a refund',
  description: 'We look at the chain ourselves, and find it without being told, a little later. A second time the answer is the same.',
  ...writeRoute,
  request: {
    headers: OptionalIdempotencyHeader,
    params: idParam('payment_id', idOf<PaymentId>()),
    query: z.object(ModeQuery),
    ...jsonBody(z.object({ tx_signature: TxSignature }).openapi('ConfirmRefundRequest')),
  },
  responses: {
    ...ok(PaymentBody, 'The payment'),
    ...merchantWriteErrors('not_found', 'payment_transaction_conflict', 'state_conflict', 'payment_mismatch', 'rpc_unavailable'),
  },
});

export const refundRoutes = router()
  .openapi(prepare, async (c) => {
    const { scope: ctx } = c.var;
    const { amount, revoke_access: revokesAccess = false } = c.req.valid('json');
    const paymentId = c.req.valid('param').payment_id;
    const run = (storeAnswer: StoreAnswer<PreparedRefund>) => prepareRefund(ctx, { paymentId, amount, revokesAccess, storeAnswer });
    const present = ({ transaction, refund }: PreparedRefund) => ({
      status: 200,
      body: { transaction, expires_at: iso(refund.expiresAt) },
    });
    return sendStored(c, await answerOnce(c, run, present, { keepMs: MONEY_KEEP_MS }));
  })
  .openapi(confirm, async (c) => {
    const { scope: ctx } = c.var;
    const named = { paymentId: c.req.valid('param').payment_id, txSignature: c.req.valid('json').tx_signature };
    const run = (storeAnswer: StoreAnswer<Payment>) => confirmRefund(ctx, { ...named, storeAnswer });
    const present = (payment: Payment) => ({ status: 200, body: toPaymentResource(ctx, payment, 'merchant') });
    return sendStored(c, await answerOnce(c, run, present, { keepMs: MONEY_KEEP_MS }));
  });
