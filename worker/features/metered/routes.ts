import { z } from '@hono/zod-openapi';
import { LIFE } from '#core/limits.ts';
import { customerOf } from '#features/entitlements/resource.ts';
import { getSale } from '#features/products/product.ts';
import { productIdOf } from '#features/products/product-ref.ts';
import { invalid } from '#features/products/terms.ts';
import { MONEY_KEEP_MS } from '#platform/db/idempotency-record.ts';
import { commitWithAnswer } from '#platform/db/once.ts';
import { idempotentRequest } from '#platform/http/idempotency-key.ts';
import { created } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { METERED_RAIL } from '#rules/rails.ts';
import { newSessionChallenge } from './challenge.ts';
import { closeOwnSession } from './close.ts';
import { parseUsdc, planMeteredSession } from './create.ts';
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
import { readOwnSession, withProgram } from './session.ts';
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

export const meteredRoutes = routes('Metered')
  .write({
    path: 'POST /access/metered-sessions',
    id: 'createMeteredSession',
    summary: 'Begin a metered session',
    description:
      `The buyer’s client opens a payment channel by the challenge, at \`authorize_url\`, within ${LIFE.channelOpenMinutes} minutes, and then streams` +
      ' vouchers: each promises more in all, none moves ' +
      'money by itself. What the highest one promises is settled on the chain, straight to your wallet. Counted apart from consume, settle and ' +
      'other metered calls, at the same rate: strangers who never pay take nothing of what buyers need.',
    key: 'required',
    bucket: 'challenges',
    body: MeteredSessionRequest,
    returns: created(MeteredSessionBody),
    codes: ['idempotency_race', 'not_found', 'setup_not_ready', 'fee_wallet_missing', 'rpc_unavailable'],
    check: ({ scope, body }) => productIdOf(scope, body),
    once: async ({ scope, body, checked: productId }, storeAnswer) => {
      const sale = await getSale(scope, productId, METERED_RAIL);
      return commitWithAnswer(
        scope,
        await planMeteredSession(scope, sale, body, body.customer ? customerOf(body.customer) : null),
        storeAnswer,
      );
    },
    present: async (session, { scope }) =>
      toMeteredResource(scope, withProgram(sessionSnapshotOf(session)), await newSessionChallenge(scope, sessionTermsOf(session))),
  })
  .read({
    path: 'GET /access/metered-sessions/{session_id}',
    id: 'getMeteredSession',
    summary: 'Get a metered session',
    description: 'As it is this moment: what is locked up, promised, kept free and settled.',
    params: sessionParam,
    returns: MeteredSessionBody,
    codes: ['not_found'],
    answer: async ({ scope, actor, params }) =>
      toMeteredResource(scope, withProgram(await readOwnSession(scope, actor, params.session_id))),
  })
  .write({
    path: 'POST /access/metered-sessions/{session_id}/close',
    id: 'closeMeteredSession',
    summary: 'Close a metered session',
    description:
      'With the highest voucher it has. No voucher is taken from then on. `closing` until the chain has it: ask again, or wait for `metered_session.closed`. ' +
      'A session that nobody opened is `closed` at once, with nothing settled. 409 `state_conflict` (`opening-pending`) while a buyer opens it.',
    key: 'required',
    bucket: 'metered',
    params: sessionParam,
    returns: MeteredSessionBody,
    codes: ['not_found', 'state_conflict', 'channel_closed'],
    leased: ({ scope, actor, params }) => closeOwnSession(scope, actor, params.session_id),
    present: (session, { scope }) => toMeteredResource(scope, withProgram(session)),
    keepMs: MONEY_KEEP_MS,
  })
  .write({
    path: 'POST /access/metered-sessions/{session_id}/deliveries',
    id: 'reserveMeteredDelivery',
    summary: 'Reserve a delivery',
    description: 'Keeps an amount of the deposit free for one delivery, until its voucher comes or the time for it is over.',
    key: 'required',
    bucket: 'metered',
    params: sessionParam,
    body: DeliveryRequest,
    returns: created(DirectiveBody),
    codes: ['not_found', 'state_conflict', 'channel_closed'],
    answer: async ({ c, scope, actor, params, body }) => {
      if ((body.amount === undefined) === (body.units === undefined))
        throw invalid('amount', 'Name exactly one of amount and units', 'missing');
      const asked = body.amount === undefined ? { units: body.units! } : { amount: parseUsdc('amount', body.amount).units };
      const delivery = { deliveryId: body.delivery_id ?? null, asked, lifeSeconds: body.expires_in ?? null };
      const request = await idempotentRequest(c);
      const reserved = await reserveDelivery(scope, actor, params.session_id, request, delivery);
      if (reserved.replayed) c.header('Idempotent-Replayed', 'true');
      return toDirective(scope, reserved.delivery, reserved.snapshot);
    },
  });
