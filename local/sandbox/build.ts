import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { V4WorkerOptions } from 'miniflare';
import { unstable_getMiniflareWorkerOptions as readWorkerOptions } from 'wrangler';
import { bundle, ROOT } from '../bundle.ts';
import { ASSETS_DIR } from '../cli/directories.ts';
import { readMigrations } from '../service/read-migrations.ts';
import type { Settings } from './settings.ts';

/** Variables of wrangler.toml are its only bindings. */
type WorkerOptions = V4WorkerOptions & { bindings?: Record<string, unknown> };

/** `npm run build`: writes the package's `dist`, for packing. Needs the static files of `node local/assets.ts`. */
const HOME = import.meta.dirname;
const DIST = join(HOME, 'dist');

rmSync(DIST, { recursive: true, force: true });
mkdirSync(DIST, { recursive: true });
const { outputs } = await bundle(undefined, join(DIST, 'worker'), { sourcemap: false });
cpSync(ASSETS_DIR, join(DIST, 'assets'), { recursive: true });

const { workerOptions } = readWorkerOptions(join(ROOT, 'wrangler.toml'));
const { rootPath: _, modulesRules: __, bindings = {}, assets, ...options } = workerOptions as WorkerOptions;
const settings: Settings = {
  worker: options,
  // The name of the network and the reference of its transactions: everything else names servers on the internet.
  variables: { NETWORK: String(bindings.NETWORK), SERVICE_REFERENCE: String(bindings.SERVICE_REFERENCE) },
  assets: { ...assets!, directory: 'assets' },
  modules: Object.keys(outputs).map((path) => path.slice(path.lastIndexOf('/') + 1)),
  migrations: readMigrations(),
};
writeFileSync(join(DIST, 'settings.json'), JSON.stringify(settings));

await build({
  entryPoints: [join(HOME, 'main.ts')],
  outfile: join(DIST, 'main.js'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  external: ['miniflare'],
  banner: { js: '#!/usr/bin/env node' },
  legalComments: 'none',
  logLevel: 'error',
});
copyFileSync(join(ROOT, 'LICENSE'), join(HOME, 'LICENSE'));
const { dependencies } = JSON.parse(readFileSync(join(HOME, 'package.json'), 'utf8'));
const proven = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).devDependencies.miniflare;
if (dependencies.miniflare !== proven)
  throw new Error(`The tests run on miniflare ${proven}, the package names ${dependencies.miniflare}.`);
