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
import { type ActorEnv, ModeQuery, ok, orNull, Timestamp } from '#platform/http/openapi.ts';
import { countRefusedCredential, hitBucket, rateHeaders } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
import { PAID_PLANS, type PaidPlan, PLAN_DAYS, PLAN_NAMES, PLANS, planAt } from '#rules/plans.ts';
import { activatePlan, type PlanChallenge } from './activate-plan.ts';

interface ActivatorEnv extends ActorEnv {
  /** `setupIntentId`: where a setup secret was shown instead of a key or token, whose spend limits bind what is bought. */
  Variables: ActorEnv['Variables'] & { setupIntentId: SetupIntentId | null };
}

const NO_CREDENTIAL =
  'Show whose plan this is: an API key in X-Svc-Key, the token of a sign-in in Authorization: Bearer, or the setup_secret of an agent’s setup in X-Svc-Setup-Secret.';

/**
 * Who may buy a plan for an account: its key, its owner's token, or the agent that sets it up. Where a setup secret is shown
 * beside another credential, the secret counts: it is the narrower right, and spend limits bind it.
 */
const requireActivator = createMiddleware<ActivatorEnv>(async (c, next) => {
  const secret = c.req.header('X-Svc-Setup-Secret');
  if (secret === undefined) {
    if (!showsCredential(c)) throw new ApiError('invalid_authorization', { detail: NO_CREDENTIAL });
    await setActor(c, await c.var.authenticate(c, 'execute'));
    c.set('setupIntentId', null);
    return next();
  }
  const { ctx } = c.var;
  // A bucket of its own, with room for an agent that asks again as often as 202 tells it to.
  const rate = await hitBucket(c, 'status', `activate:${parseSetupSecret(secret)?.setupIntentId ?? ''}`);
  for (const [name, value] of Object.entries(rateHeaders(rate))) c.header(name, value);
  const shard = await locateSetup(ctx, secret);
  const setup = await findSetupBySecret(shard, secret);
  // Wrong, unknown and over are one answer: a guess learns nothing.
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
    plan: z.enum(PLAN_NAMES).openapi({ description: 'The plan that runs now.' }),
    paid_through: orNull(Timestamp).openapi({ description: 'null: the plan has no end, and no purchase moves it.' }),
    account_id: z.uuid(),
    receipt_id: z.uuid(),
  })
  .openapi('Activation');

/** The public client refuses more than a dollar; this is the setting that lets it pay. */
const clientSetting = (plan: PaidPlan): string => `setSpendControls({ maxAmountPerPayment: '$${PLANS[plan].priceUsdc}' })`;

const describe = (plan: PaidPlan): string =>
  `Costs ${PLANS[plan].priceUsdc} USDC, paid by x402 V2 to the service. Without PAYMENT-SIGNATURE the answer is 402 with the challenge in ` +
  `PAYMENT-REQUIRED; sent again with PAYMENT-SIGNATURE it is 200 with PAYMENT-RESPONSE. The public x402 client refuses more than $1 unless ` +
  `told otherwise: \`client.${clientSetting(plan)}\`. What is paid for already keeps its value: the same plan lasts ${PLAN_DAYS} days longer; a ` +
  `higher one begins now and lasts ${PLAN_DAYS} days plus what was left, converted at the two prices. The 402 says in \`meta\` what that comes to: ` +
  '`plan` and `paid_through`, as if it were paid now. The new limits hold on the very next request. One payment counts once: sent again it ' +
  'gives the first answer. A lower plan while a higher one runs is 409; should a higher one have begun since the payment was sent, it is ' +
  'prolonged by what the money buys at its price. 202 means the ' +
  'outcome is not known yet: send the same payment again, never a new one; a setup does not end before it is. A plan that ends becomes free at that instant. Over a plan that ' +
  'does not end nothing is sold (409). In the sandbox a test wallet pays (POST /v1/testing/pay), all answers are those of a purchase, and the account keeps the plan it has.';

function paymentRequired(plan: PaidPlan, { required, header, reason, paymentResponse, result }: PlanChallenge): ApiError {
  const setting = clientSetting(plan);
  const why = reason === null ? '' : `The payment was refused: ${reason}. `;
  return new ApiError('payment_required', {
    detail:
      `${why}${planTitle(plan)}: ${PLANS[plan].priceUsdc} USDC. Pay the challenge in the PAYMENT-REQUIRED header and repeat this request ` +
      `with PAYMENT-SIGNATURE. The public x402 client refuses more than $1 unless told otherwise: call client.${setting} first.`,
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
      ...(reason === null ? {} : { reason }),
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
for (const plan of PAID_PLANS)
  activationRoutes.public({
    path: `POST /access/x402/activate/${plan}`,
    id: `activate${plan[0]!.toUpperCase()}${plan.slice(1)}`,
    summary: `Buy the ${plan} plan`,
    description: describe(plan),
    security: [{ apiKey: [] }, { bearer: [] }, { setupSecret: [] }],
    guards: [requireActivator as MiddlewareHandler],
    headers: z.object({
      'PAYMENT-SIGNATURE': z.string().optional().openapi({ description: 'The payment, as an x402 client writes it.' }),
    }),
    query: ModeQuery,
    returns: {
      ...ok(ActivationBody, 'Activated; PAYMENT-RESPONSE tells the transaction'),
      202: { description: 'Not known yet', content: { 'application/json': { schema: SettlePending } } },
    },
    refusals: merchantBodyErrors(
      'payment_required',
      'spend_limit_exceeded',
      'setup_not_ready',
      'state_conflict',
      'duplicate_settlement',
      'rpc_unavailable',
      'not_found',
    ),
    respond: ({ c }) => activate(c as Context<ActivatorEnv>, plan),
  });
