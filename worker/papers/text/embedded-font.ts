import type { Font } from 'fontkit';
import { type PDFContext, type PDFRef, PDFString } from 'pdf-lib';

/** A glyph in its place: widths and offsets in thousandths of the type size. */
export interface Glyph {
  font: EmbeddedFont;
  code: number;
  width: number;
  dx: number;
  dy: number;
}

interface Code {
  glyphId: number;
  width: number;
  text: string;
}

const hex4 = (value: number): string => value.toString(16).toUpperCase().padStart(4, '0');
/** UTF-16BE, as a ToUnicode map wants it. */
const utf16 = (text: string): string =>
  text
    .split('')
    .map((unit) => hex4(unit.charCodeAt(0)))
    .join('');
/** A ToUnicode map has at most this many entries in a block. (PDF 32000-1, 9.10.3) */
const ENTRIES_MAX = 100;

/**
 * A font of the document, of which only the glyphs that are drawn are embedded. Every pair of glyph and text has a code of its
 * own, so that a reader gets back the very characters of the source, whatever glyph shows them: a ligature two, an accented
 * letter written in two parts both, a contextual form its letter.
 */
export class EmbeddedFont {
  readonly name: string;
  readonly #font: Font;
  readonly #codes: Code[] = [];
  readonly #codeOf = new Map<string, number>();
  /** Glyphs of single characters; 0 for those the font has not. Looking one up in the font takes longer than all else. */
  readonly #glyphIdOf = new Map<string, number>();
  readonly #unitsPerEm: number;

  constructor(font: Font, path: string) {
    this.#font = font;
    this.#unitsPerEm = font.unitsPerEm;
    this.name = path.slice(path.lastIndexOf('/') + 1, path.lastIndexOf('.'));
  }

  has(character: string): boolean {
    return this.#glyphId(character) !== 0;
  }

  #glyphId(character: string): number {
    const glyphId = this.#glyphIdOf.get(character) ?? this.#font.glyphForCodePoint(character.codePointAt(0)!).id;
    this.#glyphIdOf.set(character, glyphId);
    return glyphId;
  }

  get isUsed(): boolean {
    return this.#codes.length > 0;
  }

  /** Height of a capital letter, in thousandths of the type size. */
  get capHeight(): number {
    return this.#scaled(this.#font.capHeight);
  }

  #scaled(units: number): number {
    return Math.round((units * 1000) / this.#unitsPerEm);
  }

  #glyph(glyphId: number, width: number, text: string, dx = 0, dy = 0): Glyph {
    const key = `${glyphId} ${text}`;
    // Code 0 is the glyph for what is missing.
    const code = this.#codeOf.get(key) ?? this.#codes.push({ glyphId, width, text });
    this.#codeOf.set(key, code);
    return { font: this, code, width, dx, dy };
  }

  /** One glyph that shows `shown` and is read back as `text`. */
  glyph(shown: string, text: string): Glyph {
    const glyphId = this.#glyphId(shown);
    return this.#glyph(glyphId, this.#scaled(this.#font.getGlyph(glyphId).advanceWidth), text);
  }

  /**
   * A character with combining marks, placed as the font says. Fonts take some accented letters apart, so a glyph stands for a
   * character of the text in NFC or in NFD; null where it does neither.
   */
  marked(shown: string): Glyph[] | null {
    const { glyphs, positions } = this.#font.layout(shown);
    const texts = [shown, shown.normalize('NFD')].map((text) => [...text]).find(({ length }) => length === glyphs.length);
    if (!texts) return null;
    return glyphs.map(({ id }, index) => {
      const { xAdvance, xOffset, yOffset } = positions[index]!;
      return this.#glyph(id, this.#scaled(xAdvance), texts[index]!, this.#scaled(xOffset), this.#scaled(yOffset));
    });
  }

  /** Writes the font with the glyphs that were asked for; `number` tells it from the document's other fonts. */
  embed(context: PDFContext, ref: PDFRef, number: number): void {
    // It takes a glyph's id and answers that of the subset; the package's types know neither.
    const subset = this.#font.createSubset() as unknown as { includeGlyph(id: number): number; encode(): Uint8Array };
    const glyphIds = this.#codes.map(({ glyphId }) => subset.includeGlyph(glyphId));
    const program = subset.encode();
    // PDF wants six capital letters before the name of a subset; they differ from font to font.
    const tag = `RCPT${String.fromCharCode(65 + Math.floor(number / 26), 65 + (number % 26))}`;
    const baseFont = `${tag}+${this.name}`;
    const { ascent, descent, bbox } = this.#font;
    const descriptor = context.register(
      context.obj({
        Type: 'FontDescriptor',
        FontName: baseFont,
        // Symbolic: the codes are our own.
        Flags: 4,
        FontBBox: [bbox.minX, bbox.minY, bbox.maxX, bbox.maxY].map((units) => this.#scaled(units)),
        ItalicAngle: 0,
        Ascent: this.#scaled(ascent),
        Descent: this.#scaled(descent),
        CapHeight: this.capHeight,
        StemV: 80,
        FontFile2: context.register(context.flateStream(program, { Length1: program.length })),
      }),
    );
    const glyphMap = new Uint8Array([0, ...glyphIds].flatMap((glyphId) => [glyphId >> 8, glyphId & 0xff]));
    const descendant = context.register(
      context.obj({
        Type: 'Font',
        Subtype: 'CIDFontType2',
        BaseFont: baseFont,
        CIDSystemInfo: { Registry: PDFString.of('Adobe'), Ordering: PDFString.of('Identity'), Supplement: 0 },
        FontDescriptor: descriptor,
        CIDToGIDMap: context.register(context.flateStream(glyphMap)),
        DW: 0,
        W: [1, this.#codes.map(({ width }) => width)],
      }),
    );
    const font = context.obj({
      Type: 'Font',
      Subtype: 'Type0',
      BaseFont: baseFont,
      Encoding: 'Identity-H',
      DescendantFonts: [descendant],
      ToUnicode: context.register(context.flateStream(this.#toUnicode())),
    });
    context.assign(ref, font);
  }

  #toUnicode(): string {
    const entries = this.#codes.map(({ text }, index) => `<${hex4(index + 1)}> <${utf16(text)}>`);
    const blocks = Array.from({ length: Math.ceil(entries.length / ENTRIES_MAX) }, (_, index) => {
      const block = entries.slice(index * ENTRIES_MAX, (index + 1) * ENTRIES_MAX);
      return `${block.length} beginbfchar\n${block.join('\n')}\nendbfchar`;
    });
    return [
      '/CIDInit /ProcSet findresource begin',
      '12 dict begin',
      'begincmap',
      '/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def',
      '/CMapName /Adobe-Identity-UCS def',
      '/CMapType 2 def',
      '1 begincodespacerange',
      '<0000> <FFFF>',
      'endcodespacerange',
      ...blocks,
      'endcmap',
      'CMapName currentdict /CMap defineresource pop',
      'end',
      'end',
    ].join('\n');
  }
}
