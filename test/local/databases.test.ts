import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../worker/platform/config.ts';

const ROOT = join(import.meta.dirname, '../..');
const home = mkdtempSync(join(tmpdir(), 'svc-databases-test-'));
const [config, calls, fakeWrangler] = ['wrangler.toml', 'calls.txt', 'fake-wrangler.mjs'].map((name) => join(home, name)) as [
  string,
  string,
  string,
];
afterAll(() => rmSync(home, { recursive: true, force: true }));

const block = (binding: string, name: string) =>
  `[[d1_databases]]\nbinding = "${binding}"\ndatabase_name = "${name}"\ndatabase_id = "0b0e9a52-0000-4000-8000-000000000001"\nmigrations_dir = "migrations"\n`;
const DEPLOYED = `name = "svc"\ncompatibility_date = "2026-08-01"\n\n[vars]\nDATABASES = "DB:enam"\n\n${block('DB', 'svc')}\n${block('DIRECTORY', 'svc-directory')}\n[[queues.producers]]\nbinding = "JOBS"\nqueue = "svc-jobs"\n`;

/** Records its arguments, and fails for the database in `FAILS`. */
const FAKE_WRANGLER = `import { appendFileSync } from 'node:fs';
const args = process.argv.slice(2);
appendFileSync(${JSON.stringify(calls)}, JSON.stringify(args) + '\\n');
if (args.includes(process.env.FAILS)) { console.error('no route to the platform'); process.exit(1); }
if (args[1] === 'create') console.log('database_id = "7c1f1d5e-2b7a-4c58-9f57-3f4e6f1f2a11"');
`;

function admin(args: string[], env: Record<string, string> = {}) {
  const script = join(ROOT, 'local/admin.ts');
  const run = spawnSync(process.execPath, ['--no-warnings', script, 'databases', ...args, '--config', config], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: home, WRANGLER_SCRIPT: fakeWrangler, ...env },
  });
  const asked = existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [];
  return {
    ...run,
    calls: asked.map((line) => (JSON.parse(line) as string[]).filter((part) => part !== config && part !== '--config').join(' ')),
  };
}

describe('npm run admin -- databases', () => {
  beforeEach(() => {
    writeFileSync(config, DEPLOYED);
    writeFileSync(fakeWrangler, FAKE_WRANGLER);
    rmSync(calls, { force: true });
  });

  it('add creates a database in the region, binds it with partitions of its own, migrates all and names the next command', () => {
    const added = admin(['add', '--region', 'apac']);
    expect([added.status, added.stderr]).toEqual([0, '']);
    expect(added.calls).toEqual([
      'd1 create svc-2 --location apac',
      'd1 migrations apply DIRECTORY --remote',
      'd1 migrations apply DB --remote',
      'd1 migrations apply DB_2 --remote',
    ]);
    const toml = readFileSync(config, 'utf8');
    expect(toml).toContain('binding = "DB_2"\ndatabase_name = "svc-2"\ndatabase_id = "7c1f1d5e-2b7a-4c58-9f57-3f4e6f1f2a11"');
    const values = Object.fromEntries([...toml.matchAll(/^([A-Z_]+) = "(.*)"$/gm)].map(([, name, value]) => [name!, value!]));
    expect(values).toEqual({ PARTITIONS: '000-007:DB 008-00f:DB_2', DATABASES: 'DB:enam DB_2:apac', OPEN_DATABASES: 'DB' });
    const bound = { DB: {}, DB_2: {}, DIRECTORY: {}, NETWORK: 'devnet', RPC_URL: 'https://rpc.example.com', ...values };
    expect(readConfig(bound).findings.filter(({ name }) => /DATABASES|PARTITIONS|DIRECTORY/.test(name))).toEqual([]);
    expect(added.stdout).toContain('Next: npx wrangler deploy. Then set OPEN_DATABASES = "DB DB_2" and deploy again.');
  });

  it('a second one follows the first', () => {
    admin(['add', '--region', 'apac']);
    const added = admin(['add', '--region', 'weur']);
    expect(added.status).toBe(0);
    const toml = readFileSync(config, 'utf8');
    expect(toml).toContain('PARTITIONS = "000-007:DB 008-00f:DB_2 010-017:DB_3"');
    expect(toml).toContain('DATABASES = "DB:enam DB_2:apac DB_3:weur"');
  });

  it.each<[string, string[], string, string]>([
    ['an unknown region', ['add', '--region', 'mars'], DEPLOYED, '--region wants one of'],
    ['no directory', ['add', '--region', 'apac'], DEPLOYED.replace(block('DIRECTORY', 'svc-directory'), ''), 'binds no DIRECTORY'],
    ['a database without a region', ['add', '--region', 'apac'], DEPLOYED.replace('DATABASES = "DB:enam"\n', ''), 'no region of DB'],
  ])('add is refused with %s before anything is created', (_case, args, toml, reason) => {
    writeFileSync(config, toml);
    const refused = admin(args);
    expect([refused.status, refused.calls]).toEqual([1, []]);
    expect(refused.stderr).toContain(reason);
    expect(readFileSync(config, 'utf8')).toBe(toml);
  });

  it('migrate stops at the first failure, says the state of each database, and may be repeated', () => {
    admin(['add', '--region', 'apac']);
    rmSync(calls);
    const failed = admin(['migrate'], { FAILS: 'DB' });
    expect(failed.status).toBe(1);
    expect(failed.calls).toEqual(['d1 migrations apply DIRECTORY --remote', 'd1 migrations apply DB --remote']);
    expect(failed.stdout).toMatch(/^DIRECTORY {2}migrated$/m);
    expect(failed.stdout).toMatch(/^DB {2}failed: /m);
    expect(failed.stdout).toMatch(/^DB_2 {2}not begun$/m);
    const repeated = admin(['migrate']);
    expect([repeated.status, repeated.calls.length]).toEqual([0, 5]);
  });
});
