import {
  appendBezierCurve,
  beginText,
  closePath,
  concatTransformationMatrix,
  drawObject,
  endText,
  fill,
  lineTo,
  moveTo,
  PDFHexString,
  type PDFName,
  type PDFOperator,
  type PDFPage,
  PDFString,
  popGraphicsState,
  pushGraphicsState,
  rectangle,
  setFillingRgbColor,
  setFontAndSize,
  setTextMatrix,
  showText,
} from 'pdf-lib';
import type { EmbeddedFont } from './text/embedded-font.ts';
import type { TextLine } from './text/typesetter.ts';

export type Colour = `#${string}`;
export interface Box {
  x: number;
  top: number;
  width: number;
  height: number;
}

/** Control point distance of a Bézier quarter circle, relative to the radius. */
const QUARTER = 0.5523;
/** Rounds to a hundredth of a point, below any printer's resolution. */
const rounded = (points: number): number => Math.round(points * 100) / 100;
const hex4 = (code: number): string => code.toString(16).padStart(4, '0');

function paint(colour: Colour): PDFOperator {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => Math.round(part * 1000) / 1000);
  return setFillingRgbColor(red, green, blue);
}

/** Drawing surface of a page, in points from its top left corner. Every call carries its colour. */
export class Canvas {
  readonly #page: PDFPage;
  readonly #nameOf: (font: EmbeddedFont) => PDFName;

  /** `nameOf` returns a font's resource name on the page. */
  constructor(page: PDFPage, nameOf: (font: EmbeddedFont) => PDFName) {
    this.#page = page;
    this.#nameOf = nameOf;
  }

  #y(top: number): number {
    return rounded(this.#page.getHeight() - top);
  }

  text(line: TextLine, x: number, baseline: number, colour: Colour): void {
    if (line.runs.length === 0) return;
    const operators = [beginText(), paint(colour)];
    const points = (thousandths: number): number => (thousandths * line.size) / 1000;
    for (const { font, codes, x: start, dy } of line.runs) {
      operators.push(
        setFontAndSize(this.#nameOf(font), line.size),
        setTextMatrix(1, 0, 0, 1, rounded(x + points(start)), rounded(this.#y(baseline) + points(dy))),
        showText(PDFHexString.of(codes.map(hex4).join(''))),
      );
    }
    this.#page.pushOperators(...operators, endText());
  }

  fill({ x, top, width, height }: Box, colour: Colour): void {
    this.#page.pushOperators(paint(colour), rectangle(rounded(x), this.#y(top + height), rounded(width), rounded(height)), fill());
  }

  rounded({ x, top, width, height }: Box, radius: number, colour: Colour): void {
    const [left, right, low, high] = [rounded(x), rounded(x + width), this.#y(top + height), this.#y(top)];
    const bend = radius * (1 - QUARTER);
    const curve = (...points: [number, number, number, number, number, number]) =>
      appendBezierCurve(...(points.map(rounded) as typeof points));
    this.#page.pushOperators(
      paint(colour),
      moveTo(rounded(left + radius), low),
      lineTo(rounded(right - radius), low),
      curve(right - bend, low, right, low + bend, right, low + radius),
      lineTo(right, rounded(high - radius)),
      curve(right, high - bend, right - bend, high, right - radius, high),
      lineTo(rounded(left + radius), high),
      curve(left + bend, high, left, high - bend, left, high - radius),
      lineTo(left, rounded(low + radius)),
      curve(left, low + bend, left + bend, low, left + radius, low),
      closePath(),
      fill(),
    );
  }

  /** Fills boxes as one path, so that no viewer shows seams between them. */
  fillAll(boxes: Box[], colour: Colour): void {
    const shapes = boxes.map(({ x, top, width, height }) => rectangle(rounded(x), this.#y(top + height), rounded(width), rounded(height)));
    this.#page.pushOperators(paint(colour), ...shapes, fill());
  }

  image(name: PDFName, { x, top, width, height }: Box): void {
    this.#page.pushOperators(
      pushGraphicsState(),
      concatTransformationMatrix(rounded(width), 0, 0, rounded(height), rounded(x), this.#y(top + height)),
      drawObject(name),
      popGraphicsState(),
    );
  }

  link({ x, top, width, height }: Box, url: string): void {
    const context = this.#page.doc.context;
    const annotation = context.obj({
      Type: 'Annot',
      Subtype: 'Link',
      Rect: [rounded(x), this.#y(top + height), rounded(x + width), this.#y(top)],
      Border: [0, 0, 0],
      A: { Type: 'Action', S: 'URI', URI: PDFString.of(encodeURI(url)) },
    });
    this.#page.node.addAnnot(context.register(annotation));
  }
}
