import { execFile } from 'node:child_process';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { buildSdk } from '../../local/examples/sdk.ts';

const ROOT = join(import.meta.dirname, '../..');
const EXAMPLES = join(ROOT, 'examples');
const NAMES = readdirSync(EXAMPLES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const LINES_MAX = 250;
/** Written by tools or installed. */
const NOT_OWN = ['node_modules', '.next', '.wrangler', 'package-lock.json', 'next-env.d.ts', 'tsconfig.tsbuildinfo'];

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the command to its end. A process that it left behind would hold its output open. */
const runExample = (...args: string[]): Promise<Outcome> =>
  promisify(execFile)('npm', ['run', '--silent', 'example', '--', ...args], { cwd: ROOT }).then(
    (printed) => ({ code: 0, ...printed }),
    (failure: Outcome) => failure,
  );

const read = (path: string): string => readFileSync(path, 'utf8');
/** Returns files that somebody wrote, without what a tool wrote or installed. */
const filesOfExample = (name: string): string[] =>
  globSync('**/*', {
    cwd: join(EXAMPLES, name),
    withFileTypes: true,
    exclude: (entry) => NOT_OWN.includes(entry.name),
  })
    .filter((entry) => entry.isFile() && !NOT_OWN.includes(entry.name))
    .map(({ parentPath, name: file }) => join(parentPath, file));
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

describe('examples', () => {
  it('an example on the packages of the repository sells something, and its run ends with example ok', async () => {
    const { code, stdout, stderr } = await runExample(
      'api-per-request',
      'express',
      'agent-that-buys',
      'streaming-tokens',
      'telegram-channel',
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.match(/^example ok$/gm)).toHaveLength(5);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('example ok');
  }, 240_000);

  it('the command lists the examples, and exits with 1 if a name is unknown', async () => {
    const listed = await runExample();
    expect(listed.code).toBe(0);
    for (const name of NAMES) expect(listed.stdout).toMatch(new RegExp(`^ +${name} +[A-Z].+\\.$`, 'm'));
    expect(await runExample('api-per-requests')).toMatchObject({ code: 1, stderr: expect.stringContaining('api-per-request ') });
  });

  it('the index names each example with its command', () => {
    const index = read(join(EXAMPLES, 'README.md'));
    for (const name of NAMES) expect(index).toContain(`npm run example -- ${name}`);
  });

  it.each(NAMES)('%s has a README and at most 250 lines of its own', (name) => {
    const files = filesOfExample(name);
    expect(files).toContain(join(EXAMPLES, name, 'README.md'));
    const lines = files.map((path) => read(path).trimEnd().split('\n').length);
    expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(LINES_MAX);
  });

  it.each(NAMES)('%s imports its own files and the packages of its manifest', (name) => {
    const folder = join(EXAMPLES, name);
    const { dependencies, devDependencies } = JSON.parse(read(join(folder, 'package.json')));
    const declared = Object.keys({ ...dependencies, ...devDependencies });
    const imported = filesOfExample(name)
      .filter((path) => /\.tsx?$/.test(path))
      .flatMap((path) =>
        [...read(path).matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)].map(([, specifier]) => ({ path, specifier: specifier! })),
      );
    expect(imported).not.toEqual([]);
    const foreign = imported.filter(({ path, specifier }) =>
      specifier.startsWith('.')
        ? !join(path, '..', specifier).startsWith(`${folder}/`)
        : !(builtinModules.includes(specifier.replace(/^node:/, '')) || declared.includes(packageOf(specifier))),
    );
    expect(foreign).toEqual([]);
  });

  it.each(NAMES.filter((name) => name !== 'membership-next'))('%s passes its own type check', { timeout: 120_000 }, async (name) => {
    buildSdk(() => {});
    const folder = join(EXAMPLES, name);
    const { scripts, devDependencies } = JSON.parse(read(join(folder, 'package.json')));
    expect([scripts.types, Object.keys(devDependencies)]).toEqual(['tsc', expect.arrayContaining(['@types/node', 'typescript'])]);
    await promisify(execFile)(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder]);
  });

  it('an example with a lockfile of its own pins each package, and locks it to the SHA-512 of its archive', () => {
    const folder = join(EXAMPLES, 'membership-next');
    const { dependencies, devDependencies } = JSON.parse(read(join(folder, 'package.json')));
    const { '@paylatch/sdk': sdk, ...others } = { ...dependencies, ...devDependencies };
    expect(sdk).toBe('file:../../sdk');
    for (const version of Object.values(others)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    const { packages } = JSON.parse(read(join(folder, 'package-lock.json')));
    const { '': own, 'node_modules/@paylatch/sdk': _, ...locked } = packages as Record<string, { integrity?: string }>;
    expect(own).toMatchObject({ dependencies, devDependencies });
    expect(Object.entries(locked).filter(([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity))).toEqual([]);
    expect(Object.keys(locked).length).toBeGreaterThan(20);
  });
});
