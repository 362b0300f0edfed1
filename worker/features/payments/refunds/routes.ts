import { z } from '@hono/zod-openapi';
import { ASSETS } from '#core/money.ts';
import { iso } from '#core/time.ts';
import { MONEY_KEEP_MS } from '#platform/db/idempotency-record.ts';
import { TxSignature } from '#platform/http/bodies/tx-signature.ts';
import { ok, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { loadPayment } from '../payment.ts';
import { PaymentBody, toPaymentResource } from '../resource.ts';
import { prepareRefund } from './refund.ts';
import { confirmRefund } from './seen.ts';

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

export const refundRoutes = routes('Payments')
  .write({
    path: 'POST /payments/{payment_id}/refund-transaction',
    id: 'prepareRefund',
    summary: 'Prepare a refund',
    description:
      'From the wallet that was paid to the wallet that paid. Open `/sign#<transaction>` of this service to sign and send it. Once the chain shows it, it stands in `refunded` of the payment: never more than ' +
      'came in. While one that was prepared may still land: 409 `state_conflict` with `meta.reason` `in_flight`.',
    body: RefundRequestBody,
    isBodyOptional: true,
    returns: ok(z.object({ transaction: z.string(), expires_at: Timestamp }).openapi('RefundTransaction'), 'Unsigned, base64'),
    codes: ['not_found', 'state_conflict', 'rpc_unavailable'],
    load: ({ scope, params }) => loadPayment(scope, params.payment_id, scope),
    owner: (payment) => payment,
    once: ({ scope, row, body: { amount, revoke_access: revokesAccess = false } }, storeAnswer) =>
      prepareRefund(scope, row, { amount, revokesAccess, storeAnswer }),
    present: ({ transaction, refund }) => ({ transaction, expires_at: iso(refund.expiresAt) }),
    keepMs: MONEY_KEEP_MS,
  })
  .write({
    path: 'POST /payments/{payment_id}/refund-confirm',
    id: 'confirmRefund',
    summary: 'Confirm a refund',
    description: 'We look at the chain ourselves, and find it without being told, a little later. A second time the answer is the same.',
    body: z.object({ tx_signature: TxSignature }).openapi('ConfirmRefundRequest'),
    returns: ok(PaymentBody, 'The payment'),
    codes: ['not_found', 'payment_transaction_conflict', 'state_conflict', 'payment_mismatch', 'rpc_unavailable'],
    load: ({ scope, params }) => loadPayment(scope, params.payment_id, scope),
    owner: (payment) => payment,
    once: ({ scope, row, body }, storeAnswer) => confirmRefund(scope, row, { txSignature: body.tx_signature, storeAnswer }),
    present: (payment, { scope }) => toPaymentResource(scope, payment, 'merchant'),
    keepMs: MONEY_KEEP_MS,
  });
