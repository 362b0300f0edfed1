import { DAY, iso } from '#core/time.ts';
import type { Ctx, Scope } from '#platform/context.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { PLANS } from '#rules/plans.ts';
import { type Check, pass, skip, warn } from './checks.ts';
import type { Setup } from './store.ts';

/** What is worth knowing of the account. None of it stops a sale. */
export const accountChecks = (ctx: Scope, setup: Setup, product: Product | null): Check[] => [
  webhooksCheck(setup, product),
  planCheck(ctx, setup),
  ctx.livemode ? liveKeyCheck(setup) : skip('live_key_present', 'Skipped: the sandbox needs no live key.'),
  skip('subscription_plan_published', 'Automatic renewal is not sold on this service yet: there is no plan to publish.'),
];

function webhooksCheck({ endpoints }: Setup, product: Product | null): Check {
  const hears = ({ productIds }: { productIds: string[] }) =>
    productIds.length === 0 || (product !== null && productIds.includes(product.id));
  if (endpoints.some(hears)) return pass('webhook_endpoint_enabled', 'An enabled endpoint hears of sales.');
  const detail = 'No enabled endpoint hears of sales: you would have to ask for each payment.';
  const body = { url: '<https URL of yours>', event_types: ['*'] };
  return warn('webhook_endpoint_enabled', detail, { detail, method: 'POST', path: '/v1/webhooks/endpoints', body });
}

const ENDING_MS = 3 * DAY;

function planCheck({ now }: Ctx, { account }: Setup): Check {
  const name = account?.plan ?? 'free';
  const through = account?.planThrough ?? null;
  if (name !== 'free' && through !== null && through - now < ENDING_MS) {
    const ends = through <= now ? 'ended' : 'ends';
    const detail = `The plan ${name} ${ends} at ${iso(through)}; the limits of the free plan apply from then on. Buy it again to go on.`;
    return warn('plan_active', detail, { detail, method: 'POST', path: `/v1/access/x402/activate/${name}` });
  }
  const { activeProductsMax, activeKeysMax } = PLANS[name];
  const limits = `${Number.isFinite(activeProductsMax) ? activeProductsMax : 'any number of'} active products and ${activeKeysMax} keys`;
  return pass('plan_active', `The plan ${name} is active: ${limits}. Every plan sells.`);
}

function liveKeyCheck({ keys }: Setup): Check {
  if (keys.some(({ permissions }) => permissions.includes('execute')))
    return pass('live_key_present', 'A live key can consume and settle.');
  const detail =
    'No live key with execute. A signed-in person creates one (Authorization: Bearer), or an agent’s setup is approved for one.';
  const body = { name: 'server', permissions: ['read', 'execute'], sandbox_mode: false };
  return warn('live_key_present', detail, { detail, method: 'POST', path: '/v1/keys', body });
}
