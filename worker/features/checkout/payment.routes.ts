import { z } from '@hono/zod-openapi';
import type { PaymentId } from '#core/ids.ts';
import { toSubscribingResource } from '#features/authorizations/steps.ts';
import { loadBuyersAccess } from '#features/payments/buyers-access.ts';
import { type Confirmation, confirmPayment, grantConfirmed } from '#features/payments/confirm/confirm.ts';
import { transactionErrors } from '#features/payments/confirm/verdict.ts';
import { loadPayment } from '#features/payments/payment.ts';
import { PaymentBody } from '#features/payments/resource.ts';
import { findPayment } from '#features/payments/store.ts';
import { viewPayment } from '#features/payments/unmatched/unmatched.ts';
import type { Scope } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import { type Answer, MONEY_RETENTION_MS } from '#platform/db/idempotency-record.ts';
import { answerLeased } from '#platform/db/lease.ts';
import { answerOnce, type StoreAnswer, skipStoring } from '#platform/db/once.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { TxSignature } from '#platform/http/bodies/tx-signature.ts';
import { keyedRequest, sendAnswer } from '#platform/http/idempotency-key.ts';
import { given, idOf, MembershipUuid, ReceiptUuid, ServiceTime } from '#platform/http/openapi.ts';
import { countUnseenSignature } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
import { followSubscription, isSubscribing, loadSubscribing } from './subscribing/follow.ts';

const ConfirmRequest = z
  .object({
    payment_id: idOf<PaymentId>().describe('Identifier of the payment. It grants access to the payment’s status.'),
    tx_signature: TxSignature,
  })
  .openapi('ConfirmRequest');
const ConfirmResponse = z
  .object({
    now: ServiceTime,
    payment: PaymentBody,
    membership_id: MembershipUuid.optional(),
    receipt_id: ReceiptUuid.optional(),
    redirect_url: z.string().optional().describe('URL to send the buyer to next.'),
    already_confirmed: z.boolean().describe('True if the payment was confirmed before this call.'),
  })
  .openapi('ConfirmResponse');
/** Builds the buyer's return URL. `status` is only a hint: merchants verify by webhook or GET. */
function redirectUrl(payment: Payment): string | null {
  if (payment.terms.successUrl === null) return null;
  const url = new URL(payment.terms.successUrl);
  url.searchParams.set('payment_id', payment.id);
  url.searchParams.set('status', payment.status);
  return url.href;
}

const toConfirmResource = async ({ scope, payment, alreadyConfirmed, arrived }: Confirmation, view: 'buyer' | 'merchant') => ({
  ...(await viewPayment(scope, payment, view, arrived)),
  ...given('membership_id', payment.membershipId),
  ...given('receipt_id', payment.receiptId),
  ...given('redirect_url', redirectUrl(payment)),
  already_confirmed: alreadyConfirmed,
});

export const paymentRoutes = routes('Payments', 'payments')
  .viewer({
    path: 'GET /payments/{payment_id}',
    id: 'getPayment',
    sdk: 'payments.get',
    summary: 'Get a payment',
    description:
      'Returns a payment. Public: the id is the capability, and the owner sees more fields. Intended for the buyer’s session; merchants should use webhooks.',
    bucket: 'status',
    by: 'payment_id',
    headers: z.object({
      'X-Svc-Identity-Session': z
        .string()
        .max(64)
        .optional()
        .describe('Identity session with which the payment began. Shows the buyer’s access.'),
    }),
    returns: PaymentBody.extend({ now: ServiceTime }).openapi('CurrentPayment'),
    codes: ['not_found'],
    shard: ({ ctx, params }) => homeOf(ctx, params.payment_id),
    load: ({ viewer, shard, params }) => loadPayment(shard, params.payment_id, viewer),
    owner: (payment) => payment,
    answer: async ({ viewer, scope, row: payment, headers }) => {
      const access = viewer ? {} : await loadBuyersAccess(scope, payment, headers['X-Svc-Identity-Session']);
      const subscribing = viewer ? null : await loadSubscribing(scope, payment);
      const { now, payment: seen } = await viewPayment(scope, payment, viewer ? 'merchant' : 'buyer');
      return { now, ...seen, ...access, ...given('subscription', subscribing && toSubscribingResource(scope, subscribing)) };
    },
  })
  .viewer({
    path: 'POST /pay/confirm',
    id: 'confirmPayment',
    sdk: 'payments.confirm',
    summary: 'Confirm a payment',
    description:
      'Confirms a payment from the chain. An unknown signature is stored and checked again: read the payment before you send it again.',
    bucket: 'confirm',
    by: async (c) => {
      const body: unknown = await c.req.json().catch(() => null);
      return typeof body === 'object' && body !== null && 'payment_id' in body && typeof body.payment_id === 'string'
        ? body.payment_id
        : '';
    },
    key: 'optional',
    body: ConfirmRequest,
    returns: ConfirmResponse,
    codes: [...transactionErrors, 'rpc_unavailable'],
    shard: ({ ctx, body: { payment_id: paymentId } }) => homeOf(ctx, paymentId),
    audit: false,
    respond: async ({ c, viewer, shard, body: { payment_id: paymentId, tx_signature: txSignature } }) => {
      const present = async (confirmation: Confirmation): Promise<Answer> => ({
        status: 200,
        body: await toConfirmResource(confirmation, viewer ? 'merchant' : 'buyer'),
      });
      const countUnseen = viewer ? {} : { countUnseen: () => countUnseenSignature(c) };
      const follow = (scope: Scope, payment: Payment) => (isSubscribing(payment) ? followSubscription(scope, payment) : null);
      const confirm = (storeAnswer: StoreAnswer<Confirmation>) =>
        confirmPayment(shard, { paymentId, txSignature, viewer, storeAnswer, follow, ...countUnseen });
      // The first period is collected in several steps, so a lease holds the key. The payment must be known before.
      const request = await keyedRequest(c, { retentionMs: MONEY_RETENTION_MS });
      const keyed = request && (await findPayment(shard, paymentId));
      const answer =
        keyed && isSubscribing(keyed)
          ? await answerLeased<Confirmation>(
              shard,
              request,
              () => confirm(skipStoring),
              async (confirmation) => ({
                ...(await present(confirmation)),
                ...(confirmation.payment.status === 'CONFIRMED' ? {} : { isFinished: false as const }),
              }),
            )
          : await answerOnce(shard, request, confirm, present);
      if (answer.replayed) await grantConfirmed(shard, paymentId);
      return sendAnswer(c, answer);
    },
  });
