import { createRoute, z } from '@hono/zod-openapi';
import { LIFE } from '#core/limits.ts';
import { customerOf } from '#features/entitlements/resource.ts';
import { getSale } from '#features/products/product.ts';
import { productIdOf } from '#features/products/product-ref.ts';
import { invalid } from '#features/products/terms.ts';
import { MONEY_KEEP_MS } from '#platform/db/idempotency-record.ts';
import { commitWithAnswer, once } from '#platform/db/once.ts';
import type { MeteredSessionRow } from '#platform/db/tables/settlements.ts';
import { idempotentRoute, merchantBodyErrors, merchantErrors, merchantRoute } from '#platform/http/callers.ts';
import { answerLeased, IdempotencyHeader, idempotencyErrors, idempotentRequest, sendStored } from '#platform/http/idempotency-key.ts';
import { created, jsonBody, ModeQuery, ok, router } from '#platform/http/openapi.ts';
import type { MeteredSnapshot } from '#rules/metered/rpc.ts';
import { METERED_RAIL } from '#rules/rails.ts';
import { newSessionChallenge } from './challenge.ts';
import { closeOwnSession } from './close.ts';
import { planMeteredSession, usdcOf } from './create.ts';
import { reserveDelivery } from './deliver.ts';
import {
  DirectiveBody,
  MeteredSessionBody,
  MeteredSessionRequest,
  sessionParam,
  toDirective,
  toMeteredResource,
  UsdcInput,
} from './resource.ts';
import { readOwnSession, shownOf } from './session.ts';
import { sessionSnapshotOf, sessionTermsOf } from './store.ts';

const DeliveryRequest = z
  .object({
    delivery_id: z
      .string()
      .regex(/^[\x21-\x7e]{1,256}$/)
      .optional()
      .openapi({ description: 'By default named by us.' }),
    amount: UsdcInput.optional(),
    units: z.int().min(1).max(1_000_000_000).optional().openapi({ description: 'At the session’s unit_price.' }),
    expires_in: z.int().min(1).max(86_400).optional().openapi({ description: 'Seconds it is kept free; 600.' }),
  })
  .openapi('MeteredDeliveryRequest', { example: { amount: { asset: 'USDC', amount: '0.001' } } });

const tags = ['Metered'];
const create = createRoute({
  method: 'post',
  path: '/access/metered-sessions',
  operationId: 'createMeteredSession',
  tags,
  summary: 'Begin a metered session',
  description:
    `The buyer’s client opens a payment channel by the challenge, at \`authorize_url\`, within ${LIFE.channelOpenMinutes} minutes, and then streams` +
    ' vouchers: each promises more in all, none moves ' +
    'money by itself. What the highest one promises is settled on the chain, straight to your wallet. Counted apart from consume, settle and ' +
    'other metered calls, at the same rate: strangers who never pay take nothing of what buyers need.',
  ...idempotentRoute('challenges'),
  request: { headers: IdempotencyHeader, query: z.object(ModeQuery), ...jsonBody(MeteredSessionRequest) },
  responses: {
    ...created(MeteredSessionBody),
    ...merchantBodyErrors(
      ...idempotencyErrors,
      'idempotency_race',
      'not_found',
      'setup_not_ready',
      'fee_wallet_missing',
      'rpc_unavailable',
    ),
  },
});
const get = createRoute({
  method: 'get',
  path: '/access/metered-sessions/{session_id}',
  operationId: 'getMeteredSession',
  tags,
  summary: 'Get a metered session',
  description: 'As it is this moment: what is locked up, promised, kept free and settled.',
  ...merchantRoute('read'),
  request: { params: sessionParam, query: z.object(ModeQuery) },
  responses: { ...ok(MeteredSessionBody), ...merchantErrors('not_found') },
});
const close = createRoute({
  method: 'post',
  path: '/access/metered-sessions/{session_id}/close',
  operationId: 'closeMeteredSession',
  tags,
  summary: 'Close a metered session',
  description:
    'With the highest voucher it has. No voucher is taken from then on. `closing` until the chain has it: ask again, or wait for `metered_session.closed`. ' +
    'A session that nobody opened is `closed` at once, with nothing settled. 409 `state_conflict` (`opening-pending`) while a buyer opens it.',
  ...idempotentRoute('metered'),
  request: { headers: IdempotencyHeader, params: sessionParam, query: z.object(ModeQuery) },
  responses: { ...ok(MeteredSessionBody), ...merchantBodyErrors(...idempotencyErrors, 'not_found', 'state_conflict', 'channel_closed') },
});
const deliver = createRoute({
  method: 'post',
  path: '/access/metered-sessions/{session_id}/deliveries',
  operationId: 'reserveMeteredDelivery',
  tags,
  summary: 'Reserve a delivery',
  description: 'Keeps an amount of the deposit free for one delivery, until its voucher comes or the time for it is over.',
  ...idempotentRoute('metered'),
  request: { headers: IdempotencyHeader, params: sessionParam, query: z.object(ModeQuery), ...jsonBody(DeliveryRequest) },
  responses: {
    ...created(DirectiveBody),
    ...merchantBodyErrors(...idempotencyErrors, 'not_found', 'state_conflict', 'channel_closed'),
  },
});

export const meteredRoutes = router()
  .openapi(create, async (c) => {
    const { scope: ctx } = c.var;
    const body = c.req.valid('json');
    const productId = await productIdOf(ctx, body);
    const answer = await once<MeteredSessionRow>(
      ctx,
      await idempotentRequest(c),
      async (storeAnswer) => {
        const sale = await getSale(ctx, productId, METERED_RAIL);
        return commitWithAnswer(
          ctx,
          await planMeteredSession(ctx, sale, body, body.customer ? customerOf(body.customer) : null),
          storeAnswer,
        );
      },
      async (session) => ({
        status: 201,
        body: toMeteredResource(ctx, shownOf(sessionSnapshotOf(session)), await newSessionChallenge(ctx, sessionTermsOf(session))),
      }),
    );
    return sendStored(c, answer);
  })
  .openapi(get, async (c) => {
    const { actor, scope: ctx } = c.var;
    return c.json(toMeteredResource(ctx, shownOf(await readOwnSession(ctx, actor, c.req.valid('param').session_id))), 200);
  })
  .openapi(close, async (c) => {
    const { actor, scope: ctx } = c.var;
    const { session_id: sessionId } = c.req.valid('param');
    const run = () => closeOwnSession(ctx, actor, sessionId);
    const present = (session: MeteredSnapshot) => ({ status: 200, body: toMeteredResource(ctx, shownOf(session)) });
    return sendStored(c, await answerLeased(c, run, present, { keepMs: MONEY_KEEP_MS }));
  })
  .openapi(deliver, async (c) => {
    const { actor, scope: ctx } = c.var;
    const body = c.req.valid('json');
    if ((body.amount === undefined) === (body.units === undefined))
      throw invalid('amount', 'Name exactly one of amount and units', 'missing');
    const asked = body.amount === undefined ? { units: body.units! } : { amount: usdcOf('amount', body.amount).units };
    const delivery = { deliveryId: body.delivery_id ?? null, asked, lifeSeconds: body.expires_in ?? null };
    const request = await idempotentRequest(c);
    const reserved = await reserveDelivery(ctx, actor, c.req.valid('param').session_id, request, delivery);
    if (reserved.replayed) c.header('Idempotent-Replayed', 'true');
    return c.json(toDirective(ctx, reserved.delivery, reserved.snapshot), 201);
  });
