/**
 * `npm run bench:receipts`: measures CPU time and size of receipt PDFs by kind. Writes the files to dist/receipts for inspection.
 * @module
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { renderReceipt as Render } from '#pdf/render.ts';
import { bundle, ROOT } from '../bundle.ts';
import { ASSETS_DIR } from '../cli/directories.ts';
import { RECEIPT_SAMPLES } from './receipt-samples.ts';

const OUT_DIR = join(import.meta.dirname, '../../dist/receipts');
const RUNS = 15;

const cachedFonts = new Map<string, Uint8Array>();
/** Loads a font as a warm isolate does, from memory. */
const loadCached = async (path: string): Promise<Uint8Array> =>
  cachedFonts.get(path) ?? cachedFonts.set(path, readFileSync(join(ASSETS_DIR, path))).get(path)!;
const loadFresh = async (path: string): Promise<Uint8Array> => new Uint8Array(readFileSync(join(ASSETS_DIR, path)));

async function measureCpu(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function bench(): Promise<void> {
  mkdirSync(OUT_DIR, { recursive: true });
  const { outputs } = await bundle(join(ROOT, 'worker/pdf/render.ts'), join(OUT_DIR, 'module'));
  const file = join(OUT_DIR, 'module/render.js');
  const text = Object.keys(outputs)
    .filter((path) => path.endsWith('.js'))
    .map((path) => readFileSync(join(ROOT, path), 'utf8'))
    .join('');
  let renderReceipt!: typeof Render;
  const loaded = await measureCpu(async () => ({ renderReceipt } = (await import(file)) as { renderReceipt: typeof Render }));
  const first = await measureCpu(() => renderReceipt(RECEIPT_SAMPLES.plain!, loadFresh));
  console.log(`the module: ${(gzipSync(text, { level: 9 }).length / 1024).toFixed(0)} KiB gzip, ${loaded.toFixed(0)} ms CPU to import`);
  console.log(`the first receipt of a fresh process: ${first.toFixed(0)} ms CPU\n`);
  console.log(`${'kind'.padEnd(18)}${'KiB'.padStart(8)}${'cold ms'.padStart(10)}${'warm ms'.padStart(10)}`);
  for (const [kind, facts] of Object.entries(RECEIPT_SAMPLES)) {
    const cold: number[] = [];
    const warm: number[] = [];
    let pdf = new Uint8Array();
    for (let run = 0; run < RUNS; run++) {
      cold.push(await measureCpu(() => renderReceipt(facts, loadFresh)));
      warm.push(
        await measureCpu(async () => {
          pdf = new Uint8Array(await renderReceipt(facts, loadCached));
        }),
      );
    }
    writeFileSync(join(OUT_DIR, `${kind}.pdf`), pdf);
    const median = (times: number[]) =>
      times
        .toSorted((a, b) => a - b)
        [RUNS >> 1]!.toFixed(0)
        .padStart(10);
    console.log(`${kind.padEnd(18)}${(pdf.length / 1024).toFixed(1).padStart(8)}${median(cold)}${median(warm)}`);
  }
  console.log('\ncold: fonts parsed anew. Aims: 150 ms CPU, 120 KiB, with Chinese, Japanese or Korean 400 KiB.');
}

await bench();
