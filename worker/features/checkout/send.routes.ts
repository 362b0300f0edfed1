import { z } from '@hono/zod-openapi';
import { transactionErrors } from '#features/payments/confirm/verdict.ts';
import { loadWithProduct } from '#features/payments/payment.ts';
import { PaymentBody } from '#features/payments/resource.ts';
import { viewPayment } from '#features/payments/unmatched/unmatched.ts';
import { homeOf } from '#platform/db/directory.ts';
import { MONEY_RETENTION_MS } from '#platform/db/idempotency-record.ts';
import { WireTransaction } from '#platform/http/bodies/wire-transaction.ts';
import { TransactionSignature } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { sendTransaction } from './send-transaction.ts';

export const sendRoutes = routes('Payments', 'payments').viewer({
  path: 'POST /payments/{payment_id}/transaction',
  id: 'sendTransaction',
  sdk: 'payments.sendTransaction',
  agent: { confirm: true },
  summary: 'Send a signed transaction',
  description:
    'Sends the signed transaction that connect prepared, or a signed subscription step. While another one may still land: 409 `state_conflict`, `meta.reason` `in_flight`.',
  bucket: 'confirm',
  by: 'payment_id',
  body: z
    .object({ transaction: WireTransaction.describe('Solana transaction in base64. Unsigned if the service created it.') })
    .openapi('SendTransactionRequest'),
  returns: z.object({ payment: PaymentBody, tx_signature: TransactionSignature }).openapi('SendTransactionResponse'),
  codes: [...transactionErrors, 'state_conflict', 'rpc_unavailable'],
  shard: ({ ctx, params }) => homeOf(ctx, params.payment_id),
  audit: false,
  load: ({ viewer, shard, params }) => loadWithProduct(shard, params.payment_id, viewer),
  owner: ({ payment }) => payment,
  leased: ({ scope, row, body }) => sendTransaction(scope, row, body.transaction),
  present: async ({ payment, txSignature }, { viewer, scope }) => {
    const { payment: seen } = await viewPayment(scope, payment, viewer ? 'merchant' : 'buyer');
    return { payment: seen, tx_signature: txSignature };
  },
  retentionMs: MONEY_RETENTION_MS,
});
