import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { Refusal } from '../cli/options.ts';
import { TEMPLATES, type Template } from './templates.ts';

const SOURCES = join(import.meta.dirname, 'templates');
const IGNORED = ['node_modules/', '.env*', '.dev.vars', '.wrangler/', '.next/', 'next-env.d.ts', '*.tsbuildinfo'];

/** Name of a package, from the name of its folder. */
const packageNameOf = (folder: string): string =>
  basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9._~-]+/g, '-')
    .replace(/^[._-]+/, '') || 'shop';

/** Throws `Refusal` if the folder has files, or is none. */
export function requireEmpty(folder: string): void {
  if (!existsSync(folder)) return;
  try {
    if (readdirSync(folder).every((name) => name === '.git')) return;
  } catch (error) {
    throw new Refusal(`${folder} cannot be used (${(error as NodeJS.ErrnoException).code}). Name another folder.`);
  }
  throw new Refusal(`${folder} is not empty. Name another folder.`);
}

/** Writes a project into an empty folder. Returns the commands that come next. */
export function makeProject(name: string, template: Template): string[] {
  const folder = resolve(name);
  requireEmpty(folder);
  try {
    mkdirSync(folder, { recursive: true });
    cpSync(join(SOURCES, template), folder, { recursive: true });
  } catch (error) {
    throw new Refusal(`${folder} cannot be written (${(error as NodeJS.ErrnoException).code}). Name another folder.`);
  }
  const path = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, `${JSON.stringify({ ...manifest, name: packageNameOf(folder) }, null, 2)}\n`);
  writeFileSync(join(folder, '.gitignore'), `${IGNORED.join('\n')}\n`);
  return [
    ...(folder === process.cwd() ? [] : [`cd ${JSON.stringify(name).replace(/^"([\w./-]+)"$/, '$1')}`]),
    'npm install',
    ...TEMPLATES[template].next,
  ];
}
