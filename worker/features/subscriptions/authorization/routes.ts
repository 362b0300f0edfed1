import { createRoute, z } from '@hono/zod-openapi';
import { createMiddleware } from 'hono/factory';
import { ApiError } from '#core/errors.ts';
import { type AuthorizationId, isAuthorizationId, type ProductId } from '#core/ids.ts';
import { COUNTED_FILTERED_MAX } from '#core/limits.ts';
import { iso } from '#core/time.ts';
import { AuthorizationBody, toAuthorizationResource } from '#features/authorizations/resource.ts';
import { findAuthorization, listOwnAuthorizations } from '#features/authorizations/store.ts';
import { isOf } from '#platform/context.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { TxSignature } from '#platform/http/bodies/tx-signature.ts';
import { WireTransaction } from '#platform/http/bodies/wire-transaction.ts';
import { merchantErrors, merchantRoute, personRoute, publicBodyErrors } from '#platform/http/callers.ts';
import { answerLeased, IdempotencyHeader, idempotencyErrors, requireIdempotencyKey, sendStored } from '#platform/http/idempotency-key.ts';
import {
  type AppEnv,
  countedLessWith,
  idOf,
  jsonBody,
  ModeQuery,
  ok,
  PageQuery,
  pageOf,
  protocolBodyErrors,
  type RouteContext,
  router,
  Timestamp,
} from '#platform/http/openapi.ts';
import { countCall, publicBucket } from '#platform/http/rate-limit.ts';
import { enterShard } from '#platform/http/shard.ts';
import { AUTHORIZATION } from '#rules/states.ts';
import { askForLook, getAuthorization } from '../reconcile.ts';
import { confirmCancel, prepareCancel } from './cancel.ts';
import { stopAuthorization } from './stop.ts';

const params = z.object({
  authorization_id: z
    .string()
    .refine((text) => isAuthorizationId(text), 'Not the id of a native subscription')
    .openapi({ param: { name: 'authorization_id', in: 'path' }, example: 'nsa_01KAJ3V5Y7H2Q8M4N6P9R1S3T5' }),
});
const tags = ['Subscriptions'];

const list = createRoute({
  method: 'get',
  path: '/access/native-subscriptions',
  operationId: 'listNativeSubscriptions',
  tags,
  summary: 'List native subscriptions',
  description: `Native subscriptions as they are stored, newest first. ${countedLessWith('`product_id` and `status` together')}`,
  ...merchantRoute('read'),
  request: {
    query: z.object({
      ...PageQuery,
      status: z.enum(AUTHORIZATION.states).optional(),
      product_id: idOf<ProductId>().optional(),
      ...ModeQuery,
    }),
  },
  responses: { ...ok(pageOf(AuthorizationBody, 'NativeSubscriptionPage')), ...merchantErrors() },
});

const get = createRoute({
  method: 'get',
  path: '/access/native-subscriptions/{authorization_id}',
  operationId: 'getNativeSubscription',
  tags,
  summary: 'Get a native subscription',
  description:
    'As it is stored. What was done on the chain without this service is read within seconds of the call, and once a day without one: call again, ' +
    'or wait for the event.',
  ...merchantRoute('read'),
  request: { params, query: z.object(ModeQuery) },
  responses: { ...ok(AuthorizationBody), ...merchantErrors('not_found') },
});

