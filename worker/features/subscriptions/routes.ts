import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { type AuthorizationId, isAuthorizationId, type ProductId } from '#core/ids.ts';
import { COUNTED_FILTERED_MAX } from '#core/limits.ts';
import { iso } from '#core/time.ts';
import { AuthorizationBody, toAuthorizationResource } from '#features/authorizations/resource.ts';
import { findAuthorization, listOwnAuthorizations } from '#features/authorizations/store.ts';
import { isOf } from '#platform/context.ts';
import { locate } from '#platform/db/directory.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { TxSignature } from '#platform/http/bodies/tx-signature.ts';
import { WireTransaction } from '#platform/http/bodies/wire-transaction.ts';
import { countedLessWith, idOf, ModeQuery, PageQuery, pageOf, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { AUTHORIZATION } from '#rules/states.ts';
import { confirmCancel, prepareCancel, stopAuthorization } from './cancel.ts';
import { askForLook, getAuthorization } from './reconcile.ts';

const params = z.object({
  authorization_id: z
    .string()
    .refine((text) => isAuthorizationId(text), 'Not the id of a native subscription')
    .openapi({ param: { name: 'authorization_id', in: 'path' }, example: 'nsa_01KAJ3V5Y7H2Q8M4N6P9R1S3T5' }) as unknown as z.ZodType<
    AuthorizationId,
    AuthorizationId
  >,
});

const CancelIntentRequest = z
  .object({ wallet_address: z.string().min(32).max(44).openapi({ description: 'The wallet that subscribed.' }) })
  .openapi('CancelIntentRequest', { example: { wallet_address: '5pwBVW7LsqxeEMCBViQ7SX2wxfdswJrpZodhKbCAuzrJ' } });
const CancelIntentBody = z
  .object({
    transaction: z.string().openapi({ description: 'Unsigned, base64. Sign it with the wallet, then send it, or have us send it.' }),
    expires_at: Timestamp.openapi({ description: 'From then on it can land no more.' }),
    effective_at: Timestamp.openapi({ description: 'From then on nothing can be collected.' }),
  })
  .openapi('CancelIntent');

const CancelProofRequest = z
  .object({
    tx_signature: TxSignature.optional().openapi({ description: 'Of a transaction that landed, or is about to.' }),
    transaction: WireTransaction.optional().openapi({ description: 'Signed; we send it.' }),
  })
  .refine((proof) => (proof.tx_signature === undefined) !== (proof.transaction === undefined), {
    message: 'Send exactly one of tx_signature and transaction',
  })
  .openapi('CancelProof', {
    example: { tx_signature: '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW' },
  });

export const subscriptionRoutes = routes('Subscriptions')
  .read({
    path: 'GET /access/native-subscriptions',
    id: 'listNativeSubscriptions',
    summary: 'List native subscriptions',
    description: `Native subscriptions as they are stored, newest first. ${countedLessWith('`product_id` and `status` together')}`,
    query: { ...PageQuery, status: z.enum(AUTHORIZATION.states).optional(), product_id: idOf<ProductId>().optional() },
    returns: pageOf(AuthorizationBody, 'NativeSubscriptionPage'),
    answer: async ({ scope, query: { status, product_id: productId, ...query } }) => {
      const page = pageRequest(query, status !== undefined && productId !== undefined ? COUNTED_FILTERED_MAX : undefined);
      return toPage(page, await listOwnAuthorizations(scope, { status, productId }, page), toAuthorizationResource);
    },
  })
  .read({
    path: 'GET /access/native-subscriptions/{authorization_id}',
    id: 'getNativeSubscription',
    summary: 'Get a native subscription',
    description:
      'As it is stored. What was done on the chain without this service is read within seconds of the call, and once a day without one: call again, ' +
      'or wait for the event.',
    params,
    returns: AuthorizationBody,
    codes: ['not_found'],
    answer: async ({ scope, params }) => {
      const row = await getAuthorization(scope, params.authorization_id);
      if (!isOf(scope, row)) throw new ApiError('not_found');
      askForLook(scope, row);
      return toAuthorizationResource(row);
    },
  })
  .person({
    path: 'POST /access/native-subscriptions/{authorization_id}/stop',
    id: 'stopNativeSubscription',
    summary: 'Stop a native subscription',
    description:
      'End collecting, at once and for good; it needs a person who signed in within the last 15 minutes. What is paid for lasts. The buyer’s consent ' +
      'stays on the chain until the buyer cancels: the buyer is told how, where an address is known. Repeated, it changes nothing.',
    key: 'none',
    params,
    query: ModeQuery,
    returns: AuthorizationBody,
    codes: ['not_found', 'state_conflict'],
    answer: async ({ scope, actor, params }) => {
      return toAuthorizationResource(await stopAuthorization(scope, actor, params.authorization_id));
    },
  });

/** Routes of buyers, whose wallet's signature is the authority. */
export const cancellationRoutes = routes('Subscriptions')
  .public({
    path: 'POST /access/native-subscriptions/{authorization_id}/cancel-intent',
    id: 'prepareNativeCancellation',
    summary: 'Prepare a cancellation',
    description:
      'What the buyer’s wallet signs to end the subscription. It changes nothing by itself: a buyer can cancel on the chain at any time, with us or without.',
    bucket: 'confirm',
    by: 'authorization_id',
    params,
    body: CancelIntentRequest,
    returns: CancelIntentBody,
    codes: ['not_found', 'subscription_cancelled', 'subscription_requires_reapproval', 'rpc_unavailable'],
    shard: ({ ctx, params }) => locate(ctx, ({ db }) => findAuthorization(db, params.authorization_id)),
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
    summary: 'Confirm a cancellation',
    description:
      'By the signature of the transaction that cancelled, or the signed transaction itself, which we send. The account on the chain proves it: 422 ' +
      '`payment_mismatch` with `meta.reason` where it does not, retryable while the transaction may still land.',
    bucket: 'confirm',
    by: 'authorization_id',
    key: 'required',
    params,
    body: CancelProofRequest,
    returns: AuthorizationBody,
    codes: ['idempotency_race', 'not_found', 'payment_mismatch', 'rpc_unavailable'],
    shard: ({ ctx, params }) => locate(ctx, ({ db }) => findAuthorization(db, params.authorization_id)),
    load: ({ shard, params }) => getAuthorization(shard, params.authorization_id),
    owner: (authorization) => authorization,
    leased: ({ scope, row, body }) =>
      confirmCancel(scope, row, body.transaction === undefined ? { txSignature: body.tx_signature! } : { wire: body.transaction }),
    present: toAuthorizationResource,
  });
