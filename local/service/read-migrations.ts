import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unstable_splitSqlQuery as statementsOf } from 'wrangler';
import type { Migration } from './apply-migrations.ts';

const FOLDER = join(import.meta.dirname, '../../migrations');

/** Migrations of the repository in order, split as wrangler splits them. */
export const readMigrations = (): Migration[] =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({ name, statements: statementsOf(readFileSync(join(FOLDER, name), 'utf8')) }));
