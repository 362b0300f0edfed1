import type { Ctx } from '#platform/context.ts';
import { readEach } from '#platform/db/each-database.ts';
import { listOfOrigin } from './store.ts';

const ROUTES_MAX = 1_000;

/** Reads the document of the listed routes of an origin. Null if it has none. */
export async function readShopDocument(ctx: Ctx, origin: string): Promise<object | null> {
  const { found } = await readEach(ctx, (shard) => listOfOrigin(shard, origin, ROUTES_MAX));
  return found.flat().length === 0 ? null : {};
}
