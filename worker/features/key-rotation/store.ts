/**
 * Sealed values of the database and the row that each is sealed for. An index of each column begins with the first eight characters of its
 * texts, which name the key.
 * @module
 */

import { sql } from 'drizzle-orm';
import type { Db } from '#platform/context.ts';
import { jsonRows, setOf, textOfId } from '#platform/db/among.ts';

const SEALED = {
  webhook_secrets: { table: 'webhook_endpoints', column: 'secret_sealed', owner: 'id', position: ['rowid'] },
  kept_answers: { table: 'claims', column: 'sealed_body', owner: 'scope || char(10) || key', position: ['scope', 'key'] },
  totp_secrets: { table: 'totp_secrets', column: 'sealed', owner: 'person_id', position: ['rowid'] },
  password_hashes: { table: 'persons', column: 'password_hash', owner: 'id', position: ['rowid'] },
} as const;
export type SealedKind = keyof typeof SEALED;
export const SEALED_KINDS = Object.keys(SEALED) as SealedKind[];

const VERSION_LENGTH = 8;
/** Repeats the indexes' expression literally. */
const sealVersionOf = (column: string) => sql.raw(`substr(${column}, 1, ${VERSION_LENGTH})`);

const partsOf = (kind: SealedKind) => {
  const { table, column, owner, position } = SEALED[kind];
  return {
    table: sql.raw(table),
    column: sql.raw(column),
    owner: textOfId(sql.raw(owner)),
    position,
    order: sql.raw(position.join(', ')),
    version: sealVersionOf(column),
    isSealed: sql.raw(`${column} IS NOT NULL`),
  };
};

export interface SealedRow {
  /** Position in the index, which ends in the row number or in the key of a table without one. */
  position: (string | number)[];
  /** Row that the value is sealed for. */
  owner: string;
  sealed: string;
}

export async function listSealed(db: Db, kind: SealedKind, version: string, last: SealedRow | null, max: number): Promise<SealedRow[]> {
  const { table, column, owner, order, version: begins, isSealed } = partsOf(kind);
  const isAfter = last ? sql`AND (${order}) > ${last.position}` : sql``;
  const rows = await db.all<
    SealedRow & { position: string }
  >(sql`SELECT json_array(${order}) AS position, ${owner} AS owner, ${column} AS sealed
    FROM ${table} WHERE ${isSealed} AND ${begins} = ${version} ${isAfter} ORDER BY ${order} LIMIT ${max}`);
  return rows.map((row) => ({ ...row, position: JSON.parse(row.position) }));
}

/**
 * Replaces seals of rows that did not change meanwhile. The version does not change: a concurrent write may restore the old seal, which
 * still opens and is found by the next sweep.
 */
export async function replaceSealed(
  db: Db,
  kind: SealedKind,
  rows: readonly { position: SealedRow['position']; sealed: string; resealed: string }[],
): Promise<number> {
  const { table, column, position } = partsOf(kind);
  const isRow = sql.raw(position.map((name, i) => `${SEALED[kind].table}.${name} = j.value ->> '$.position[${i}]'`).join(' AND '));
  const { meta } = await db.run(sql`UPDATE ${table} SET ${column} = j.value ->> 'resealed' FROM ${jsonRows(rows)}
    WHERE ${isRow} AND ${column} = j.value ->> 'sealed'`);
  return meta.changes;
}

const COUNT_MAX = 10_000;

/** Counts rows sealed by later keys of the ring and by keys outside of the ring, each up to `COUNT_MAX` + 1. */
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
