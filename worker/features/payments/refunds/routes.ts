import { z } from '@hono/zod-openapi';
import { toMoneyResource } from '#core/money.ts';
import { iso } from '#core/time.ts';
import { MONEY_RETENTION_MS } from '#platform/db/idempotency-record.ts';
import { DecimalAmount } from '#platform/http/bodies/own-fields.ts';
import { TxSignature } from '#platform/http/bodies/tx-signature.ts';
import { AssetName, ok, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { loadPayment } from '../payment.ts';
import { PaymentBody, toPaymentResource } from '../resource.ts';
import { confirmRefund } from './record-refund.ts';
import { prepareRefund } from './refund.ts';

const RefundRequestBody = z
  .object({
    amount: z
      .object({
        asset: AssetName,
        amount: DecimalAmount,
      })
      .optional()
      .describe('Amount to refund. Defaults to the rest of price and overpayment.'),
    revoke_access: z
      .boolean()
      .optional()
      .openapi({ default: false })
      .describe('True to revoke what the payment bought once the refund is found, and to stop the subscription that it paid a period of.'),
  })
  .openapi('RefundTransactionRequest', { example: { amount: { asset: 'USDC', amount: '2.5' } } });

export const refundRoutes = routes('Payments', 'refunds')
  .write({
    path: 'POST /payments/{payment_id}/refund-transaction',
    id: 'prepareRefund',
    sdk: 'payments.prepareRefund',
    agent: { confirm: true },
    summary: 'Prepare a refund',
    description:
      'Prepares a refund from the wallet that was paid to the wallet that paid. Open `/sign#<transaction>` of this service to sign it. Refunds never exceed the received amount.',
    body: RefundRequestBody,
    isBodyOptional: true,
    returns: ok(
      z
        .object({
          transaction: z.string().describe('Solana transaction in base64. Unsigned if the service created it.'),
          expires_at: Timestamp,
        })
        .openapi('RefundTransaction'),
      'Unsigned transaction in base64',
    ),
    codes: ['not_found', 'state_conflict', 'rpc_unavailable'],
    load: ({ scope, params }) => loadPayment(scope, params.payment_id, scope),
    owner: (payment) => payment,
    once: ({ scope, row, body: { amount, revoke_access: revokesAccess = false } }, storeAnswer) =>
      prepareRefund(scope, row, { amount, revokesAccess, storeAnswer }),
    audit: {
      action: 'refund.prepared',
      subject: 'payment',
      fields: ({ refund }, { row, body }) => ({
        id: row.id,
        amount: toMoneyResource({ asset: row.asset, units: refund.amount }),
        revoke_access: body.revoke_access ?? false,
      }),
    },
    present: ({ transaction, refund }) => ({ transaction, expires_at: iso(refund.expiresAt) }),
    retentionMs: MONEY_RETENTION_MS,
  })
  .write({
    path: 'POST /payments/{payment_id}/refund-confirm',
    id: 'confirmRefund',
    sdk: 'payments.confirmRefund',
    agent: { confirm: true },
    summary: 'Confirm a refund',
    description:
      'Confirms a refund from the chain. Optional: the service also finds refunds by itself, a little later. A repeated call returns the same response.',
    body: z.object({ tx_signature: TxSignature }).openapi('ConfirmRefundRequest'),
    returns: ok(PaymentBody, 'Payment with the refund'),
    codes: ['not_found', 'payment_transaction_conflict', 'state_conflict', 'payment_mismatch', 'rpc_unavailable'],
    load: ({ scope, params }) => loadPayment(scope, params.payment_id, scope),
    owner: (payment) => payment,
    once: ({ scope, row, body }, storeAnswer) => confirmRefund(scope, row, { txSignature: body.tx_signature, storeAnswer }),
    audit: { action: 'refund.confirmed', subject: 'payment', fields: ({ id }, { body }) => ({ id, tx_signature: body.tx_signature }) },
    present: (payment, { scope }) => toPaymentResource(scope, payment, 'merchant'),
    retentionMs: MONEY_RETENTION_MS,
  });
