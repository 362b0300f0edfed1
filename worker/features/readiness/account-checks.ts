import { DAY, iso } from '#core/time.ts';
import type { Ctx, Scope } from '#platform/context.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { hasMail } from '#platform/providers/mail/mail-providers.ts';
import { type AccountPlans, PLANS, planAt, planRank } from '#rules/plans.ts';
import { type Check, pass, skip, warn } from './checks.ts';
import type { Setup } from './store.ts';

export const accountChecks = (ctx: Scope, setup: Setup, product: Product | null): Check[] => [
  webhooksCheck(ctx, setup, product),
  planCheck(ctx, setup),
  ctx.livemode ? liveKeyCheck(setup) : skip('live_key_present', 'Skipped: the sandbox requires no live key.'),
];

/** Webhooks or email are also the channel for reports of a failing endpoint. */
function webhooksCheck(ctx: Ctx, { endpoints }: Setup, product: Product | null): Check {
  const hears = ({ productIds }: { productIds: string[] }) =>
    productIds.length === 0 || (product !== null && productIds.includes(product.id));
  if (endpoints.some(hears))
    return pass('webhook_endpoint_enabled', `An enabled endpoint receives sale events. ${hasMail(ctx) ? EMAIL_NOTICE : NO_EMAIL_NOTICE}`);
  const detail = 'No enabled endpoint receives sale events. Create one, or poll each payment.';
  const body = { url: '<https URL of yours>', event_types: ['*'] };
  return warn('webhook_endpoint_enabled', detail, { detail, method: 'POST', path: '/v1/webhooks/endpoints', body });
}

const EMAIL_NOTICE = 'You get an email to your verified address if the endpoint fails for a day.';
const NO_EMAIL_NOTICE = 'This deployment sends no email: check the integration health regularly.';

const ENDING_MS = 3 * DAY;

function planCheck({ now }: Ctx, { account }: Setup): Check {
  const held: AccountPlans = account ?? { plan: 'free', planThrough: null };
  const { plan, planThrough } = held;
  const name = planAt(held, now);
  const next = planAt(held, now + ENDING_MS);
  if (planThrough !== null && planRank(next) < planRank(plan)) {
    const ends = planThrough <= now ? 'ended' : 'ends';
    const detail = `The plan ${plan} ${ends} at ${iso(planThrough)}; the limits of the ${next} plan apply afterwards. Buy it again to continue.`;
    return warn('plan_active', detail, { detail, method: 'POST', path: `/v1/access/x402/activate/${plan}` });
  }
  const { activeProductsMax, activeKeysMax } = PLANS[name];
  const limits = `${Number.isFinite(activeProductsMax) ? activeProductsMax : 'any number of'} active products and ${activeKeysMax} keys`;
  return pass('plan_active', `The plan ${name} is active. It allows ${limits}.`);
}

function liveKeyCheck({ keys }: Setup): Check {
  if (keys.some(({ permissions }) => permissions.includes('execute'))) return pass('live_key_present', 'A live key with execute exists.');
  const detail =
    'No live key with execute exists. Create one as a signed-in person (Authorization: Bearer), or approve an agent’s setup for one.';
  const body = { name: 'server', permissions: ['read', 'execute'], sandbox_mode: false };
  return warn('live_key_present', detail, { detail, method: 'POST', path: '/v1/keys', body });
}
