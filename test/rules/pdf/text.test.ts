import { describe, expect, it } from 'vitest';
import { type Block, paginate } from '#pdf/flow.ts';
import { joinArabic } from '#pdf/text/arabic.ts';
import { clustersOf } from '#pdf/text/clusters.ts';
import { Fonts } from '#pdf/text/fonts.ts';
import { joinLines, shape, type TextLine, Typesetter } from '#pdf/text/typesetter.ts';
import { testEnv } from '../../support/runner/env.ts';

const loadFont = async (path: string) =>
  new Uint8Array(await (await (testEnv.ASSETS as Fetcher).fetch(`https://assets.test${path}`)).arrayBuffer());
const shown = (text: string): string[] => clustersOf(text).map((cluster) => cluster.shown);
const forms = (text: string): string =>
  joinArabic(clustersOf(text))
    .map((cluster) => cluster.shown)
    .join('');

describe('clustersOf', () => {
  it('a cluster is a character with its combining marks and selectors', () => {
    expect(shown('e\u0301x\u0304가か\u3099')).toEqual(['é', 'x\u0304', '가', 'が']);
    expect(shown('\u1112\u1161\u11ab')).toEqual(['한']);
    expect(clustersOf('葛\u{e0100}☀\ufe0f👨\u200d👩').map(({ text }) => text)).toEqual(['葛\u{e0100}', '☀\ufe0f', '👨\u200d', '👩']);
  });

  it('white space of any kind becomes one space, and is trimmed at the ends', () => {
    expect(shown(' \r\n a \t\u00a0\u3000\u2028 b \n')).toEqual(['a', ' ', 'b']);
  });

  it('an invisible character stays only if it has a meaning, and is shown as an escape otherwise', () => {
    expect(shown('a\ufe0fb\u200dc\u200cd')).toEqual(['a', '\\u{FE0F}', 'b', '\\u{200D}', 'c', '\\u{200C}', 'd']);
    expect(shown('\u0301a')).toEqual(['\\u{301}', 'a']);
  });
});

describe('joinArabic', () => {
  it.each([
    ['take the form their neighbours ask for', 'بيت', '\ufe91\ufef4\ufe96'],
    ['stand alone after one that joins nothing', 'دار', '\ufea9\ufe8d\ufead'],
    ['are one where lam meets alef', 'لا بلا', '\ufefb \ufe91\ufefc'],
    ['of Persian and Urdu join too', 'چگ', '\ufb7c\ufb93'],
    ['end at a non-joiner', 'ب\u200cب', '\ufe8f\ufe8f'],
    ['join through a line that lengthens them', 'بـب', '\ufe91ـ\ufe90'],
    ['join nothing over a space, a digit or another script', 'ب ب1بa', '\ufe8f \ufe8f1\ufe8fa'],
    ['are shown as escapes where their forms are unknown, and join nothing then', 'بݐب', '\ufe8f\\u{750}\ufe8f'],
  ])('Arabic characters %s', (_guarantee, text, expected) => {
    expect(forms(text)).toBe(expected);
  });
});

describe('Typesetter lines', () => {
  const style = { face: 'regular', size: 10 } as const;
  const newTypesetter = async (...texts: string[]) => new Typesetter(await Fonts.load([...texts, '…'].flatMap(shape), loadFont));
  const widthOf = (type: Typesetter, text: string): number => type.set(text, style, Number.POSITIVE_INFINITY)[0]!.width;

  it('lines fit the width and break between terms if they can', async () => {
    const text = 'Hourly observations and forecasts, unbreakable-'.concat('x'.repeat(80));
    const type = await newTypesetter(text);
    const lines = type.set(text, style, 100);
    expect(lines.length).toBeGreaterThan(4);
    expect(lines.filter(({ width }) => width > 100)).toEqual([]);
    expect(lines[0]!.width).toBe(widthOf(type, 'Hourly'.concat(' observations')));
  });

  it('lines break between ideographs, but not before closing or after opening punctuation', async () => {
    const text = '東京の天気、（全国）データ';
    const type = await newTypesetter(text);
    for (const length of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
      const lines = type.set(text, style, length * 10);
      let end = 0;
      const ends = lines.map(({ width }) => (end += Math.round(width / 10)));
      const starts = [0, ...ends];
      if (length > 1) for (const start of starts.slice(0, -1)) expect('、）').not.toContain(text[start]);
      if (length > 1) for (const at of ends) expect('（').not.toContain(text[at - 1]);
    }
  });

  it('a right-to-left line has its first run on the right', async () => {
    const type = await newTypesetter('שלום עולם');
    const [line] = type.set('שלום עולם', style, 500);
    const [first, , last] = line!.runs;
    expect(line!.isRtl).toBe(true);
    expect(first!.x).toBeGreaterThan(last!.x);
    expect(last!.x).toBe(0);
    expect(Math.round(((first!.x + first!.width) * 10) / 1000)).toBe(Math.round(line!.width));
  });

  it('an appended line is joined at the reading end', async () => {
    const type = await newTypesetter('שלום', 'hello');
    const [hebrew, latin, end] = ['שלום', 'hello', '…'].map((text) => type.set(text, style, 500)[0]!) as [TextLine, TextLine, TextLine];
    expect(joinLines(latin, end).runs.at(-1)!.x).toBe(Math.round(latin.width * 100));
    expect(joinLines(hebrew, end).runs.at(-1)!.x).toBe(0);
    expect(joinLines(hebrew, end).width).toBe(hebrew.width + end.width);
  });
});

describe('paginate', () => {
  const block = (height: number, rest: Partial<Block> = {}): Block => ({ height, draw: () => undefined, ...rest });
  const area = { top: 10, bottom: 110 };
  const tops = (pages: ReturnType<typeof paginate>) => pages.map((page) => page.map(({ top }) => top));

  it('pages are filled to their end, with no gap at the top', () => {
    const blocks = [block(60, { gap: 5 }), block(30, { gap: 10 }), block(20, { gap: 5 })];
    expect(tops(paginate(blocks, area))).toEqual([[10, 80], [10]]);
  });

  it('a page does not end with a heading', () => {
    expect(tops(paginate([block(70), block(20, { isHeading: true }), block(20)], area))).toEqual([[10], [10, 30]]);
  });

  it('a page repeats the head of a continued table', () => {
    const head = block(10);
    const rows = [head, block(80), block(30, { repeats: head })];
    const [, second] = paginate(rows, area);
    expect(second!.map(({ block: positioned, top }) => [positioned.height, top])).toEqual([
      [10, 10],
      [30, 20],
    ]);
  });

  it('a block taller than a page gets a page of its own, once', () => {
    expect(tops(paginate([block(20), block(500), block(20)], area))).toEqual([[10], [10], [10]]);
  });
});
