import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const WRANGLER = fileURLToPath(import.meta.resolve('wrangler'));
const home = mkdtempSync(join(tmpdir(), 'svc-fresh-clone-'));
const clone = join(home, 'svc');
const SCRIPT_NAMES = 'worker/pages/assets.ts';
/** Untracked files of a used clone, as in `.gitignore`. */
const NOT_TRACKED = ['dist', '.wrangler', 'node_modules', SCRIPT_NAMES];

beforeAll(() => {
  for (const name of [
    '.gitignore',
    '.npmrc',
    'package.json',
    'wrangler.toml',
    'tsconfig.json',
    'docs',
    'durable-objects',
    'local',
    'migrations',
    'sdk',
    'worker',
  ])
    cpSync(join(ROOT, name), join(clone, name), { recursive: true, filter: (path) => relative(ROOT, path) !== SCRIPT_NAMES });
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const run = (...args: string[]) =>
  spawnSync(process.execPath, ['--no-warnings', ...args], {
    cwd: clone,
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: home, CI: '1', WRANGLER_SEND_METRICS: 'false' },
  });
const deploy = () => run(WRANGLER, 'deploy', '--dry-run');
const namesIn = (folder: string): string[] => readdirSync(join(clone, folder), { recursive: true, encoding: 'utf8' }).sort();
function scripts() {
  const named = [...readFileSync(join(clone, SCRIPT_NAMES), 'utf8').matchAll(/'\/assets\/(.+\.js)'/g)].map(([, name]) => name!);
  return { named: named.filter((name) => !name.startsWith('demo-wallet')), laidOut: readdirSync(join(clone, 'dist/assets/assets')) };
}
function tracked(): Record<string, string> {
  const files = readdirSync(clone, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => relative(clone, join(parentPath, name)));
  const trackedPaths = paths.filter((path) => !NOT_TRACKED.some((name) => path === name || path.startsWith(`${name}/`)));
  return Object.fromEntries(trackedPaths.sort().map((path) => [path, readFileSync(join(clone, path), 'base64')]));
}

it('a clone without install scripts deploys completely and changes no tracked file', () => {
  const before = tracked();
  const { status, stderr } = deploy();
  expect([status, stderr]).toEqual([0, expect.not.stringContaining('ERROR')]);
  const { named, laidOut } = scripts();
  expect(laidOut).toEqual(expect.arrayContaining(named));
  expect(laidOut.filter((name) => name.startsWith('demo-wallet'))).toEqual([]);
  expect(tracked()).toEqual(before);
}, 120_000);

it('a deployment uploads the current page scripts, not those of an earlier build', () => {
  const old = scripts().named;
  appendFileSync(join(clone, 'worker/pages/checkout/client/start.tsx'), "\nconsole.info('another one');\n");
  expect(deploy().status).toBe(0);
  const { named, laidOut } = scripts();
  expect(named.filter((name) => !old.includes(name)).map((name) => basename(name).replace(/-[0-9a-f]{8}\.js$/, ''))).toEqual(['checkout']);
  expect(laidOut).toEqual(expect.arrayContaining(named));
}, 120_000);

it('a build removes nothing from under a running service', () => {
  const before = namesIn('dist/dev-assets');
  expect(before.filter((name) => basename(name).startsWith('demo-wallet'))).toHaveLength(1);
  expect(run('local/build.ts').status).toBe(0);
  expect(namesIn('dist/dev-assets')).toEqual(before);
}, 120_000);
