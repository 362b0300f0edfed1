import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Db } from '../context.ts';

/** Which slice of a list is wanted. */
export interface PageRequest {
  page: number;
  perPage: number;
  offset: number;
}

export const pageRequest = (query: { page: number; per_page: number }): PageRequest => ({
  page: query.page,
  perPage: query.per_page,
  // Far beyond any list the answer is an empty page, not a number the database cannot hold.
  offset: Math.min((query.page - 1) * query.per_page, 2 ** 31),
});

/** Counting stops here: a list longer than this says so instead of scanning itself. (contract section 1 "Lists") */
const TOTAL_MAX = 10_000;

/** One statement that counts the rows of `where`, up to one more than we are willing to tell exactly. */
export const countTo = (db: Db, table: SQLiteTable, where: SQL | undefined) => {
  const counted = db
    .select({ one: sql<number>`1`.as('one') })
    .from(table)
    .where(where)
    .limit(TOTAL_MAX + 1)
    .as('counted');
  return db.select({ total: sql<number>`count(*)` }).from(counted);
};

export function toPage<T>(request: PageRequest, counted: number, items: T[]) {
  const total = Math.min(counted, TOTAL_MAX);
  return {
    items,
    page: request.page,
    per_page: request.perPage,
    total,
    total_pages: Math.ceil(total / request.perPage),
    has_more: request.page * request.perPage < counted,
    ...(counted > TOTAL_MAX ? { total_exact: false as const } : {}),
  };
}
