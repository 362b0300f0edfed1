import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '#platform/http/openapi.ts';
import { requireOperator } from './operator.ts';

/** Before the body is read: who does not know the secret learns nothing of what a route expects. */
export const operatorOnly = createMiddleware<AppEnv>(async (c, next) => {
  requireOperator(c.var.ctx, c.req.header('X-Svc-Operator-Secret'));
  await next();
});
