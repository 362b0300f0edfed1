import { is } from 'drizzle-orm';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';

const modules = import.meta.glob<Record<string, unknown>>('../../worker/platform/db/tables/**/*.ts', { eager: true });

/** Tables whose rows are of live mode or of the sandbox. */
const tenantTables = Object.values(modules)
  .flatMap((module) => Object.values(module))
  .filter((value): value is SQLiteTable => is(value, SQLiteTable))
  .map(getTableConfig)
  .filter(({ columns }) => columns.some(({ name }) => name === 'livemode'));

/** Columns whose values the service mints, each for one row of one mode. */
const MINTED =
  /^(?:id|(?:archive|payment|membership|subject|event|endpoint|authorization|receipt|product|delivery|identity_session|payment_session|sandbox_session|setup_intent|settling_payment|recovers_payment|recovered_payment)_id|row_number|rowid|slug|token_hash|key_hash)$/;
/** Columns that say how a row stands, and name no row. */
const STATE = /^(?:status|kind|origin|type|event_type|subject_type|asset|reason|last_error|failure_code)$/;

const columnsOf = new Map(
  tenantTables.map(({ name, columns }) => [
    name,
    new Map([...columns.map((column) => [column.name, column.getSQLType() === 'text'] as const), ['rowid', false] as const]),
  ]),
);
const TABLE = /\b(?:from|join|update|into)\s+"?([a-z_]+)"?/gi;
const NAME = String.raw`(?:"?\b[a-z_]+"?\.)?"?\b([a-z_]+)"?`;
const EQUATED = new RegExp(String.raw`${NAME}\s*(?:=|\bin\b|\bis\s+(?=\?))`, 'gi');
const EQUATED_TO = new RegExp(String.raw`[^<>!]=\s*${NAME}(?!\s*\()`, 'gi');
const conditionOf = (part: string): string => /\b(?:where|on)\b.*/is.exec(part.replace(/\bon conflict\b.*/is, ''))?.[0] ?? '';

/** A statement and each of its subqueries, without those within it. */
function partsOf(sql: string): string[] {
  const parts: string[] = [];
  const open: string[] = [''];
  for (const char of sql) {
    if (char === '(') open.push('');
    else if (char === ')' && open.length > 1) {
      const inner = open.pop()!;
      const isQuery = /^\s*(?:select|with)\b/i.test(inner);
      if (isQuery) parts.push(inner);
      open.push(`${open.pop()!}(${isQuery ? '…' : inner})`);
    } else open.push(open.pop()! + char);
  }
  return [...parts, ...open];
}

const judged = new Map<string, string[]>();

/** Judges a statement that an invocation of the service runs. */
export function noteStatement(sql: string): void {
  if (!judged.has(sql)) judged.set(sql, modelessParts(sql));
}

/** Statements noted so far that have to say a mode and say none. */
export const modelessSoFar = (): string[] => [...new Set([...judged.values()].flat())];

/**
 * Parts of a statement that find rows of both modes by a value that both can hold. A part that means both says so: `livemode IN (0, 1)`.
 * A part that finds rows by time or state alone names no row, and is a sweep's.
 */
function modelessParts(sql: string): string[] {
  return partsOf(sql).filter((part) => {
    const tables = [...part.matchAll(TABLE)].map(([, table]) => columnsOf.get(table!)).filter((columns) => columns !== undefined);
    const condition = conditionOf(part);
    if (tables.length === 0 || /livemode/i.test(part) || condition === '') return false;
    const compared = [...condition.matchAll(EQUATED), ...condition.matchAll(EQUATED_TO)].map(([, column]) => column!.toLowerCase());
    const own = compared.filter((column) => tables.some((columns) => columns.has(column)));
    const isValue = (column: string) => !STATE.test(column) && tables.some((columns) => columns.get(column));
    return own.some((column) => isValue(column)) && !own.some((column) => MINTED.test(column));
  });
}
