import { eq, inArray } from 'drizzle-orm';
import type { Db, Shard } from '#platform/context.ts';
import { vetoUnlessChanged, type Write } from '#platform/db/commit.ts';
import { type Cursor, cursors } from '#platform/db/tables/candidates.ts';

/** How far the transactions with the service's reference key are read: `newest` from the top, `backlog` what its walks did not get to. */
export interface Walks {
  newest: Cursor;
  backlog: Cursor;
}

const NEWEST = 'service-reference';
const BACKLOG = 'service-reference-backlog';

export async function loadWalks(db: Db): Promise<Walks> {
  const known = await db
    .select()
    .from(cursors)
    .where(inArray(cursors.name, [NEWEST, BACKLOG]));
  const named = (name: string): Cursor =>
    known.find((cursor) => cursor.name === name) ?? {
      name,
      until: null,
      walkTop: null,
      walkBefore: null,
      walkStartedAt: null,
      passedAt: 0,
      version: 0,
    };
  return { newest: named(NEWEST), backlog: named(BACKLOG) };
}

/** The step fails its batch where another walker was faster. */
export const stepCursor = (ctx: Shard, before: Cursor, after: Cursor): Write[] => [
  ctx.db
    .insert(cursors)
    .values({ ...after, version: before.version + 1 })
    .onConflictDoUpdate({
      target: cursors.name,
      set: { ...after, version: before.version + 1 },
      setWhere: eq(cursors.version, before.version),
    }),
  vetoUnlessChanged(ctx),
];
