/**
 * Loops over all databases. Only the operator, health, the cron, tests and the public catalogue may use them: a call of a merchant or buyer
 * that asks every database stops with any of them.
 * @module
 */

import { formatErrorChain } from '#core/errors.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { shardIn } from './directory.ts';

type Shards = [Shard, ...Shard[]];

export const shardsOf = (ctx: Ctx): Shards => ctx.databases.map((database) => shardIn(ctx, database)) as Shards;

export const othersOf = (shard: Shard): Shard[] => shardsOf(shard).filter(({ database }) => database !== shard.database);

export async function findAnywhere<T>(ctx: Ctx, find: (shard: Shard) => Promise<T | null | undefined>): Promise<T | undefined> {
  for (const shard of shardsOf(ctx)) {
    const found = await find(shard);
    if (found !== null && found !== undefined) return found;
  }
  return undefined;
}

/** Reads from each database. `away`: the databases that do not answer or lack migrations, and are left out. */
export async function readEach<T>(ctx: Ctx, read: (shard: Shard) => Promise<T>): Promise<{ found: T[]; away: string[] }> {
  const shards = shardsOf(ctx);
  const answers = await Promise.allSettled(shards.map(read));
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const away = answers.flatMap((answer, i) => (answer.status === 'rejected' ? [shards[i]!.database] : []));
  for (const [i, answer] of answers.entries())
    if (answer.status === 'rejected') ctx.note(`${shards[i]!.database}: ${formatErrorChain(answer.reason)}`);
  return { found, away };
}
