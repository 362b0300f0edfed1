import { z } from '@hono/zod-openapi';
import type { AppId } from '#core/ids.ts';
import { iso } from '#core/time.ts';
import { findApp, findListing, saleOn } from '#features/products/product.ts';
import type { NamedProduct } from '#features/products/product-ref.ts';
import { FixBody } from '#features/products/selling/fixes.ts';
import { isSoldOver, type Prospect, prospectOf } from '#features/products/selling/obstacles.ts';
import { readNamedKeys } from '#platform/chain/fee-payer.ts';
import type { Scope } from '#platform/context.ts';
import { given, orNull, Timestamp } from '#platform/http/openapi.ts';
import { firstRailOf, RAIL_IDS, SELLING_RAILS, settingOf } from '#rules/product-rails.ts';
import type { RailId } from '#rules/rails.ts';
import { accountChecks } from './account-checks.ts';
import { CHECKS, type CheckCode, skip } from './checks.ts';
import {
  appFoundCheck,
  planCheck,
  productChecks,
  productFoundCheck,
  railChecks,
  SANDBOX,
  SANDBOX_SKIPS,
  stoppedChecks,
  viewRail,
} from './sale-checks.ts';
import { loadSetup } from './store.ts';
import { listUnconfigured, UnconfiguredBody } from './unconfigured.ts';

const CheckBody = z
  .object({
    code: z.enum(Object.keys(CHECKS) as [CheckCode, ...CheckCode[]]),
    status: z.enum(['pass', 'fail', 'warn', 'skip']),
    message: z.string(),
    fix: orNull(FixBody).openapi({ description: 'The call that mends it; null where nothing has to be mended.' }),
    docs_url: z.string().openapi({ description: 'Page that says what the check means.' }),
  })
  .openapi('ReadinessCheck', { 'x-checks': CHECKS });

export const ReadinessBody = z
  .object({
    ready: z.boolean().openapi({
      description:
        'A sale over the default rail would work this moment. `rails` says the same of each other rail: x402 also wants `live_mode_confirmed`.',
    }),
    mode: z.enum(['live', 'sandbox']),
    access_app_id: z.uuid().optional(),
    product_id: z.uuid().optional(),
    checks: z.array(CheckBody),
    rails: z
      .array(
        z.object({
          rail_id: z.enum(RAIL_IDS),
          ready: z.boolean().openapi({ description: 'True if a sale over the rail would work this moment.' }),
        }),
      )
      .openapi({ description: 'Rails that the product is offered on, and whether each one sells this moment.' }),
    blocking: z
      .array(z.string())
      .openapi({ description: 'Codes of the checks that stop a sale over the default rail; a check may fail for another rail alone.' }),
    not_configured: UnconfiguredBody,
    checked_at: Timestamp,
  })
  .openapi('Readiness');

/** Everything that would stop a sale, with the call that mends each. */
export async function checkReadiness(
  ctx: Scope,
  { appId, named }: { appId: AppId | null; named: NamedProduct | null },
): Promise<z.infer<typeof ReadinessBody>> {
  const { livemode } = ctx;
  const [setup, listing, app, keys] = await Promise.all([
    loadSetup(ctx),
    named && findListing(ctx, named),
    appId && findApp(ctx, appId),
    livemode ? readNamedKeys(ctx) : [],
  ]);
  const product = listing?.product ?? null;
  const bare = (railId: RailId): Prospect => ({
    livemode,
    product: null,
    setting: settingOf(setup.settings, railId),
    accountWallet: setup.account?.wallet ?? null,
  });
  const prospects = SELLING_RAILS.map((railId) => ({ railId, prospect: listing ? prospectOf(saleOn(listing, railId)) : bare(railId) }));
  const ways = await Promise.all(
    prospects.filter((one) => isSoldOver(ctx.config, one.prospect, one.railId)).map((one) => viewRail(ctx, one)),
  );
  const usual = product ? (product.defaultRail ?? firstRailOf(product, ctx.config)) : SELLING_RAILS[0];
  const checks = [
    appFoundCheck(app !== undefined && app !== null, appId),
    productFoundCheck(product, { productIsNamed: named !== null, appId }),
    ...(listing
      ? productChecks(ways, listing)
      : (['product_active', 'price_set'] as const).map((code) => skip(code, 'No product is named.'))),
    ...(livemode
      ? await railChecks(ctx, ways, prospects.find(({ railId }) => railId === usual) ?? prospects[0]!)
      : SANDBOX_SKIPS.map((code) => skip(code, SANDBOX))),
    planCheck(ways, product),
    ...accountChecks(ctx, setup, product),
  ];
  const ordered = (Object.keys(CHECKS) as CheckCode[]).map((code) => checks.find((check) => check.code === code)!);
  const stopped = stoppedChecks(ways.find(({ railId }) => railId === usual) ?? null);
  const blocking = ordered.filter(({ code, status }) => status === 'fail' && stopped.has(code)).map(({ code }) => code);
  const isOnSale = !blocking.some((code) => code === 'app_found' || code === 'product_found' || code === 'product_active');
  return {
    ready: blocking.length === 0,
    mode: livemode ? 'live' : 'sandbox',
    ...given('access_app_id', appId),
    ...given('product_id', product?.id ?? null),
    checks: ordered.map((check) => ({ ...check, docs_url: `${ctx.baseUrl}/docs#${check.code}` })),
    rails: ways.map(({ railId, obstacles, silent }) => ({
      rail_id: railId,
      ready: isOnSale && obstacles.length === 0 && silent === null,
    })),
    blocking,
    not_configured: listUnconfigured(ctx, keys),
    checked_at: iso(ctx.now),
  };
}
