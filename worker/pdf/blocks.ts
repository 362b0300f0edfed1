import type { Canvas, Colour } from './canvas.ts';
import type { Block } from './flow.ts';
import type { InvoiceLine, Mark, PdfDocument, Row } from './sections.ts';
import type { Style, TextLine, Typesetter } from './text/typesetter.ts';

/** A4 in points (ISO 216), and its text column. */
export const PAGE = { width: 595.28, height: 841.89 };
export const COLUMN = { left: 48, right: PAGE.width - 48, width: PAGE.width - 96 };

export const COLOURS = {
  ink: '#14171f',
  soft: '#566070',
  line: '#dfe3ea',
  TEST: { text: '#7a4a00', ground: '#fff1d2' },
  ORPHANED: { text: '#b3261e', ground: '#fcedeb' },
} as const satisfies Record<string, Colour | { text: Colour; ground: Colour }>;

export const TEXT: Style = { face: 'regular', size: 9 };
const TABLE: Style = { face: 'regular', size: 8.5 };
export const SMALL: Style = { face: 'regular', size: 8 };
/** Small enough for a signature of 88 characters on one line, so that it can be copied in one piece. */
export const CODE: Style = { face: 'mono', size: 7.3 };
const HEADING: Style = { face: 'bold', size: 10 };

const LABELS = 104;
const VALUES = COLUMN.width - LABELS;
const LINE_HEIGHT = 13;
const BASELINE = 9.5;
const ROW_GAP = 2;
const TABLE_LINE = 11;
const TABLE_BASELINE = 9;
const GUTTER = 24;
/** A text of more lines may break across pages. */
const LINES_TOGETHER = 8;
const QUANTITY = 74;
const AMOUNT = 104;

export const drawRight = (canvas: Canvas, line: TextLine, right: number, baseline: number, colour: Colour): void =>
  canvas.text(line, right - line.width, baseline, colour);

/** Right-aligns the lines of a right-to-left paragraph of several lines. */
const startOf = (line: TextLine, lines: TextLine[], x: number, width: number): number =>
  line.isRtl && lines.length > 1 ? x + width - line.width : x;

/** Stacks lines. `drawLabel` runs before the first of them. */
function linesBlocks(
  lines: TextLine[],
  x: number,
  width: number,
  drawLabel: (canvas: Canvas, top: number) => void,
  gap = ROW_GAP,
): Block[] {
  const drawLine = (canvas: Canvas, line: TextLine, top: number): void =>
    canvas.text(line, startOf(line, lines, x, width), top + BASELINE, COLOURS.ink);
  if (lines.length <= LINES_TOGETHER) {
    const draw = (canvas: Canvas, top: number): void => {
      drawLabel(canvas, top);
      for (const [index, line] of lines.entries()) drawLine(canvas, line, top + index * LINE_HEIGHT);
    };
    return [{ height: Math.max(1, lines.length) * LINE_HEIGHT, gap, draw }];
  }
  return lines.map((line, index) => ({
    height: LINE_HEIGHT,
    gap: index === 0 ? gap : 0,
    draw: (canvas, top) => {
      if (index === 0) drawLabel(canvas, top);
      drawLine(canvas, line, top);
    },
  }));
}

export class PdfBlocks {
  readonly #type: Typesetter;

  constructor(type: Typesetter) {
    this.#type = type;
  }

  heading(title: string): Block {
    const line = this.#type.line(title, HEADING);
    const draw = (canvas: Canvas, top: number): void => {
      canvas.fill({ x: COLUMN.left, top, width: COLUMN.width, height: 0.6 }, COLOURS.line);
      canvas.text(line, COLUMN.left, top + 16, COLOURS.ink);
    };
    return { height: 21, gap: 9, isHeading: true, draw };
  }

  mark({ name, meaning }: Mark): Block {
    const [title, text] = [this.#type.line(name, HEADING), this.#type.line(meaning, TEXT)];
    const { text: colour, ground } = COLOURS[name];
    const draw = (canvas: Canvas, top: number): void => {
      canvas.rounded({ x: COLUMN.left, top, width: COLUMN.width, height: 26 }, 6, ground);
      canvas.text(title, COLUMN.left + 12, top + 16.5, colour);
      canvas.text(text, COLUMN.left + 24 + title.width, top + 16.5, colour);
    };
    return { height: 26, gap: 6, draw };
  }

  rows(rows: Row[]): Block[] {
    return rows.flatMap((row) => {
      if (row.kind === 'fact') return this.#fact(row.label, this.#type.set(row.value, row.isCode ? CODE : TEXT, VALUES));
      if (row.kind === 'note') return this.#note(row.label, row.text);
      if (row.kind === 'parties') return this.#parties(row.parties);
      return this.#table(row.head, row.lines);
    });
  }

  #fact(label: string, lines: TextLine[]): Block[] {
    const name = this.#type.line(label, TEXT);
    return linesBlocks(lines, COLUMN.left + LABELS, VALUES, (canvas, top) => canvas.text(name, COLUMN.left, top + BASELINE, COLOURS.soft));
  }

