import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from '../cli/directories.ts';
import { TEMPLATES } from './templates.ts';

/** `npm run build`: writes the package's `dist`, for packing. The templates are the example projects, without a copy of their own. */
const HOME = import.meta.dirname;
const DIST = join(HOME, 'dist');
const GUIDES = 'https://github.com/paylatch/paylatch/blob/main/docs/';
/** Written by tools, or for the repository only. Files with a dot hold secrets and settings of one machine. */
const LEFT_OUT = /^(?:\..*|node_modules|package-lock\.json|next-env\.d\.ts|.*\.tsbuildinfo)$/;

const { name: sdk, version } = JSON.parse(readFileSync(join(ROOT, 'sdk/package.json'), 'utf8')) as { name: string; version: string };

rmSync(DIST, { recursive: true, force: true });
for (const template of Object.keys(TEMPLATES)) {
  const folder = join(ROOT, 'examples', template);
  const target = join(DIST, 'templates', template);
  for (const file of filesIn(folder)) {
    mkdirSync(join(target, file, '..'), { recursive: true });
    cpSync(join(folder, file), join(target, file));
  }
  rewrite(join(target, 'README.md'), toOwnReadme);
  rewrite(join(target, 'package.json'), toPublishedSdk);
}
await build({
  entryPoints: [join(HOME, 'main.ts')],
  outfile: join(DIST, 'main.js'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  banner: { js: '#!/usr/bin/env node' },
  legalComments: 'none',
  logLevel: 'error',
});
copyFileSync(join(ROOT, 'LICENSE'), join(HOME, 'LICENSE'));

function filesIn(folder: string): string[] {
  return globSync('**/*', { cwd: folder, withFileTypes: true, exclude: ({ name }) => LEFT_OUT.test(name) })
    .filter((entry) => entry.isFile() && !LEFT_OUT.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

function rewrite(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}

/** Removes the command of the repository, and links to its guides from outside. Throws if a link into the repository remains. */
function toOwnReadme(text: string): string {
  const own = text.replace(/```sh\nnpm run example -- .*\n```\n\n/, '').replaceAll('(../../docs/', `(${GUIDES}`);
  if (own === text || own.includes('](../') || own.includes('npm run example'))
    throw new Error(`A README leads out of its project:\n${own}`);
  return own;
}

function toPublishedSdk(text: string): string {
  const manifest = JSON.parse(text);
  manifest.dependencies[sdk] = version;
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
