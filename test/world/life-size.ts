import { base58, hex } from '#core/encoding.ts';
import { newEventId, newId } from '#core/ids.ts';

export type Row = Record<string, string | number | null>;

const bytesOf = async (db: D1Database): Promise<number> => (await db.prepare('SELECT 1').run()).meta.size_after;
const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));
const EVERY_MS = 1000;
const PAGE = 100;

/** Another of the same kind and length: ids of ours begin with their time, the chain's are random. */
function another(name: string, at: number): string {
  if (name.startsWith('evt_')) return newEventId(at);
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(name)) return newId(at);
  if (/^[0-9a-f-]{36}$/.test(name)) return hex.encode(randomBytes(16)).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return base58.encode(randomBytes(name.length)).slice(0, name.length);
}

const ARCHIVED = ['archived_stories', 'archived_payments', 'archived_receipts'];

/** How a column of a copy is stored, where it is not as it is: numbers that the database gives, or that no two rows may share. */
const storedAs = (table: string, column: string, { [column]: value }: Row): string => {
  if (column === 'seq' || column === 'row_number' || (column === 'id' && typeof value === 'number')) return 'NULL';
  // An id, where the table is one of the archive's that hold their bytes.
  if (ARCHIVED.includes(table) && typeof value === 'string' && /^[0-9a-f]{8}-/.test(value))
    return `unhex(replace(j.value ->> '${column}', '-', ''))`;
  const isNumbered = column === 'link_seq' || (table === 'archived_types' && column === 'archive_id');
  return isNumbered ? `(SELECT max(${column}) FROM ${table}) + 1 + j.key` : `j.value ->> '${column}'`;
};

/**
 * How many bytes of the database each table takes for one of `times` copies of some rows, indexes included: the copies differ in
 * everything that is named, and are stored in the order of time, like payments.
 */
export async function bytesPerCopy(
  db: D1Database,
  tables: Record<string, Row[]>,
  { names, times }: { names: string[]; times: number },
): Promise<Record<string, number>> {
  const now = Date.now();
  const renamed = Array.from({ length: times }, (_, i) => names.map((name) => [name, another(name, now + i * EVERY_MS)] as const));
  const bytes: Record<string, number> = {};
  for (const [table, rows] of Object.entries(tables)) {
    const text = JSON.stringify(rows);
    const columns = Object.keys(rows[0]!);
    const values = columns.map((column) => storedAs(table, column, rows[0]!));
    const insert = db.prepare(`INSERT INTO ${table} (${columns}) SELECT ${values} FROM json_each(?) j`);
    const before = await bytesOf(db);
    for (let i = 0; i < times; i += PAGE) {
      const copies = renamed.slice(i, i + PAGE).map((pairs) => pairs.reduce((copy, [old, anew]) => copy.replaceAll(old, anew), text));
      await insert.bind(JSON.stringify(copies.flatMap((copy) => JSON.parse(copy) as Row[]))).run();
    }
    bytes[table] = Math.round(((await bytesOf(db)) - before) / times);
  }
  return bytes;
}
