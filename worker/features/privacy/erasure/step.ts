import type { Write } from '#platform/db/commit.ts';
import type { Erasing } from '#platform/db/search/erasing.ts';

export interface Stepped {
  /** Row after which the step continues. null: the step is done. */
  after: string | null;
  /** Set if the step waits for others. */
  isWaiting?: true;
}

export const DONE: Stepped = { after: null };

/** True in a pass that began after the end of calls from before the request. */
export const isLastPass = ({ progress }: Erasing): boolean => progress.isLast;

/** Stores the writes of a step. Returns the number of changed rows. */
export async function storeWrites({ ctx }: Erasing, writes: readonly Write[]): Promise<number> {
  const [first, ...rest] = writes;
  if (!first) return 0;
  const results = (await ctx.db.batch([first, ...rest])) as D1Result[];
  return results.reduce((sum, { meta }) => sum + (meta?.changes ?? 0), 0);
}
