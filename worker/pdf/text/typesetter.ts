import bidiFactory, { type EmbeddingLevels } from 'bidi-js';
import { joinArabic } from './arabic.ts';
import { type Cluster, clustersOf, escapeOf } from './clusters.ts';
import type { EmbeddedFont, Glyph } from './embedded-font.ts';
import type { Face, Fonts } from './fonts.ts';

export interface Style {
  face: Face;
  size: number;
}

/** Adjacent glyphs of one font, left to right. `x` and `dy` from the start of the line, in thousandths of the type size. */
interface Run {
  font: EmbeddedFont;
  x: number;
  dy: number;
  width: number;
  codes: number[];
}

/** Line with its runs in reading order, which is the order of text extraction. `width` in points. */
export interface TextLine {
  runs: Run[];
  width: number;
  size: number;
  isRtl: boolean;
}

interface Item {
  glyphs: Glyph[];
  width: number;
  isSpace: boolean;
  isRtl: boolean;
  mayBreakAfter: boolean;
}

const bidi = bidiFactory();
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
const BREAKS_AFTER = /[-/‐–—]$/u;
const UNSPACED = /[\p{Ideographic}\p{Script=Hiragana}\p{Script=Katakana}\p{Extended_Pictographic}\u3000-\u303f\uff00-\uffef]/u;
/** Punctuation that must not begin a line, and punctuation that must not end one. */
const NOT_FIRST = /^[\p{Pe}\p{Pf}、。，．：；？！・ーゝゞ々ぁぃぅぇぉっゃゅょァィゥェォッャュョ,.:;?!]/u;
const NOT_LAST = /[\p{Ps}\p{Pi}]$/u;

/** Shapes a text. Used for loading fonts and for setting, so that both see the same characters. Pure. */
export const shape = (text: string): Cluster[] => joinArabic(clustersOf(text));

/** Character that represents a cluster in the bidirectional algorithm. An escape is left-to-right. */
function directionOf({ shown, isEscape }: Cluster): string {
  if (isEscape) return 'x';
  const first = String.fromCodePoint(shown.codePointAt(0)!);
  if (first.length === 1) return first;
  return /\p{L}/u.test(first) ? 'x' : '\u2600';
}

function mayBreakBetween(left: Cluster, right: Cluster | undefined): boolean {
  if (left.shown === ' ' || !right) return true;
  if (NOT_FIRST.test(right.shown) || NOT_LAST.test(left.shown)) return false;
  return BREAKS_AFTER.test(left.shown) || UNSPACED.test(left.shown) || UNSPACED.test(right.shown);
}

/** Text in one face, independent of size and line width. */
interface Prepared {
  items: Item[];
  /** Input and result of the bidirectional algorithm. Null if all text is left-to-right. */
  bidi: { text: string; levels: EmbeddingLevels } | null;
}

export class Typesetter {
  readonly #fonts: Fonts;
  readonly #prepared = new Map<string, Prepared>();

  constructor(fonts: Fonts) {
    this.#fonts = fonts;
  }

  /** Breaks text into lines of at most `width` points. White space at a break is dropped, and an overlong unit is cut. */
  set(text: string, { face, size }: Style, width: number): TextLine[] {
    const key = `${face} ${text}`;
    const { items, bidi } = this.#prepared.get(key) ?? this.#prepare(text, face);
    this.#prepared.set(key, { items, bidi });
    return linesOf(items, (width * 1000) / size).map(([from, to]) => {
      const order = bidi ? visualOrder(bidi.text, bidi.levels, from, to) : Array.from({ length: to - from }, (_, index) => from + index);
      const { runs, total } = positionGlyphs(items, order);
      return { runs, width: (total * size) / 1000, size, isRtl: (bidi?.levels.paragraphs[0]?.level ?? 0) % 2 === 1 };
    });
  }

  line(text: string, style: Style): TextLine {
    return this.set(text, style, Number.POSITIVE_INFINITY)[0] ?? { runs: [], width: 0, size: style.size, isRtl: false };
  }

  #prepare(source: string, face: Face): Prepared {
    const clusters = this.#drawable(shape(source), face);
    const text = clusters.map(directionOf).join('');
    const levels = RIGHT_TO_LEFT.test(text) ? bidi.getEmbeddingLevels(text) : null;
    const items = clusters.map((cluster, index) => this.#item(mirrored(cluster, levels?.levels[index] ?? 0), face, clusters[index + 1]));
    return { items, bidi: levels && { text, levels } };
  }

