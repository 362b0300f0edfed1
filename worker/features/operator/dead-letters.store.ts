import { and, desc, eq, inArray } from 'drizzle-orm';
import type { Db } from '#platform/context.ts';
import { type ParkedMessage, parkedMessages } from '#platform/db/tables/operations.ts';

const hasFailed = eq(parkedMessages.reason, 'failed');

export const listDeadLetters = (db: Db, limit: number): Promise<ParkedMessage[]> =>
  db.select().from(parkedMessages).where(hasFailed).orderBy(desc(parkedMessages.parkedAt)).limit(limit);

export const findDeadLetters = (db: Db, ids: string[]): Promise<ParkedMessage[]> =>
  db
    .select()
    .from(parkedMessages)
    .where(and(hasFailed, inArray(parkedMessages.id, ids)));
