import { z } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import { ApiError } from '#core/errors.ts';
import type { SetupIntentId } from '#core/ids.ts';
import { isoOrNull } from '#core/time.ts';
import { findSetupBySecret, isSetupOpen, locateSetup, parseSetupSecret } from '#features/agent-setup/secret.ts';
import { planTitle } from '#features/plans/buy-plan.ts';
import { getHeldPlan } from '#features/plans/store.ts';
import { RETRY_AFTER_SECONDS, SettlePending } from '#features/settlements/resource.ts';
import type { Actor } from '#platform/context.ts';
import { merchantBodyErrors, setActor, showsCredential } from '#platform/http/callers.ts';
import { AccountUuid, type ActorEnv, headersOf, ModeQuery, ok, orNull, ReceiptUuid, Timestamp } from '#platform/http/openapi.ts';
import { countRefusedCredential, hitBucket, rateHeaders } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
import { exceededCaps } from '#protocols/x402/exact.ts';
import { PAID_PLANS, type PaidPlan, PLAN_DAYS, PLAN_NAMES, PLANS, planAt } from '#rules/plans.ts';
import { activatePlan, type PlanChallenge } from './activate-plan.ts';

interface ActivatorEnv extends ActorEnv {
  Variables: ActorEnv['Variables'] & { setupIntentId: SetupIntentId | null };
}

const NO_CREDENTIAL =
  'A credential of the account is missing. Send an API key in X-Svc-Key, a session token in Authorization: Bearer, or the setup_secret of an agent’s setup in X-Svc-Setup-Secret.';

/**
 * Authenticates a buyer of a plan: the account's key, its owner's token, or the agent that sets it up. A setup secret wins over another
 * credential, because it is the narrower right with spend limits.
 */
const requireActivator = createMiddleware<ActivatorEnv>(async (c, next) => {
  const secret = c.req.header('X-Svc-Setup-Secret');
  if (secret === undefined) {
    if (!showsCredential(c)) throw new ApiError('invalid_authorization', { detail: NO_CREDENTIAL });
    await setActor(c, await c.var.authenticate(c, 'execute', { scope: 'billing:write' }));
    c.set('setupIntentId', null);
    return next();
  }
  const { ctx } = c.var;
  // Separate bucket with room for an agent that polls as often as the 202 answer says.
  const rate = await hitBucket(c, 'status', `activate:${parseSetupSecret(secret)?.setupIntentId ?? ''}`);
  for (const [name, value] of Object.entries(rateHeaders(rate))) c.header(name, value);
  const shard = await locateSetup(ctx, secret);
  const setup = await findSetupBySecret(shard, secret);
  // A wrong, unknown or ended setup gives one answer, so that a guess learns nothing.
  if (!setup || !isSetupOpen(setup, ctx.now)) {
    await countRefusedCredential(c);
    throw new ApiError('invalid_authorization');
  }
  const account = await getHeldPlan(shard.db, setup.accountId);
  if (account.status === 'suspended') throw new ApiError('account_suspended');
  if (account.status === 'deleted') throw new ApiError('invalid_authorization');
  const actor: Actor = {
    accountId: setup.accountId,
    keyId: null,
    livemode: c.req.query('mode') !== 'sandbox',
    permissions: ['execute'],
    plan: planAt(account, ctx.now),
    personId: null,
    role: null,
    isStaff: false,
    via: 'setup',
    signIn: null,
  };
  await setActor(c, actor);
  c.set('setupIntentId', setup.id);
  return next();
});

const ActivationBody = z
  .object({
    plan: z.enum(PLAN_NAMES),
    paid_through: orNull(Timestamp).describe('End of the paid plan; null: the plan has no end, and purchases do not change it.'),
    account_id: AccountUuid,
    receipt_id: ReceiptUuid,
  })
  .openapi('Activation');

/** The public client refuses more than a dollar by default. This setting allows the plan's price. */
const clientSetting = (plan: PaidPlan): string => `setSpendControls({ maxAmountPerPayment: '$${PLANS[plan].priceUsdc}' })`;

