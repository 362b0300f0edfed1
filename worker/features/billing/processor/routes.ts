import { z } from '@hono/zod-openapi';
import { createMiddleware } from 'hono/factory';
import type Stripe from 'stripe';
import { ApiError } from '#core/errors.ts';
import { isoOrNull } from '#core/time.ts';
import { getAccount, getActiveKeyCount } from '#features/accounts/store.ts';
import { getActiveProductCount } from '#features/products/product.ts';
import { getEnabledEndpointCount } from '#features/webhooks/store.ts';
import type { Scope } from '#platform/context.ts';
import { requireFreshSignIn } from '#platform/http/callers.ts';
import { type AppEnv, errors, orNull, Timestamp } from '#platform/http/openapi.ts';
import { hitCeiling, requireCeilingLeft } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
import { isBought, PAID_PLANS, PLAN_NAMES, PLANS, planAt, SUBSCRIPTION_STATUSES } from '#rules/plans.ts';
import { findCustomer } from './store.ts';

const Counts = { keys: z.int(), endpoints: z.int() };

const BillingSummaryBody = z
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

/** What only a call about cards needs is loaded by it. */
const load = () => import('./calls.ts');
const ReturnUrl = z.string().max(2048);

/** 401 before the body is looked at, unless the processor signed its bytes. */
const verifySignature = createMiddleware<AppEnv>(async (c, next) => {
  // An address that forged too many has no more of them read and hashed.
  requireCeilingLeft(c);
  const { verifyEvent } = await load();
  const signature = c.req.header('Processor-Signature') ?? c.req.header('Stripe-Signature');
  const raw = new Uint8Array(await c.req.arrayBuffer());
  const event = await verifyEvent(c.var.ctx, raw, signature).catch(async (error: unknown) => {
    // Counted only here: the processor itself tells of as much as happens.
    if (error instanceof ApiError && error.code === 'webhook_signature_failed') await hitCeiling(c);
    throw error;
  });
  c.set('body', event);
  await next();
});

const EVENT = { id: 'evt_1', object: 'event', created: 1_795_000_000, type: 'invoice.paid', data: { object: { customer: 'cus_1' } } };

export const billingRoutes = routes('Billing')
  .read({
    path: 'GET /billing/summary',
    id: 'getBillingSummary',
    summary: 'Get the plan',
    description: 'The plan of the account, what gives it and what of it is used.',
    mode: 'live',
    returns: BillingSummaryBody,
    answer: ({ scope }) => readBilling(scope),
  })
  .person({
    path: 'POST /billing/checkout/processor',
    id: 'createBillingCheckout',
    summary: 'Pay for a plan by card',
    description:
      'For a person who signed in within the last 15 minutes; a key is 403. Send that person to `checkout_url`. The same plan asked for again ' +
      'answers the same open page, and another plan ends it. An account that has a subscription is shown the change of that one. The pages ' +
      'that a person comes back to are on this service; without them it is the dashboard. The plan the account has is 409 `state_conflict`.',
    mode: 'live',
    body: z
      .object({ plan: z.enum(PAID_PLANS), success_url: ReturnUrl.optional(), cancel_url: ReturnUrl.optional() })
      .openapi('BillingCheckoutRequest', { example: { plan: 'growth' } }),
    returns: z.object({ checkout_url: z.string() }).openapi('BillingCheckout'),
    codes: ['state_conflict', 'billing_not_configured'],
    leased: async ({ ctx, scope, actor, body: { plan, success_url: successUrl, cancel_url: cancelUrl } }) => {
      requireFreshSignIn(ctx, actor);
      return (await load()).beginCheckout(scope, { plan, successUrl, cancelUrl });
    },
    present: (checkout_url) => ({ checkout_url }),
    isSecret: true,
  })
  .person({
    path: 'POST /billing/portal/processor',
    id: 'createBillingPortal',
    summary: 'Open the card portal',
    description:
      'For a person who signed in within the last 15 minutes; a key is 403. Before the first purchase by card there is nothing to change: ' +
      '409 `state_conflict`.',
    mode: 'live',
    body: z.object({ return_url: ReturnUrl.optional() }).openapi('BillingPortalRequest', { example: {} }),
    isBodyOptional: true,
    returns: z.object({ portal_url: z.string() }).openapi('BillingPortal'),
    codes: ['state_conflict', 'billing_not_configured'],
    leased: async ({ ctx, scope, actor, body }) => {
      requireFreshSignIn(ctx, actor);
      return (await load()).openPortal(scope, body.return_url);
    },
    present: (portal_url) => ({ portal_url }),
    isSecret: true,
  })
  .write({
    path: 'POST /billing/refresh/processor',
    id: 'refreshBilling',
    summary: 'Refresh the plan',
    description: 'Safe to repeat. Answers the summary as it is then.',
    mode: 'live',
    returns: BillingSummaryBody,
    codes: ['state_conflict', 'billing_not_configured'],
    leased: async ({ scope }) => {
      await (await load()).refreshAccount(scope);
      return readBilling(scope);
    },
    present: (body) => body,
  })
  .public({
    path: 'POST /billing/webhooks/processor',
    id: 'receiveProcessorWebhook',
    tag: 'Provider webhooks',
    summary: 'Receive processor events',
    description:
      'Signed over the raw body. An event says that something changed; what that is, is read from the processor. Each counts once, and those ' +
      'of a type or customer that is not known here change nothing.',
    security: [{ processorSignature: [] }],
    guards: [verifySignature],
    body: z.unknown().openapi({ description: 'An event, as the processor makes it.', example: EVENT }),
    returns: z.object({ received: z.literal(true), duplicate: z.boolean() }).openapi('ProcessorWebhookResponse'),
    refusals: errors(
      'rate_limited',
      'webhook_signature_failed',
      'billing_not_configured',
      'state_conflict',
      'payload_too_large',
      'unsupported_media_type',
    ),
    answer: async ({ ctx, body }) => {
      const { takeEvent } = await load();
      const { isDuplicate } = await takeEvent(ctx, body as Stripe.Event);
      return { received: true as const, duplicate: isDuplicate };
    },
  });
