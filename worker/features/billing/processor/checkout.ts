import type Stripe from 'stripe';
import { ApiError } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import { requireOwnPage } from '#features/accounts/domain/own-page.ts';
import { getAccount } from '#features/accounts/store.ts';
import type { Ctx, Scope } from '#platform/context.ts';
import { withNames } from '#platform/db/names/names.ts';
import type { BillingCustomer } from '#platform/db/tables/office/billing.ts';
import { type PaidPlan, planAt } from '#rules/plans.ts';
import { buySubscription, endPages, listPages, openOnePage, type ReturnUrls } from './pages.ts';
import { customerName, findCustomer, insertCustomer, renameCustomer } from './store.ts';
import { CustomerGone, fromProcessor, priceIdOf, requireProcessor } from './stripe.ts';
import { isRunning } from './subscriptions.ts';
import { syncAccount } from './sync.ts';

const DASHBOARD = '/dashboard';

const returnUrl = async (ctx: Scope, field: string, url: string | undefined): Promise<string> =>
  url === undefined ? new URL(DASHBOARD, ctx.baseUrl).href : requireOwnPage(ctx, field, url);

const planHeld = (plan: PaidPlan, detail: string): ApiError =>
  new ApiError('state_conflict', { detail, meta: { reason: 'plan_held', plan } });

/**
 * Opens the processor page to buy a plan, or to change an existing subscription. At most one purchase page is open, so that an account
 * never pays for two. Throws 409 state_conflict for the current plan or its subscription's, 422 for a foreign URL, 503
 * billing_not_configured or temporarily_unavailable.
 */
export async function beginCheckout(
  ctx: Scope,
  { plan, successUrl, cancelUrl }: { plan: PaidPlan; successUrl: string | undefined; cancelUrl: string | undefined },
): Promise<string> {
  const account = await getAccount(ctx.db, ctx.merchantId);
  const urls = { success: await returnUrl(ctx, 'success_url', successUrl), cancel: await returnUrl(ctx, 'cancel_url', cancelUrl) };
  if (planAt(account, ctx.now) === plan) throw planHeld(plan, `The account already has the ${plan} plan.`);
  requireProcessor(ctx, 'sell');
  return withCustomer(ctx, account.id, (customer) => openOnePage(ctx, () => checkoutUrl(ctx, customer, plan, urls)));
}

async function checkoutUrl(ctx: Scope, opened: BillingCustomer, plan: PaidPlan, urls: ReturnUrls): Promise<string> {
  // Lists pages first: one paid in between shows as a subscription in the next read.
  const pages = await listPages(ctx, opened);
  // Reads subscriptions from the processor, because its event may still be in flight.
  await syncAccount(ctx, opened.accountId, null);
  const customer = (await findCustomer(ctx.db, opened.accountId)) ?? opened;
  const isSubscribed = isRunning(customer.subscriptionStatus);
  if (isSubscribed && customer.subscriptionPlan === plan)
    throw planHeld(plan, `The account already has a subscription of the ${plan} plan. Change its card or its end in the portal.`);
  if (!isSubscribed) return buySubscription(ctx, customer, pages, { price: priceIdOf(ctx.config, plan), urls });
  await endPages(ctx, pages);
  return (await changeSubscription(ctx, customer, plan, urls)).url;
}

/** Uses the portal configuration that setup created. The processor's default is another one, or none. */
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

/** Opens the processor portal to change card or plan. Throws 409 state_conflict without a customer, 422 for a foreign URL, 503. */
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
  new ApiError('state_conflict', {
    detail: 'The account has no purchase by card. Create a checkout first.',
    meta: { reason: 'no_customer' },
  });

/**
 * Creates the account's customer at the processor. An earlier one with a lost answer is found by its metadata, because idempotency keys
 * expire after a day. Concurrent calls share the key. Without search (some countries) a duplicate is possible, which has bought nothing.
 * `gone`: a deleted customer that a search may still show.
 */
async function makeCustomer(ctx: Scope, accountId: AccountId, gone: string | null): Promise<string> {
  const found = await searchCustomers(ctx, accountId);
  const known = found.find(({ id }) => id !== gone);
  if (known) return known.id;
  const idempotencyKey = gone === null ? `customer-${accountId}` : `customer-${accountId}-after-${gone}`;
  // Sends only immutable data: the same key with other parameters would be refused.
  const { id } = await fromProcessor(ctx, ({ customers }) => customers.create({ metadata: { account_id: accountId } }, { idempotencyKey }));
  return id;
}

async function searchCustomers(ctx: Scope, accountId: AccountId): Promise<Stripe.Customer[]> {
  const query = `metadata['account_id']:'${accountId}'`;
  return fromProcessor(ctx, async ({ customers }) => (await customers.search({ query, limit: 10 })).data).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'internal_error') return [];
    throw error;
  });
}

const newCustomer = (ctx: Scope, accountId: AccountId, customerId: string): BillingCustomer => ({
  accountId,
  customerId,
  subscriptionId: null,
  subscriptionStatus: 'none',
  subscriptionPlan: null,
  currentPeriodEnd: null,
  cancelsAtPeriodEnd: false,
  pastDueSince: {},
  soldPlans: {},
  trouble: null,
  nextReadAt: null,
  erasingSince: null,
  createdAt: ctx.wallNow,
  updatedAt: ctx.wallNow,
  version: 1,
});

async function openCustomer(ctx: Scope, accountId: AccountId): Promise<BillingCustomer> {
  const known = await findCustomer(ctx.db, accountId);
  if (known) return known;
  const row = newCustomer(ctx, accountId, await makeCustomer(ctx, accountId, null));
  await withNames(ctx, accountId, [customerName(row.customerId)], () => insertCustomer(ctx.db, row));
  return (await findCustomer(ctx.db, accountId)) ?? row;
}

async function remakeCustomer(ctx: Scope, gone: BillingCustomer): Promise<BillingCustomer> {
  const row = newCustomer(ctx, gone.accountId, await makeCustomer(ctx, gone.accountId, gone.customerId));
  await withNames(ctx, gone.accountId, [customerName(row.customerId)], () => renameCustomer(ctx.db, gone.customerId, row));
  // If the account was deleted meanwhile, this row makes the sweep delete the new customer too.
  await insertCustomer(ctx.db, row);
  return (await findCustomer(ctx.db, gone.accountId)) ?? row;
}

async function withCustomer<T>(ctx: Scope, accountId: AccountId, work: (customer: BillingCustomer) => Promise<T>): Promise<T> {
  const customer = await openCustomer(ctx, accountId);
  try {
    return await work(customer);
  } catch (error) {
    if (!(error instanceof CustomerGone)) throw error;
    return work(await remakeCustomer(ctx, customer));
  }
}
