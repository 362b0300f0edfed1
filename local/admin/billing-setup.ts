import { parseArgs } from 'node:util';
import Stripe from 'stripe';
import { HANDLED_EVENTS } from '../../worker/features/billing/processor/subscriptions.ts';
import { PAID_PLANS, type PaidPlan, PLANS } from '../../worker/rules/plans.ts';

const WEBHOOK_PATH = '/v1/billing/webhooks/processor';

/**
 * Makes at the payment processor what plans by card take: a product and a monthly price of each plan, found again by its lookup key, a portal
 * in which a subscription may be changed and cancelled, and the webhook endpoint of a deployment. Run again it makes none of them twice.
 * Prints the configuration; the secret of an endpoint is told once, when it is made.
 */
export async function setUpBilling(args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  const { values } = parseArgs({ args, options: { url: { type: 'string' } } });
  if (!env.PROCESSOR_API_KEY || !values.url)
    throw new Error('Usage: PROCESSOR_API_KEY=sk_… npm run admin -- billing:setup --url https://<host of the service>');
  const api = new URL(env.PROCESSOR_API_URL || 'https://api.stripe.com');
  const isPlain = api.protocol === 'http:';
  const stripe = new Stripe(env.PROCESSOR_API_KEY, {
    host: api.hostname,
    port: Number(api.port || (isPlain ? 80 : 443)),
    protocol: isPlain ? 'http' : 'https',
    telemetry: false,
  });
  const prices: [PaidPlan, Stripe.Price][] = [];
  for (const plan of PAID_PLANS) prices.push([plan, await openPrice(stripe, plan)]);
  const portal = await openPortal(stripe, prices);
  const endpoint = await openEndpoint(stripe, new URL(WEBHOOK_PATH, values.url).href);
  console.log(`PROCESSOR_API_KEY='${env.PROCESSOR_API_KEY}'`);
  if (endpoint.secret) console.log(`PROCESSOR_WEBHOOK_SECRETS='${endpoint.secret}'`);
  else console.log(`# PROCESSOR_WEBHOOK_SECRETS is unchanged: ${endpoint.url} exists, and its secret was shown when it was created.`);
  for (const [plan, { id }] of prices) console.log(`PROCESSOR_PRICE_${plan.toUpperCase()}='${id}'`);
  console.log(`PROCESSOR_PORTAL_CONFIGURATION='${portal.id}'`);
}

/** Listed so many at a time: an account has a few. */
const LISTED_MAX = 100;
/** By this the portal of plans is told from others of the account. */
const PORTAL_MARK = { made_for: 'svc_plans' };

/** The portal of plans as they are now; made where there is none. */
async function openPortal(stripe: Stripe, prices: [PaidPlan, Stripe.Price][]): Promise<Stripe.BillingPortal.Configuration> {
  const features = {
    payment_method_update: { enabled: true },
    invoice_history: { enabled: true },
    subscription_cancel: { enabled: true, mode: 'at_period_end' as const },
    subscription_update: {
      enabled: true,
      default_allowed_updates: ['price' as const],
      products: prices.map(([, { id, product }]) => ({ product: product as string, prices: [id] })),
    },
  };
  const { configurations } = stripe.billingPortal;
  for await (const known of configurations.list({ active: true, limit: LISTED_MAX }))
    if (known.metadata?.made_for === PORTAL_MARK.made_for) return configurations.update(known.id, { features });
  return configurations.create({ features, metadata: PORTAL_MARK });
}

/** The webhook endpoint at an address; made where there is none, with a secret that only this answer tells. */
async function openEndpoint(stripe: Stripe, url: string): Promise<Stripe.WebhookEndpoint> {
  const enabled_events = [...HANDLED_EVENTS];
  for await (const known of stripe.webhookEndpoints.list({ limit: LISTED_MAX }))
    if (known.url === url) return stripe.webhookEndpoints.update(known.id, { enabled_events, disabled: false });
  return stripe.webhookEndpoints.create({ url, enabled_events });
}

/** The price of a plan as it is now, in dollars and by the month; made where there is none. */
async function openPrice(stripe: Stripe, plan: PaidPlan): Promise<Stripe.Price> {
  const amount = Math.round(Number(PLANS[plan].priceUsdc) * 100);
  const lookupKey = `svc_${plan}_${amount}`;
  const { data } = await stripe.prices.list({ lookup_keys: [lookupKey], limit: 1 });
  if (data[0]) return data[0];
  const product = await stripe.products.create({ name: `${plan[0]!.toUpperCase()}${plan.slice(1)} plan` });
  return stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: amount,
    recurring: { interval: 'month' },
    lookup_key: lookupKey,
  });
}
