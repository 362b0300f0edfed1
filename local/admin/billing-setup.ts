import { parseArgs } from 'node:util';
import Stripe from 'stripe';
import { HANDLED_EVENTS } from '../../worker/features/billing/processor/subscriptions.ts';
import { PAID_PLANS, type PaidPlan, PLANS } from '../../worker/rules/plans.ts';

const WEBHOOK_PATH = '/v1/billing/webhooks/processor';

/**
 * Creates products, prices, portal and webhook endpoint of the plans at the payment processor. Finds each again by its id, so a second run
 * creates nothing.
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

const LISTED_MAX = 100;
/** Metadata that identifies the plan portal among others of the account. */
const PORTAL_MARK = { made_for: 'svc_plans' };

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

/** Finds the webhook endpoint of a URL, or creates it. Only the creation returns the secret. */
async function openEndpoint(stripe: Stripe, url: string): Promise<Stripe.WebhookEndpoint> {
  const enabled_events = [...HANDLED_EVENTS];
  for await (const known of stripe.webhookEndpoints.list({ limit: LISTED_MAX }))
    if (known.url === url) return stripe.webhookEndpoints.update(known.id, { enabled_events, disabled: false });
  return stripe.webhookEndpoints.create({ url, enabled_events });
}

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
