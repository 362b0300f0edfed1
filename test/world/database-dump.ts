type Value = string | number | null;

/** A whole database as plain values: the statements that make it, in the order they were run, and every table by its columns. */
export interface DatabaseDump {
  schema: string[];
  /** table → column → values, all in the order in which the rows were stored. Columns compress better than rows. */
  tables: Record<string, Record<string, Value[]>>;
}

/** The platform's own tables are made by the platform, and those of a search index by it. */
const OWN_TABLES = `name NOT LIKE '\\_cf\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
  AND name NOT LIKE 'receipt\\_words\\_%' ESCAPE '\\'`;
const PAGE = 500;

export const tablesOf = async (db: D1Database): Promise<string[]> =>
  (
    await db.prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND ${OWN_TABLES} ORDER BY name`).all<{ name: string }>()
  ).results.map(({ name }) => name);

async function columnsOf(db: D1Database, table: string): Promise<Record<string, Value[]>> {
  const columns: Record<string, Value[]> = {};
  for (let offset = 0; ; offset += PAGE) {
    const page = db.prepare(`SELECT * FROM ${table} ORDER BY rowid LIMIT ${PAGE} OFFSET ${offset}`);
    const [names, ...rows] = await page.raw<Value[]>({ columnNames: true });
    for (const [index, name] of (names as string[]).entries())
      columns[name] = [...(columns[name] ?? []), ...rows.map((row) => row[index]!)];
    if (rows.length < PAGE) return columns;
  }
}

export async function dumpDatabase(db: D1Database): Promise<DatabaseDump> {
  const made = await db
    .prepare(`SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND ${OWN_TABLES} ORDER BY rowid`)
    .all<{ sql: string }>();
  const tables: DatabaseDump['tables'] = {};
  for (const table of await tablesOf(db)) tables[table] = await columnsOf(db, table);
  return { schema: made.results.map(({ sql }) => sql), tables };
}

/** The rows of a table, by the names of their columns. */
export function rowsOf({ tables }: DatabaseDump, table: string): Row[] {
  const columns = Object.entries(tables[table] ?? {});
  return (columns[0]?.[1] ?? []).map((_, row) => Object.fromEntries(columns.map(([name, values]) => [name, values[row]!])));
}
export type Row = Record<string, Value>;

/** Makes the database what it was, whatever it is now: tables and rows first, then indexes, as a restore of any size does. */
export async function restoreDatabase(db: D1Database, dump: DatabaseDump): Promise<void> {
  const isTable = (sql: string) => /^CREATE TABLE/i.test(sql);
  const present = await tablesOf(db);
  if (present.length > 0) await db.batch(present.map((table) => db.prepare(`DROP TABLE ${table}`)));
  await db.batch(dump.schema.filter(isTable).map((sql) => db.prepare(sql)));
  for (const [table, columns] of Object.entries(dump.tables)) {
    const names = Object.keys(columns);
    const values = names.map((name) => `value ->> '${name}'`).join(', ');
    const insert = db.prepare(`INSERT INTO ${table} (${names.join(', ')}) SELECT ${values} FROM json_each(?)`);
    const rows = rowsOf(dump, table);
    for (let i = 0; i < rows.length; i += PAGE) await insert.bind(JSON.stringify(rows.slice(i, i + PAGE))).run();
  }
  await db.batch(dump.schema.filter((sql) => !isTable(sql)).map((sql) => db.prepare(sql)));
}
