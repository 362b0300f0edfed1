/**
 * What an agent waits for: its routes are in the first module, and the others come with the first request that asks for one. A path here
 * is literal, or no other path fits it, so that no request is answered by another route than in `app.ts`.
 * @module
 */

import { entitlementRoutes } from '#features/entitlements/routes.ts';
import { consumeRoutes } from '#features/pay-per-request/consume.routes.ts';
import { x402Routes } from '#features/pay-per-request/routes.ts';
import { matcherOf } from '#platform/http/paths/route-patterns.ts';
import { newApp } from './serve.ts';

export const front = newApp((first) => {
  for (const routes of [consumeRoutes, entitlementRoutes, x402Routes]) first.route('/v1', routes);
});

const routesAt = matcherOf(() => front.routes);

/** Whether a request is for one of these routes. */
export const isInFront = ({ method, url }: Request): boolean => routesAt(new URL(url).pathname).some((route) => route.method === method);
