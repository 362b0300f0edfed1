import { describe, expect, it } from 'vitest';
import { sha256Hex } from '#core/crypto.ts';
import { renderReceipt } from '#pdf/render.ts';
import { FONT_ASSETS } from '#pdf/text/font-assets.ts';
import { RECEIPT_SAMPLES } from '../../../local/bench/receipt-samples.ts';
import { RECEIPT_BYTES } from '../../support/fixtures/receipt-bytes.ts';
import { testEnv } from '../../support/runner/env.ts';

/** Loads fonts from the static assets, as a deployed Worker does, and records the requested paths. */
function assetFonts() {
  const asked: string[] = [];
  const load = async (path: string): Promise<Uint8Array> => {
    asked.push(path);
    const response = await (testEnv.ASSETS as Fetcher).fetch(`https://assets.test${path}`);
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  };
  return { asked, load };
}
const { regular, bold, mono } = FONT_ASSETS;

describe('renderReceipt in workerd', () => {
  it.each(Object.entries(RECEIPT_BYTES))('the PDF has the same bytes as on every platform: %s', async (kind, sha256) => {
    const first = await renderReceipt(RECEIPT_SAMPLES[kind]!, assetFonts().load);
    expect(sha256Hex(first)).toBe(sha256);
    expect(sha256Hex(await renderReceipt(RECEIPT_SAMPLES[kind]!, assetFonts().load))).toBe(sha256);
  });

  it('only the base fonts are loaded if they have every character', async () => {
    const { asked, load } = assetFonts();
    await renderReceipt(RECEIPT_SAMPLES['long-names']!, load);
    expect(asked).toEqual([regular, bold, mono]);
  });

  it('the index of a script and the few slices with its characters are loaded', async () => {
    const { asked, load } = assetFonts();
    await renderReceipt(RECEIPT_SAMPLES.japanese!, load);
    const [index, ...slices] = asked.slice(3);
    expect(index).toBe(FONT_ASSETS.japanese);
    expect(slices.length).toBeGreaterThan(1);
    expect(slices.length).toBeLessThan(20);
    expect(slices.filter((path) => !path.includes('noto-sans-jp-'))).toEqual([]);
  });

  it('rendering fails if a font cannot be loaded', async () => {
    const { load } = assetFonts();
    const loadBroken = (path: string) => (path === mono ? Promise.reject(new Error('no asset')) : load(path));
    await expect(renderReceipt(RECEIPT_SAMPLES.plain!, loadBroken)).rejects.toThrow('no asset');
  });
});
