import { createMiddleware } from 'hono/factory';
import type { Ctx } from '../context.ts';
import { ApiError, storyOf } from '../core/errors.ts';
import { SECOND } from '../core/time.ts';
import { listMissingColumns } from '../db/schema-check.ts';
import type { AppEnv } from './openapi.ts';

/** Once complete, a database stays so for the life of an isolate: migrations only add. */
let isComplete = false;
let lookedAt = 0;
let missing: string[] = [];
/** While migrations are behind, the database is asked no more often than this. */
const LOOK_EVERY_MS = 5 * SECOND;

/** A look under way settles nothing for requests that come meanwhile: each of them looks too, until one has seen. */
async function lookAtSchema(ctx: Ctx): Promise<void> {
  if (ctx.now < lookedAt + LOOK_EVERY_MS) return;
  try {
    missing = await listMissingColumns(ctx.db);
    isComplete = missing.length === 0;
    lookedAt = ctx.now;
  } catch (error) {
    // Out of reach it tells nothing, and the route says so itself.
    ctx.note(`schema: ${storyOf(error)}`);
    missing = [];
  }
}

/** 503 misconfigured on every path but health as long as the database lacks what this release reads and writes. */
export const requireMigrations = createMiddleware<AppEnv>(async (c, next) => {
  if (isComplete || /^(?:\/v1)?\/health$/.test(c.req.path)) return next();
  const { ctx } = c.var;
  await lookAtSchema(ctx);
  if (missing.length > 0) {
    ctx.note(`migrations are behind: ${missing.slice(0, 5).join(', ')}`);
    throw new ApiError('misconfigured', { retryAfterSeconds: 30 });
  }
  return next();
});
