import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PdfFacts } from '#pdf/facts.ts';
import { RECEIPT_SAMPLES, receiptFacts } from '../../../../local/bench/receipt-samples.ts';
import { dense, renderAndRead } from './reader.ts';

const ACCOUNT = '0197a3c0-1f2e-7000-8000-00000000003b';
const named = (product_name: string, display_name = 'Ada’s weather', facts: Partial<PdfFacts> = {}): PdfFacts =>
  receiptFacts({ product_name, merchant: { account_id: ACCOUNT, display_name } }, { brand: { name: 'Ada' }, ...facts });
const noted = (notes: string): PdfFacts =>
  named('Weather API', undefined, {
    merchantCopy: { fee: null, net: { asset: 'USDC', amount: '1', base_units: '1000000' }, invoice: { notes } },
  });
const between = (text: string, before: string, after: string): string => {
  const start = text.indexOf(before) + before.length;
  return text.slice(start, text.indexOf(after, start));
};
const productOf = (text: string): string => between(text, 'PurchaseProduct', 'Seller');
const escapeOf = (character: string): string => `\\u{${character.codePointAt(0)!.toString(16).toUpperCase()}}`;

/** Returns true if every character is read back as itself or as its escape. */
function comesBack(read: string, source: string): boolean {
  let at = 0;
  // Splits before removing white space, because two lone surrogates must not join.
  for (const character of [...source].map(dense).filter((text) => text !== '')) {
    const shown = [character, escapeOf(character)].find((form) => read.startsWith(form, at));
    if (shown === undefined) return false;
    at += shown.length;
  }
  return at === read.length;
}
const isReadBack = (read: string, source: string): boolean =>
  (['NFC', 'NFD'] as const).some((form) => comesBack(read.normalize(form), source.normalize(form))) || comesBack(read, source);

describe('names in a PDF receipt', () => {
  it.each([
    ['Latin', 'Ærøskøbing, Łódź, Þórshöfn, Ǿ ƒ ʻokina ẞ'],
    ['Latin in parts', 'e\u0301 n\u0303 u\u0308 Yoru\u0300ba\u0301 o\u0323\u0300ro\u0323\u0300'],
    ['Vietnamese', 'Tiếng Việt ở Đà Nẵng'],
    ['Greek', 'Ελληνικά, ᾳ̃δῃς Ὀδυσσεύς'],
    ['Cyrillic', 'Українська, Ѓѓ, Қазақ, Ѳ'],
    ['Armenian and Georgian', 'Հայաստան საქართველო'],
    ['Japanese', '東京スカイツリー（ﾊﾝｶｸ）々〆ヶ 髙﨑 か\u3099'],
    ['Japanese with a variant of a character', '葛\u{e0100}城市'],
    ['simplified Chinese', '晴天科技有限公司「测试」'],
    ['traditional Chinese', '臺灣氣象龜鬱喺咗'],
    ['Korean', '대한민국 날씨 뷁'],
    ['Korean in jamo', '\u1112\u1161\u11ab\u1100\u1173\u11af'],
    ['Hebrew', 'שלום עולם'],
    ['Arabic with lam and alef', 'السلام عليكم لأجل الإنسان'],
    ['Persian with a non-joiner', 'می\u200cخواهم گچپژ'],
    ['Urdu', 'پاکستان کے لیے ٹھیک ہے'],
    ['Arabic digits', 'سعر ١٢٣٤ ریال ۵۶'],
    ['emoji', '😀👨‍👩‍👧‍👦👍🏽🇯🇵☀️⚡❤️'],
    ['signs', '€ ₹ ₿ № ™ © ½ ² → ≤ ★ ① ♥ ∞ • …'],
  ])('a name is read back as written: %s', async (_script, name) => {
    const { text } = await renderAndRead(named(name));
    expect(productOf(text).normalize('NFC')).toBe(dense(name).normalize('NFC'));
  });

  it.each([
    ['that turns the direction', 'Free\u202eDIAP', 'Free\\u{202E}DIAP'],
    ['that is not seen', 'Pay\u200bPal\ufeff \u00ad\u3164', 'Pay\\u{200B}Pal\\u{FEFF}\\u{AD}\\u{3164}'],
    ['that controls', 'a\u0000b\u001b[31m\u0085', 'a\\u{0}b\\u{1B}[31m\\u{85}'],
    ['that is half of one', 'a\ud83db\ude00', 'a\\u{D83D}b\\u{DE00}'],
    ['of a script without a font', 'ไทย', '\\u{E44}\\u{E17}\\u{E22}'],
    ['that is a vowel mark over Arabic or Hebrew', 'مُ שָ', 'م\\u{64F}ש\\u{5B8}'],
    ['of a mark on a mark on a mark', `a${'\u0301'.repeat(5)}`, 'á\u0301\u0301\\u{301}\\u{301}'],
    ['that no one assigned or that is private', '\u{e000}\u{10ffff}\u{50000}', '\\u{E000}\\u{10FFFF}\\u{50000}'],
  ])('a character %s is shown as its escape', async (_kind, name, shown) => {
    expect(productOf((await renderAndRead(named(name))).text).normalize('NFC')).toBe(shown.normalize('NFC'));
  });

  it('brackets and numbers in right-to-left text are read back in reading order', async () => {
    const name = 'שירות (API), 1,000 קריאות [v2.1]';
    expect(productOf((await renderAndRead(named(name))).text)).toBe(dense(name));
  });
});

