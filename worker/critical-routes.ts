/**
 * Latency-critical routes of agents, bundled in the first module. All other routes load with the first request for one of them. A path here
 * is literal or matches no other route, so that `app.ts` would answer no request differently.
 * @module
 */

import { grantRoutes } from '#features/entitlements/grant.routes.ts';
import { entitlementRoutes } from '#features/entitlements/routes.ts';
import { consumeRoutes } from '#features/pay-per-request/consume.routes.ts';
import { x402Routes } from '#features/pay-per-request/routes.ts';
import { matcherOf } from '#platform/http/paths/route-patterns.ts';
import { newApp } from './middleware.ts';

export const front = newApp((first) => {
  for (const routes of [consumeRoutes, grantRoutes, entitlementRoutes, x402Routes]) first.route('/v1', routes);
});

const routesAt = matcherOf(() => front.routes);

export const isInFront = ({ method, url }: Request): boolean => routesAt(new URL(url).pathname).some((route) => route.method === method);
