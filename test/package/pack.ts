import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exec } from './checks.ts';

export const ROOT = join(import.meta.dirname, '../..');
const SDK = join(ROOT, 'sdk');
const BIN_PATH = `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`;
const SOURCES = ['package.json', 'tsconfig.json', 'build.ts', 'README.md', 'CHANGELOG.md', 'src'];

export interface Manifest {
  name: string;
  version: string;
  exports: Record<string, string | { types: string; default: string }>;
  dependencies?: Record<string, string>;
}
export const manifest: Manifest = JSON.parse(readFileSync(join(SDK, 'package.json'), 'utf8'));
/** Entries that are code, as users import them: `@paylatch/sdk/hono`. */
export const entries = Object.entries(manifest.exports)
  .filter(([, target]) => typeof target === 'object')
  .map(([path]) => path.replace('.', manifest.name));

/** README examples in order. */
export const examples = [...readFileSync(join(SDK, 'README.md'), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!);

/** Builds and packs a copy of the SDK, without the working tree's build. Returns the path of the archive. */
export function packSdk(home: string): string {
  const copy = join(home, 'pack/sdk');
  mkdirSync(copy, { recursive: true });
  for (const name of SOURCES) cpSync(join(SDK, name), join(copy, name), { recursive: true });
  cpSync(join(ROOT, 'LICENSE'), join(home, 'pack/LICENSE'));
  symlinkSync(join(ROOT, 'node_modules'), join(home, 'pack/node_modules'));
  execFileSync('npm', ['pack', '--pack-destination', home], { cwd: copy, env: { ...process.env, PATH: BIN_PATH }, stdio: 'pipe' });
  return join(home, readdirSync(home).find((name) => name.endsWith('.tgz'))!);
}

/** Packs a workspace as `npm publish` does, with its build. Returns the path of the archive. */
export async function packWorkspace(workspace: string, destination: string): Promise<string> {
  mkdirSync(destination, { recursive: true });
  await exec('npm', ['pack', '--workspace', workspace, '--pack-destination', destination], { cwd: ROOT, env: { PATH: BIN_PATH } });
  return join(destination, readdirSync(destination).find((name) => name.endsWith('.tgz'))!);
}

/** Creates an empty project and installs the archive there as a user does. `linked` packages come from the repository. */
export function newProject(folder: string, archive: string, linked: string[] = []): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"name":"shop","private":true,"type":"module"}\n');
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', archive], { cwd: folder, stdio: 'pipe' });
  for (const name of linked) {
    mkdirSync(join(folder, 'node_modules', name, '..'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  return folder;
}
