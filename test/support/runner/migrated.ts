import { applyD1Migrations } from 'cloudflare:test';
import { testEnv } from './env.ts';
import { originalOf } from './readable-ids.ts';

/** Schema made by the migrations in order, without the internal tables of full-text indexes. */
const MADE = `SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_cf_*'
  AND tbl_name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow') ORDER BY rowid`;
const BOOKS = 'd1_migrations';
const INTO_BOOKS = `INSERT INTO ${BOOKS} (name) SELECT value FROM json_each(?)`;

let made: string[] | null = null;

const isNew = async (db: D1Database): Promise<boolean> =>
  (await db.prepare('SELECT name FROM sqlite_master WHERE name = ?').bind(BOOKS).first()) === null;

/** Creates the schema: applies the migrations to a worker's first database, and copies its schema to each further one in a single call. */
export async function migrate(db: D1Database): Promise<void> {
  if (made && (await isNew(db))) {
    const names = JSON.stringify(testEnv.TEST_MIGRATIONS.map(({ name }) => name));
    await db.batch([...made.map((sql) => db.prepare(sql)), db.prepare(INTO_BOOKS).bind(names)]);
    return;
  }
  await applyD1Migrations(originalOf(db), testEnv.TEST_MIGRATIONS);
  const { results } = await db.prepare(MADE).all<{ sql: string }>();
  made = results.map(({ sql }) => sql);
}
