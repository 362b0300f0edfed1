import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { build, type Plugin, type Rolldown } from 'vite';
import { REPLACED } from '../../../local/bundle.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
/** Virtual folder of the bundle, never written to disk. */
const BUNDLE = '/one-module';
const OWN = /from '(?:\.\.\/)+((?:worker|durable-objects)\/[^']+\.tsx?)'/g;
const PACKAGE = /from '((?:@[^/']+\/)?[^.@'][^':]*)'/g;

const sourcesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => readFileSync(join(ROOT, folder, file), 'utf8'));

const found = (sources: string[], pattern: RegExp): Set<string> =>
  new Set(sources.flatMap((source) => [...source.matchAll(pattern)].map(([, name]) => name!)));

/** Aliases of replaced packages, for the exact name and no subpath. */
const replaced = () => Object.entries(REPLACED).map(([name, file]) => ({ find: new RegExp(`^${name}$`), replacement: join(ROOT, file) }));

const PDF_MODULES =
  /\/worker\/pdf\/|\/node_modules\/(?:@?pdf-lib|fontkit|bidi-js|uqr|brotli|restructure|dfa|unicode-\w+|tiny-inflate|pako|clone|fast-deep-equal|@swc|base64-js)\//;

/**
 * Bundles the service as one module, as wrangler would. Each file that a test imports and each shared package has an entry that only
 * re-exports, so all share one instance. A worker then starts with one load instead of 600.
 */
async function bundle(): Promise<{ files: Map<string, Rolldown.OutputChunk>; entries: Map<string, string> }> {
  const [tests, service] = [sourcesIn('test'), [...sourcesIn('worker'), ...sourcesIn('durable-objects')]];
  const used = found(service, PACKAGE);
  const packages = [...found(tests, PACKAGE)].filter((name) => used.has(name) && !name.startsWith('cloudflare'));
  const names = ['worker/index.ts', ...found(tests, OWN), ...packages];
  const entries = new Map([...new Set(names)].map((name, index) => [name, `entry-${index}`]));
  const input = Object.fromEntries([...entries].map(([name, entry]) => [entry, packages.includes(name) ? name : join(ROOT, name)]));
  const built = (await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    resolve: { alias: replaced() },
    ssr: { noExternal: true, target: 'webworker', resolve: { conditions: ['workerd', 'worker', 'browser', 'module', 'production'] } },
    build: {
      ssr: true,
      write: false,
      sourcemap: true,
      rolldownOptions: {
        input,
        external: [/^cloudflare:/, /^node:/],
        preserveEntrySignatures: 'strict',
        output: {
          entryFileNames: '[name].js',
          // No rule of wrangler.toml matches this name.
          chunkFileNames: '[name].chunk.js',
          // PDF code is loaded only by the tests that render one.
          codeSplitting: { groups: [{ name: 'service', test: (id: string) => !PDF_MODULES.test(id) }] },
          // Every worker start sends the bundle, so sources and blanks are left out.
          sourcemapExcludeSources: true,
          minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
        },
      },
    },
  })) as Rolldown.RolldownOutput;
  const files = new Map(built.output.flatMap((file) => (file.type === 'chunk' ? [[join(BUNDLE, file.fileName), file]] : [])));
  return { files, entries: new Map([...entries].map(([name, entry]) => [name, join(BUNDLE, `${entry}.js`)])) };
}

let bundled: ReturnType<typeof bundle> | null = null;

/** Loads the bundle in single runs, and every file unbundled in watch mode. */
export function oneModule(): Plugin {
  let isWatching = false;
  return {
    name: 'one-module',
    enforce: 'pre',
    configureVitest: ({ vitest }: { vitest: { config: { watch: boolean } } }) => {
      isWatching = vitest.config.watch;
    },
    async resolveId(source, importer) {
      if (isWatching || this.environment.name === '__vitest__' || source.includes('?') || !importer) return null;
      bundled ??= bundle();
      const { files, entries } = await bundled;
      if (!source.startsWith('.')) return entries.get(source) ?? null;
      const path = resolve(importer, '..', source);
      return files.has(path) ? path : (entries.get(relative(ROOT, path)) ?? null);
    },
    async load(id) {
      const file = id.startsWith(BUNDLE) ? (await bundled)?.files.get(id) : undefined;
      return file ? { code: file.code, map: file.map } : null;
    },
  } as Plugin;
}
