import { SECOND } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';

/** What a sweep did in one invocation. What it left is for the next one, which begins at once. */
export interface Swept {
  taken: number;
  isFinished: boolean;
}

/** A bound on one invocation, beside which its last page may still take some seconds. */
const SWEEP_MS = 20 * SECOND;

/** True while a run may begin another page: it has calls and time left. */
export const mayGoOn = (ctx: Ctx): boolean => ctx.budget.left > 0 && ctx.elapsedMs() < SWEEP_MS;

/**
 * Reads page after page, each after the last row of the one before, so that a row which cannot be stored holds up none behind it.
 * Ends where a page is not full, at `pagesMax`, when its time is over or when the invocation's budget is spent.
 */
export async function sweepPages<T>(
  ctx: Ctx,
  { pageMax, pagesMax }: { pageMax: number; pagesMax: number },
  read: (last: T | null) => Promise<T[]>,
  handle: (rows: T[]) => Promise<unknown>,
): Promise<Swept> {
  let taken = 0;
  let last: T | null = null;
  for (let page = 0; page < pagesMax && mayGoOn(ctx); page++) {
    const rows: T[] = await read(last);
    if (rows.length > 0) await handle(rows);
    taken += rows.length;
    if (rows.length < pageMax) return { taken, isFinished: ctx.budget.left > 0 };
    last = rows.at(-1)!;
  }
  return { taken, isFinished: false };
}

/** For statements that find and end so many rows by themselves: again until one ends fewer than it might. */
export async function sweepRounds(
  ctx: Ctx,
  { max, roundsMax }: { max: number; roundsMax: number },
  end: (max: number) => Promise<number>,
): Promise<Swept> {
  let taken = 0;
  for (let round = 0; round < roundsMax && mayGoOn(ctx); round++) {
    const ended = await end(max);
    taken += ended;
    if (ended < max) return { taken, isFinished: ctx.budget.left > 0 };
  }
  return { taken, isFinished: false };
}
