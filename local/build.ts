import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runWrangler } from './wrangler.ts';

/** `npm run build`: the Worker as it would be deployed, and what it weighs. Fails above the budget. */
const OUT_DIR = join(import.meta.dirname, '../dist/worker');
/**
 * What is read before the first answer, gzipped: a cold start grows with it, and so does every Durable Object. More than this is a decision,
 * not an accident.
 */
const START_MAX_KIB = 350;
/** With what is loaded later. The platform's own limit is 3 MiB. */
const WHOLE_MAX_KIB = 1536;
const CONTRIBUTORS_SHOWN = 8;

interface Metafile {
  outputs: Record<
    string,
    { entryPoint?: string; inputs: Record<string, { bytesInOutput: number }>; imports: { path: string; kind: string }[] }
  >;
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

/** The modules that are read before the first answer: the entry, and what it imports in so many words. Others are imported when needed. */
function startOf({ outputs }: Metafile, modules: string[]): string[] {
  const [path, entry] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint) ?? [];
  if (!path || !entry) throw new Error('the metafile names no entry');
  const imported = entry.imports.filter(({ kind }) => kind === 'import-statement').map((module) => basename(module.path));
  return modules.filter((name) => name === basename(path) || imported.includes(name));
}

/** Says what these modules weigh, and whether that is within the budget. */
function weigh(what: string, names: string[], maxKib: number): boolean {
  const bytes = Buffer.concat(names.map((name) => readFileSync(join(OUT_DIR, name))));
  const gzipKib = gzipSync(bytes).length / 1024;
  console.log(`${what} ${kib(bytes.length)} KiB, gzip ${gzipKib.toFixed(1)} KiB of at most ${maxKib}`);
  return gzipKib <= maxKib;
}

async function build(): Promise<void> {
  const stateDir = mkdtempSync(join(tmpdir(), 'svc-build-'));
  process.once('exit', () => rmSync(stateDir, { recursive: true, force: true }));
  const metafilePath = join(stateDir, 'meta.json');
  rmSync(OUT_DIR, { recursive: true, force: true });
  await runWrangler(['deploy', '--dry-run', '--outdir', OUT_DIR, '--metafile', metafilePath], { stateDir });
  // Only what would be uploaded: source maps and the note wrangler leaves are not.
  const modules = readdirSync(OUT_DIR, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(?:js|mjs|wasm)$/.test(name));
  const metafile = JSON.parse(readFileSync(metafilePath, 'utf8')) as Metafile;
  for (const [owner, bytes] of contributorsOf(metafile).slice(0, CONTRIBUTORS_SHOWN)) {
    console.log(`${kib(bytes).padStart(8)} KiB  ${owner}`);
  }
  const isLight = [weigh('start', startOf(metafile, modules), START_MAX_KIB), weigh('whole', modules, WHOLE_MAX_KIB)].every(Boolean);
  if (!isLight) console.error('The Worker is over its budget.');
  process.exitCode = isLight ? 0 : 1;
}

build().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
