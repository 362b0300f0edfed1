import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { renderReceipt } from '#pdf/render.ts';
import { RECEIPT_SAMPLES, receiptFacts } from '../../../../local/bench/receipt-samples.ts';
import { bundle, ROOT } from '../../../../local/bundle.ts';
import { RECEIPT_BYTES } from '../../../support/fixtures/receipt-bytes.ts';
import { loadFont } from './reader.ts';

const hashReceipt = async (kind: string, load = loadFont): Promise<string> =>
  createHash('sha256')
    .update(await renderReceipt(RECEIPT_SAMPLES[kind]!, load))
    .digest('hex');

/** Size limit of the code that an isolate loads for its first receipt, without fonts. */
const MODULE_GZIP_MAX_KIB = 200;

describe('bundled renderer', () => {
  it('the bundle renders the same bytes within its size limit', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-receipts-'));
    try {
      await bundle(join(ROOT, 'worker/pdf/render.ts'), directory);
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

describe('reproducible PDF receipt', () => {
  it.each(Object.entries(RECEIPT_BYTES))('a receipt has the recorded bytes: %s', async (kind, sha256) => {
    expect(await hashReceipt(kind)).toBe(sha256);
  });

  it('the bytes do not depend on shared fonts or concurrent rendering', async () => {
    const cache = new Map<string, Promise<Uint8Array>>();
    const loadCached = (path: string) => cache.get(path) ?? cache.set(path, loadFont(path)).get(path)!;
    const kinds = Object.keys(RECEIPT_BYTES);
    await Promise.all(Object.keys(RECEIPT_SAMPLES).map((kind) => hashReceipt(kind, loadCached)));
    expect(await Promise.all(kinds.map((kind) => hashReceipt(kind, loadCached)))).toEqual(kinds.map((kind) => RECEIPT_BYTES[kind]));
  });

  it('the bytes do not depend on the order in which fonts load', async () => {
    let waiting = 0;
    const loadLate = async (path: string) => {
      waiting++;
      await new Promise((resolve) => setTimeout(resolve, 40 - Math.min(39, waiting * 3)));
      return loadFont(path);
    };
    expect(await hashReceipt('japanese', loadLate)).toBe(RECEIPT_BYTES.japanese);
  });

  it('any change of the receipt changes the bytes', async () => {
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
