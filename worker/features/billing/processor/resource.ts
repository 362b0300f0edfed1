import { z } from '@hono/zod-openapi';
import { isoOrNull } from '#core/time.ts';
import { getAccount, getActiveKeyCount } from '#features/accounts/store.ts';
import { getActiveProductCount } from '#features/products/product.ts';
import { getEnabledEndpointCount } from '#features/webhooks/store.ts';
import type { Scope } from '#platform/context.ts';
import { orNull, Timestamp } from '#platform/http/openapi.ts';
import { isBought, PLAN_NAMES, PLANS, planAt, SUBSCRIPTION_STATUSES } from '#rules/plans.ts';
import { findCustomer } from './store.ts';

const Counts = { keys: z.int(), endpoints: z.int() };

export const BillingSummaryBody = z
  .object({
    plan: z.enum(PLAN_NAMES).openapi({ description: 'The higher of what runs by card and what was bought by x402.' }),
    status: z.enum(SUBSCRIPTION_STATUSES).openapi({ description: 'Of the subscription at the payment processor.' }),
    current_period_end: orNull(Timestamp).openapi({ description: 'Of the subscription, or of the time that was bought by x402.' }),
    cancel_at_period_end: z.boolean(),
    source: z.enum(['free', 'processor', 'x402']),
    usage: z.object({ ...Counts, products: z.int() }).openapi({ description: 'In live mode.' }),
    limits: z.object({ ...Counts, products: orNull(z.int()).openapi({ description: 'null: without a limit.' }) }),
  })
  .openapi('BillingSummary');

/** How an account stands. */
export async function readBilling(ctx: Scope): Promise<z.infer<typeof BillingSummaryBody>> {
  const [account, customer, keys, products, endpoints] = await Promise.all([
    getAccount(ctx.db, ctx.merchantId),
    findCustomer(ctx.db, ctx.merchantId),
    getActiveKeyCount(ctx.db, ctx),
    getActiveProductCount(ctx),
    getEnabledEndpointCount(ctx),
  ]);
  const plan = planAt(account, ctx.now);
  const isPaidOnChain = isBought(account, plan, ctx.now);
  const { activeKeysMax, activeProductsMax, enabledEndpointsMax } = PLANS[plan];
  return {
    plan,
    status: customer?.subscriptionStatus ?? 'none',
    current_period_end: isoOrNull(isPaidOnChain ? account.planThrough : (customer?.currentPeriodEnd ?? null)),
    cancel_at_period_end: customer?.cancelsAtPeriodEnd ?? false,
    source: plan === 'free' ? 'free' : isPaidOnChain ? 'x402' : 'processor',
    usage: { keys, products, endpoints },
    limits: {
      keys: activeKeysMax,
      products: Number.isFinite(activeProductsMax) ? activeProductsMax : null,
      endpoints: enabledEndpointsMax,
    },
  };
}
