import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { collectionOf } from './generate/collection.ts';
import type { Document } from './generate/document.ts';
import { filesOf } from './generate/files.ts';

const ROOT = join(import.meta.dirname, '..');
const COLLECTION = join(ROOT, 'bruno');
const TARGET = join(import.meta.dirname, 'src/generated');

/** Returns the service's document. Node does not read the JSX of its pages, so the app is bundled into a directory that finds its packages. */
export async function readDocument(): Promise<Document> {
  const home = mkdtempSync(join(ROOT, 'node_modules/.sdk-types-'));
  const app = join(home, 'app.mjs');
  try {
    await build({
      entryPoints: [join(ROOT, 'worker/app.ts')],
      outfile: app,
      bundle: true,
      packages: 'external',
      format: 'esm',
      platform: 'node',
      target: 'node24',
      jsx: 'automatic',
      jsxImportSource: 'hono/jsx',
      logLevel: 'error',
    });
    // The compiler does not follow this name: the worker's types are another platform's.
    const { openApiDocument } = (await import(/* @vite-ignore */ pathToFileURL(app).href)) as { openApiDocument(): Document };
    return openApiDocument();
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Returns the text of each file of `src/generated` as it should be now. */
export async function generateFiles(): Promise<Record<string, string>> {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8')) as { version: string };
  const files = Object.entries(filesOf(await readDocument(), version));
  return Object.fromEntries(files.map(([name, text]) => [name, formatted(name, text)]));
}

const formatted = (name: string, text: string): string =>
  execFileSync(join(ROOT, 'node_modules/.bin/biome'), ['check', '--write', `--stdin-file-path=sdk/src/generated/${name}`], {
    input: text,
    encoding: 'utf8',
    maxBuffer: 8 * 1024 ** 2,
  });

/** Returns the text of each file of `bruno` as it should be now. */
export const generateCollection = async (): Promise<Record<string, string>> => collectionOf(await readDocument());

if (import.meta.main) {
  mkdirSync(TARGET, { recursive: true });
  for (const [name, text] of Object.entries(await generateFiles())) writeFileSync(join(TARGET, name), text);
  rmSync(COLLECTION, { recursive: true, force: true });
  for (const [name, text] of Object.entries(await generateCollection())) {
    mkdirSync(dirname(join(COLLECTION, name)), { recursive: true });
    writeFileSync(join(COLLECTION, name), text);
  }
}
