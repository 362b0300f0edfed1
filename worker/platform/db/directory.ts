/**
 * Directory of the database of each merchant: every id of the service contains the partition of its merchant, and each partition is in one
 * database. Rows without a merchant are in the first database.
 * @module
 */

import { assert, raise } from '#core/errors.ts';
import { type Partition, partitionOf } from '#core/ids.ts';
import type { Ctx, Shard } from '#platform/context.ts';

type Shards = [Shard, ...Shard[]];

export const shardsOf = (ctx: Ctx): Shards => ctx.databases.map(({ name, db }) => ({ ...ctx, db, database: name })) as Shards;

export const globalOf = (ctx: Ctx): Shard => shardsOf(ctx)[0];

/** Database of the names. With `DIRECTORY` bound it holds nothing else, so that a full or slow database of merchants stops no sign-in. */
export const directoryOf = (ctx: Ctx): Shard =>
  ctx.directory ? { ...ctx, db: ctx.directory.db, database: ctx.directory.name } : globalOf(ctx);

/** Database of new accounts: the one bound last has the most capacity. */
export const newestOf = (ctx: Ctx): Shard => shardsOf(ctx).at(-1)!;

export const othersOf = (shard: Shard): Shard[] => shardsOf(shard).filter(({ database }) => database !== shard.database);

/** Shard that a message names. Throws if this release has no such binding, so that the message is retried. */
export function shardNamed(ctx: Ctx, database: string | undefined): Shard {
  const { name, db } = ctx.databases.find((one) => one.name === (database ?? ctx.databases[0].name)) ?? {};
  assert(name !== undefined && db !== undefined, `database ${database} is bound`);
  return { ...ctx, db, database: name };
}

/** Database of a partition. Null: no database holds it, so no id of the service has it. */
export function findShardAt(ctx: Ctx, partition: Partition | null): Shard | null {
  const database = partition === null ? null : ctx.partitions.databaseAt(partition);
  return database === null ? null : shardNamed(ctx, database);
}

/** Database of the merchant of an id. Reads nothing. Throws 404 for an id of no database. */
export const homeOf = (ctx: Ctx, id: string): Shard => findShardAt(ctx, partitionOf(id)) ?? raise('not_found');

/** Random partition of a database, for a new account. */
export const drawPartition = (shard: Shard): Partition => shard.partitions.drawOf(shard.database);

export async function findAnywhere<T>(ctx: Ctx, find: (shard: Shard) => Promise<T | null | undefined>): Promise<T | undefined> {
  for (const shard of shardsOf(ctx)) {
    const found = await find(shard);
    if (found !== null && found !== undefined) return found;
  }
  return undefined;
}
