import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { renderReceipt } from '#papers/render.ts';
import { RECEIPT_SAMPLES, receiptFacts } from '../../../../local/bench/receipt-samples.ts';
import { bundle, ROOT } from '../../../../local/bundle.ts';
import { RECEIPT_BYTES } from '../../../support/fixtures/receipt-bytes.ts';
import { loadFont } from './reader.ts';

const sha256Of = async (kind: string, load = loadFont): Promise<string> =>
  createHash('sha256')
    .update(await renderReceipt(RECEIPT_SAMPLES[kind]!, load))
    .digest('hex');

/** All that the first receipt of an isolate has to load besides fonts. */
const MODULE_GZIP_MAX_KIB = 200;

describe('the renderer as a module of its own', () => {
  it('makes the same bytes, and weighs no more than it may', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-receipts-'));
    try {
      await bundle(join(ROOT, 'worker/papers/render.ts'), directory);
      const text = readdirSync(directory)
        .filter((name) => name.endsWith('.js'))
        .map((name) => readFileSync(join(directory, name), 'utf8'))
        .join('');
      const built = (await import(join(directory, 'render.js'))) as { renderReceipt: typeof renderReceipt };
      for (const [kind, sha256] of Object.entries(RECEIPT_BYTES)) {
        const pdf = await built.renderReceipt(RECEIPT_SAMPLES[kind]!, loadFont);
        expect(createHash('sha256').update(pdf).digest('hex')).toBe(sha256);
      }
      expect(gzipSync(text, { level: 9 }).length).toBeLessThan(MODULE_GZIP_MAX_KIB * 1024);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

describe('the same receipt', () => {
  it.each(Object.entries(RECEIPT_BYTES))('has the bytes it has everywhere: %s', async (kind, sha256) => {
    expect(await sha256Of(kind)).toBe(sha256);
  });

  it('has them whatever was made before from the same fonts, and at the same time', async () => {
    const kept = new Map<string, Promise<Uint8Array>>();
    const loadKept = (path: string) => kept.get(path) ?? kept.set(path, loadFont(path)).get(path)!;
    const kinds = Object.keys(RECEIPT_BYTES);
    await Promise.all(Object.keys(RECEIPT_SAMPLES).map((kind) => sha256Of(kind, loadKept)));
    expect(await Promise.all(kinds.map((kind) => sha256Of(kind, loadKept)))).toEqual(kinds.map((kind) => RECEIPT_BYTES[kind]));
  });

  it('has them in whatever order its fonts arrive', async () => {
    let waiting = 0;
    const loadLate = async (path: string) => {
      waiting++;
      await new Promise((resolve) => setTimeout(resolve, 40 - Math.min(39, waiting * 3)));
      return loadFont(path);
    };
    expect(await sha256Of('japanese', loadLate)).toBe(RECEIPT_BYTES.japanese);
  });

  it('has others where anything of it is other', async () => {
    const plain = RECEIPT_SAMPLES.plain!;
    const variants = [
      plain,
      { ...plain, isOrphaned: true },
      { ...plain, brand: { name: 'Ada’s weathes' } },
      receiptFacts({ version: '1', operator: undefined, slot: 1 }),
    ];
    const hashes = await Promise.all(variants.map(async (facts) => Buffer.from(await renderReceipt(facts, loadFont)).toString('hex')));
    expect(new Set(hashes).size).toBe(variants.length);
  });
});