const stop = createRoute({
  method: 'post',
  path: '/access/native-subscriptions/{authorization_id}/stop',
  operationId: 'stopNativeSubscription',
  tags,
  summary: 'Stop a native subscription',
  description:
    'End collecting, at once and for good; it needs a person who signed in within the last 15 minutes. What is paid for lasts. The buyer’s consent ' +
    'stays on the chain until the buyer cancels: the buyer is told how, where an address is known. Repeated, it changes nothing.',
  ...personRoute,
  request: { params, query: z.object(ModeQuery) },
  responses: { ...ok(AuthorizationBody), ...merchantErrors(...protocolBodyErrors, 'not_found', 'state_conflict') },
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

const subjectOf = (c: RouteContext): string => c.req.param('authorization_id') ?? '';
const intent = createRoute({
  method: 'post',
  path: '/access/native-subscriptions/{authorization_id}/cancel-intent',
  operationId: 'prepareNativeCancellation',
  tags,
  summary: 'Prepare a cancellation',
  description:
    'What the buyer’s wallet signs to end the subscription. It changes nothing by itself: a buyer can cancel on the chain at any time, with us or without.',
  middleware: publicBucket('confirm', subjectOf),
  request: { params, ...jsonBody(CancelIntentRequest) },
  responses: {
    ...ok(CancelIntentBody),
    ...publicBodyErrors('not_found', 'subscription_cancelled', 'subscription_requires_reapproval', 'rate_limited', 'rpc_unavailable'),
  },
});

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
const confirm = createRoute({
  method: 'post',
  path: '/access/native-subscriptions/{authorization_id}/cancel-confirm',
  operationId: 'confirmNativeCancellation',
  tags,
  summary: 'Confirm a cancellation',
  description:
    'By the signature of the transaction that cancelled, or the signed transaction itself, which we send. The account on the chain proves it: 422 ' +
    '`payment_mismatch` with `meta.reason` where it does not, retryable while the transaction may still land.',
  middleware: createMiddleware<AppEnv>(async (c, next) => {
    await countCall(c, 'confirm', subjectOf);
    requireIdempotencyKey(c);
    await next();
  }),
  request: { headers: IdempotencyHeader, params, ...jsonBody(CancelProofRequest) },
  responses: {
    ...ok(AuthorizationBody),
    ...publicBodyErrors(...idempotencyErrors, 'idempotency_race', 'not_found', 'payment_mismatch', 'rate_limited', 'rpc_unavailable'),
  },
});

export const subscriptionRoutes = router()
  .openapi(list, async (c) => {
    const { scope: ctx } = c.var;
    const { status, product_id: productId, ...query } = c.req.valid('query');
    const page = pageRequest(query, status !== undefined && productId !== undefined ? COUNTED_FILTERED_MAX : undefined);
    return c.json(toPage(page, await listOwnAuthorizations(ctx, { status, productId }, page), toAuthorizationResource), 200);
  })
  .openapi(get, async (c) => {
    const { scope: ctx } = c.var;
    const row = await getAuthorization(ctx, c.req.valid('param').authorization_id as AuthorizationId);
    if (!isOf(ctx, row)) throw new ApiError('not_found');
    askForLook(ctx, row);
    return c.json(toAuthorizationResource(row), 200);
  })
  .openapi(stop, async (c) => {
    const { actor, scope: ctx } = c.var;
    const id = c.req.valid('param').authorization_id as AuthorizationId;
    return c.json(toAuthorizationResource(await stopAuthorization(ctx, actor, id)), 200);
  });

/** What buyers call: their wallet's signature is what counts. */
export const cancellationRoutes = router()
  .openapi(intent, async (c) => {
    const id = c.req.valid('param').authorization_id as AuthorizationId;
    const ctx = await enterShard(c, ({ db }) => findAuthorization(db, id));
    const { transaction, expiresAt, effectiveAt } = await prepareCancel(ctx, id, c.req.valid('json').wallet_address);
    return c.json({ transaction, expires_at: iso(expiresAt), effective_at: iso(effectiveAt) }, 200);
  })
  .openapi(confirm, async (c) => {
    const id = c.req.valid('param').authorization_id as AuthorizationId;
    const ctx = await enterShard(c, ({ db }) => findAuthorization(db, id));
    const body = c.req.valid('json');
    const proof = body.transaction === undefined ? { txSignature: body.tx_signature! } : { wire: body.transaction };
    const answer = await answerLeased(
      c,
      () => confirmCancel(ctx, id, proof),
      (row) => ({ status: 200, body: toAuthorizationResource(row) }),
    );
    return sendStored(c, answer);
  });
