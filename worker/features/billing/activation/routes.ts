import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { ApiError } from '#core/errors.ts';
import { isoOrNull } from '#core/time.ts';
import { planTitle } from '#features/plans/buy-plan.ts';
import { RETRY_AFTER_SECONDS, SettlePending } from '#features/settlements/resource.ts';
import { merchantBodyErrors } from '#platform/http/callers.ts';
import { ModeQuery, ok, orNull, router, Timestamp } from '#platform/http/openapi.ts';
import { PAID_PLANS, type PaidPlan, PLAN_DAYS, PLAN_NAMES, PLANS } from '#rules/plans.ts';
import { activatePlan, type PlanChallenge } from './activate-plan.ts';
import { type ActivatorEnv, activatorRoute } from './caller.ts';

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

const routeOf = (plan: PaidPlan) =>
  createRoute({
    method: 'post',
    path: `/access/x402/activate/${plan}`,
    operationId: `activate${plan[0]!.toUpperCase()}${plan.slice(1)}`,
    tags: ['x402'],
    summary: `Buy the ${plan} plan`,
    description: describe(plan),
    ...activatorRoute,
    request: {
      headers: z.object({
        'PAYMENT-SIGNATURE': z.string().optional().openapi({ description: 'The payment, as an x402 client writes it.' }),
      }),
      query: z.object(ModeQuery),
    },
    responses: {
      ...ok(ActivationBody, 'Activated; PAYMENT-RESPONSE tells the transaction'),
      202: { description: 'Not known yet', content: { 'application/json': { schema: SettlePending } } },
      ...merchantBodyErrors(
        'payment_required',
        'spend_limit_exceeded',
        'setup_not_ready',
        'state_conflict',
        'duplicate_settlement',
        'rpc_unavailable',
        'not_found',
      ),
    },
  });

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

export const activationRoutes = router();
for (const plan of PAID_PLANS) activationRoutes.openapi(routeOf(plan), (c) => activate(c, plan) as never);
