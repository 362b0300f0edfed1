import { createRoute, z } from '@hono/zod-openapi';
import type { PaymentId } from '#core/ids.ts';
import { toSubscribingResource } from '#features/authorizations/steps.ts';
import { loadBuyersAccess } from '#features/payments/buyers-access.ts';
import { type Confirmation, confirmPayment, grantConfirmed } from '#features/payments/confirm/confirm.ts';
import { transactionErrors } from '#features/payments/confirm/verdict.ts';
import { requireViewer } from '#features/payments/payment.ts';
import { PaymentBody } from '#features/payments/resource.ts';
import { findPayment, getPayment, hasPayment } from '#features/payments/store.ts';
import { viewPayment } from '#features/payments/unmatched/unmatched.ts';
import type { Shard } from '#platform/context.ts';
import { type Answer, MONEY_KEEP_MS } from '#platform/db/idempotency-record.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { TxSignature } from '#platform/http/bodies/tx-signature.ts';
import { keyedViewerRoute, publicBodyErrors, viewerErrors, viewerRoute } from '#platform/http/callers.ts';
import { answerLeased, answerOnce, OptionalIdempotencyHeader, optionalKeyErrors, sendStored } from '#platform/http/idempotency-key.ts';
import { errors, given, idOf, idParam, jsonBody, ModeQuery, ok, router, ServiceTime } from '#platform/http/openapi.ts';
import { countUnseenSignature } from '#platform/http/rate-limit.ts';
import { enterShard } from '#platform/http/shard.ts';
import { followSubscription, isSubscribing, subscribingOf } from './subscribing/follow.ts';

const params = idParam('payment_id', idOf<PaymentId>());
const get = createRoute({
  method: 'get',
  path: '/payments/{payment_id}',
  operationId: 'getPayment',
  tags: ['Payments'],
  summary: 'Get a payment',
  description: 'Public: the id is the capability. The owner sees more. For the active buyer session; merchants wait for the webhook.',
  ...viewerRoute('status', (c) => c.req.param('payment_id') ?? ''),
  request: {
    params,
    query: z.object(ModeQuery),
    headers: z.object({
      'X-Svc-Identity-Session': z
        .string()
        .max(64)
        .optional()
        .openapi({ description: 'The identity session the payment began with: shows its buyer how to get in.' }),
    }),
  },
  responses: {
    ...ok(PaymentBody.extend({ now: ServiceTime }).openapi('CurrentPayment')),
    ...errors(...viewerErrors, 'not_found', 'rate_limited', 'validation_error'),
  },
});

const ConfirmRequest = z.object({ payment_id: idOf<PaymentId>(), tx_signature: TxSignature }).openapi('ConfirmRequest');
const ConfirmResponse = z
  .object({
    now: ServiceTime,
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
  summary: 'Confirm a payment',
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
    ...publicBodyErrors(...viewerErrors, ...optionalKeyErrors, ...transactionErrors, 'rpc_unavailable'),
  },
});
/** Where the buyer goes afterwards. `status` is a hint there; merchants check by webhook or GET. */
function redirectUrl(payment: Payment): string | null {
  if (payment.terms.successUrl === null) return null;
  const url = new URL(payment.terms.successUrl);
  url.searchParams.set('payment_id', payment.id);
  url.searchParams.set('status', payment.status);
  return url.href;
}

const toConfirmResource = async (ctx: Shard, { payment, alreadyConfirmed }: Confirmation, view: 'buyer' | 'merchant') => ({
  ...(await viewPayment(ctx, payment, view)),
  ...given('membership_id', payment.membershipId),
  ...given('receipt_id', payment.receiptId),
  ...given('redirect_url', redirectUrl(payment)),
  already_confirmed: alreadyConfirmed,
});

export const paymentRoutes = router()
  .openapi(get, async (c) => {
    const { viewer } = c.var;
    const paymentId = c.req.valid('param').payment_id;
    const ctx = await enterShard(c, (shard) => hasPayment(shard, paymentId));
    const payment = await getPayment(ctx, paymentId);
    requireViewer(payment, viewer);
    if (!viewer) {
      const access = await loadBuyersAccess(ctx, payment, c.req.valid('header')['X-Svc-Identity-Session']);
      const subscribing = await subscribingOf(ctx, payment);
      const shown = { ...access, ...given('subscription', subscribing && toSubscribingResource(ctx, subscribing)) };
      const { now, payment: seen } = await viewPayment(ctx, payment, 'buyer');
      return c.json({ now, ...seen, ...shown }, 200);
    }
    const { now, payment: seen } = await viewPayment(ctx, payment, 'merchant');
    return c.json({ now, ...seen }, 200);
  })
  .openapi(confirm, async (c) => {
    const { viewer } = c.var;
    const { payment_id: paymentId, tx_signature: txSignature } = c.req.valid('json');
    const ctx = await enterShard(c, (shard) => hasPayment(shard, paymentId));
    const present = async (confirmation: Confirmation): Promise<Answer> => ({
      status: 200,
      body: await toConfirmResource(ctx, confirmation, viewer ? 'merchant' : 'buyer'),
    });
    const countUnseen = viewer ? {} : { countUnseen: () => countUnseenSignature(c) };
    const follow = (payment: Payment) => (isSubscribing(payment) ? followSubscription(ctx, payment, viewer) : null);
    // A subscription's first period is collected in several steps, so its key is held by a lease: which payment it is must be known before.
    const keyed = c.req.header('Idempotency-Key') === undefined ? null : await findPayment(ctx, paymentId);
    const answer =
      keyed && isSubscribing(keyed)
        ? await answerLeased<Confirmation>(
            c,
            () => followSubscription(ctx, keyed, viewer),
            async (confirmation) => ({
              ...(await present(confirmation)),
              ...(confirmation.payment.status === 'CONFIRMED' ? {} : { isFinished: false as const }),
            }),
            { keepMs: MONEY_KEEP_MS },
          )
        : await answerOnce<Confirmation>(
            c,
            (storeAnswer) => confirmPayment(ctx, { paymentId, txSignature, viewer, storeAnswer, follow, ...countUnseen }),
            present,
            { keepMs: MONEY_KEEP_MS },
          );
    if (answer.replayed) await grantConfirmed(ctx, paymentId);
    return sendStored(c, answer);
  });
