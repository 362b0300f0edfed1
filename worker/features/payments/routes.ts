import { createRoute, z } from '@hono/zod-openapi';
import type { PaymentId } from '#core/ids.ts';
import type { Ctx } from '#platform/context.ts';
import { MONEY_KEEP_MS } from '#platform/db/idempotency-record.ts';
import { keyedViewerRoute, publicBodyErrors, viewerErrors, viewerRoute } from '#platform/http/callers.ts';
import { answerOnce, OptionalIdempotencyHeader, optionalKeyErrors, sendStored } from '#platform/http/idempotency-key.ts';
import { errors, given, idOf, idParam, jsonBody, ModeQuery, ok, router } from '#platform/http/openapi.ts';
import { countUnseenSignature } from '#platform/http/rate-limit.ts';
import { enterShard } from '#platform/http/shard.ts';
import { isSignature } from '#solana/assets.ts';
import { type Confirmation, confirmPayment, grantConfirmed } from './confirm/confirm.ts';
import { requireViewer } from './payment.ts';
import { PaymentBody, redirectUrl, toPaymentResource } from './resource.ts';
import { getPayment, hasPayment } from './store.ts';
import { listUnmatchedOf } from './unmatched/store.ts';

export const TxSignature = z
  .string()
  .refine(isSignature, { message: 'Expected a transaction signature: 64 bytes of base58', params: { type: 'invalid_signature' } })
  .openapi({ example: '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW' });

const params = idParam('payment_id', idOf<PaymentId>());
const get = createRoute({
  method: 'get',
  path: '/payments/{payment_id}',
  operationId: 'getPayment',
  tags: ['Payments'],
  summary: 'The state of a payment',
  description: 'Public: the id is the capability. The owner sees more. For the active buyer session; merchants wait for the webhook.',
  ...viewerRoute('status', (c) => c.req.param('payment_id') ?? ''),
  request: { params, query: z.object(ModeQuery) },
  responses: { ...ok(PaymentBody), ...errors(...viewerErrors, 'not_found', 'rate_limited', 'validation_error') },
});

const ConfirmRequest = z.object({ payment_id: idOf<PaymentId>(), tx_signature: TxSignature }).openapi('ConfirmRequest');
const ConfirmResponse = z
  .object({
    payment: PaymentBody,
    membership_id: z.uuid().optional(),
    receipt_id: z.uuid().optional(),
    redirect_url: z.string().optional(),
    already_confirmed: z.boolean(),
  })
  .openapi('ConfirmResponse');
const confirm = createRoute({
  method: 'post',
  path: '/pay/confirm',
  operationId: 'confirmPayment',
  tags: ['Payments'],
  summary: 'Tell us which transaction pays a session',
  description:
    'We look at the chain ourselves. A signature the chain does not show yet is kept and rechecked, and changes nothing until it is proven; ' +
    'read the payment before you send it again. A transaction that does not pay this session is refused and changes nothing.',
  ...keyedViewerRoute('confirm', async (c) => {
    const body: unknown = await c.req.json().catch(() => null);
    return typeof body === 'object' && body !== null && 'payment_id' in body && typeof body.payment_id === 'string' ? body.payment_id : '';
  }),
  request: { headers: OptionalIdempotencyHeader, query: z.object(ModeQuery), ...jsonBody(ConfirmRequest) },
  responses: {
    ...ok(ConfirmResponse),
    ...publicBodyErrors(
      ...viewerErrors,
      ...optionalKeyErrors,
      'not_found',
      'payment_transaction_conflict',
      'setup_not_ready',
      'payment_failed',
      'session_expired',
      'payment_mismatch',
      'identity_verification_required',
      'rate_limited',
      'rpc_unavailable',
    ),
  },
});
const toConfirmResource = (ctx: Ctx, { payment, alreadyConfirmed }: Confirmation, view: 'buyer' | 'merchant') => ({
  payment: toPaymentResource(ctx, payment, view),
  ...given('membership_id', payment.membershipId),
  ...given('receipt_id', payment.receiptId),
  ...given('redirect_url', redirectUrl(payment)),
  already_confirmed: alreadyConfirmed,
});

export const paymentRoutes = router()
  .openapi(get, async (c) => {
    const { viewer } = c.var;
    const paymentId = c.req.valid('param').payment_id;
    const ctx = await enterShard(c, ({ db }) => hasPayment(db, paymentId));
    const payment = await getPayment(ctx, paymentId);
    requireViewer(payment, viewer);
    if (!viewer) return c.json(toPaymentResource(ctx, payment, 'buyer'), 200);
    const unmatched = await listUnmatchedOf(ctx.db, payment.merchantId, [payment.id]);
    return c.json(toPaymentResource(ctx, payment, 'merchant', unmatched), 200);
  })
  .openapi(confirm, async (c) => {
    const { viewer } = c.var;
    const { payment_id: paymentId, tx_signature: txSignature } = c.req.valid('json');
    const ctx = await enterShard(c, ({ db }) => hasPayment(db, paymentId));
    const answer = await answerOnce<Confirmation>(
      c,
      (keep) =>
        confirmPayment(ctx, { paymentId, txSignature, viewer, keep, ...(viewer ? {} : { countUnseen: () => countUnseenSignature(c) }) }),
      (confirmation) => ({ status: 200, body: toConfirmResource(ctx, confirmation, viewer ? 'merchant' : 'buyer') }),
      { keepMs: MONEY_KEEP_MS },
    );
    if (answer.replayed) await grantConfirmed(ctx, paymentId);
    return sendStored(c, answer);
  });
