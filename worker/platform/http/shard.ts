import type { Shard } from '#platform/context.ts';
import { locate } from '#platform/db/directory.ts';
import type { RouteContext } from './openapi.ts';

/** For a public route: the database that has what it names. There its effect is stored, and the answer kept beside it. */
export async function enterShard(c: RouteContext, has: (shard: Shard) => Promise<unknown>): Promise<Shard> {
  const shard = await locate(c.var.ctx, has);
  c.set('shard', shard);
  return shard;
}
