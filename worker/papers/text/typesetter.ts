import bidiFactory, { type EmbeddingLevels } from 'bidi-js';
import { joinArabic } from './arabic.ts';
import { type Cluster, clustersOf, escapeOf } from './clusters.ts';
import type { EmbeddedFont, Glyph } from './embedded-font.ts';
import type { Face, Fonts } from './fonts.ts';

export interface Style {
  face: Face;
  /** In points. */
  size: number;
}

/** Glyphs of one font side by side, from left to right; `x` and `dy` from the start of the line, in thousandths of the type size. */
interface Run {
  font: EmbeddedFont;
  x: number;
  dy: number;
  width: number;
  codes: number[];
}

/**
 * A line in the order it is read, each run in its place: programs that take the text out of a PDF take it in this order. `width`
 * in points.
 */
export interface TextLine {
  runs: Run[];
  width: number;
  size: number;
  /** The paragraph it belongs to is read from right to left. */
  isRtl: boolean;
}

/** A cluster with its glyphs: what a line is filled with. */
interface Item {
  glyphs: Glyph[];
  /** In thousandths of the type size. */
  width: number;
  isSpace: boolean;
  /** A letter that is read from right to left. */
  isRtl: boolean;
  mayBreakAfter: boolean;
}

const bidi = bidiFactory();
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
const BREAKS_AFTER = /[-/‐–—]$/u;
/** Written without spaces, so a line may end after any of these. */
const UNSPACED = /[\p{Ideographic}\p{Script=Hiragana}\p{Script=Katakana}\p{Extended_Pictographic}\u3000-\u303f\uff00-\uffef]/u;
/** Punctuation that must not begin a line, and that must not end one. */
const NOT_FIRST = /^[\p{Pe}\p{Pf}、。，．：；？！・ーゝゞ々ぁぃぅぇぉっゃゅょァィゥェォッャュョ,.:;?!]/u;
const NOT_LAST = /[\p{Ps}\p{Pi}]$/u;

/** Every text goes through here before it is set, so that the fonts are asked for exactly what is drawn. Pure. */
export const shape = (text: string): Cluster[] => joinArabic(clustersOf(text));

/** What the bidirectional algorithm sees of a cluster: one character of its kind; an escape reads from left to right. */
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

/** A text in one face, whatever its size and the width of its lines. */
interface Prepared {
  items: Item[];
  /** What the bidirectional algorithm saw and said; null where all is read from left to right. */
  bidi: { text: string; levels: EmbeddingLevels } | null;
}

export class Typesetter {
  readonly #fonts: Fonts;
  readonly #prepared = new Map<string, Prepared>();

  constructor(fonts: Fonts) {
    this.#fonts = fonts;
  }

  /** Lines no wider than `width` points; white space at a break is left out, and a word too long for a line is cut. */
  set(text: string, { face, size }: Style, width: number): TextLine[] {
    const key = `${face} ${text}`;
    const { items, bidi } = this.#prepared.get(key) ?? this.#prepare(text, face);
    this.#prepared.set(key, { items, bidi });
    return linesOf(items, (width * 1000) / size).map(([from, to]) => {
      const order = bidi ? visualOrder(bidi.text, bidi.levels, from, to) : Array.from({ length: to - from }, (_, index) => from + index);
      const { runs, total } = placed(items, order);
      return { runs, width: (total * size) / 1000, size, isRtl: (bidi?.levels.paragraphs[0]?.level ?? 0) % 2 === 1 };
    });
  }

  /** All of a text on one line, however wide. */
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

  /** What no font can draw becomes its escape, character by character. */
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
    // Programs that take text out turn a word around character by character, a ligature's too.
    return [font.glyph(shown, isRtl ? [...text].reverse().join('') : text)];
  }
}

/** A bracket that is read from right to left is drawn as its counterpart. */
function mirrored(cluster: Cluster, level: number): Cluster {
  const shown = level % 2 === 1 && cluster.shown.length === 1 ? bidi.getMirroredCharacter(cluster.shown) : null;
  return shown ? { ...cluster, shown } : cluster;
}

/** `[from, to)` in logical order to the order on the line. (Unicode Standard Annex 9, L2) */
function visualOrder(text: string, levels: EmbeddingLevels, from: number, to: number): number[] {
  const indices = Array.from({ length: to - from }, (_, index) => from + index);
  for (const [start = 0, end = 0] of bidi.getReorderSegments(text, levels, from, to - 1)) {
    const part = indices.slice(start - from, end - from + 1).reverse();
    indices.splice(start - from, part.length, ...part);
  }
  return indices;
}

/** The glyphs of a line in their places: given from left to right, answered in the order they are read. */
function placed(items: Item[], order: number[]): { runs: Run[]; total: number } {
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
 * Adds a glyph to the run before it where it stands beside it. Letters that are read from right to left go before those of
 * their word: that is how they stand, and programs that take text out turn such a word around.
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

/** A line with another at its end: to its right, or where it is read from right to left to its left. */
export function joinLines(line: TextLine, end: TextLine): TextLine {
  const moved = ({ runs }: TextLine, by: number): Run[] => runs.map((run) => ({ ...run, x: run.x + Math.round((by * 1000) / line.size) }));
  const runs = line.isRtl ? [...moved(line, end.width), ...end.runs] : [...line.runs, ...moved(end, line.width)];
  return { ...line, runs, width: line.width + end.width };
}

/** Lines as `[from, to)`, each as full as it can be. `room` in the unit of the items' widths. */
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