  /** Escapes each character that no font can draw. */
  #drawable(clusters: Cluster[], face: Face): Cluster[] {
    return clusters.flatMap((cluster) => {
      const font = this.#fonts.find(cluster.shown, face);
      const isDrawable = font && (cluster.isEscape || [...cluster.shown].length === 1 || font.marked(cluster.shown));
      return isDrawable ? [cluster] : escapeOf(cluster.text);
    });
  }

  #item(cluster: Cluster, face: Face, next: Cluster | undefined): Item {
    const isRtl = RIGHT_TO_LEFT.test(cluster.shown);
    const glyphs = this.#glyphs(cluster, this.#fonts.find(cluster.shown, face)!, isRtl);
    const width = glyphs.reduce((sum, glyph) => sum + glyph.width, 0);
    return {
      glyphs,
      width,
      isSpace: cluster.shown === ' ',
      isRtl,
      mayBreakAfter: mayBreakBetween(cluster, next),
    };
  }

  #glyphs({ shown, text, isEscape }: Cluster, font: EmbeddedFont, isRtl: boolean): Glyph[] {
    if (isEscape) return [...shown].map((character) => font.glyph(character, character));
    if ([...shown].length > 1) return font.marked(shown)!;
    // Text extraction reverses right-to-left text character by character, so a ligature's text is reversed here.
    return [font.glyph(shown, isRtl ? [...text].reverse().join('') : text)];
  }
}

/** Draws the mirrored bracket in right-to-left text. */
function mirrored(cluster: Cluster, level: number): Cluster {
  const shown = level % 2 === 1 && cluster.shown.length === 1 ? bidi.getMirroredCharacter(cluster.shown) : null;
  return shown ? { ...cluster, shown } : cluster;
}

/** Visual order of the logical range `[from, to)` (Unicode Standard Annex 9, L2). */
function visualOrder(text: string, levels: EmbeddingLevels, from: number, to: number): number[] {
  const indices = Array.from({ length: to - from }, (_, index) => from + index);
  for (const [start = 0, end = 0] of bidi.getReorderSegments(text, levels, from, to - 1)) {
    const part = indices.slice(start - from, end - from + 1).reverse();
    indices.splice(start - from, part.length, ...part);
  }
  return indices;
}

/** Positions glyphs from left to right and returns the runs in reading order. */
function positionGlyphs(items: Item[], order: number[]): { runs: Run[]; total: number } {
  let total = 0;
  const starts = order.map((index) => {
    total += items[index]!.width;
    return { index, x: total - items[index]!.width };
  });
  const runs: Run[] = [];
  for (const { index, x } of starts.sort((a, b) => a.index - b.index)) {
    const { glyphs, isRtl } = items[index]!;
    let pen = x;
    for (const { font, code, width, dx, dy } of glyphs) {
      const glyph = { font, x: pen + dx, dy, width, codes: [code] };
      if (!extended(runs.at(-1), glyph, isRtl)) runs.push(glyph);
      pen += width;
    }
  }
  return { runs, total };
}

/**
 * Appends an adjacent glyph to a run. Right-to-left letters are prepended: the codes run left to right, and text extraction reverses them.
 */
function extended(run: Run | undefined, glyph: Run, isRtl: boolean): boolean {
  if (run?.font !== glyph.font || run.dy !== glyph.dy) return false;
  if (isRtl && glyph.x + glyph.width === run.x) {
    run.codes.unshift(...glyph.codes);
    run.x = glyph.x;
  } else if (!isRtl && run.x + run.width === glyph.x) run.codes.push(...glyph.codes);
  else return false;
  run.width += glyph.width;
  return true;
}

/** Appends a line to the reading end of another: right, or left if right-to-left. */
export function joinLines(line: TextLine, end: TextLine): TextLine {
  const moved = ({ runs }: TextLine, by: number): Run[] => runs.map((run) => ({ ...run, x: run.x + Math.round((by * 1000) / line.size) }));
  const runs = line.isRtl ? [...moved(line, end.width), ...end.runs] : [...line.runs, ...moved(end, line.width)];
  return { ...line, runs, width: line.width + end.width };
}

/** Greedy line breaking as `[from, to)`. `room` in the unit of the items' widths. */
function linesOf(items: Item[], room: number): [from: number, to: number][] {
  const lines: [from: number, to: number][] = [];
  const end = (from: number, to: number): number => (to > from && items[to - 1]!.isSpace ? end(from, to - 1) : to);
  let start = 0;
  let lastBreak = 0;
  let width = 0;
  for (let index = 0; index < items.length; index++) {
    const item = items[index]!;
    width += item.width;
    if (width > room && !item.isSpace && index > start) {
      const to = lastBreak > start ? lastBreak : index;
      lines.push([start, end(start, to)]);
      start = to;
      width = items.slice(start, index + 1).reduce((sum, { width }) => sum + width, 0);
    }
    if (item.mayBreakAfter) lastBreak = index + 1;
  }
  if (start < items.length) lines.push([start, end(start, items.length)]);
  return lines;
}
