import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Metafile } from 'esbuild';
import { bundle, ROOT } from './bundle.ts';
import { runWrangler } from './service/wrangler.ts';

/** `npm run build`: bundles the Worker as deployed and checks its size. Fails above the budget. */
/**
 * Budget of the start modules, gzipped: their size delays cold starts of the Worker and of every Durable Object. Raise it only
 * deliberately.
 */
const START_MAX_KIB = 275;
const BUNDLE_MAX_KIB = 1536;
const CONTRIBUTORS_SHOWN = 8;

const kib = (bytes: number): string => (bytes / 1024).toFixed(1);

function ownerOf(source: string): string {
  const inPackage = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1];
  return inPackage ?? source.replace(/^(?:\.\.\/)+/, '').split('/')[0]!;
}

function contributorsOf({ outputs }: Metafile, paths: string[]): [owner: string, bytes: number][] {
  const bytes = new Map<string, number>();
  for (const path of paths) {
    for (const [source, { bytesInOutput }] of Object.entries(outputs[path]!.inputs)) {
      const owner = ownerOf(source);
      bytes.set(owner, (bytes.get(owner) ?? 0) + bytesInOutput);
    }
  }
  return [...bytes].sort(([, a], [, b]) => b - a);
}

/** Returns the start modules: the entry and its static imports, transitively. */
function startOf({ outputs }: Metafile): string[] {
  const entry = Object.keys(outputs).find((path) => outputs[path]!.entryPoint === 'worker/index.ts');
  if (!entry) throw new Error('the metafile names no entry');
  const read = new Set([entry]);
  for (const path of read)
    for (const imported of outputs[path]!.imports) if (imported.kind === 'import-statement' && !imported.external) read.add(imported.path);
  return [...read];
}

function weigh(what: string, paths: string[], maxKib: number): boolean {
  const bytes = Buffer.concat(paths.map((path) => readFileSync(join(ROOT, path))));
  const gzipKib = gzipSync(bytes).length / 1024;
  console.log(`${what} ${kib(bytes.length)} KiB, gzip ${gzipKib.toFixed(1)} KiB of at most ${maxKib}, in ${paths.length} modules`);
  return gzipKib <= maxKib;
}

async function build(): Promise<void> {
  const metafile = await bundle();
  const modules = Object.keys(metafile.outputs).filter((path) => path.endsWith('.js'));
  const start = startOf(metafile);
  for (const [owner, bytes] of contributorsOf(metafile, start).slice(0, CONTRIBUTORS_SHOWN)) {
    console.log(`${kib(bytes).padStart(8)} KiB  ${owner}`);
  }
  const isLight = [weigh('start', start, START_MAX_KIB), weigh('whole', modules, BUNDLE_MAX_KIB)].every(Boolean);
  if (!isLight) console.error('The Worker is over its budget.');
  process.exitCode = isLight ? 0 : 1;
  // Dry-run upload, so that the measured files are the deployed ones.
  const stateDir = mkdtempSync(join(tmpdir(), 'svc-build-'));
  process.once('exit', () => rmSync(stateDir, { recursive: true, force: true }));
  await runWrangler(['deploy', '--dry-run', '--outdir', join(stateDir, 'worker')], { stateDir });
}

build().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
