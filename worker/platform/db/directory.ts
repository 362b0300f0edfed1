/**
 * Directory of the database of each merchant. A merchant's rows are all in one database and never move. Rows without a merchant are
 * searched in each. With a single database no lookup is made.
 * @module
 */

import { eq } from 'drizzle-orm';
import { assert } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import { Memory } from '#core/isolate/memory.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { accounts } from './tables/accounts.ts';

type Shards = [Shard, ...Shard[]];

export const shardsOf = (ctx: Ctx): Shards => ctx.databases.map(({ name, db }) => ({ ...ctx, db, database: name })) as Shards;

export const globalOf = (ctx: Ctx): Shard => shardsOf(ctx)[0];

/** Database of new accounts: the one bound last has the most capacity. */
export const newestOf = (ctx: Ctx): Shard => shardsOf(ctx).at(-1)!;

export const othersOf = (shard: Shard): Shard[] => shardsOf(shard).filter(({ database }) => database !== shard.database);

/** Shard that a message names. Throws if this release has no such binding, so that the message is retried. */
export function shardNamed(ctx: Ctx, database: string | undefined): Shard {
  const shards = shardsOf(ctx);
  const named = database === undefined ? shards[0] : shards.find((shard) => shard.database === database);
  assert(named !== undefined, `database ${database} is bound`);
  return named;
}

/** Returns the first database that has the row, else the first of all, so that the not-found error arises there. */
export async function locate(ctx: Ctx, has: (shard: Shard) => Promise<unknown>): Promise<Shard> {
  const shards = shardsOf(ctx);
  if (shards.length > 1) for (const shard of shards) if (await has(shard)) return shard;
  return shards[0];
}

export async function findAnywhere<T>(ctx: Ctx, find: (shard: Shard) => Promise<T | null | undefined>): Promise<T | undefined> {
  for (const shard of shardsOf(ctx)) {
    const found = await find(shard);
    if (found !== null && found !== undefined) return found;
  }
  return undefined;
}

/** Safe to cache without expiry, because accounts never move. */
const homes = new Memory<AccountId, string>(10_000);

export async function findHome(ctx: Ctx, accountId: AccountId): Promise<Shard> {
  if (ctx.databases.length === 1) return globalOf(ctx);
  const known = ctx.databases.find(({ name }) => name === homes.get(accountId));
  if (known) return shardNamed(ctx, known.name);
  const isHere = ({ db }: Shard) => db.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, accountId)).get();
  const home = await locate(ctx, isHere);
  if (await isHere(home)) homes.set(accountId, home.database);
  return home;
}
