import { asc, inArray, lt } from 'drizzle-orm';
import type { Db } from '#platform/context.ts';
import { archiveDrafts } from '#platform/db/tables/archives.ts';

/** Before an object is written: whatever becomes of it, the row tells of it until it is in the index or deleted. */
export const beginDraft = (db: Db, key: string, begunAt: number) => db.insert(archiveDrafts).values({ key, begunAt });

/** Gives up drafts that were begun before then, up to so many, so that no batch can put them into the index any more. Answers all that are given up. */
export const giveUpDrafts = (db: Db, before: number, limit: number): Promise<{ key: string }[]> => {
  const old = db
    .select({ key: archiveDrafts.key })
    .from(archiveDrafts)
    .where(lt(archiveDrafts.begunAt, before))
    .orderBy(asc(archiveDrafts.begunAt))
    .limit(limit);
  return db.update(archiveDrafts).set({ isGivenUp: true }).where(inArray(archiveDrafts.key, old)).returning({ key: archiveDrafts.key });
};

export const forgetDrafts = (db: Db, keys: string[]) => db.delete(archiveDrafts).where(inArray(archiveDrafts.key, keys));
