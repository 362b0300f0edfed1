import type { MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import { remembered } from '#core/isolate/memory.ts';
import { ApiError, storyOf } from '../../core/errors.ts';
import { SECOND } from '../../core/time.ts';
import { Node } from '../../solana/node.ts';
import { type Config, type Ctx, checkedConfig, type Env, nodesOf } from '../context.ts';
import { listMissingColumns } from '../db/tables/schema-check.ts';
import type { AppEnv } from './openapi.ts';

const isHealth = (path: string): boolean => /^(?:\/v1)?\/health$/.test(path);
const misconfigured = () => new ApiError('misconfigured', { retryAfterSeconds: 30 });

/**
 * 503 misconfigured on every path but health where a variable is missing or cannot be right. Which ones, the log says once and the
 * answer never. `health` is what health answers then, from the database alone.
 */
export const requireConfiguration = (health: (env: Env, options: { isStrict: boolean }) => Promise<Response>): MiddlewareHandler<AppEnv> =>
  createMiddleware<AppEnv>(async (c, next) => {
    if (checkedConfig(c.env).config) return next();
    if (isHealth(c.req.path)) return health(c.env, { isStrict: c.req.query('strict') === '1' });
    throw misconfigured();
  });

/** Once complete, a database stays so for the life of an isolate: migrations only add. */
const schema = remembered(() => ({ isComplete: false, lookedAt: 0, missing: [] as string[] }));
/** While migrations are behind, the database is asked no more often than this. */
const LOOK_EVERY_MS = 5 * SECOND;

/**
 * What keeps all routes but health from being served: columns that the database lacks, and nodes of another network by their place in the
 * list. Asked at most every few seconds while something is missing, and not of the database once it was whole.
 */
export async function findFaults(ctx: Ctx): Promise<{ columns: string[]; nodes: number[] }> {
  const [nodes] = await Promise.all([Node.listForeign(nodesOf(ctx.config, ctx.leftMs), ctx.wallNow), lookAtSchema(ctx)]);
  return { columns: schema.missing, nodes };
}

/** `requireWhole` would let this pass without a call. */
export const isKnownWhole = ({ rpcUrls }: Config, now: number): boolean => schema.isComplete && Node.areKnownGood(rpcUrls, now);

/** A look under way settles nothing for requests that come meanwhile: each of them looks too, until one has seen. */
async function lookAtSchema(ctx: Ctx): Promise<void> {
  if (schema.isComplete || ctx.wallNow < schema.lookedAt + LOOK_EVERY_MS) return;
  try {
    const missing = (await Promise.all(ctx.databases.map(({ db }) => listMissingColumns(db)))).flat();
    Object.assign(schema, { isComplete: missing.length === 0, lookedAt: ctx.wallNow, missing });
  } catch (error) {
    // Out of reach it tells nothing, and the route says so itself.
    ctx.note(`schema: ${storyOf(error)}`);
    schema.missing = [];
  }
}

/**
 * 503 misconfigured on every path but health as long as the database lacks what this release reads and writes, or a node serves another
 * network than ours. Both are asked at once, by the first requests of an isolate.
 */
export const requireWhole = createMiddleware<AppEnv>(async (c, next) => {
  if (isHealth(c.req.path)) return next();
  const { ctx } = c.var;
  const { columns, nodes } = await findFaults(ctx);
  if (columns.length > 0) ctx.note(`migrations are behind: ${columns.slice(0, 5).join(', ')}`);
  if (nodes.length > 0) ctx.note(`config: RPC_URLS node ${nodes.join(', ')} serves another network`);
  if (columns.length + nodes.length > 0) throw misconfigured();
  return next();
});
