import { type Env, newCtx, type Shard } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import { shardsOf } from '#platform/db/each-database.ts';
import type { Swept } from '#platform/db/sweeps.ts';
import { ofService } from './limits.ts';

type Options = Partial<Parameters<typeof newCtx>[1]>;

/** Context for code of the service that a test calls directly. */
export const ctxOf = (env: Env, options: Options = {}): Shard =>
  newCtx(ofService(env), { requestId: 'req_of_a_test', defer: () => {}, ...options });

/** The same in the database of the merchant of an id. */
export const shardOf = (env: Env, id: string, options: Options = {}): Shard => homeOf(ctxOf(env, options), id);

/** Runs code of the service in each database, also after it failed in one. */
export async function inEach<T>(env: Env, run: (shard: Shard) => Promise<T>, options: Options = {}): Promise<T[]> {
  const answers: T[] = [];
  const failures: unknown[] = [];
  for (const shard of shardsOf(ctxOf(env, options)))
    await run(shard).then(
      (answer) => answers.push(answer),
      (error: unknown) => failures.push(error),
    );
  if (failures.length > 0) throw failures[0];
  return answers;
}

/** Runs a sweep in each database. Returns the sum of the rows, and the end of the first that left rows. */
export async function sweepIn(env: Env, sweep: (shard: Shard) => Promise<Swept>, options: Options = {}): Promise<Swept> {
  const swept = await inEach(env, sweep, options);
  const left = swept.find(({ end }) => end !== 'empty') ?? swept[0]!;
  return { ...left, taken: swept.reduce((sum, { taken }) => sum + taken, 0) };
}
