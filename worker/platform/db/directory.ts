/**
 * Directory of the database of each merchant: every id of the service contains the partition of its merchant, and each partition is in one
 * database. Rows without a merchant are in the first database.
 * @module
 */

import { ApiError, assert, raise } from '#core/errors.ts';
import { type Id, newIdIn, type Partition, partitionOf } from '#core/ids.ts';
import type { Ctx, Database, Db, Shard } from '#platform/context.ts';
import { REGIONS, type Region } from '#platform/variables/regions.ts';
import { requireSchema } from './tables/schema-check.ts';

export const globalOf = (ctx: Ctx): Shard => shardIn(ctx, ctx.databases[0]);

/** `homes`: partitions that the caller writes for. They are fenced against a move to another database. */
export const shardIn = (ctx: Ctx, database: Database, homes: readonly Partition[] = []): Shard => ({
  ...ctx,
  db: checkedDb(database, ctx.wallNow, homes),
  openReader: () => database.openReader(homes, checkOf(database, ctx.wallNow)),
  database: database.name,
  homes,
});

export const forReading = <S extends Shard>(shard: S): S => ({ ...shard, db: shard.openReader() });

/** Reads from the nearest replica, and asks the database itself for what is not found there, so that a new row is found at once. */
export async function readNear<S extends Shard, T>(shard: S, read: (shard: S) => Promise<T>): Promise<T> {
  const found = await read(forReading(shard)).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'not_found') return null;
    throw error;
  });
  return found ?? read(shard);
}

/** Requests check the schema of the first database before they run. Any other is checked when it is first used. */
const checkOf = ({ name, db }: Database, wallNow: number) => (name === 'DB' ? undefined : () => requireSchema(name, db, wallNow));

export function checkedDb(database: Database, wallNow: number, homes: readonly Partition[] = []): Db {
  const check = checkOf(database, wallNow);
  return check || homes.length > 0 ? database.openFor(homes, check) : database.db;
}

/** Database of the names. With `DIRECTORY` bound it holds nothing else, so that a full or slow database of merchants stops no sign-in. */
export const directoryOf = (ctx: Ctx): Shard => (ctx.directory ? shardIn(ctx, ctx.directory) : globalOf(ctx));

/**
 * Database of a new account, among those that are open: of the region that its owner chose, else of the caller's, else any. The same for the
 * same seed and region, so that a repeated request meets what the first one stored. Throws 422 validation_error if the chosen region has none.
 */
export function homeForNew(ctx: Ctx, seed: string, chosen?: Region): Shard {
  const open = ctx.config.OPEN_DATABASES ?? ctx.databases.map(({ name }) => name);
  const openIn = (region: Region | null) => open.filter((name) => region !== null && ctx.regions.get(name) === region);
  const near = openIn(chosen ?? ctx.callerRegion);
  if (chosen !== undefined && near.length === 0) {
    const choices = REGIONS.filter((region) => openIn(region).length > 0);
    const msg = choices.length > 0 ? `Choose one of: ${choices.join(', ')}` : 'This deployment has no regions. Omit the field';
    throw new ApiError('validation_error', { problems: [{ loc: ['body', 'region'], msg, type: 'not_available' }] });
  }
  return findShardAt(ctx, ctx.partitions.drawBy(seed, near.length > 0 ? near : open)) ?? raise('not_found');
}

/** Region of an account, which is that of its database. Null without `DATABASES`. */
export const regionOf = ({ partitions, regions }: Pick<Ctx, 'partitions' | 'regions'>, accountId: string): Region | null => {
  const partition = partitionOf(accountId);
  return (partition !== null && regions.get(partitions.databaseAt(partition) ?? '')) || null;
};

/** Shard that a sweep's message names. Throws if this release has no such binding, so that the message is retried. */
export function shardNamed(ctx: Ctx, database: string | undefined, homes: readonly Partition[] = []): Shard {
  const found = database === undefined ? ctx.databases[0] : ctx.databases.find((one) => one.name === database);
  assert(found !== undefined, `database ${database} is bound`);
  return shardIn(ctx, found, homes);
}

/** Database of a partition. Null: no database holds it, so no id of the service has it. */
export function findShardAt(ctx: Ctx, partition: Partition | null): Shard | null {
  const database = partition === null ? null : ctx.partitions.databaseAt(partition);
  return database === null ? null : shardNamed(ctx, database, [partition!]);
}

/** Database of the merchant of an id. Reads nothing. Throws 404 for an id of no database. */
export const homeOf = (ctx: Ctx, id: string): Shard => findShardAt(ctx, partitionOf(id)) ?? raise('not_found');

/** Partition of a new account: that of the shard, which fences it, or a random one of the only database. */
export const drawPartition = (shard: Shard): Partition => shard.homes[0] ?? shard.partitions.drawOf(shard.database);

/** Id of a row that may be about an account of another database, or of none. Its partition is the account's, or a random one of this database. */
export function newIdAbout<T extends Id>(shard: Shard, now: number, accountId: string | null): T {
  const partition = accountId === null ? null : partitionOf(accountId);
  const isHere = partition !== null && shard.partitions.databaseAt(partition) === shard.database;
  const isFenced = partition !== null && (shard.homes.includes(partition) || !shard.partitions.isMoving(partition));
  return newIdIn<T>(now, isHere && isFenced ? partition : drawPartition(shard));
}

/**
 * Database of a row that a message names. Throws if this release does not know the partition, so that the message is retried. An id without
 * a partition belongs to the first database.
 */
export function homeOfNamed(ctx: Ctx, id: string): Shard {
  const partition = partitionOf(id);
  const home = partition === null ? globalOf(ctx) : findShardAt(ctx, partition);
  assert(home !== null, `partition of ${id} has a database`);
  return home;
}

/** Groups what a message lists by its database. */
export const groupByHome = <T>(ctx: Ctx, items: readonly T[], idOf: (item: T) => string): { home: Shard; items: T[] }[] =>
  [...Map.groupBy(items, (item) => homeOfNamed(ctx, idOf(item)).database)].map(([database, items]) => ({
    home: shardNamed(ctx, database, [...new Set(items.flatMap((item) => partitionOf(idOf(item)) ?? []))]),
    items,
  }));
