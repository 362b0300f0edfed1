type Value = string | number | null;
export type Row = Record<string, Value>;

/** The platform's own tables are made by the platform, and those of a search index by it. */
const OWN_TABLES = `name NOT LIKE '\\_cf\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
  AND name NOT LIKE 'receipt\\_words\\_%' ESCAPE '\\'`;

export const tablesOf = async (db: D1Database): Promise<string[]> =>
  (
    await db.prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND ${OWN_TABLES} ORDER BY name`).all<{ name: string }>()
  ).results.map(({ name }) => name);
