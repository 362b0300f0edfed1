/**
 * Migrates the local databases of a state directory, and records it as `wrangler d1 migrations apply` does, without starting wrangler.
 * @module
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { D1Database } from '@cloudflare/workers-types';
import { getPlatformProxy, unstable_splitSqlQuery as statementsOf } from 'wrangler';

const FOLDER = join(import.meta.dirname, '../../migrations');
const BOOKS = `CREATE TABLE IF NOT EXISTS d1_migrations
  (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`;

const [path = '', configPath] = process.argv.slice(2);
const { env, dispose } = await getPlatformProxy<Record<string, D1Database>>({
  ...(configPath === undefined ? {} : { configPath }),
  persist: { path: join(path, 'v3') },
  remoteBindings: false,
});
try {
  for (const name of Object.keys(env).filter((one) => /^(?:DB(?:_\d+)?|DIRECTORY)$/.test(one))) await migrate(env[name]!);
} finally {
  await dispose();
}

async function migrate(database: D1Database): Promise<void> {
  await database.prepare(BOOKS).run();
  const { results } = await database.prepare('SELECT name FROM d1_migrations').all<{ name: string }>();
  const applied = new Set(results.map(({ name }) => name));
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.sql') && !applied.has(name));
  for (const name of names.sort()) {
    const statements = statementsOf(readFileSync(join(FOLDER, name), 'utf8'));
    const note = database.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(name);
    await database.batch([...statements.map((sql) => database.prepare(sql)), note]);
  }
}
