import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../cli/directories.ts';

/** Writes a configuration with a directory and `count` databases into the state directory. Returns its path. */
export function writeSeveralDatabases(stateDir: string, count: number): string {
  const absolute = (path: string) => JSON.stringify(join(ROOT, path));
  const others = ['DIRECTORY', ...Array.from({ length: count - 1 }, (_, i) => `DB_${i + 2}`)];
  const blocks = others.map(
    (binding, i) =>
      `[[d1_databases]]\nbinding = "${binding}"\ndatabase_name = "svc-${binding.toLowerCase()}"\n` +
      `database_id = "00000000-0000-0000-0000-${String(i + 2).padStart(12, '0')}"\nmigrations_dir = ${absolute('migrations')}\n`,
  );
  const toml = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')
    .replace(/^(main|base_dir|directory|migrations_dir) = "(.+)"$/gm, (_, name: string, path: string) => `${name} = ${absolute(path)}`)
    .replace(/^\[build\]$/m, `[build]\ncwd = ${JSON.stringify(ROOT)}`)
    .replace(/^watch_dir = .+$/m, `watch_dir = [${absolute('worker')}, ${absolute('durable-objects')}]`);
  const path = join(stateDir, 'wrangler.toml');
  mkdirSync(stateDir, { recursive: true });
  writeFileSync(path, `${toml.trimEnd()}\n\n${blocks.join('\n')}`);
  return path;
}