describe('hostile text in a PDF receipt', () => {
  const HOSTILE = '<script>alert(1)</script> %PDF-1.7 endstream endobj ) Tj ET /JS (app.alert(1)) \\) << /AA >> \r\nBcc: x@example.com';

  it('hostile text is plain text in every field', async () => {
    const party = { name: HOSTILE, address: `${HOSTILE}\n${HOSTILE}`, email: HOSTILE, tax_id: HOSTILE };
    const facts = receiptFacts(
      {
        product_name: HOSTILE,
        memo: HOSTILE,
        merchant: { account_id: ACCOUNT, display_name: HOSTILE },
        operator: { name: HOSTILE, url: HOSTILE },
      },
      {
        keyId: HOSTILE,
        brand: { name: HOSTILE },
        merchantCopy: {
          fee: null,
          net: { asset: 'USDC', amount: '1', base_units: '1000000' },
          invoice: {
            invoice_number: HOSTILE,
            seller: party,
            bill_to: party,
            notes: HOSTILE,
            lines: [{ description: HOSTILE, quantity: '1', amount: '1' }],
            tax: { label: HOSTILE },
          },
        },
      },
    );
    const { text, links, actions } = await renderAndRead(facts);
    expect(text.split(dense(HOSTILE)).length - 1).toBeGreaterThan(15);
    expect([links, actions]).toEqual([[facts.proofUrl], []]);
  });

  it('ten thousand characters are read back complete over several pages', async () => {
    for (const name of ['x'.repeat(10_000), 'ab '.repeat(3333), '漢字'.repeat(5000), '\u202e'.repeat(10_000), 'שלום '.repeat(2000)]) {
      const { text, pages } = await renderAndRead(named(name, name));
      const read = pages.map((page) => page.replace(/Receipt[\w-]{36}Page\d+of\d+$/, '')).join('');
      expect(isReadBack(productOf(read), name)).toBe(true);
      expect(text).toContain(`Page${pages.length}of${pages.length}`);
    }
  });

  it('ten thousand lines are read back complete', async () => {
    const { pages } = await renderAndRead(noted(Array.from({ length: 10_000 }, (_, line) => `line ${line}`).join('\n\n\n')));
    const read = pages.map((page) => page.replace(/Receipt[\w-]{36}Page\d+of\d+$/, '')).join('');
    expect(between(read, 'Notes', 'PurchaseProduct')).toBe(Array.from({ length: 10_000 }, (_, line) => `line${line}`).join(''));
  });

  it('an empty or blank name is shown as empty', async () => {
    for (const name of ['', ' \n\t\u3000 ']) {
      expect(productOf((await renderAndRead(named(name, name, { brand: { name } }))).text)).toBe('');
    }
  });
});

describe('random Unicode text in a PDF receipt', () => {
  const NASTY = [
    '\ud800',
    '\udfff',
    '\u202e',
    '\u2066',
    '\u200b',
    '\u200d',
    '\u200c',
    '\ufe0f',
    '\r\n',
    '\u2028',
    '\t',
    '\u0000',
    '\\',
    '(',
    ')',
    '[',
    '<b>',
    '%',
  ];
  const FRAGMENTS = [
    'ab',
    'é',
    'e\u0301',
    'ß',
    'Ж',
    'λ',
    'ا',
    'لا',
    'ل',
    'ب',
    '\u064e',
    'ש',
    '\u05b8',
    '١',
    '漢',
    'カ',
    '가',
    '\u1112\u1161',
    '😀',
    '☀️',
    '🇩🇪',
    'ก',
    '①',
    '→',
    ' ',
    '12,5',
  ];
  const text = fc.array(fc.oneof(fc.constantFrom(...NASTY), fc.constantFrom(...FRAGMENTS), fc.string({ unit: 'binary', maxLength: 4 })), {
    maxLength: 40,
  });

  it('the PDF opens without an error, and the text is read back as itself or as escapes', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (parts) => {
        const name = parts.join('');
        const { text: read, actions, links } = await renderAndRead(named(name));
        expect([actions, links]).toEqual([[], [RECEIPT_SAMPLES.plain!.proofUrl]]);
        expect(isReadBack(productOf(read), name), JSON.stringify({ name, read: productOf(read) })).toBe(true);
      }),
      { numRuns: 120 },
    );
  });

  it('the merchant’s notes retain their lines', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (parts) => {
        const notes = `.${parts.join('\n')}.`;
        const { text: read } = await renderAndRead(noted(notes));
        expect(isReadBack(between(read, 'Notes', 'PurchaseProduct'), notes), JSON.stringify(notes)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});
