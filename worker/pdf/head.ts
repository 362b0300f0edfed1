import type { PDFName } from 'pdf-lib';
import { encode } from 'uqr';
import { CODE, COLOURS, COLUMN, drawRight, PAGE, SMALL, TEXT } from './blocks.ts';
import type { Box, Canvas, Colour } from './canvas.ts';
import type { Block } from './flow.ts';
import type { PdfDocument } from './sections.ts';
import type { Face } from './text/fonts.ts';
import { joinLines, type Style, type TextLine, type Typesetter } from './text/typesetter.ts';

/** Header above the sections, and the margins of every page. */
const LOGO = { width: 160, height: 44 };
const QR_SIDE = 92;
const KIND: Style = { face: 'bold', size: 11 };
/** Sizes to try, largest first, each with its most lines. In the last size longer text is cut. */
type Fit = [size: number, lines: number];
const AMOUNT: Fit[] = [
  [30, 1],
  [22, 1],
  [14, 1],
  [10, 3],
];
const NAME: Fit[] = [
  [15, 1],
  [12.5, 1],
  [15, 2],
  [12, 2],
  [10, 3],
  [9, 4],
];
const SELLER: Fit[] = [[10, 3]];
const TIGHT = 1.3;
export const ELLIPSIS = '…';
const ACCENT_HEIGHT = 5;

/** Sets text in the first size that fits. Cut text ends with an ellipsis, and its full form is among the facts. */
function fitted(type: Typesetter, text: string, face: Face, fits: Fit[], width: number): TextLine[] {
  for (const [size, linesMax] of fits) {
    const lines = type.set(text, { face, size }, width);
    if (lines.length <= linesMax) return lines;
  }
  const [size, linesMax] = fits.at(-1)!;
  const lines = type.set(text, { face, size }, width).slice(0, linesMax);
  const last = lines.pop()!;
  return [...lines, joinLines(last, type.line(ELLIPSIS, { face, size }))];
}

const heightOf = (lines: TextLine[]): number => lines.reduce((sum, { size }) => sum + size * TIGHT, 0);

function drawLines(canvas: Canvas, lines: TextLine[], x: number, top: number, colour: Colour): number {
  let y = top;
  for (const line of lines) {
    canvas.text(line, x, y + line.size, colour);
    y += line.size * TIGHT;
  }
  return y;
}

function logoBox({ width, height }: { width: number; height: number }, top: number): Box {
  const scale = Math.min(LOGO.width / width, LOGO.height / height, 1);
  return { x: COLUMN.left, top, width: width * scale, height: height * scale };
}

export function brandBlock(type: Typesetter, content: PdfDocument, logo: { name: PDFName; width: number; height: number } | null): Block {
  const picture = logo && logoBox(logo, 0);
  const x = COLUMN.left + (picture ? picture.width + 12 : 0);
  const brand = fitted(type, content.brand, 'bold', NAME, COLUMN.right - 190 - x);
  const kind = type.line(content.kind, KIND);
  const id = type.line(content.receiptId, CODE);
  const height = Math.max(picture?.height ?? 0, heightOf(brand), 32);
  const draw = (canvas: Canvas, top: number): void => {
    if (picture) canvas.image(logo.name, logoBox(logo, top + (height - picture.height) / 2));
    drawLines(canvas, brand, x, top + (height - heightOf(brand)) / 2, COLOURS.ink);
    drawRight(canvas, kind, COLUMN.right, top + height / 2 - 2, COLOURS.ink);
    drawRight(canvas, id, COLUMN.right, top + height / 2 + 11, COLOURS.soft);
  };
  return { height, draw };
}

/** Dark modules of a QR code, each run in a row as one box. Pure. */
function qrBoxes(text: string, x: number, top: number, side: number): Box[] {
  const { data, size } = encode(text, { ecc: 'M', border: 0 });
  const module = side / size;
  const boxes: Box[] = [];
  for (const [row, cells] of data.entries()) {
    for (let column = 0; column < size; column++) {
      const from = column;
      while (cells[column]) column++;
      if (column > from) boxes.push({ x: x + from * module, top: top + row * module, width: (column - from) * module, height: module });
    }
  }
  return boxes;
}

export function heroBlock(type: Typesetter, { hero, proof, marks }: PdfDocument): Block {
  const width = COLUMN.width - QR_SIDE - 24;
  const label = type.line(hero.label, TEXT);
  const amount = fitted(type, hero.amount, 'bold', AMOUNT, width);
  const time = type.line(hero.time, { face: 'regular', size: 10 });
  const product = fitted(type, hero.product, 'bold', NAME, width);
  const seller = fitted(type, hero.seller, 'regular', SELLER, width);
  const caption = type.line(proof.caption, SMALL);
  const left = 14 + heightOf(amount) + 16 + 14 + heightOf(product) + heightOf(seller);
  const draw = (canvas: Canvas, top: number): void => {
    canvas.text(label, COLUMN.left, top + TEXT.size, COLOURS.soft);
    const isVoid = marks.some(({ name }) => name === 'ORPHANED');
    const belowAmount = drawLines(canvas, amount, COLUMN.left, top + 14, isVoid ? COLOURS.soft : COLOURS.ink);
    if (isVoid) canvas.fill({ x: COLUMN.left, top: top + 14 + amount[0]!.size * 0.66, width: amount[0]!.width, height: 1.5 }, COLOURS.soft);
    canvas.text(time, COLUMN.left, belowAmount + 11, COLOURS.soft);
    const belowProduct = drawLines(canvas, product, COLUMN.left, belowAmount + 30, COLOURS.ink);
    drawLines(canvas, seller, COLUMN.left, belowProduct, COLOURS.soft);
    const code = { x: COLUMN.right - QR_SIDE, top, width: QR_SIDE, height: QR_SIDE };
    canvas.fillAll(qrBoxes(proof.url, code.x, code.top, QR_SIDE), COLOURS.ink);
    canvas.text(caption, code.x + (QR_SIDE - caption.width) / 2, top + QR_SIDE + 13, COLOURS.soft);
    canvas.link(code, proof.url);
  };
  return { height: Math.max(left, QR_SIDE + 18), gap: 26, draw };
}

/** Page number, receipt id and marks, so that a single page is identifiable. */
export function drawMargins(
  canvas: Canvas,
  type: Typesetter,
  content: PdfDocument,
  page: { number: number; of: number; accent: Colour | null },
): void {
  if (page.accent) canvas.fill({ x: 0, top: 0, width: PAGE.width, height: ACCENT_HEIGHT }, page.accent);
  const foot = PAGE.height - 32;
  canvas.fill({ x: COLUMN.left, top: foot - 14, width: COLUMN.width, height: 0.6 }, COLOURS.line);
  canvas.text(type.line(content.title, SMALL), COLUMN.left, foot, COLOURS.soft);
  drawRight(canvas, type.line(`Page ${page.number} of ${page.of}`, SMALL), COLUMN.right, foot, COLOURS.soft);
  if (page.number === 1) return;
  let x = COLUMN.left;
  for (const { name } of content.marks) {
    const line = type.line(name, { face: 'bold', size: 8 });
    canvas.rounded({ x, top: 24, width: line.width + 14, height: 15 }, 5, COLOURS[name].ground);
    canvas.text(line, x + 7, 34.5, COLOURS[name].text);
    x += line.width + 22;
  }
}
