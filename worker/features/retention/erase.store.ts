import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { vetoUnlessChanged, type Write } from '#platform/db/commit.ts';
import { archiveDrafts, archives } from '#platform/db/tables/archives.ts';

/** How the name of an object ends that holds no names of people. */
export const NAMELESS = '.nameless.jsonl';

interface StoredObject {
  id: number;
  key: string;
}

/** Objects of an account that may hold names of people, oldest first. */
export const listNamed = (db: Db, accountId: AccountId, limit: number): Promise<StoredObject[]> =>
  db
    .select({ id: archives.id, key: archives.key })
    .from(archives)
    .where(and(eq(archives.merchantId, accountId), inArray(archives.livemode, [true, false]), sql`key NOT LIKE ${`%${NAMELESS}`}`))
    .orderBy(asc(archives.id))
    .limit(limit);

/** The object under another name takes the place of the first, which is given up: a sweep deletes it. Fails the batch where a rival was faster. */
export const replaceObject = (ctx: Shard, { id, key }: StoredObject, nameless: string): Write[] => [
  ctx.db
    .update(archives)
    .set({ key: nameless })
    .where(and(eq(archives.id, id), eq(archives.key, key))),
  vetoUnlessChanged(ctx),
  ctx.db.delete(archiveDrafts).where(and(eq(archiveDrafts.key, nameless), eq(archiveDrafts.isGivenUp, false))),
  vetoUnlessChanged(ctx),
  ctx.db.insert(archiveDrafts).values({ key, begunAt: ctx.now, isGivenUp: true }),
];
