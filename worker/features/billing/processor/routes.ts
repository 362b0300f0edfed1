import { z } from '@hono/zod-openapi';
import { createMiddleware } from 'hono/factory';
import type Stripe from 'stripe';
import { ApiError } from '#core/errors.ts';
import { isoOrNull } from '#core/time.ts';
import { getAccount, getActiveKeyCount } from '#features/accounts/store.ts';
import { getActiveProductCount } from '#features/products/product.ts';
import { getEnabledEndpointCount } from '#features/webhooks/store.ts';
import type { Scope } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import { requireFreshSignIn } from '#platform/http/callers.ts';
import { type AppEnv, errors, orNull, Timestamp } from '#platform/http/openapi.ts';
import { hitCeiling, requireCeilingLeft } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
import { isBought, PAID_PLANS, PLAN_NAMES, PLANS, planAt, SUBSCRIPTION_STATUSES } from '#rules/plans.ts';
import { findCustomer } from './store.ts';

const Counts = { keys: z.int(), endpoints: z.int().describe('Webhook endpoints.') };

const BillingSummaryBody = z
  .object({
    plan: z.enum(PLAN_NAMES).describe('Higher of the plans bought by card and by x402.'),
    status: z.enum(SUBSCRIPTION_STATUSES).describe('Status of the subscription at the payment processor.'),
    current_period_end: orNull(Timestamp).describe('End of the current card period, or of the time bought by x402.'),
    cancel_at_period_end: z.boolean().describe('True if the subscription ends with the paid period.'),
    source: z.enum(['free', 'processor', 'x402']).describe('Source of the plan: `free`, the card `processor`, or `x402`.'),
    usage: z.object({ ...Counts, products: z.int() }).describe('Current usage in live mode.'),
    limits: z.object({ ...Counts, products: orNull(z.int()).describe('Maximum number of active products; null: no limit.') }),
  })
  .openapi('BillingSummary');

export async function readBilling(ctx: Scope): Promise<z.infer<typeof BillingSummaryBody>> {
  const [account, customer, keys, products, endpoints] = await Promise.all([
    getAccount(ctx.db, ctx.merchantId),
    findCustomer(ctx.db, ctx.merchantId),
    getActiveKeyCount(ctx, ctx),
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

const load = () => import('./calls.ts');

/** The page exists at the processor alone, so its entry follows it. */
const recordOpened = (scope: Scope, action: 'billing.checkout_opened' | 'billing.portal_opened', after: { plan?: string }) =>
  scope.db.batch([recordAction(scope, scope, { action, subject: { type: 'account', id: scope.merchantId }, after })]);
const ReturnUrl = z.string().max(2048);

/** Throws 401 before the body is parsed unless the processor signed its bytes. */
const verifySignature = createMiddleware<AppEnv>(async (c, next) => {
  requireCeilingLeft(c);
  const { verifyEvent } = await load();
  const signature = c.req.header('Processor-Signature') ?? c.req.header('Stripe-Signature');
  const raw = new Uint8Array(await c.req.arrayBuffer());
  const event = await verifyEvent(c.var.ctx, raw, signature).catch(async (error: unknown) => {
    // Counts only failed signatures, because the processor may send any number of events.
    if (error instanceof ApiError && error.code === 'webhook_signature_failed') await hitCeiling(c);
    throw error;
  });
  c.set('body', event);
  await next();
});

const EVENT = { id: 'evt_1', object: 'event', created: 1_795_000_000, type: 'invoice.paid', data: { object: { customer: 'cus_1' } } };

export const billingRoutes = routes('Billing', 'billing')
  .read({
    path: 'GET /billing/summary',
    id: 'getBillingSummary',
    sdk: 'billing.getSummary',
    summary: 'Get the plan',
    description: 'Returns the plan of the account, its source and its current usage.',
    mode: 'live',
    returns: BillingSummaryBody,
    answer: ({ scope }) => readBilling(scope),
  })
  .person({
    path: 'POST /billing/checkout/processor',
    id: 'createBillingCheckout',
    sdk: 'billing.createCheckout',
    summary: 'Pay for a plan by card',
    description:
      'Creates a card checkout at `checkout_url`. Requires a recent sign-in. The same plan returns the same open page; another plan closes it. The current plan: 409 `state_conflict`.',
    mode: 'live',
    body: z
      .object({
        plan: z.enum(PAID_PLANS).describe('Plan: `free`, `starter`, `growth` or `scale`.'),
        success_url: ReturnUrl.optional().describe(
          'https URL for buyers after payment; `payment_id` and `status` are added. A hint only: verify the payment from your server.',
        ),
        cancel_url: ReturnUrl.optional().describe('https URL for buyers who leave without payment.'),
      })
      .openapi('BillingCheckoutRequest', { example: { plan: 'growth' } }),
    returns: z.object({ checkout_url: z.string() }).openapi('BillingCheckout'),
    codes: ['state_conflict', 'billing_not_configured'],
    leased: async ({ ctx, scope, actor, body: { plan, success_url: successUrl, cancel_url: cancelUrl } }) => {
      requireFreshSignIn(ctx, actor);
      const url = await (await load()).beginCheckout(scope, { plan, successUrl, cancelUrl });
      await recordOpened(scope, 'billing.checkout_opened', { plan });
      return url;
    },
    audit: ['billing.checkout_opened'],
    present: (checkout_url) => ({ checkout_url }),
    isSecret: true,
  })
  .person({
    path: 'POST /billing/portal/processor',
    id: 'createBillingPortal',
    sdk: 'billing.createPortal',
    summary: 'Open the card portal',
    description: 'Creates a session of the card portal. Requires a recent sign-in.',
    mode: 'live',
    body: z.object({ return_url: ReturnUrl.optional() }).openapi('BillingPortalRequest', { example: {} }),
    isBodyOptional: true,
    returns: z
      .object({ portal_url: z.string().describe('URL of the customer portal, for changes of card and subscription.') })
      .openapi('BillingPortal'),
    codes: ['state_conflict', 'billing_not_configured'],
    leased: async ({ ctx, scope, actor, body }) => {
      requireFreshSignIn(ctx, actor);
      const url = await (await load()).openPortal(scope, body.return_url);
      await recordOpened(scope, 'billing.portal_opened', {});
      return url;
    },
    audit: ['billing.portal_opened'],
    present: (portal_url) => ({ portal_url }),
    isSecret: true,
  })
  .write({
    path: 'POST /billing/refresh/processor',
    id: 'refreshBilling',
    sdk: 'billing.refresh',
    summary: 'Refresh the plan',
    description: 'Reads the plan from the payment processor and returns the summary. Safe to repeat.',
    mode: 'live',
    returns: BillingSummaryBody,
    codes: ['state_conflict', 'billing_not_configured'],
    leased: async ({ scope }) => {
      await (await load()).refreshAccount(scope);
      return readBilling(scope);
    },
    // Reads what the processor has decided.
    audit: false,
    present: (body) => body,
  })
  .public({
    path: 'POST /billing/webhooks/processor',
    id: 'receiveProcessorWebhook',
    sdk: false,
    idempotency: 'none',
    tag: 'Provider webhooks',
    summary: 'Receive processor events',
    description: 'Receives events of the payment processor, signed over the raw body. An event only triggers a read from the processor.',
    security: [{ processorSignature: [] }],
    guards: [verifySignature],
    body: z.unknown().openapi({ example: EVENT }).describe('Event of the payment processor.'),
    returns: z
      .object({
        received: z.literal(true),
        duplicate: z.boolean().describe('True if the same event was received before.'),
      })
      .openapi('ProcessorWebhookResponse'),
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
