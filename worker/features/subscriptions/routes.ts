import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { type AuthorizationId, isAuthorizationId, type ProductId } from '#core/ids.ts';
import { COUNTED_FILTERED_MAX } from '#core/limits.ts';
import { iso } from '#core/time.ts';
import { AuthorizationBody, toAuthorizationResource } from '#features/authorizations/resource.ts';
import { listOwnAuthorizations } from '#features/authorizations/store.ts';
import { belongsTo } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { narrowToCustomer } from '#platform/db/search/customer.ts';
import { ShownName } from '#platform/http/bodies/own-fields.ts';
import { TxSignature } from '#platform/http/bodies/tx-signature.ts';
import { WireTransaction } from '#platform/http/bodies/wire-transaction.ts';
import { countedLessWith, idOf, ModeQuery, OfCustomer, PageQuery, pageOf, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { AUTHORIZATION } from '#rules/states.ts';
import { confirmCancel, prepareCancel, stopAuthorization } from './cancel.ts';
import { getAuthorization, requestReading } from './reconcile.ts';

const params = z.object({
  authorization_id: z
    .string()
    .refine((text) => isAuthorizationId(text), 'Expected the id of a native subscription')
    .openapi({ param: { name: 'authorization_id', in: 'path' }, example: 'nsa_01KAJ3V5Y7H2Q8M4N6P9R1S3T5' }) as unknown as z.ZodType<
    AuthorizationId,
    AuthorizationId
  >,
});

const StopRequest = z
  .object({ reason: ShownName(500).optional().describe('For your audit log.') })
  .openapi('StopSubscriptionRequest', { example: {} });

const CancelIntentRequest = z
  .object({ wallet_address: z.string().min(32).max(44) })
  .openapi('CancelIntentRequest', { example: { wallet_address: '5pwBVW7LsqxeEMCBViQ7SX2wxfdswJrpZodhKbCAuzrJ' } });
const CancelIntentBody = z
  .object({
    transaction: z
      .string()
      .describe('Unsigned transaction in base64. Sign it with the wallet, then send it yourself or through this service.'),
    expires_at: Timestamp.describe('Time after which the transaction cannot land.'),
    effective_at: Timestamp.describe('Time from which nothing can be collected.'),
  })
  .openapi('CancelIntent');

const CancelProofRequest = z
  .object({
    tx_signature: TxSignature.optional().describe('Signature of the cancelling transaction, landed or in flight.'),
    transaction: WireTransaction.optional().describe('Signed transaction. The service sends it.'),
  })
  .refine((proof) => (proof.tx_signature === undefined) !== (proof.transaction === undefined), {
    message: 'Expected exactly one of tx_signature and transaction',
  })
  .openapi('CancelProof', {
    example: { tx_signature: '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW' },
  });

export const subscriptionRoutes = routes('Subscriptions', 'payments')
  .read({
    path: 'GET /access/native-subscriptions',
    id: 'listNativeSubscriptions',
    sdk: 'nativeSubscriptions.list',
    summary: 'List native subscriptions',
    description: `Lists stored native subscriptions, newest first. ${countedLessWith('`product_id` and `status` together')}`,
    query: {
      ...PageQuery,
      status: z.enum(AUTHORIZATION.states).optional().describe('Return only objects with this status.'),
      product_id: idOf<ProductId>().optional().describe('Return only objects of this product.'),
      customer_id: OfCustomer,
    },
    returns: pageOf(AuthorizationBody, 'NativeSubscriptionPage'),
    answer: async ({ scope, query: { status, product_id: productId, customer_id: customerId, ...query } }) => {
      const page = pageRequest(query, status !== undefined && productId !== undefined ? COUNTED_FILTERED_MAX : undefined);
      const customer = await narrowToCustomer(scope, customerId);
      return toPage(page, await listOwnAuthorizations(scope, { status, productId, customer }, page), toAuthorizationResource);
    },
  })
  .read({
    path: 'GET /access/native-subscriptions/{authorization_id}',
    id: 'getNativeSubscription',
    sdk: 'nativeSubscriptions.get',
    summary: 'Get a native subscription',
    description:
      'Returns the stored state of a native subscription. Changes on the chain are read within seconds of this call, otherwise once a day.',
    params,
    returns: AuthorizationBody,
    codes: ['not_found'],
    answer: async ({ scope, params }) => {
      const row = await getAuthorization(scope, params.authorization_id);
      if (!belongsTo(scope, row)) throw new ApiError('not_found');
      requestReading(scope, row);
      return toAuthorizationResource(row);
    },
  })
  .person({
    path: 'POST /access/native-subscriptions/{authorization_id}/stop',
    group: 'payouts',
    id: 'stopNativeSubscription',
    sdk: 'nativeSubscriptions.stop',
    agent: { confirm: true },
    summary: 'Stop a native subscription',
    description:
      'Stops collecting, permanently. Requires a recent sign-in. Paid time remains valid. The consent remains on the chain until the buyer cancels.',
    params,
    query: ModeQuery,
    body: StopRequest,
    isBodyOptional: true,
    returns: AuthorizationBody,
    codes: ['not_found', 'state_conflict'],
    audit: ['subscription.stopped'],
    leased: ({ scope, actor, params, body }) => stopAuthorization(scope, actor, { id: params.authorization_id, reason: body?.reason }),
    present: toAuthorizationResource,
  });

/** Routes of buyers. The wallet's signature is the authority. */
export const cancellationRoutes = routes('Subscriptions')
  .public({
    path: 'POST /access/native-subscriptions/{authorization_id}/cancel-intent',
    id: 'prepareNativeCancellation',
    sdk: 'nativeSubscriptions.cancelIntent',
    idempotency: 'natural',
    summary: 'Prepare a cancellation',
    description: 'Creates the transaction that the buyer’s wallet signs to end the subscription. Changes nothing by itself.',
    bucket: 'confirm',
    by: 'authorization_id',
    params,
    body: CancelIntentRequest,
    returns: CancelIntentBody,
    codes: ['not_found', 'subscription_cancelled', 'subscription_requires_reapproval', 'rpc_unavailable'],
    shard: ({ ctx, params }) => homeOf(ctx, params.authorization_id),
    load: ({ shard, params }) => getAuthorization(shard, params.authorization_id),
    owner: (authorization) => authorization,
    answer: async ({ scope, row, body }) => {
      const { transaction, expiresAt, effectiveAt } = await prepareCancel(scope, row, body.wallet_address);
      return { transaction, expires_at: iso(expiresAt), effective_at: iso(effectiveAt) };
    },
  })
  .public({
    path: 'POST /access/native-subscriptions/{authorization_id}/cancel-confirm',
    id: 'confirmNativeCancellation',
    sdk: 'nativeSubscriptions.cancelConfirm',
    agent: { confirm: true },
    summary: 'Confirm a cancellation',
    description:
      'Confirms a cancellation by the signature of its transaction, or by the signed transaction, which the service sends. The account on the chain is the proof.',
    bucket: 'confirm',
    by: 'authorization_id',
    key: 'required',
    params,
    body: CancelProofRequest,
    returns: AuthorizationBody,
    codes: ['not_found', 'payment_mismatch', 'rpc_unavailable'],
    shard: ({ ctx, params }) => homeOf(ctx, params.authorization_id),
    load: ({ shard, params }) => getAuthorization(shard, params.authorization_id),
    owner: (authorization) => authorization,
    leased: ({ scope, row, body }) =>
      confirmCancel(scope, row, body.transaction === undefined ? { txSignature: body.tx_signature! } : { wire: body.transaction }),
    present: toAuthorizationResource,
  });
