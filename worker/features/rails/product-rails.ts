import { z } from '@hono/zod-openapi';
import { raise } from '#core/errors.ts';
import { findListing, type Listing, saleOn } from '#features/products/product.ts';
import type { NamedProduct } from '#features/products/product-ref.ts';
import { FixBody, fixOf } from '#features/products/selling/fixes.ts';
import { obstaclesOf, prospectOf } from '#features/products/selling/obstacles.ts';
import type { Scope } from '#platform/context.ts';
import { given } from '#platform/http/openapi.ts';
import { AVAILABLE, OUTAGE_FIXES } from './rail.ts';
import { getRail } from './registry.ts';
import { listRails, RailBody } from './settings.ts';

export const ProductRailBody = RailBody.extend({
  reason: z
    .string()
    .optional()
    .describe(
      'Reason the rail is not ready: a service status (GET /v1/access/rails), or a `setup_not_ready` reason. Readiness has a check for each.',
    ),
  fix: FixBody.optional().describe('Call that resolves the problem.'),
}).openapi('ProductRail');

export const getOwnListing = async (ctx: Scope, named: NamedProduct): Promise<Listing> =>
  (await findListing(ctx, named)) ?? raise('not_found');

export async function listProductRails(ctx: Scope, named: NamedProduct): Promise<z.infer<typeof ProductRailBody>[]> {
  const listing = await getOwnListing(ctx, named);
  const rails = await listRails(ctx);
  return Promise.all(
    rails.map(async ({ status: state, reason: why, ...rail }) => {
      const prospect = prospectOf(saleOn(listing, rail.rail_id));
      const serviceReason = given('reason', why ?? null);
      if (state === 'unavailable')
        return { ...rail, status: state, ...serviceReason, fix: fixOf('rail_unavailable', rail.rail_id, prospect) };
      const { probe, overridesStatus } = getRail(rail.rail_id);
      const seen = await probe(ctx, prospect);
      const obstacles = [...obstaclesOf(ctx.config, prospect, rail.rail_id), ...seen.obstacles];
      const [reason] = obstacles;
      if (!reason && seen.unavailableDependency)
        return { ...rail, status: 'degraded' as const, reason: seen.unavailableDependency, fix: OUTAGE_FIXES[seen.unavailableDependency] };
      if (!reason && overridesStatus) return { ...rail, ...AVAILABLE };
      if (!reason) return { ...rail, status: state, ...serviceReason };
      return { ...rail, status: 'unavailable' as const, reason, fix: fixOf(reason, rail.rail_id, prospect) };
    }),
  );
}
