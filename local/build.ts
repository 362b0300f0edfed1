import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runWrangler } from './wrangler.ts';

/** `npm run build`: the bundle as it would be deployed, and what it weighs. Fails above the budget. */
const OUT_DIR = join(import.meta.dirname, '../dist/worker');
/**
 * Cold starts and the platform's own limit (3 MiB) both grow with it; more than this is a decision, not an accident. The pages
 * in six languages are in it, and zod's own messages in forty, which no bundler sees are unused.
 */
const GZIP_MAX_KIB = 420;
const CONTRIBUTORS_SHOWN = 8;

interface Metafile {
  outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }>;
}

const kib = (bytes: number): string => (bytes / 1024).toFixed(1);

/** The package a source belongs to; our own sources count by their top folder. */
function ownerOf(source: string): string {
  const inPackage = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1];
  return inPackage ?? source.replace(/^(?:\.\.\/)+/, '').split('/')[0]!;
}

/** Minified bytes per package, the biggest first. */
function contributorsOf(metafile: Metafile): [owner: string, bytes: number][] {
  const bytes = new Map<string, number>();
  for (const { inputs } of Object.values(metafile.outputs)) {
    for (const [source, { bytesInOutput }] of Object.entries(inputs)) {
      const owner = ownerOf(source);
      bytes.set(owner, (bytes.get(owner) ?? 0) + bytesInOutput);
    }
  }
  return [...bytes].sort(([, a], [, b]) => b - a);
}

async function build(): Promise<void> {
  const stateDir = mkdtempSync(join(tmpdir(), 'svc-build-'));
  process.once('exit', () => rmSync(stateDir, { recursive: true, force: true }));
  const metafile = join(stateDir, 'meta.json');
  rmSync(OUT_DIR, { recursive: true, force: true });
  await runWrangler(['deploy', '--dry-run', '--minify', '--outdir', OUT_DIR, '--metafile', metafile], { stateDir });
  // Only what would be uploaded: source maps and the note wrangler leaves are not.
  const modules = readdirSync(OUT_DIR, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(?:js|mjs|wasm)$/.test(name));
  if (modules.length === 0) throw new Error(`wrangler left no module in ${OUT_DIR}`);
  const bundle = Buffer.concat(modules.map((name) => readFileSync(join(OUT_DIR, name))));
  const gzipBytes = gzipSync(bundle).length;
  for (const [owner, bytes] of contributorsOf(JSON.parse(readFileSync(metafile, 'utf8')) as Metafile).slice(0, CONTRIBUTORS_SHOWN)) {
    console.log(`${kib(bytes).padStart(8)} KiB  ${owner}`);
  }
  const isWithinBudget = gzipBytes <= GZIP_MAX_KIB * 1024;
  if (!isWithinBudget) console.error(`The bundle is over its budget of ${GZIP_MAX_KIB} KiB gzip.`);
  console.log(`bundle ${kib(bundle.length)} KiB, gzip ${kib(gzipBytes)} KiB`);
  process.exitCode = isWithinBudget ? 0 : 1;
}

build().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
