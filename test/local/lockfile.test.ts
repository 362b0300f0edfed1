import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

interface Locked {
  version?: string;
  integrity?: string;
  resolved?: string;
  link?: boolean;
  hasInstallScript?: boolean;
}
const read = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));
const { workspaces, allowScripts } = read('package.json');
/** Third-party packages, without this one and its linked workspaces. */
const packages = Object.entries<Locked>(read('package-lock.json').packages).filter(
  ([path, { link, resolved }]) => ![path, link ? resolved : undefined].some((location) => ['', ...workspaces].includes(location)),
);

it('the lockfile locks every package of every platform to the SHA-512 of its archive', () => {
  expect(packages.length).toBeGreaterThan(500);
  const unlocked = packages.filter(([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity));
  expect(unlocked.map(([path, { version }]) => `${path}@${version}`)).toEqual([]);
});

it('the lockfile matches the manifest, including the required Node version', () => {
  const [{ engines, dependencies, devDependencies }, { '': locked }] = [read('package.json'), read('package-lock.json').packages];
  expect(locked).toMatchObject({ engines, dependencies, devDependencies });
});

it('the lockfile names no registry, because the hash of each archive is known', () => {
  expect(packages.filter(([, { resolved, link }]) => resolved !== undefined || link).map(([path]) => path)).toEqual([]);
});

it('every named package is pinned to one version', () => {
  const manifests = ['package.json', ...workspaces.map((path: string) => `${path}/package.json`)].map(read);
  const named = manifests.flatMap(({ dependencies = {}, devDependencies }) =>
    Object.entries<string>({ ...dependencies, ...devDependencies }),
  );
  const ranges = named.filter(([, version]) => !/^(?:npm:[\w-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version));
  expect(ranges).toEqual([]);
});

it('install scripts run for reviewed versions only, and another package with one fails the installation', () => {
  const scripts = packages.filter(([, { hasInstallScript }]) => hasInstallScript);
  const nameOf = (path: string) => path.split('node_modules/').at(-1)!;
  expect(scripts.filter(([path]) => allowScripts[nameOf(path)] === undefined)).toEqual([]);
  const run = scripts.filter(([path]) => allowScripts[nameOf(path)]).map(([path, { version }]) => `${nameOf(path)}@${version}`);
  expect([...new Set(run)].sort()).toEqual([
    'bun@1.4.5',
    'deno@2.9.6',
    'esbuild@0.18.20',
    'esbuild@0.25.12',
    'esbuild@0.28.1',
    'esbuild@0.28.2',
    'node@22.23.3',
    'node@24.21.0',
    'workerd@1.20260815.1',
    'workerd@1.20261023.1',
  ]);
  expect(readFileSync(new URL('../../.npmrc', import.meta.url), 'utf8')).toContain('\nstrict-allow-scripts=true\n');
});