const describe = (plan: PaidPlan): string =>
  `Buys the plan for ${PLANS[plan].priceUsdc} USDC by x402 V2. The public x402 client refuses more than $1 by default: ` +
  `\`client.${clientSetting(plan)}\`. The same plan lasts ${PLAN_DAYS} days longer, and a higher one begins immediately. ` +
  '`meta` of the 402 has the result for a payment made now. One payment counts once. 202 means that the outcome is not known yet: send the ' +
  'same payment again, never a new one. A lower plan during a higher one is refused with 409.';

function paymentRequired(plan: PaidPlan, { required, header, reason, paymentResponse, result }: PlanChallenge): ApiError {
  const setting = clientSetting(plan);
  const why = reason === null ? '' : `The payment was refused: ${reason}. `;
  return new ApiError('payment_required', {
    detail:
      `${why}${planTitle(plan)}: ${PLANS[plan].priceUsdc} USDC. Pay the challenge in the PAYMENT-REQUIRED header and repeat this request ` +
      `with PAYMENT-SIGNATURE. The public x402 client refuses more than $1 by default: call client.${setting} first.`,
    headers: {
      'PAYMENT-REQUIRED': header,
      ...(paymentResponse === null ? {} : { 'PAYMENT-RESPONSE': paymentResponse }),
      'Cache-Control': 'no-store',
    },
    meta: {
      plan: result.plan,
      paid_through: isoOrNull(result.planThrough),
      payment_required: required,
      client_setting: setting,
      ...(reason === null ? {} : { reason, ...exceededCaps(reason) }),
    },
  });
}

async function activate(c: Context<ActivatorEnv>, plan: PaidPlan): Promise<Response> {
  const { scope: ctx, actor, setupIntentId } = c.var;
  const paymentSignature = c.req.header('PAYMENT-SIGNATURE') ?? null;
  const activating = await activatePlan(ctx, actor, { plan, paymentSignature, setupIntentId });
  if (activating.kind === 'required') throw paymentRequired(plan, activating);
  c.header('Cache-Control', 'private, no-store');
  if (activating.kind === 'activated') {
    c.header('PAYMENT-RESPONSE', activating.paymentResponse);
    return c.json(activating.body, 200);
  }
  c.header('Retry-After', String(RETRY_AFTER_SECONDS));
  const { txSignature: tx_signature } = activating;
  return c.json({ success: false, error_reason: 'settlement_pending', tx_signature, retry_after: RETRY_AFTER_SECONDS }, 202);
}

export const activationRoutes = routes('x402');
for (const plan of PAID_PLANS) {
  const id = `activate${plan[0]!.toUpperCase()}${plan.slice(1)}`;
  activationRoutes.public({
    path: `POST /access/x402/activate/${plan}`,
    id,
    sdk: `billing.${id}`,
    idempotency: 'natural',
    agent: { confirm: true },
    summary: `Buy the ${plan} plan`,
    description: describe(plan),
    security: [{ apiKey: [] }, { bearer: [] }, { setupSecret: [] }],
    guards: [requireActivator as MiddlewareHandler],
    headers: z.object({
      'PAYMENT-SIGNATURE': z.string().optional().describe('Payment, as an x402 client encodes it.'),
    }),
    query: ModeQuery,
    returns: {
      200: { ...ok(ActivationBody, 'Activated')[200], headers: headersOf('PAYMENT-RESPONSE') },
      202: {
        description: 'Outcome not known yet',
        headers: headersOf('Retry-After'),
        content: { 'application/json': { schema: SettlePending } },
      },
    },
    refusals: merchantBodyErrors(
      'payment_required',
      'spend_limit_exceeded',
      'setup_not_ready',
      'state_conflict',
      'duplicate_settlement',
      'idempotency_conflict',
      'rpc_unavailable',
      'not_found',
    ),
    audit: ['billing.plan_bought'],
    respond: ({ c }) => activate(c as Context<ActivatorEnv>, plan),
  });
}
