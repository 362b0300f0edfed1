import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '#platform/http/openapi.ts';
import { requireOperator } from './operator.ts';

/** Runs before the body is read: a caller without the secret learns nothing about the route. */
export const operatorOnly = createMiddleware<AppEnv>(async (c, next) => {
  requireOperator(c.var.ctx, c.req.header('X-Svc-Operator-Secret'));
  await next();
});
