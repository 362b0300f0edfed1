import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { PdfFacts } from '#pdf/facts.ts';
import { renderReceipt } from '#pdf/render.ts';
import type { LoadFont } from '#pdf/text/fonts.ts';
import { ASSETS_DIR } from '../../../../local/cli/directories.ts';

/** Loads fonts from the output of local/assets.ts without a cache. */
export const loadFont: LoadFont = async (path) => new Uint8Array(readFileSync(join(ASSETS_DIR, path)));

export interface ReadPdf {
  bytes: Uint8Array;
  info: Record<string, unknown>;
  /** Text of each page in reading order, without white space. */
  pages: string[];
  text: string;
  lines: string[];
  sizes: [width: number, height: number][];
  links: string[];
  actions: unknown[];
}

/** Removes white space, the only permitted difference between a PDF and its facts. */
export const dense = (text: string): string => text.replace(/\s+/gu, '');

/** Reads a PDF with a third-party reader. Throws on any fault in the file, even one that the reader could repair. */
export async function readPdf(bytes: Uint8Array): Promise<ReadPdf> {
  const task = getDocument({ data: bytes.slice(), stopAtErrors: true, useSystemFonts: false, verbosity: 0 });
  const document = await task.promise;
  const read: ReadPdf = { bytes, info: {}, pages: [], text: '', lines: [], sizes: [], links: [], actions: [] };
  read.info = (await document.getMetadata()).info as Record<string, unknown>;
  read.actions = [await document.getJSActions(), await document.getOpenAction(), await document.getAttachments()].filter(Boolean);
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent({ disableNormalization: true });
    // Loads the fonts as well, not only their character maps.
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

export const renderAndRead = async (facts: PdfFacts): Promise<ReadPdf> => readPdf(await renderReceipt(facts, loadFont));
