import { z } from '@hono/zod-openapi';
import type { AppId } from '#core/ids.ts';
import { iso } from '#core/time.ts';
import { judgeProduct } from '#features/catalogue/listings.ts';
import { findApp, findListing, type Listing, saleOn } from '#features/products/product.ts';
import type { NamedProduct } from '#features/products/product-ref.ts';
import { FixBody } from '#features/products/selling/fixes.ts';
import { isSoldOver, type Prospect, prospectOf } from '#features/products/selling/obstacles.ts';
import { listNamedKeys } from '#platform/chain/fee-payer-readings.store.ts';
import type { Scope } from '#platform/context.ts';
import { given, orNull, ProductUuid, Timestamp } from '#platform/http/openapi.ts';
import { firstRailOf, RAIL_IDS, SELLING_RAILS, settingOf } from '#rules/product-rails.ts';
import type { RailId } from '#rules/rails.ts';
import { accountChecks } from './account-checks.ts';
import { CHECKS, type CheckCode } from './check-codes.ts';
import { type Check, pass, skip, warn } from './checks.ts';
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
    fix: orNull(FixBody).describe('Call that resolves the failure; null if none is needed.'),
    docs_url: z.string(),
  })
  .openapi('ReadinessCheck');

export const ReadinessBody = z
  .object({
    ready: z
      .boolean()
      .describe(
        'True if a sale over the default rail would currently succeed. `rails` has the result of each other rail: x402 also requires `live_mode_confirmed`.',
      ),
    mode: z.enum(['live', 'sandbox']).describe('Mode: `live` or `sandbox`.'),
    access_app_id: z.uuid().optional().describe('Identifier of the application that the product belongs to.'),
    product_id: ProductUuid.optional(),
    checks: z.array(CheckBody),
    rails: z
      .array(
        z.object({
          rail_id: z.enum(RAIL_IDS).describe('Payment rail. GET /v1/access/rails lists them.'),
          ready: z.boolean().describe('True if a sale over the rail would currently succeed.'),
        }),
      )
      .describe('Rails of the product, and whether each one can currently sell.'),
    blocking: z
      .array(z.string())
      .describe('Codes of the checks that block a sale over the default rail. A check may fail for another rail alone.'),
    not_configured: UnconfiguredBody.describe('Unconfigured parts of this deployment, each with the missing variables.'),
    checked_at: Timestamp,
  })
  .openapi('Readiness');

export async function checkReadiness(
  ctx: Scope,
  { appId, named }: { appId: AppId | null; named: NamedProduct | null },
): Promise<z.infer<typeof ReadinessBody>> {
  const { livemode } = ctx;
  const [setup, listing, app, keys] = await Promise.all([
    loadSetup(ctx),
    named && findListing(ctx, named),
    appId && findApp(ctx, appId),
    livemode ? listNamedKeys(ctx.db) : [],
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
    await listedCheck(ctx, listing),
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
    rails: ways.map(({ railId, obstacles, unavailableDependency: silent }) => ({
      rail_id: railId,
      ready: isOnSale && obstacles.length === 0 && silent === null,
    })),
    blocking,
    not_configured: listUnconfigured(ctx, keys),
    checked_at: iso(ctx.now),
  };
}

/** Never blocks, because a sale needs no catalogue. */
async function listedCheck(ctx: Scope, listing: Listing | null): Promise<Check> {
  const code = 'listed';
  if (!ctx.livemode) return skip(code, 'Skipped: nothing of the sandbox is listed.');
  if (!listing?.product.discovery?.listed)
    return skip(code, listing ? 'Skipped: the product is not to be listed.' : 'No product is named.');
  const entries = await judgeProduct(ctx, listing.product);
  const missing = entries.find(({ status }) => status !== 'listed');
  const [reason] = missing?.reasons ?? [];
  return reason ? warn(code, reason.message, reason.fix) : pass(code, 'Agents find every route of the product in the catalogue.');
}
