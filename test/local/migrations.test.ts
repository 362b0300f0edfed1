import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'svc-migrations-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('migrations/ holds exactly what the table definitions and triggers.sql say', () => {
  execFileSync(process.execPath, [join(ROOT, 'local/squash-migrations.ts'), join(folder, 'made')], { stdio: 'ignore' });
  const read = (path: string) =>
    Object.fromEntries(
      readdirSync(path)
        .filter((name) => name.endsWith('.sql'))
        .map((name) => [name, readFileSync(join(path, name), 'utf8')]),
    );
  expect(read(join(ROOT, 'migrations'))).toEqual(read(join(folder, 'made')));
});
