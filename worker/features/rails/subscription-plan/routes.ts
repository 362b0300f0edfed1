import { z } from '@hono/zod-openapi';
import type { ProductId } from '#core/ids.ts';
import { toMoneyResource } from '#core/money.ts';
import { isoOrNull } from '#core/time.ts';
import { explainQuota } from '#features/products/create-product.ts';
import { abortIfOverProductQuota, getSale, isPayable } from '#features/products/product.ts';
import { prospectOf } from '#features/products/selling/obstacles.ts';
import type { Actor, Scope } from '#platform/context.ts';
import type { Change, Write } from '#platform/db/commit.ts';
import { commitWithAnswer, type StoreAnswer } from '#platform/db/once.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { TxSignature } from '#platform/http/bodies/tx-signature.ts';
import { given, MoneyBody, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { PLANS } from '#rules/plans.ts';
import { SUBSCRIPTION_RAIL } from '#rules/rails.ts';
import { confirmPlan, PLAN_STATUSES, type PlanView, type PreparedPlan, preparePlan, viewPlan } from './plan.ts';

const SubscriptionPlanBody = z
  .object({
    status: z
      .enum(PLAN_STATUSES)
      .describe(
        'Status of the plan. `outdated`: price, period or payout wallet have changed: publish a new plan; existing subscribers stay on theirs. `sunset`: closed to new subscribers by its owner.',
      ),
    plan_address: z.string().describe('Address of the plan of the current terms, published or not.'),
    plan_id: z.string().describe('Number of the plan in the program, derived from its terms.'),
    terms: z
      .object({
        amount: MoneyBody,
        period_hours: z.int().describe('Length of a period in hours.'),
        destination: z.string().describe('Payout wallet. The plan can pay no other wallet.'),
        puller: z.string().describe('Key of this service that collects. It holds no money of yours or of buyers.'),
      })
      .describe('Terms of the plan, from the current product.'),
    transaction: z
      .string()
      .optional()
      .describe(
        'Unsigned transaction in base64 that publishes the plan. Sign it with the payout wallet and send it. Absent if nothing is left to sign.',
      ),
    expires_at: Timestamp.optional().describe('Time after which the transaction cannot land.'),
  })
  .openapi('SubscriptionPlan');

function toPlanResource({ status, draft, ...prepared }: PlanView & Partial<PreparedPlan>): z.infer<typeof SubscriptionPlanBody> {
  const { address, plan } = draft;
  return {
    status,
    plan_address: address,
    plan_id: plan.planId.toString(),
    terms: {
      amount: toMoneyResource({ asset: 'USDC', units: plan.amount }),
      period_hours: Number(plan.periodHours),
      destination: plan.destinations[0]!,
      puller: plan.pullers[0]!,
    },
    ...given('transaction', prepared.transaction ?? null),
    ...given('expires_at', isoOrNull(prepared.expiresAt ?? null)),
  };
}
const path = '/access/products/{product_id}/subscription-plan';
const planErrors = ['not_found', 'setup_not_ready', 'rpc_unavailable'] as const;

async function soldBySubscription(ctx: Scope, productId: ProductId) {
  const sale = await getSale(ctx, productId, SUBSCRIPTION_RAIL);
  return { ...prospectOf(sale), product: sale.product };
}

/** Plans the quota check of a draft's first plan, which makes the draft payable. Throws 429 plan_limit_reached. */
async function planQuota(ctx: Scope, actor: Actor, { id, status }: Product): Promise<Write[]> {
  if (status !== 'active' || (await isPayable(ctx, id))) return [];
  const full = await explainQuota(ctx, actor);
  if (full) throw full;
  return abortIfOverProductQuota(ctx, ctx, PLANS[actor.plan].activeProductsMax, id);
}

async function publish<T>(
  { scope: ctx, actor }: { scope: Scope; actor: Actor },
  productId: ProductId,
  storeAnswer: StoreAnswer<T>,
  plan: (ctx: Scope, sale: Awaited<ReturnType<typeof soldBySubscription>>) => Promise<Change<T>>,
): Promise<T> {
  const sale = await soldBySubscription(ctx, productId);
  const change = await plan(ctx, sale);
  const quota = await planQuota(ctx, actor, sale.product);
  const writes = [...change.writes, ...(change.writes.length > 0 ? quota : [])];
  return commitWithAnswer(ctx, { ...change, writes }, storeAnswer, () => planQuota(ctx, actor, sale.product).then(() => null));
}

export const subscriptionPlanRoutes = routes('Subscriptions', 'products')
  .read({
    path: `GET ${path}`,
    id: 'getSubscriptionPlan',
    sdk: 'subscriptionPlans.get',
    summary: 'Get the plan of a product',
    description: 'Returns the on-chain plan that buyers of a product with `renewal_mode` `AUTOMATIC` subscribe to.',
    returns: SubscriptionPlanBody,
    codes: planErrors,
    answer: async ({ scope, params }) => toPlanResource(await viewPlan(scope, await soldBySubscription(scope, params.product_id))),
  })
  .write({
    path: `POST ${path}`,
    id: 'prepareSubscriptionPlan',
    sdk: 'subscriptionPlans.prepare',
    summary: 'Publish the plan of a product',
    description:
      'Creates the transaction by which your payout wallet publishes the plan of the current price and period. Open `/sign#<transaction>` of this service to sign and send it, then confirm.',
    key: 'required',
    returns: SubscriptionPlanBody,
    codes: [...planErrors, 'plan_limit_reached', 'state_conflict'],
    once: (call, storeAnswer) => publish(call, call.params.product_id, storeAnswer, preparePlan),
    audit: { action: 'plan.prepared', subject: 'product', fields: (_, { params }) => ({ id: params.product_id }) },
    present: toPlanResource,
  })
  .write({
    path: `POST ${path}/confirm`,
    id: 'confirmSubscriptionPlan',
    sdk: 'subscriptionPlans.confirm',
    summary: 'Confirm a published plan',
    description: 'Reads the plan back from the chain and verifies every field. `meta.reason` names the field that differs.',
    key: 'required',
    body: z.object({ tx_signature: TxSignature }).openapi('ConfirmSubscriptionPlanRequest'),
    returns: SubscriptionPlanBody,
    codes: [...planErrors, 'plan_limit_reached', 'payment_mismatch'],
    once: (call, storeAnswer) => publish(call, call.params.product_id, storeAnswer, confirmPlan),
    audit: {
      action: 'plan.confirmed',
      subject: 'product',
      fields: (_, { params, body }) => ({ id: params.product_id, tx_signature: body.tx_signature }),
    },
    present: toPlanResource,
  });
