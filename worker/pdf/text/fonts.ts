import { create, type Font } from 'fontkit';
import type { Cluster } from './clusters.ts';
import { EmbeddedFont } from './embedded-font.ts';
import { FONT_ASSETS } from './font-assets.ts';

/** Bytes of a static asset. A path is content-hashed, so its bytes never change. */
export type LoadFont = (path: string) => Promise<Uint8Array>;

export type Face = 'regular' | 'bold' | 'mono';
type Family = Exclude<keyof typeof FONT_ASSETS, Face>;

/** Characters for which a family is considered, so that no index is loaded in vain. */
const CJK =
  /[\u1100-\u11ff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe10-\ufe1f\ufe30-\ufe6f\uff00-\uffef\u{1b000}-\u{1b16f}\u{1f200}-\u{1f2ff}\u{20000}-\u{3ffff}]|[\p{S}\p{P}\p{N}]/u;
const CLAIMS: Record<Family, RegExp> = {
  hebrew: /[\u0590-\u05ff\ufb1d-\ufb4f]/,
  arabic: /[\u0600-\u06ff\ufb50-\ufdff\ufe70-\ufefc]/,
  armenian: /[\u0530-\u058f\ufb13-\ufb17]/,
  georgian: /[\u10a0-\u10ff\u1c90-\u1cbf\u2d00-\u2d2f]/,
  emoji: /[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}]/u,
  japanese: CJK,
  simplifiedChinese: CJK,
  traditionalChinese: CJK,
  korean: CJK,
};

/** Families in lookup order. Chinese, Japanese and Korean share characters with different shapes, so letters of one language decide. */
function familiesFor(characters: ReadonlySet<string>): Family[] {
  const has = (pattern: RegExp): boolean => [...characters].some((character) => pattern.test(character));
  const cjk: Family[] = ['simplifiedChinese', 'traditionalChinese', 'japanese', 'korean'];
  const first: [Family, RegExp][] = [
    ['traditionalChinese', /\p{Script=Bopomofo}/u],
    ['korean', /\p{Script=Hangul}/u],
    ['japanese', /[\p{Script=Hiragana}\p{Script=Katakana}]/u],
  ];
  for (const [family, letters] of first) if (has(letters)) cjk.unshift(...cjk.splice(cjk.indexOf(family), 1));
  return ['hebrew', 'arabic', 'armenian', 'georgian', 'emoji', ...cjk];
}

// Cache by identity of the bytes, because parsing costs more than drawing. An optimization only.
const parsedFonts = new WeakMap<Uint8Array, Font>();
const parsedIndexes = new WeakMap<Uint8Array, Map<number, string>>();

function remembered<Parsed>(cache: WeakMap<Uint8Array, Parsed>, bytes: Uint8Array, parse: (bytes: Uint8Array) => Parsed): Parsed {
  const parsed = cache.get(bytes) ?? parse(bytes);
  cache.set(bytes, parsed);
  return parsed;
}

/** Index format: slices with their character ranges, `[path, "3042-3044 3046"]`. The first matching slice wins. */
function parseIndex(bytes: Uint8Array): Map<number, string> {
  const slices = JSON.parse(new TextDecoder().decode(bytes)) as [path: string, ranges: string][];
  const pathOf = new Map<number, string>();
  for (const [path, ranges] of slices.reverse()) {
    for (const range of ranges.split(' ')) {
      const [from = '', to = from] = range.split('-');
      for (let codePoint = Number.parseInt(from, 16); codePoint <= Number.parseInt(to, 16); codePoint++) pathOf.set(codePoint, path);
    }
  }
  return pathOf;
}

/** Fonts of one document: the base fonts and every slice that its characters need. */
export class Fonts {
  readonly #loaded = new Map<string, EmbeddedFont>();
  readonly #pathOf = new Map<string, string>();
  readonly #load: LoadFont;

  private constructor(load: LoadFont) {
    this.#load = load;
  }

  static async load(clusters: Iterable<Cluster>, loadFont: LoadFont): Promise<Fonts> {
    const fonts = new Fonts(loadFont);
    await fonts.#loadAll([FONT_ASSETS.regular, FONT_ASSETS.bold, FONT_ASSETS.mono]);
    const characters = new Set([...clusters].flatMap(({ shown }) => [...shown]));
    await fonts.#find(new Set([...characters].filter((character) => !fonts.#base('regular').has(character))));
    await fonts.#loadAll(new Set(fonts.#pathOf.values()));
    return fonts;
  }

  async #loadAll(paths: Iterable<string>): Promise<void> {
    const loaded = await Promise.all([...paths].map(async (path) => ({ path, bytes: await this.#load(path) })));
    for (const { path, bytes } of loaded) {
      const font = remembered(parsedFonts, bytes, (data) => create(data as Buffer) as Font);
      this.#loaded.set(path, new EmbeddedFont(font, path));
    }
  }

  async #find(missing: Set<string>): Promise<void> {
    for (const family of familiesFor(missing)) {
      const claimed = [...missing].filter((character) => CLAIMS[family].test(character));
      if (claimed.length === 0) continue;
      const index = remembered(parsedIndexes, await this.#load(FONT_ASSETS[family]), parseIndex);
      for (const character of claimed) {
        const path = index.get(character.codePointAt(0)!);
        if (path && missing.delete(character)) this.#pathOf.set(character, path);
      }
    }
  }

  #base(face: Face): EmbeddedFont {
    return this.#loaded.get(FONT_ASSETS[face])!;
  }

  /** Returns the font with every character of the text, or null. */
  find(text: string, face: Face): EmbeddedFont | null {
    const characters = [...text];
    const inBase = [this.#base(face), this.#base('regular')].find((font) => characters.every((character) => font.has(character)));
    if (inBase) return inBase;
    const path = characters.length === 1 ? this.#pathOf.get(text) : undefined;
    return path === undefined ? null : this.#loaded.get(path)!;
  }

  used(): EmbeddedFont[] {
    return [...this.#loaded.values()].filter((font) => font.isUsed);
  }
}