  /** Merchant's text with its line breaks. Repeated empty lines are merged. */
  #note(label: string, text: string): Block[] {
    const paragraphs = text.split(/\r\n|[\r\n\u2028\u2029]/).map((paragraph) => this.#type.set(paragraph, TEXT, VALUES));
    const shown = paragraphs.filter((lines, index) => lines.length > 0 || (paragraphs[index - 1]?.length ?? 0) > 0);
    const [first = [], ...others] = shown;
    const none = (): void => undefined;
    return [...this.#fact(label, first), ...others.flatMap((lines) => linesBlocks(lines, COLUMN.left + LABELS, VALUES, none, 0))];
  }

  /** Parties in columns, each a separate reading block. Stacked if one of them is very long. */
  #parties(parties: { role: string; lines: string[] }[]): Block[] {
    const width = (COLUMN.width - GUTTER * (parties.length - 1)) / parties.length;
    const set = parties.map(({ role, lines }) => ({
      role: this.#type.line(role, TEXT),
      lines: lines.flatMap((line) => this.#type.set(line, TEXT, width)),
    }));
    const height = Math.max(...set.map(({ lines }) => lines.length + 1)) * LINE_HEIGHT;
    if (height > (LINES_TOGETHER + 2) * LINE_HEIGHT) {
      return parties.flatMap(({ role, lines }) =>
        this.#fact(
          role,
          lines.flatMap((line) => this.#type.set(line, TEXT, VALUES)),
        ),
      );
    }
    const draw = (canvas: Canvas, top: number): void => {
      for (const [index, { role, lines }] of set.entries()) {
        const x = COLUMN.left + index * (width + GUTTER);
        canvas.text(role, x, top + BASELINE, COLOURS.soft);
        for (const [at, line] of lines.entries()) {
          canvas.text(line, startOf(line, lines, x, width), top + (at + 1) * LINE_HEIGHT + BASELINE, COLOURS.ink);
        }
      }
    };
    return [{ height, gap: ROW_GAP, draw }];
  }

  #table(head: InvoiceLine, lines: InvoiceLine[]): Block[] {
    const heads = this.#tableRow(head, { isHead: true });
    return [...heads, ...lines.flatMap((line) => this.#tableRow(line).map((block) => ({ ...block, repeats: heads[0]! })))];
  }

  /** A long description breaks across pages, with the numbers at its last line. */
  #tableRow({ description, quantity, amount }: InvoiceLine, { isHead = false } = {}): Block[] {
    const colour = isHead ? COLOURS.soft : COLOURS.ink;
    const width = COLUMN.width - QUANTITY - AMOUNT - GUTTER;
    const descriptionLines = this.#type.set(description, TABLE, width);
    const together = descriptionLines.splice(descriptionLines.length > LINES_TOGETHER ? descriptionLines.length - 1 : 0);
    const numbers = [
      { lines: this.#type.set(quantity, TABLE, QUANTITY), right: COLUMN.right - AMOUNT },
      { lines: this.#type.set(amount, TABLE, AMOUNT - GUTTER / 2), right: COLUMN.right },
    ];
    const height = Math.max(1, together.length, ...numbers.map(({ lines }) => lines.length)) * TABLE_LINE + 2;
    const lineAt = (top: number, index: number): number => top + index * TABLE_LINE + TABLE_BASELINE;
    const draw = (canvas: Canvas, top: number): void => {
      for (const [index, line] of together.entries()) {
        canvas.text(line, startOf(line, together, COLUMN.left, width), lineAt(top, index), colour);
      }
      for (const { lines, right } of numbers) {
        for (const [index, line] of lines.entries()) drawRight(canvas, line, right, lineAt(top, index), colour);
      }
      canvas.fill({ x: COLUMN.left, top: top + height - 0.4, width: COLUMN.width, height: 0.4 }, COLOURS.line);
    };
    const before = descriptionLines.map((line) => ({
      height: TABLE_LINE,
      draw: (canvas: Canvas, top: number) => canvas.text(line, COLUMN.left, lineAt(top, 0), colour),
    }));
    return [...before, { height, gap: isHead ? 9 : 0, isHeading: isHead, draw }];
  }

  content(content: PdfDocument): Block[] {
    return content.sections.flatMap(({ title, rows }) => [this.heading(title), ...this.rows(rows)]);
  }
}
