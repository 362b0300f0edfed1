import { describe, expect, it } from 'vitest';
import { type Block, paginate } from '#papers/flow.ts';
import { joinArabic } from '#papers/text/arabic.ts';
import { clustersOf } from '#papers/text/clusters.ts';
import { Fonts } from '#papers/text/fonts.ts';
import { joinLines, shape, type TextLine, Typesetter } from '#papers/text/typesetter.ts';
import { testEnv } from '../../support/runner/env.ts';

const loadFont = async (path: string) =>
  new Uint8Array(await (await (testEnv.ASSETS as Fetcher).fetch(`https://assets.test${path}`)).arrayBuffer());
const shown = (text: string): string[] => clustersOf(text).map((cluster) => cluster.shown);
const forms = (text: string): string =>
  joinArabic(clustersOf(text))
    .map((cluster) => cluster.shown)
    .join('');

describe('clusters', () => {
  it('are characters with all that belongs to them', () => {
    expect(shown('e\u0301x\u0304가か\u3099')).toEqual(['é', 'x\u0304', '가', 'が']);
    expect(shown('\u1112\u1161\u11ab')).toEqual(['한']);
    expect(clustersOf('葛\u{e0100}☀\ufe0f👨\u200d👩').map(({ text }) => text)).toEqual(['葛\u{e0100}', '☀\ufe0f', '👨\u200d', '👩']);
  });

  it('have one space for white space of any kind, and none at the ends', () => {
    expect(shown(' \r\n a \t\u00a0\u3000\u2028 b \n')).toEqual(['a', ' ', 'b']);
  });

  it('keep an invisible character only where it means something', () => {
    expect(shown('a\ufe0fb\u200dc\u200cd')).toEqual(['a', '\\u{FE0F}', 'b', '\\u{200D}', 'c', '\\u{200C}', 'd']);
    expect(shown('\u0301a')).toEqual(['\\u{301}', 'a']);
  });
});

describe('Arabic letters', () => {
  it.each([
    ['take the form their neighbours ask for', 'بيت', '\ufe91\ufef4\ufe96'],
    ['stand alone after one that joins nothing', 'دار', '\ufea9\ufe8d\ufead'],
    ['are one where lam meets alef', 'لا بلا', '\ufefb \ufe91\ufefc'],
    ['of Persian and Urdu join too', 'چگ', '\ufb7c\ufb93'],
    ['end at a non-joiner', 'ب\u200cب', '\ufe8f\ufe8f'],
    ['join through a line that lengthens them', 'بـب', '\ufe91ـ\ufe90'],
    ['join nothing over a space, a digit or another script', 'ب ب1بa', '\ufe8f \ufe8f1\ufe8fa'],
    ['are shown as escapes where their forms are unknown, and join nothing then', 'بݐب', '\ufe8f\\u{750}\ufe8f'],
  ])('%s', (_guarantee, text, expected) => {
    expect(forms(text)).toBe(expected);
  });
});

describe('lines', () => {
  const style = { face: 'regular', size: 10 } as const;
  const typesetterOf = async (...texts: string[]) => new Typesetter(await Fonts.load([...texts, '…'].flatMap(shape), loadFont));
  const widthOf = (type: Typesetter, text: string): number => type.set(text, style, Number.POSITIVE_INFINITY)[0]!.width;

  it('are no wider than they may be, and break between words where they can', async () => {
    const text = 'Hourly observations and forecasts, unbreakable-'.concat('x'.repeat(80));
    const type = await typesetterOf(text);
    const lines = type.set(text, style, 100);
    expect(lines.length).toBeGreaterThan(4);
    expect(lines.filter(({ width }) => width > 100)).toEqual([]);
    expect(lines[0]!.width).toBe(widthOf(type, 'Hourly'.concat(' observations')));
  });

  it('break between ideographs, but neither before closing nor after opening punctuation', async () => {
    const text = '東京の天気、（全国）データ';
    const type = await typesetterOf(text);
    for (const length of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
      const lines = type.set(text, style, length * 10);
      let end = 0;
      const ends = lines.map(({ width }) => (end += Math.round(width / 10)));
      const starts = [0, ...ends];
      if (length > 1) for (const start of starts.slice(0, -1)) expect('、）').not.toContain(text[start]);
      if (length > 1) for (const at of ends) expect('（').not.toContain(text[at - 1]);
    }
  });

  it('have their first word on the right where they are read from there', async () => {
    const type = await typesetterOf('שלום עולם');
    const [line] = type.set('שלום עולם', style, 500);
    const [first, , last] = line!.runs;
    expect(line!.isRtl).toBe(true);
    expect(first!.x).toBeGreaterThan(last!.x);
    expect(last!.x).toBe(0);
    expect(Math.round(((first!.x + first!.width) * 10) / 1000)).toBe(Math.round(line!.width));
  });

  it('get another at the end they are read to', async () => {
    const type = await typesetterOf('שלום', 'hello');
    const [hebrew, latin, end] = ['שלום', 'hello', '…'].map((text) => type.set(text, style, 500)[0]!) as [TextLine, TextLine, TextLine];
    expect(joinLines(latin, end).runs.at(-1)!.x).toBe(Math.round(latin.width * 100));
    expect(joinLines(hebrew, end).runs.at(-1)!.x).toBe(0);
    expect(joinLines(hebrew, end).width).toBe(hebrew.width + end.width);
  });
});

describe('pages', () => {
  const block = (height: number, rest: Partial<Block> = {}): Block => ({ height, draw: () => undefined, ...rest });
  const area = { top: 10, bottom: 110 };
  const tops = (pages: ReturnType<typeof paginate>) => pages.map((page) => page.map(({ top }) => top));

  it('are filled to their end, with no gap at their top', () => {
    const blocks = [block(60, { gap: 5 }), block(30, { gap: 10 }), block(20, { gap: 5 })];
    expect(tops(paginate(blocks, area))).toEqual([[10, 80], [10]]);
  });

  it('do not end with a heading', () => {
    expect(tops(paginate([block(70), block(20, { isHeading: true }), block(20)], area))).toEqual([[10], [10, 30]]);
  });

  it('begin with the head of the table that goes on there', () => {
    const head = block(10);
    const rows = [head, block(80), block(30, { repeats: head })];
    const [, second] = paginate(rows, area);
    expect(second!.map(({ block: placed, top }) => [placed.height, top])).toEqual([
      [10, 10],
      [30, 20],
    ]);
  });

  it('take a block that is higher than a page by itself, once', () => {
    expect(tops(paginate([block(20), block(500), block(20)], area))).toEqual([[10], [10], [10]]);
  });
});
