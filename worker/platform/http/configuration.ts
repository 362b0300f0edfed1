import type { MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import { remembered } from '#core/isolate/memory.ts';
import { ApiError, formatErrorChain } from '../../core/errors.ts';
import { SECOND } from '../../core/time.ts';
import { Node } from '../../solana/node.ts';
import { type Config, type Ctx, checkedConfig, type Env, nodesOf } from '../context.ts';
import { listMissingColumns } from '../db/tables/schema-check.ts';
import type { AppEnv } from './openapi.ts';

const isHealth = (path: string): boolean => /^(?:\/v1)?\/health$/.test(path);
const misconfigured = () => new ApiError('misconfigured', { retryAfterSeconds: 30 });

/**
 * Answers 503 misconfigured on all paths except health if a variable is missing or invalid. Only the log names the variables. `health` then
 * answers from the database alone.
 */
export const requireConfiguration = (health: (env: Env, options: { isStrict: boolean }) => Promise<Response>): MiddlewareHandler<AppEnv> =>
  createMiddleware<AppEnv>(async (c, next) => {
    if (checkedConfig(c.env).config) return next();
    if (isHealth(c.req.path)) return health(c.env, { isStrict: c.req.query('strict') === '1' });
    throw misconfigured();
  });

/** Once complete, a schema remains complete for the isolate, because migrations only add. */
const schema = remembered(() => ({ isComplete: false, checkedAt: 0, missing: [] as string[] }));
/** Minimum interval between schema checks while migrations are missing. */
const POLL_EVERY_MS = 5 * SECOND;

/**
 * Lists missing columns and the indexes of nodes of another network. While any fault remains, rechecked every few seconds. A complete
 * schema is not read again.
 */
export async function findFaults(ctx: Ctx): Promise<{ columns: string[]; nodes: number[] }> {
  const [nodes] = await Promise.all([Node.listForeign(nodesOf(ctx.config, ctx.leftMs), ctx.wallNow), checkSchema(ctx)]);
  return { columns: schema.missing, nodes };
}

/** True if `requireComplete` needs no call. */
export const isKnownComplete = ({ rpcUrls }: Config, now: number): boolean => schema.isComplete && Node.areKnownGood(rpcUrls, now);

/** Concurrent requests each run the check until one has completed, because a pending check proves nothing for the others. */
async function checkSchema(ctx: Ctx): Promise<void> {
  if (schema.isComplete || ctx.wallNow < schema.checkedAt + POLL_EVERY_MS) return;
  try {
    const missing = (await Promise.all(ctx.databases.map(({ db }) => listMissingColumns(db)))).flat();
    Object.assign(schema, { isComplete: missing.length === 0, checkedAt: ctx.wallNow, missing });
  } catch (error) {
    // A failed read proves nothing. The route reports the outage itself.
    ctx.note(`schema: ${formatErrorChain(error)}`);
    schema.missing = [];
  }
}

/**
 * Answers 503 misconfigured on all paths except health while the database lacks columns of this release or a node serves another network.
 * The first requests of an isolate check both in parallel.
 */
export const requireComplete = createMiddleware<AppEnv>(async (c, next) => {
  if (isHealth(c.req.path)) return next();
  const { ctx } = c.var;
  const { columns, nodes } = await findFaults(ctx);
  if (columns.length > 0) ctx.note(`migrations are behind: ${columns.slice(0, 5).join(', ')}`);
  if (nodes.length > 0) ctx.note(`config: RPC_URLS node ${nodes.join(', ')} serves another network`);
  if (columns.length + nodes.length > 0) throw misconfigured();
  return next();
});
