import { and, asc, isNotNull, lte } from 'drizzle-orm';
import type { Db } from '#platform/context.ts';
import { persons } from '#platform/db/tables/office/people.ts';

/** Lists persons with a removal of all factors that is due. */
export const listDueResets = (db: Db, now: number, max: number) =>
  db
    .select({ id: persons.id })
    .from(persons)
    .where(and(isNotNull(persons.factorsEndAt), lte(persons.factorsEndAt, now)))
    .orderBy(asc(persons.factorsEndAt))
    .limit(max);
