import { and, asc, eq, inArray, isNotNull, isNull, lt, type SQL, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { type Receipt, storyIdOf } from '#platform/db/archive.ts';
import { vetoIf, vetoUnlessChanged, type Write } from '#platform/db/commit.ts';
import { ANY_TYPE, archiveDrafts, archivedStories, archivedTypes, archives } from '#platform/db/tables/archives.ts';
import { receipts } from '#platform/db/tables/commerce.ts';
import { events } from '#platform/db/tables/messaging.ts';

export type StoredEvent = typeof events.$inferSelect;

/** Whose events: of a merchant, in one mode. */
export interface Owner {
  merchantId: AccountId;
  livemode: boolean;
}

/** Events that one search passes over, of owners whose archive fails: it reads no more of them than this. */
const PASSED_MAX = 100_000;

/** The event stored first of all that the database holds, but for those of some owners; one that is not fanned out is work, and stays. */
export function findOldest(db: Db, but: Owner[] = []) {
  const first = db
    .select({ seq: events.seq, merchantId: events.merchantId, livemode: events.livemode, createdAt: events.createdAt })
    .from(events)
    .where(isNotNull(events.fannedOutAt))
    .orderBy(asc(events.seq))
    .limit(but.length === 0 ? 1 : PASSED_MAX)
    .as('first');
  const names = JSON.stringify(but.map(({ merchantId, livemode }) => `${merchantId}:${livemode ? 1 : 0}`));
  return db
    .select({ merchantId: first.merchantId, livemode: first.livemode, createdAt: first.createdAt })
    .from(first)
    .where(sql`${first.merchantId} || ':' || ${first.livemode} NOT IN (SELECT value FROM json_each(${names}))`)
    .orderBy(asc(first.seq))
    .limit(1)
    .get();
}

/** Of an object: how many events, and how many bytes of what they tell. It is read as a whole, in memory that is small. */
export interface RunLimits {
  events: number;
  bytes: number;
}

/**
 * A merchant's events in the order in which they were stored, from the first one on up to one that happened at `before` or later, or to
 * one behind as many or as much as `limits` says. The first one is always among them.
 */
export async function listRun(db: Db, { merchantId, livemode }: Owner, before: number, limits: RunLimits): Promise<StoredEvent[]> {
  const mine = and(eq(events.merchantId, merchantId), eq(events.livemode, livemode), isNotNull(events.fannedOutAt));
  const first = db
    .select({ seq: events.seq, createdAt: events.createdAt, bytes: sql`length(${events.data})`.as('bytes') })
    .from(events)
    .where(mine)
    .orderBy(asc(events.seq))
    .limit(limits.events);
  const sums = sql`SELECT seq, created_at, sum(bytes) OVER (ORDER BY seq) - bytes AS preceding FROM (${first})`;
  const end = sql`(SELECT seq FROM (${sums}) WHERE created_at >= ${before} OR preceding >= ${limits.bytes} ORDER BY seq LIMIT 1)`;
  return db
    .select()
    .from(events)
    .where(and(mine, sql`${events.seq} < coalesce(${end}, ${Number.MAX_SAFE_INTEGER})`))
    .orderBy(asc(events.seq))
    .limit(limits.events);
}

/**
 * Of these receipts of a merchant, those that can go: in the chain, and not its end, whose hash the next link is made of. That one
 * stays for good, which is one receipt for each time that its merchant sold nothing for as long as receipts are kept.
 */
export const listMovable = (db: Db, { merchantId, livemode }: Owner, ids: string[]) =>
  db
    .select()
    .from(receipts)
    .where(
      and(
        sql`${receipts.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`,
        isNull(receipts.archiveId),
        lt(
          receipts.linkSeq,
          sql`(SELECT max(r.link_seq) FROM receipts r WHERE r.merchant_id = ${merchantId} AND r.livemode = ${livemode ? 1 : 0})`,
        ),
      ),
    );

/** An object as it was written: what it holds, and where in it each receipt is. */
export interface Written extends Owner {
  key: string;
  events: StoredEvent[];
  receipts: { receipt: Receipt; lineAt: number; lineLength: number }[];
}

const rowsOf = (rows: object[]): SQL => sql`json_each(${JSON.stringify(rows)}) j`;

/**
 * Statements, not effects: the object's place in the index, and the end of what it holds here; all of it or, where an event has gone
 * meanwhile or the object was given up as a draft, nothing. A receipt leaves only if the object holds the very document.
 */
export function moveToArchive(ctx: Shard, written: Written): Write[] {
  const { db } = ctx;
  const { merchantId, livemode, key } = written;
  const ids = written.events.map(({ id }) => id).sort();
  // The batch runs alone, so the highest number is the one it has just given.
  const archiveId = sql`(SELECT max(id) FROM archives)`;
  const types = [...countTypes(written.events)].map(([type, count]) => ({ type, count }));
  const stories = [...new Set(written.events.flatMap(({ paymentId, membershipId }) => [paymentId, membershipId]))].filter(
    (id) => id !== null,
  );
  const moved = written.receipts.map(({ receipt: { id, document, sha256, signature }, ...place }) => ({
    id,
    document,
    sha256,
    signature,
    ...place,
  }));
  const seqs = written.events.map(({ seq }) => seq);
  return [
    db.insert(archives).values({ merchantId, livemode, key, firstEventId: ids[0]!, lastEventId: ids.at(-1)! }),
    db
      .insert(archivedTypes)
      .select(sql`SELECT ${merchantId}, ${livemode ? 1 : 0}, j.value ->> 'type', ${archiveId}, j.value ->> 'count' FROM ${rowsOf(types)}`),
    db.insert(archivedStories).select(sql`SELECT ${storyIdOf(sql`j.value`)}, ${archiveId} FROM json_each(${JSON.stringify(stories)}) j`),
    db
      .update(receipts)
      .set({
        archiveId,
        lineAt: sql`j.value ->> 'lineAt'`,
        lineLength: sql`j.value ->> 'lineLength'`,
        document: sql`json_object('product_name', ${receipts.document} ->> 'product_name')`,
        txSignature: '',
        sha256: '',
        signature: '',
        keyId: '',
        linkPrevHash: '',
      })
      .from(rowsOf(moved))
      .where(
        sql`${receipts.id} = j.value ->> 'id' AND ${receipts.document} = j.value ->> 'document'
          AND ${receipts.sha256} = j.value ->> 'sha256' AND ${receipts.signature} = j.value ->> 'signature'`,
      ),
    db.delete(events).where(sql`${events.seq} IN (SELECT value FROM json_each(${JSON.stringify(seqs)}))`),
    vetoIf(ctx, sql`changes() <> ${seqs.length}`),
    db.delete(archiveDrafts).where(and(eq(archiveDrafts.key, key), eq(archiveDrafts.isGivenUp, false))),
    vetoUnlessChanged(ctx),
  ];
}

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

function countTypes(happened: StoredEvent[]): Map<string, number> {
  const counts = new Map([[ANY_TYPE, happened.length]]);
  for (const { type } of happened) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}
