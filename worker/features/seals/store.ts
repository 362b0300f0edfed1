/**
 * What the database holds sealed, and which row each is sealed for. An index of each column begins with the first eight characters of its
 * texts, which name the key.
 * @module
 */

import { sql } from 'drizzle-orm';
import type { Db } from '#platform/context.ts';
import { jsonRows, setOf } from '#platform/db/among.ts';

const SEALED = {
  webhook_secrets: { table: 'webhook_endpoints', column: 'secret_sealed', owner: 'id' },
  kept_answers: { table: 'claims', column: 'sealed_body', owner: 'scope || char(10) || key' },
  password_hashes: { table: 'accounts', column: 'password_hash', owner: 'id' },
} as const;
export type SealedKind = keyof typeof SEALED;
export const SEALED_KINDS = Object.keys(SEALED) as SealedKind[];

const VERSION_LENGTH = 8;
/** As the indexes have it, word for word. */
const sealVersionOf = (column: string) => sql.raw(`substr(${column}, 1, ${VERSION_LENGTH})`);

const partsOf = (kind: SealedKind) => {
  const { table, column, owner } = SEALED[kind];
  const version = sealVersionOf(column);
  return { table: sql.raw(table), column: sql.raw(column), owner: sql.raw(owner), version, isSealed: sql.raw(`${column} IS NOT NULL`) };
};

export interface SealedRow {
  rowid: number;
  /** What it is sealed for. */
  owner: string;
  sealed: string;
}

/** Up to so many rows that one key sealed, in the order of their numbers. */
export function listSealed(db: Db, kind: SealedKind, version: string, after: number, max: number): Promise<SealedRow[]> {
  const { table, column, owner, version: begins, isSealed } = partsOf(kind);
  return db.all<SealedRow>(sql`SELECT rowid, ${owner} AS owner, ${column} AS sealed FROM ${table}
    WHERE ${isSealed} AND ${begins} = ${version} AND rowid > ${after} ORDER BY rowid LIMIT ${max}`);
}

/**
 * Stores other seals of the same contents, where they were not changed meanwhile. No version moves: who read a row before may put the
 * old seal back, which opens as well and is found again.
 */
export async function replaceSealed(
  db: Db,
  kind: SealedKind,
  rows: readonly { rowid: number; sealed: string; anew: string }[],
): Promise<number> {
  const { table, column } = partsOf(kind);
  const { meta } = await db.run(sql`UPDATE ${table} SET ${column} = j.value ->> 'anew' FROM ${jsonRows(rows)}
    WHERE ${table}.rowid = j.value ->> 'rowid' AND ${column} = j.value ->> 'sealed'`);
  return meta.changes;
}

/** Counts no further than this. */
const COUNT_MAX = 10_000;

/** How many rows a ring's later keys sealed, and how many a key that is not in it: up to one more than `COUNT_MAX` each. */
export async function countSealed(db: Db, kind: SealedKind, [first, ...later]: readonly string[]): Promise<{ old: number; gone: number }> {
  const { table, version, isSealed } = partsOf(kind);
  const known = setOf(later);
  const count = (which: ReturnType<typeof sql>) =>
    sql`(SELECT count(*) FROM (SELECT 1 FROM ${table} WHERE ${isSealed} AND ${which} LIMIT ${COUNT_MAX + 1}))`;
  const isOther = sql`${version} NOT IN ${known}`;
  const [row] = await db.all<{ old: number; gone: number }>(sql`SELECT ${count(sql`${version} IN ${known}`)} AS old,
    ${count(sql`${version} < ${first} AND ${isOther}`)} + ${count(sql`${version} > ${first} AND ${isOther}`)} AS gone`);
  return row!;
}
