import type Stripe from 'stripe';
import { ApiError } from '#core/errors.ts';
import { findVerifiedDomain } from '#features/accounts/domain/store.ts';
import { getAccount } from '#features/accounts/store.ts';
import type { Ctx, Scope } from '#platform/context.ts';
import type { BillingCustomer } from '#platform/db/tables/office/billing.ts';
import { type PaidPlan, planAt } from '#rules/plans.ts';
import { withCustomer } from './customer.ts';
import { findCustomer } from './store.ts';
import { CustomerGone, fromProcessor, priceIdOf, requireProcessor } from './stripe.ts';
import { syncAccount } from './sync.ts';

const DASHBOARD = '/dashboard';

/** Where the processor sends a person back to: a page of this service, or of the merchant's verified domain. 422 at the field for every other one. */
async function returnUrl(ctx: Scope, field: string, url: string | undefined): Promise<string> {
  if (url === undefined) return new URL(DASHBOARD, ctx.baseUrl).href;
  const { origin } = new URL(ctx.baseUrl);
  if (URL.canParse(url) && new URL(url).origin === origin) return new URL(url).href;
  const domain = await findVerifiedDomain(ctx.db, ctx.merchantId);
  if (domain !== null && URL.canParse(url) && new URL(url).origin === `https://${domain}`) return new URL(url).href;
  const others = domain === null ? ', or of your verified domain: PUT /v1/account/domain' : ` or https://${domain}`;
  const msg = `Expected a page of ${origin}${others}`;
  throw new ApiError('validation_error', { problems: [{ loc: ['body', field], msg, type: 'foreign_url' }] });
}

const isRunning = ({ subscriptionStatus }: BillingCustomer): boolean => ['active', 'trialing', 'past_due'].includes(subscriptionStatus);

const planHeld = (plan: PaidPlan, detail: string): ApiError =>
  new ApiError('state_conflict', { detail, meta: { reason: 'plan_held', plan } });

/**
 * Where a person pays for a plan at the processor. An account that has a subscription is shown the change of that one, so that it never
 * pays for two. 409 state_conflict for the plan it has, and for that of its subscription, also under a higher one that was bought; 422
 * for a page of others, 503 billing_not_configured or temporarily_unavailable.
 */
export async function beginCheckout(
  ctx: Scope,
  { plan, successUrl, cancelUrl }: { plan: PaidPlan; successUrl: string | undefined; cancelUrl: string | undefined },
): Promise<string> {
  const account = await getAccount(ctx.db, ctx.merchantId);
  const urls = { success: await returnUrl(ctx, 'success_url', successUrl), cancel: await returnUrl(ctx, 'cancel_url', cancelUrl) };
  if (planAt(account, ctx.now) === plan) throw planHeld(plan, `This account has the ${plan} plan.`);
  requireProcessor(ctx);
  return withCustomer(ctx, account.id, (customer) => checkoutUrl(ctx, customer, plan, urls));
}

async function checkoutUrl(ctx: Scope, opened: BillingCustomer, plan: PaidPlan, urls: ReturnUrls): Promise<string> {
  // Whether there is a subscription is asked of the processor: its event may still be on its way.
  await syncAccount(ctx, opened.accountId, null);
  const customer = (await findCustomer(ctx.db, opened.accountId)) ?? opened;
  const isSubscribed = isRunning(customer);
  if (isSubscribed && customer.subscriptionPlan === plan)
    throw planHeld(plan, `This account has a subscription of the ${plan} plan: its card and its end are changed in the portal.`);
  const { url } = isSubscribed ? await changeSubscription(ctx, customer, plan, urls) : await buySubscription(ctx, customer, plan, urls);
  return url!;
}

interface ReturnUrls {
  success: string;
  cancel: string;
}

function buySubscription(ctx: Scope, { accountId, customerId }: BillingCustomer, plan: PaidPlan, urls: ReturnUrls) {
  const metadata = { account_id: accountId };
  return fromProcessor(ctx, ({ checkout }) =>
    checkout.sessions.create({
      mode: 'subscription',
      customer: customerId,
      client_reference_id: accountId,
      line_items: [{ price: priceIdOf(ctx.config, plan), quantity: 1 }],
      metadata,
      subscription_data: { metadata },
      success_url: urls.success,
      cancel_url: urls.cancel,
    }),
  );
}

/** The portal that the setup made: the processor's default is another one, which its dashboard makes, or none at all. */
const portalOf = ({ config: { PROCESSOR_PORTAL_CONFIGURATION: configuration } }: Ctx): { configuration?: string } =>
  configuration === undefined ? {} : { configuration };

async function changeSubscription(ctx: Scope, { customerId, subscriptionId }: BillingCustomer, plan: PaidPlan, urls: ReturnUrls) {
  return fromProcessor(ctx, async ({ billingPortal, subscriptions }) => {
    const { items } = await subscriptions.retrieve(subscriptionId!);
    const change: Stripe.BillingPortal.SessionCreateParams.FlowData = {
      type: 'subscription_update_confirm',
      subscription_update_confirm: {
        subscription: subscriptionId!,
        items: [{ id: items.data[0]!.id, price: priceIdOf(ctx.config, plan), quantity: 1 }],
      },
      after_completion: { type: 'redirect', redirect: { return_url: urls.success } },
    };
    return billingPortal.sessions.create({ customer: customerId, return_url: urls.cancel, flow_data: change, ...portalOf(ctx) });
  });
}

/** Where a person changes card or plan at the processor. 409 state_conflict without a customer, 422 for a page of others, 503. */
export async function openPortal(ctx: Scope, back: string | undefined): Promise<string> {
  const customer = await findCustomer(ctx.db, ctx.merchantId);
  const return_url = await returnUrl(ctx, 'return_url', back);
  if (!customer && ctx.config.PROCESSOR_API_KEY !== undefined) throw noCustomer();
  requireProcessor(ctx);
  const { url } = await fromProcessor(ctx, ({ billingPortal }) =>
    billingPortal.sessions.create({ customer: customer!.customerId, return_url, ...portalOf(ctx) }),
  ).catch((error: unknown) => {
    throw error instanceof CustomerGone ? noCustomer() : error;
  });
  return url;
}

const noCustomer = (): ApiError =>
  new ApiError('state_conflict', { detail: 'This account has bought nothing by card yet.', meta: { reason: 'no_customer' } });
