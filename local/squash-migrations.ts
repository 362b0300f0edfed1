/**
 * `npm run db:squash`: writes the single migration of the first release from `worker/platform/db/tables/` and its `triggers.sql`, which
 * contains what drizzle cannot express. Only before the first deployment. Later changes are separate migrations (`npm run db:generate`).
 * @module
 */

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { WITHOUT_ROWID } from '../worker/platform/db/partitions/without-rowid.ts';

const ROOT = join(import.meta.dirname, '..');
const TABLES = 'worker/platform/db/tables';

const ROWLESS = new RegExp(`(CREATE TABLE \`(?:${WITHOUT_ROWID.join('|')})\` \\([^;]*\\));`, 'g');

const [folder = join(ROOT, 'migrations')] = process.argv.slice(2);
rmSync(folder, { recursive: true, force: true });
const options = [
  '--dialect',
  'sqlite',
  '--schema',
  `./${TABLES}/**/!(schema-check).ts`,
  '--out',
  relative(ROOT, folder),
  '--name',
  'initial',
];
execFileSync('npx', ['drizzle-kit', 'generate', ...options], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
const made = readdirSync(folder).filter((name) => name.endsWith('.sql'));
if (made.length !== 1) throw new Error(`drizzle-kit wrote ${made.length} migrations instead of one`);
const path = join(folder, made[0]!);
// drizzle-kit splits an indexed expression at its commas, as if each part were a column.
const tables = readFileSync(path, 'utf8')
  .replace(/\(`substr\([^)]*\)`\)/g, (expression) => expression.replaceAll('`', ''))
  .replace(ROWLESS, '$1 WITHOUT ROWID;');
// drizzle-kit writes a timestamp and a random id, so two runs on the same tables would differ.
for (const [name, volatile, fixed] of [
  ['_journal.json', /"when": \d+/, '"when": 0'],
  ['0000_snapshot.json', /"id": "[0-9a-f-]+"/, '"id": "00000000-0000-4000-8000-000000000000"'],
] as const) {
  const meta = join(folder, 'meta', name);
  writeFileSync(meta, readFileSync(meta, 'utf8').replace(volatile, fixed));
}
const triggers = readFileSync(join(ROOT, TABLES, 'triggers.sql'), 'utf8');
writeFileSync(path, `${tables.trimEnd()}--> statement-breakpoint\n${triggers}`);
console.log(path);
