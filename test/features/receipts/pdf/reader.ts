import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { PaperFacts } from '#papers/facts.ts';
import { renderReceipt } from '#papers/render.ts';
import type { LoadFont } from '#papers/text/fonts.ts';
import { ASSETS_DIR } from '../../../../local/cli/directories.ts';

/** Fonts as local/assets.ts laid them out, read anew every time. */
export const loadFont: LoadFont = async (path) => new Uint8Array(readFileSync(join(ASSETS_DIR, path)));

export interface ReadPdf {
  bytes: Uint8Array;
  info: Record<string, unknown>;
  /** The text of each page in its order, without white space. */
  pages: string[];
  text: string;
  /** Pieces of text as they stand beside each other. */
  lines: string[];
  sizes: [width: number, height: number][];
  links: string[];
  /** Whatever a reader could run or open by itself. */
  actions: unknown[];
}

/** The text without white space, in which alone a paper and its facts may differ. */
export const dense = (text: string): string => text.replace(/\s+/gu, '');

/** What a reader of PDF that is not ours gets out of it; a fault in the file, even one it could mend, is an error. */
export async function readPdf(bytes: Uint8Array): Promise<ReadPdf> {
  const task = getDocument({ data: bytes.slice(), stopAtErrors: true, useSystemFonts: false, verbosity: 0 });
  const document = await task.promise;
  const read: ReadPdf = { bytes, info: {}, pages: [], text: '', lines: [], sizes: [], links: [], actions: [] };
  read.info = (await document.getMetadata()).info as Record<string, unknown>;
  read.actions = [await document.getJSActions(), await document.getOpenAction(), await document.getAttachments()].filter(Boolean);
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent({ disableNormalization: true });
    // The fonts are read too, not only their maps.
    await page.getOperatorList();
    const lines = items.flatMap((item) => ('str' in item ? [item.str] : []));
    read.lines.push(...lines);
    read.pages.push(dense(lines.join('')));
    const { width, height } = page.getViewport({ scale: 1 });
    read.sizes.push([width, height]);
    for (const annotation of await page.getAnnotations()) read.links.push(annotation.url);
    read.actions.push(...[await page.getJSActions()].filter(Boolean));
  }
  read.text = read.pages.join('');
  await task.destroy();
  return read;
}

export const renderAndRead = async (facts: PaperFacts): Promise<ReadPdf> => readPdf(await renderReceipt(facts, loadFont));
