import { eq, inArray } from 'drizzle-orm';
import type { Ctx, Shard } from '#platform/context.ts';
import { abortUnlessChanged, type Write } from '#platform/db/commit.ts';
import { globalOf } from '#platform/db/directory.ts';
import { type Cursor, cursors } from '#platform/db/tables/candidates.ts';

/** Cursors of one reference key: `newest` from the top, `backlog` for what earlier walks left. */
export interface Walks {
  newest: Cursor;
  backlog: Cursor;
}

const newestOf = (key: string): string => `service-reference ${key}`;
const backlogOf = (key: string): string => `service-reference-backlog ${key}`;

/** Cursors are in the first database, because one walk serves all. */
const listCursors = (ctx: Ctx, names: string[]): Promise<Cursor[]> =>
  globalOf(ctx).db.select().from(cursors).where(inArray(cursors.name, names));

export async function loadWalks(ctx: Ctx, key: string): Promise<Walks> {
  const known = await listCursors(ctx, [newestOf(key), backlogOf(key)]);
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
  return { newest: named(newestOf(key)), backlog: named(backlogOf(key)) };
}

/** Reads the time (epoch ms) up to which the walks of these reference keys have seen every payment on chain. 0 before a key's first walk. */
export async function readPassedAt(ctx: Ctx, keys: readonly string[]): Promise<number> {
  const walked = await listCursors(ctx, keys.map(newestOf));
  return walked.length < keys.length ? 0 : Math.min(...walked.map(({ passedAt }) => passedAt));
}

export const stepCursor = (ctx: Shard, before: Cursor, after: Cursor): Write[] => [
  ctx.db
    .insert(cursors)
    .values({ ...after, version: before.version + 1 })
    .onConflictDoUpdate({
      target: cursors.name,
      set: { ...after, version: before.version + 1 },
      setWhere: eq(cursors.version, before.version),
    }),
  abortUnlessChanged(ctx),
];
