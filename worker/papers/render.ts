import { PDFDocument, PDFName, type PDFPage, type PDFRef } from 'pdf-lib';
import { PAGE, PaperBlocks } from './blocks.ts';
import { Canvas, type Colour } from './canvas.ts';
import type { PaperFacts } from './facts.ts';
import { type Block, paginate } from './flow.ts';
import { brandBlock, drawMargins, ELLIPSIS, heroBlock } from './head.ts';
import { embedLogo, type Logo } from './logo.ts';
import { type Paper, paperOf } from './sections.ts';
import type { EmbeddedFont } from './text/embedded-font.ts';
import { Fonts, type LoadFont } from './text/fonts.ts';
import { shape, Typesetter } from './text/typesetter.ts';

const BODY = { top: 44, bottom: PAGE.height - 52 };
const PRODUCER = 'svc';
/** What is drawn besides the text of the paper. */
const MARGIN_TEXT = `Page of 0123456789${ELLIPSIS}`;

/** All text of a paper, wherever it stands in it. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/** Names of fonts and pictures are the same on every page; each page says which of them it has. */
class Resources {
  readonly #document: PDFDocument;
  readonly #fonts = new Map<EmbeddedFont, { name: PDFName; ref: PDFRef }>();

  constructor(document: PDFDocument) {
    this.#document = document;
  }

  /** The name of a font on a page, which from now on has it. */
  nameOf(font: EmbeddedFont, page: PDFPage): PDFName {
    const known = this.#fonts.get(font) ?? { name: PDFName.of(`F${this.#fonts.size + 1}`), ref: this.#document.context.nextRef() };
    this.#fonts.set(font, known);
    page.node.setFontDictionary(known.name, known.ref);
    return known.name;
  }

  /** Writes the fonts, once all that they draw is drawn. */
  embedFonts(): void {
    for (const [index, [font, { ref }]] of [...this.#fonts].entries()) font.embed(this.#document.context, ref, index);
  }
}

const LOGO_NAME = PDFName.of('Logo');
const accentOf = ({ brand }: PaperFacts): Colour | null => (/^#[0-9a-f]{6}$/i.test(brand.accent ?? '') ? (brand.accent as Colour) : null);

function blocksOf(type: Typesetter, paper: Paper, logo: Logo | null): Block[] {
  const blocks = new PaperBlocks(type);
  const brand = brandBlock(type, paper, logo && { ...logo, name: LOGO_NAME });
  const marks = paper.marks.map((mark, index) => ({ ...blocks.mark(mark), gap: index === 0 ? 16 : 6 }));
  return [brand, ...marks, heroBlock(type, paper), ...blocks.paper(paper)];
}

/**
 * A receipt as a PDF on A4: the public paper, or the merchant's copy where `merchantCopy` is given. The same facts make the same
 * bytes, whenever and wherever; any Unicode text is shown, by a glyph or by its escape. `loadFont` is asked for the fonts that
 * the text needs, by the paths of font-assets.ts.
 */
export async function renderReceipt(facts: PaperFacts, loadFont: LoadFont): Promise<Uint8Array> {
  const paper = paperOf(facts);
  const fonts = await Fonts.load([...textsOf(paper), MARGIN_TEXT].flatMap(shape), loadFont);
  const type = new Typesetter(fonts);
  // Dates and a random id would make every copy another file.
  const document = await PDFDocument.create({ updateMetadata: false });
  document.setTitle(paper.title, { showInWindowTitleBar: true });
  document.setProducer(PRODUCER);
  document.setLanguage('en');
  const logo = facts.brand.logo ? await embedLogo(document.context, facts.brand.logo) : null;
  const resources = new Resources(document);
  const pages = paginate(blocksOf(type, paper, logo), BODY);
  for (const [index, placed] of pages.entries()) {
    const page = document.addPage([PAGE.width, PAGE.height]);
    if (logo && index === 0) page.node.setXObject(LOGO_NAME, logo.ref);
    const canvas = new Canvas(page, (font) => resources.nameOf(font, page));
    for (const { block, top } of placed) block.draw(canvas, top);
    drawMargins(canvas, type, paper, { number: index + 1, of: pages.length, accent: accentOf(facts) });
  }
  resources.embedFonts();
  // Without pauses between objects: they are for user interfaces.
  return document.save({ addDefaultPage: false, updateFieldAppearances: false, objectsPerTick: Number.POSITIVE_INFINITY });
}
