import type { D1Database } from '@cloudflare/workers-types';

const BOOKS = `CREATE TABLE IF NOT EXISTS d1_migrations
  (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`;

export interface Migration {
  name: string;
  statements: string[];
}

/**
 * Applies the migrations that a database lacks, in order, and records them as `wrangler d1 migrations apply` does. Each is one `exec`, which
 * is atomic: Miniflare prepares each statement of a batch in a round trip of its own, more than a second for a new database.
 */
export async function applyMigrations(database: D1Database, migrations: readonly Migration[]): Promise<void> {
  await database.prepare(BOOKS).run();
  const { results } = await database.prepare('SELECT name FROM d1_migrations').all<{ name: string }>();
  const applied = new Set(results.map(({ name }) => name));
  for (const { name, statements } of migrations.filter((migration) => !applied.has(migration.name)))
    await database.exec([...statements, `INSERT INTO d1_migrations (name) VALUES ('${name}')`].map(toOneLine).join('\n'));
}

/** `exec` reads a statement from each line. Throws if a line ends in a comment, which would hide what follows. */
function toOneLine(statement: string): string {
  const line = statement.replace(/^\s*--.*$/gm, '').replace(/\s*\n\s*/g, ' ');
  if (line.includes('--')) throw new Error(`A migration has a comment within a statement: ${line}`);
  return line.trim();
}
