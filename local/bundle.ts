/**
 * Bundles the Worker into modules: static imports are read before the first answer, `await import(…)` on first use. wrangler runs this
 * (`[build]` in wrangler.toml) and uploads the modules unchanged, because its own bundle would be a single module.
 * @module
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, join } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

export const ROOT = join(import.meta.dirname, '..');
const ENTRY = join(ROOT, 'worker/index.ts');
const OUT_DIR = join(ROOT, 'dist/bundle');

/** Replacements of packages: zod's messages in forty languages would be a third of the Worker. */
export const REPLACED: Record<string, string> = { zod: './worker/core/zod/index.ts' };

/** workerd resolves Node's modules only with the `node:` prefix. */
const nodeModules: Plugin = {
  name: 'node-modules',
  setup: ({ onResolve }) => {
    const names = builtinModules.filter((name) => !name.startsWith('_')).join('|');
    onResolve({ filter: new RegExp(`^(?:${names})$`) }, ({ path }) => ({ path: `node:${path}`, external: true }));
  },
};

/** Library parts that PDF rendering never uses: WOFF2 fonts, the fourteen standard fonts, pdf-lib's PNG reader. */
const UNUSED: Record<string, string> = {
  'brotli/decompress.js': 'export default null;',
  '@pdf-lib/standard-fonts': 'export const Font = null, FontNames = {}, Encodings = {};',
  '@pdf-lib/upng': 'export default null;',
};

/** Library parts that no code of the Worker calls: zod's JSON Schema, drizzle's relational queries. */
const UNCALLED: Record<string, string> = {
  'zod/v4/core/json-schema-generator.js': 'export const JSONSchemaGenerator = null;',
  'zod/v4/core/to-json-schema.js': 'export const createStandardJSONSchemaMethod = () => null, createToJSONSchemaMethod = () => null;',
  'drizzle-orm/relations.js': `export class One {} export class Many {} export const createTableRelationsHelpers = null,
    extractTablesRelationalConfig = null, getOperators = null, getOrderByOperators = null, mapRelationalRow = null, normalizeRelation = null;`,
};
const UNCALLED_FILES = /\/node_modules\/(zod\/v4\/core\/(?:json-schema-generator|to-json-schema)\.js|drizzle-orm\/relations\.js)$/;

/** Cuts a piece out of a library. Throws if the library has no such piece. */
function without(path: string, piece: RegExp, instead = ''): string {
  const source = readFileSync(path, 'utf8');
  if (!piece.test(source)) throw new Error(`${path}: nothing to leave out`);
  return source.replace(piece, instead);
}

/** zod's JSON Schema of each type. What is before it computes the limits that a schema shows, which the document needs. */
const JSON_SCHEMA_TYPES = /import \{[^}]*\} from "\.\/to-json-schema\.js";(.*?)\nconst formatMap = .*/s;

/** Texts of Solana errors, unused in a production build. esbuild cannot remove them, because their keys are computed. */
const SOLANA_ERROR_TEXTS = /(?<=\bSolanaErrorMessages = \{).*?(?=\n\};)/s;

const leaveOut: Plugin = {
  name: 'leave-out',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^(?:brotli\/decompress\.js|@pdf-lib\/.*)$/ }, ({ path }) =>
      path in UNUSED ? { path, namespace: 'unused' } : null,
    );
    onLoad({ filter: /./, namespace: 'unused' }, ({ path }) => ({ contents: UNUSED[path]! }));
    onLoad({ filter: UNCALLED_FILES }, ({ path }) => ({ contents: UNCALLED[UNCALLED_FILES.exec(path)![1]!]! }));
    onLoad({ filter: /@solana\/errors\/dist\/index\.[a-z]+\.mjs$/ }, ({ path }) => ({ contents: without(path, SOLANA_ERROR_TEXTS) }));
    onLoad({ filter: /zod\/v4\/core\/json-schema-processors\.js$/ }, ({ path }) => ({
      contents: without(path, JSON_SCHEMA_TYPES, '$1\nexport const toJSONSchema = null;'),
    }));
  },
};

/** Build options of the Worker, shared by its deployment and its simulation. */
export const WORKER_BUILD = {
  absWorkingDir: ROOT,
  bundle: true,
  splitting: true,
  chunkNames: 'part-[name]-[hash]',
  minify: true,
  sourcemap: true,
  sourcesContent: false,
  format: 'esm',
  target: 'es2024',
  platform: 'browser',
  conditions: ['workerd', 'worker', 'browser', 'module'],
  mainFields: ['browser', 'module', 'main'],
  external: ['cloudflare:*', 'node:*'],
  alias: REPLACED,
  define: { 'process.env.NODE_ENV': '"production"' },
  jsx: 'automatic',
  jsxImportSource: 'hono/jsx',
  plugins: [nodeModules, leaveOut],
  logLevel: 'error',
} satisfies BuildOptions;

export async function bundle(entry: string = ENTRY, outDir: string = OUT_DIR, options: BuildOptions = {}): Promise<Metafile> {
  const written = { outdir: outDir, write: false, metafile: true } as const;
  const { outputFiles, metafile } = await build({ ...WORKER_BUILD, ...options, entryPoints: [entry], ...written });
  mkdirSync(outDir, { recursive: true });
  for (const { path, contents } of outputFiles) {
    // A running service watches the files, so unchanged ones are skipped and changed ones replaced atomically.
    if (existsSync(path) && readFileSync(path).equals(contents)) continue;
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, contents);
    renameSync(draft, path);
  }
  const names = new Set(outputFiles.map(({ path }) => basename(path)));
  for (const name of readdirSync(outDir)) if (!names.has(name) && !/\.\d+$/.test(name)) rmSync(join(outDir, name), { force: true });
  return metafile;
}

if (import.meta.main) await bundle();
