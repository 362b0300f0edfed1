import { createRoute, z } from '@hono/zod-openapi';
import type { PaymentId } from '#core/ids.ts';
import { transactionErrors } from '#features/payments/confirm/verdict.ts';
import { PaymentBody } from '#features/payments/resource.ts';
import { hasPayment } from '#features/payments/store.ts';
import { viewPayment } from '#features/payments/unmatched/unmatched.ts';
import { MONEY_KEEP_MS } from '#platform/db/idempotency-record.ts';
import { WireTransaction } from '#platform/http/bodies/wire-transaction.ts';
import { keyedViewerRoute, publicBodyErrors, viewerErrors } from '#platform/http/callers.ts';
import { answerLeased, OptionalIdempotencyHeader, optionalKeyErrors, sendStored } from '#platform/http/idempotency-key.ts';
import { idOf, idParam, jsonBody, ModeQuery, ok, router } from '#platform/http/openapi.ts';
import { enterShard } from '#platform/http/shard.ts';
import { sendTransaction } from './send-transaction.ts';

const send = createRoute({
  method: 'post',
  path: '/payments/{payment_id}/transaction',
  operationId: 'sendTransaction',
  tags: ['Payments'],
  summary: 'Send a signed transaction',
  description:
    'It must be the transaction that connect prepared, or a step of a subscription, signed. We keep its signature before it goes out, so closing the page loses nothing. ' +
    'While another one that we sent may still land: 409 `state_conflict` with `meta.reason` `in_flight` and Retry-After.',
  ...keyedViewerRoute('confirm', (c) => c.req.param('payment_id') ?? ''),
  request: {
    headers: OptionalIdempotencyHeader,
    params: idParam('payment_id', idOf<PaymentId>()),
    query: z.object(ModeQuery),
    ...jsonBody(z.object({ transaction: WireTransaction }).openapi('SendTransactionRequest')),
  },
  responses: {
    ...ok(z.object({ payment: PaymentBody, tx_signature: z.string() }).openapi('SendTransactionResponse')),
    ...publicBodyErrors(...viewerErrors, ...optionalKeyErrors, ...transactionErrors, 'state_conflict', 'rpc_unavailable'),
  },
});

export const sendRoutes = router().openapi(send, async (c) => {
  const { viewer } = c.var;
  const paymentId = c.req.valid('param').payment_id;
  const ctx = await enterShard(c, (shard) => hasPayment(shard, paymentId));
  const answer = await answerLeased(
    c,
    () => sendTransaction(ctx, { paymentId, wire: c.req.valid('json').transaction, viewer }),
    async ({ payment, txSignature }) => {
      const { payment: seen } = await viewPayment(ctx, payment, viewer ? 'merchant' : 'buyer');
      return { status: 200, body: { payment: seen, tx_signature: txSignature } };
    },
    { keepMs: MONEY_KEEP_MS },
  );
  return sendStored(c, answer);
});
