import { partitionRanges } from '#core/ids.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { fullness, readVitalSigns, waitingMs } from '#platform/db/due/vital-signs.ts';
import { readEach } from '#platform/db/each-database.ts';
import { dueWorkOf } from '../due-work.store.ts';

interface ListedDatabase {
  database: string;
  region: string | null;
  is_open: boolean;
  partitions: string;
  /** Null: the database does not answer or lacks migrations. */
  bytes: number | null;
  used: string | null;
  /** Age of the row that has been due longest. */
  lag_seconds: number | null;
  state: 'ok' | 'away';
}

/** Lists all databases of merchants with what an operator decides by: room, lag, and whether they answer with all migrations. */
export async function listDatabases(ctx: Ctx): Promise<ListedDatabase[]> {
  const read = async (shard: Shard) => ({ name: shard.database, signs: await readVitalSigns(shard, dueWorkOf(shard)) });
  const { found } = await readEach(ctx, read);
  const open = ctx.config.OPEN_DATABASES ?? ctx.databases.map(({ name }) => name);
  return ctx.databases.map(({ name }) => {
    const signs = found.find((one) => one.name === name)?.signs;
    return {
      database: name,
      region: ctx.regions.get(name) ?? null,
      is_open: open.includes(name),
      partitions: partitionRanges(ctx.partitions, name),
      bytes: signs?.databaseBytes ?? null,
      used: signs ? `${Math.round(fullness(signs.databaseBytes).used * 100)} %` : null,
      lag_seconds: signs ? Math.round(Math.max(0, ...waitingMs(ctx, signs.waiting).map(({ ms }) => ms)) / 1000) : null,
      state: signs ? 'ok' : 'away',
    };
  });
}
