import type { MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import { databaseNamesOf } from '#core/isolate/budget.ts';
import { remembered } from '#core/isolate/memory.ts';
import { ApiError, formatErrorChain } from '../../core/errors.ts';
import { SECOND } from '../../core/time.ts';
import { Node } from '../../solana/node.ts';
import { type Config, type Ctx, checkedConfig, type Env, nodesOf } from '../context.ts';
import { isKnownSchema, listKnownMissing } from '../db/tables/schema-check.ts';
import { inTime } from '../deadline.ts';
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

/** Once the names of several databases are complete, they remain so for the isolate. */
const directory = remembered(() => ({ isComplete: false, askAfter: 0 }));
/** Short, because all requests of a new isolate wait for it, also those that need no name. */
const DIRECTORY_MS = SECOND;
/** Minimum interval between a failed read and the next one. */
const ASK_AGAIN_MS = 5 * SECOND;

/**
 * Lists missing columns of the first database, the indexes of nodes of another network, and whether the directory lacks names of several
 * databases. While any fault remains, rechecked every few seconds.
 */
export async function findFaults(ctx: Ctx): Promise<{ columns: string[]; nodes: number[]; lacksNames: boolean }> {
  const { name, db } = ctx.databases[0];
  const [nodes, columns, lacksNames] = await Promise.all([
    Node.listForeign(nodesOf(ctx.config, ctx.leftMs), ctx.wallNow),
    listKnownMissing(name, db, ctx.wallNow, ctx.note),
    areNamesMissing(ctx),
  ]);
  return { columns, nodes, lacksNames };
}

/** True if `requireComplete` needs no call. */
export const isKnownComplete = (env: Env, { rpcUrls }: Config, now: number): boolean =>
  isKnownSchema('DB') && (directory.isComplete || databaseNamesOf(env).length === 1) && Node.areKnownGood(rpcUrls, now);

async function areNamesMissing(ctx: Ctx): Promise<boolean> {
  if (directory.isComplete || ctx.databases.length === 1 || ctx.wallNow < directory.askAfter) return false;
  try {
    const { areNamesComplete } = await import('../db/names/write-names.ts');
    directory.isComplete = await inTime({ leftMs: () => Math.min(DIRECTORY_MS, ctx.leftMs()) }, () => areNamesComplete(ctx));
    return !directory.isComplete;
  } catch (error) {
    // A failed read proves nothing. A sign-in reports the outage itself.
    directory.askAfter = ctx.wallNow + ctx.elapsedMs() + ASK_AGAIN_MS;
    ctx.note(`directory: ${formatErrorChain(error)}`);
    return false;
  }
}

const isOperators = (path: string): boolean => path.startsWith('/v1/operator/');

/**
 * Answers 503 misconfigured on all paths except health while the first database lacks columns of this release, a node serves another
 * network, or several databases have no complete directory, which the operator's command completes. The first requests check in parallel.
 */
export const requireComplete = createMiddleware<AppEnv>(async (c, next) => {
  if (isHealth(c.req.path)) return next();
  const { ctx } = c.var;
  const { columns, nodes, lacksNames } = await findFaults(ctx);
  if (columns.length > 0) ctx.note(`migrations are behind: ${columns.slice(0, 5).join(', ')}`);
  if (nodes.length > 0) ctx.note(`config: RPC_URLS node ${nodes.join(', ')} serves another network`);
  if (lacksNames) ctx.note('config: the directory lacks names of accounts: npm run admin -- names rebuild');
  if (columns.length + nodes.length > 0 || (lacksNames && !isOperators(c.req.path))) throw misconfigured();
  return next();
});
