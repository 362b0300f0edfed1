import type { Font } from 'fontkit';
import { type PDFContext, type PDFRef, PDFString } from 'pdf-lib';

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
/** UTF-16BE in hex, as a ToUnicode map requires. */
const utf16 = (text: string): string =>
  text
    .split('')
    .map((unit) => hex4(unit.charCodeAt(0)))
    .join('');
/** Most entries in a block of a ToUnicode map (PDF 32000-1, 9.10.3). */
const ENTRIES_MAX = 100;

/**
 * Font of the document, with only the drawn glyphs embedded. Every pair of glyph and text has its own code, so that text extraction returns
 * the source characters of ligatures, decomposed accents and contextual forms.
 */
export class EmbeddedFont {
  readonly name: string;
  readonly #font: Font;
  readonly #codes: Code[] = [];
  readonly #codeOf = new Map<string, number>();
  /** Glyph ids by character, 0 if the font lacks one. Cached, because the font's lookup dominates the run time. */
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

  get capHeight(): number {
    return this.#scaled(this.#font.capHeight);
  }

  #scaled(units: number): number {
    return Math.round((units * 1000) / this.#unitsPerEm);
  }

  #glyph(glyphId: number, width: number, text: string, dx = 0, dy = 0): Glyph {
    const key = `${glyphId} ${text}`;
    // Code 0 is the missing glyph.
    const code = this.#codeOf.get(key) ?? this.#codes.push({ glyphId, width, text });
    this.#codeOf.set(key, code);
    return { font: this, code, width, dx, dy };
  }

  /** Glyph that shows `shown` and is extracted as `text`. */
  glyph(shown: string, text: string): Glyph {
    const glyphId = this.#glyphId(shown);
    return this.#glyph(glyphId, this.#scaled(this.#font.getGlyph(glyphId).advanceWidth), text);
  }

  /**
   * Positions a character with combining marks. A font may decompose accented letters, so glyphs match the text in NFC or NFD. Returns null
   * if they match neither.
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

  /** Embeds the used glyphs. `number` makes the subset's tag unique in the document. */
  embed(context: PDFContext, ref: PDFRef, number: number): void {
    // The package's types lack the subset's API: a glyph id in, the subset's glyph id out.
    const subset = this.#font.createSubset() as unknown as { includeGlyph(id: number): number; encode(): Uint8Array };
    const glyphIds = this.#codes.map(({ glyphId }) => subset.includeGlyph(glyphId));
    const program = subset.encode();
    // A subset's name begins with six capital letters, unique per font.
    const tag = `RCPT${String.fromCharCode(65 + Math.floor(number / 26), 65 + (number % 26))}`;
    const baseFont = `${tag}+${this.name}`;
    const { ascent, descent, bbox } = this.#font;
    const descriptor = context.register(
      context.obj({
        Type: 'FontDescriptor',
        FontName: baseFont,
        // Symbolic, because the codes are private.
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
