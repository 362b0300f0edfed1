/**
 * Which database holds whom. A merchant lives in one, account row and all, and never moves; what names no merchant is looked for in
 * each, and with a single database no lookup is made.
 * @module
 */

import { eq } from 'drizzle-orm';
import { assert } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import { Memory } from '#core/isolate/memory.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { accounts } from './tables/accounts.ts';

type Shards = [Shard, ...Shard[]];

/** Each database in turn, the first first: what sweeps, and what is judged by all of them. */
export const shardsOf = (ctx: Ctx): Shards => ctx.databases.map(({ name, db }) => ({ ...ctx, db, database: name })) as Shards;

/** Where that is which belongs to no merchant: texts to sign, parked messages. */
export const globalOf = (ctx: Ctx): Shard => shardsOf(ctx)[0];

/** Where new accounts are made: the database that was bound last has the most room. */
export const newestOf = (ctx: Ctx): Shard => shardsOf(ctx).at(-1)!;

/** Every other database. */
export const othersOf = (shard: Shard): Shard[] => shardsOf(shard).filter(({ database }) => database !== shard.database);

/** The database a message names. One that this release has not bound is a fault: the message comes again. */
export function shardNamed(ctx: Ctx, database: string | undefined): Shard {
  const shards = shardsOf(ctx);
  const named = database === undefined ? shards[0] : shards.find((shard) => shard.database === database);
  assert(named !== undefined, `database ${database} is bound`);
  return named;
}

/** The first database that has what is asked for; the first of all where none has, so that it is missed there. */
export async function locate(ctx: Ctx, has: (shard: Shard) => Promise<unknown>): Promise<Shard> {
  const shards = shardsOf(ctx);
  if (shards.length > 1) for (const shard of shards) if (await has(shard)) return shard;
  return shards[0];
}

/** The first answer that a database gives. */
export async function findAnywhere<T>(ctx: Ctx, find: (shard: Shard) => Promise<T | null | undefined>): Promise<T | undefined> {
  for (const shard of shardsOf(ctx)) {
    const found = await find(shard);
    if (found !== null && found !== undefined) return found;
  }
  return undefined;
}

/** By account: no account moves, so what was found once is true for ever. */
const homes = new Memory<AccountId, string>(10_000);

/** Where an account lives. */
export async function homeOf(ctx: Ctx, accountId: AccountId): Promise<Shard> {
  if (ctx.databases.length === 1) return globalOf(ctx);
  const known = ctx.databases.find(({ name }) => name === homes.get(accountId));
  if (known) return shardNamed(ctx, known.name);
  const isHere = ({ db }: Shard) => db.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, accountId)).get();
  const home = await locate(ctx, isHere);
  if (await isHere(home)) homes.set(accountId, home.database);
  return home;
}
