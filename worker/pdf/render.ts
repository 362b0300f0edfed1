import { PDFDocument, PDFName, type PDFPage, type PDFRef } from 'pdf-lib';
import { PAGE, PdfBlocks } from './blocks.ts';
import { Canvas, type Colour } from './canvas.ts';
import type { PdfFacts } from './facts.ts';
import { type Block, paginate } from './flow.ts';
import { brandBlock, drawMargins, ELLIPSIS, heroBlock } from './head.ts';
import { embedLogo, type Logo } from './logo.ts';
import { type PdfDocument, pdfDocumentOf } from './sections.ts';
import type { EmbeddedFont } from './text/embedded-font.ts';
import { Fonts, type LoadFont } from './text/fonts.ts';
import { shape, Typesetter } from './text/typesetter.ts';

const BODY = { top: 44, bottom: PAGE.height - 52 };
const PRODUCER = 'svc';
/** Characters drawn in the margins, in addition to the document's texts. */
const MARGIN_TEXT = `Page of 0123456789${ELLIPSIS}`;

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/** Font names are the same on every page. Each page lists those it uses. */
class Resources {
  readonly #document: PDFDocument;
  readonly #fonts = new Map<EmbeddedFont, { name: PDFName; ref: PDFRef }>();

  constructor(document: PDFDocument) {
    this.#document = document;
  }

  /** Returns a font's resource name and registers the font with the page. */
  nameOf(font: EmbeddedFont, page: PDFPage): PDFName {
    const known = this.#fonts.get(font) ?? { name: PDFName.of(`F${this.#fonts.size + 1}`), ref: this.#document.context.nextRef() };
    this.#fonts.set(font, known);
    page.node.setFontDictionary(known.name, known.ref);
    return known.name;
  }

  embedFonts(): void {
    for (const [index, [font, { ref }]] of [...this.#fonts].entries()) font.embed(this.#document.context, ref, index);
  }
}

const LOGO_NAME = PDFName.of('Logo');
const accentOf = ({ brand }: PdfFacts): Colour | null => (/^#[0-9a-f]{6}$/i.test(brand.accent ?? '') ? (brand.accent as Colour) : null);

function blocksOf(type: Typesetter, content: PdfDocument, logo: Logo | null): Block[] {
  const blocks = new PdfBlocks(type);
  const brand = brandBlock(type, content, logo && { ...logo, name: LOGO_NAME });
  const marks = content.marks.map((mark, index) => ({ ...blocks.mark(mark), gap: index === 0 ? 16 : 6 }));
  return [brand, ...marks, heroBlock(type, content), ...blocks.content(content)];
}

/**
 * Renders a receipt as an A4 PDF: the public one, or the merchant's copy if `merchantCopy` is set. The same facts give the same bytes. Any
 * Unicode text is shown, by a glyph or an escape. `loadFont` receives paths of font-assets.ts.
 */
export async function renderReceipt(facts: PdfFacts, loadFont: LoadFont): Promise<Uint8Array> {
  const content = pdfDocumentOf(facts);
  const fonts = await Fonts.load([...textsOf(content), MARGIN_TEXT].flatMap(shape), loadFont);
  const type = new Typesetter(fonts);
  // Without metadata, because dates and a random id would make every copy differ.
  const document = await PDFDocument.create({ updateMetadata: false });
  document.setTitle(content.title, { showInWindowTitleBar: true });
  document.setProducer(PRODUCER);
  document.setLanguage('en');
  const logo = facts.brand.logo ? await embedLogo(document.context, facts.brand.logo) : null;
  const resources = new Resources(document);
  const pages = paginate(blocksOf(type, content, logo), BODY);
  for (const [index, positioned] of pages.entries()) {
    const page = document.addPage([PAGE.width, PAGE.height]);
    if (logo && index === 0) page.node.setXObject(LOGO_NAME, logo.ref);
    const canvas = new Canvas(page, (font) => resources.nameOf(font, page));
    for (const { block, top } of positioned) block.draw(canvas, top);
    drawMargins(canvas, type, content, { number: index + 1, of: pages.length, accent: accentOf(facts) });
  }
  resources.embedFonts();
  // Without pauses between objects, which are meant for user interfaces.
  return document.save({ addDefaultPage: false, updateFieldAppearances: false, objectsPerTick: Number.POSITIVE_INFINITY });
}
