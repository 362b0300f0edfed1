import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PaperFacts, ReceiptDocument } from '#papers/facts.ts';
import { renderReceipt } from '#papers/render.ts';
import { invoiceOf, RECEIPT_SAMPLES, receiptFacts } from '../../../../local/bench/receipt-samples.ts';
import { dense, loadFont, renderAndRead } from './reader.ts';

const KIB = 1024;
const CJK = ['japanese', 'chinese', 'korean'];
const A4 = [595.28, 841.89];
const sample = (kind: string): PaperFacts => RECEIPT_SAMPLES[kind]!;
const documentOf = ({ document }: PaperFacts): ReceiptDocument => JSON.parse(document) as ReceiptDocument;

/** Every text and number somewhere inside, without white space. */
function leavesOf(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leavesOf);
  return typeof value === 'string' || typeof value === 'number' ? [dense(String(value))] : [];
}
/** What the public paper says of a receipt. */
function publicFacts(facts: PaperFacts): string[] {
  const { fee: _, ...document } = documentOf(facts);
  return [...leavesOf(document), facts.sha256, facts.signature, facts.keyId, facts.proofUrl];
}
/** Accented letters may come back in parts. */
const missing = (text: string, facts: string[]): string[] => facts.filter((fact) => !text.normalize('NFC').includes(fact.normalize('NFC')));

const money = (amount: string) => ({ asset: 'USDC' as const, amount, base_units: `${amount.replace('.', '')}77` });
const withFee = { fee: money('99.9871') };
const copy = { fee: money('99.9871'), net: money('1134.5129'), invoice: invoiceOf(3) };

describe('what a paper says', () => {
  it.each(Object.keys(RECEIPT_SAMPLES).filter((kind) => !['hostile', 'emoji'].includes(kind)))(
    'gives back every fact of its signed document: %s',
    async (kind) => {
      const { text } = await renderAndRead(sample(kind));
      expect(missing(text, publicFacts(sample(kind)))).toEqual([]);
    },
  );

  it('keeps facts that are copied whole on one line: a signature, a hash, an address', async () => {
    const facts = sample('plain');
    const { tx_sig, payer } = documentOf(facts);
    const { lines } = await renderAndRead(facts);
    for (const fact of [tx_sig, payer, facts.sha256, facts.signature]) expect(lines).toContain(fact);
  });

  it('is called by its receipt, is English, and holds no date of its making', async () => {
    const { info } = await renderAndRead(sample('plain'));
    expect(info).toMatchObject({ Title: `Receipt ${documentOf(sample('plain')).receipt_id}`, Language: 'en' });
    expect(Object.keys(info).filter((key) => /date|author|creator/i.test(key))).toEqual([]);
  });

  it('shows the display name of the seller beside another brand', async () => {
    const { text } = await renderAndRead(receiptFacts({}, { brand: { name: 'Bright Skies Ltd' } }));
    expect(text).toContain('BrightSkiesLtd');
    expect(text).toContain(dense('Ada’s weather'));
  });

  it('says times in UTC and amounts for the eye and to the last unit', async () => {
    const { text } = await renderAndRead(sample('plain'));
    for (const words of ['14 November 2026, 22:13:20 UTC', '1,234.50 USDC', '1234.5 USDC', 'Amount in base units 1234500000']) {
      expect(text).toContain(dense(words));
    }
  });

  it('says what was bought without ids or base units, which stand in the proof', async () => {
    const facts = sample('plain');
    const { product_id, merchant, amount } = documentOf(facts);
    const { text } = await renderAndRead(facts);
    const [before, proof] = [text.slice(0, text.lastIndexOf('ProofReceiptid')), text.slice(text.lastIndexOf('ProofReceiptid'))];
    expect(before).toContain('PurchaseProduct');
    for (const technical of [product_id, merchant.account_id, amount.base_units]) {
      expect(before).not.toContain(technical);
      expect(proof).toContain(technical);
    }
  });

  it('shows the rate where one was used, and the operator of version 2', async () => {
    const { text } = await renderAndRead(sample('quoted'));
    for (const words of ['1 SOL = 151.4205 USDC', 'Example Operator', 'https://hermes.pyth.network']) expect(text).toContain(dense(words));
    expect((await renderAndRead(sample('plain'))).text).not.toContain('Operator');
  });
});

describe('marks', () => {
  it.each([
    ['a receipt of real money bears none', 'plain', []],
    ['test money is marked', 'test', ['TEST']],
    ['a lost transaction is marked, and test money too', 'orphaned', ['ORPHANED', 'TEST']],
  ])('%s', async (_words, kind, marks) => {
    const { text } = await renderAndRead(sample(kind));
    expect(['ORPHANED', 'TEST'].filter((mark) => text.includes(mark))).toEqual(marks);
  });

  it('marks what was paid in live mode on another network than the main one', async () => {
    const { network } = documentOf(sample('test'));
    expect((await renderAndRead(receiptFacts({ network, livemode: true }))).text).toContain('TEST');
  });

  it('repeats them on every page', async () => {
    const facts = receiptFacts({ livemode: false }, { isOrphaned: true, merchantCopy: { ...copy, invoice: invoiceOf(50) } });
    const { pages } = await renderAndRead(facts);
    expect(pages.length).toBeGreaterThan(1);
    for (const page of pages) expect(page).toMatch(/ORPHANED.*TEST/);
  });
});

describe('the merchant’s copy', () => {
  it('adds fee, net and every field of the invoice', async () => {
    const { text } = await renderAndRead(receiptFacts(withFee, { merchantCopy: copy }));
    const { fee, net } = copy;
    const added = [`Fee${fee.amount}USDC`, `Net${net.amount}USDC`, ...Object.values(copy.invoice).flatMap(leavesOf)];
    const lines = added.flatMap((fact) => fact.split('\n'));
    expect(missing(text, lines.map(dense))).toEqual([]);
  });

  it('says so where there was no fee', async () => {
    const { text } = await renderAndRead(receiptFacts({}, { merchantCopy: { fee: null, net: money('1234.5') } }));
    expect(text).toContain('Feenone');
  });

  it('keeps all of it from the public paper', async () => {
    const { text } = await renderAndRead(receiptFacts(withFee));
    const secret = [copy.fee.amount, copy.net.amount, ...leavesOf(copy.invoice).filter((leaf) => leaf.length > 6)];
    expect(secret.length).toBeGreaterThan(15);
    expect(secret.filter((fact) => text.includes(fact))).toEqual([]);
  });

  it('has fifty lines on two pages, each with the head of the table, and the number of the page', async () => {
    const { pages } = await renderAndRead(sample('invoice-50-lines'));
    expect(pages).toHaveLength(2);
    for (const [index, page] of pages.entries()) {
      expect(page).toContain('DescriptionQuantityAmount');
      expect(page).toContain(`Page${index + 1}of2`);
    }
    for (const { description } of invoiceOf(50).lines!) expect(pages.join('')).toContain(dense(description));
  });
});

describe('the logo', () => {
  const branded = (logo: Uint8Array) => receiptFacts({}, { brand: { name: 'Bright Skies', logo } });
  /** The head of a JPEG of so many pixels: what is read of it before a viewer unpacks it. */
  const jpeg = (width: number, height: number) =>
    new Uint8Array([
      0xff,
      0xd8,
      0xff,
      0xc0,
      0,
      17,
      8,
      height >> 8,
      height & 255,
      width >> 8,
      width & 255,
      3,
      1,
      0x11,
      0,
      2,
      0x11,
      0,
      3,
      0x11,
      0,
      0xff,
      0xd9,
    ]);
  const hasPicture = (bytes: Uint8Array) => Buffer.from(bytes).includes('/XObject');

  it('is in the file as it is if a JPEG, and shrunk to what is drawn if a PNG', async () => {
    expect(hasPicture(await renderReceipt(branded(jpeg(300, 100)), loadFont))).toBe(true);
    const { bytes } = await renderAndRead(sample('branded'));
    expect(hasPicture(bytes)).toBe(true);
    expect(bytes.length).toBeLessThan(40 * KIB);
  });

  it.each([
    ['nothing', new Uint8Array()],
    ['HTML', new TextEncoder().encode('<svg onload="alert(1)">')],
    ['a JPEG with more pixels than a viewer should unpack', jpeg(60_000, 60_000)],
    ['a JPEG without a pixel', jpeg(0, 100)],
    ['a JPEG that is cut off', jpeg(300, 100).slice(0, 8)],
  ])('is left out where it is %s, and the name stands', async (_what, logo) => {
    const { bytes, text } = await renderAndRead(branded(logo));
    expect(hasPicture(bytes)).toBe(false);
    expect(text).toContain('BrightSkies');
  });

  it('never breaks the file, whatever its bytes', async () => {
    const begun = fc.constantFrom<number[]>([], [0xff, 0xd8], [0xff, 0xd8, 0xff], [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    const logo = fc.tuple(begun, fc.uint8Array({ maxLength: 80 })).map(([start, rest]) => new Uint8Array([...start, ...rest]));
    const named = async (bytes: Uint8Array) => (await renderAndRead(branded(bytes))).text;
    await fc.assert(
      fc.asyncProperty(logo, async (bytes) => {
        expect(await named(bytes)).toContain('BrightSkies');
      }),
      { numRuns: 40 },
    );
  });
});

describe('the file', () => {
  it.each(Object.keys(RECEIPT_SAMPLES))('is on A4, within its weight, and one page unless it has an invoice: %s', async (kind) => {
    const { bytes, sizes } = await renderAndRead(sample(kind));
    expect(bytes.length).toBeLessThan((CJK.includes(kind) ? 400 : 120) * KIB);
    for (const size of sizes) expect(size.map((side) => Math.round(side * 100) / 100)).toEqual(A4);
    if (!kind.startsWith('invoice')) expect(sizes).toHaveLength(1);
  });

  it('says where the subscription that it is of is cancelled, and nothing of that for any other purchase', async () => {
    const subscriptionUrl = 'https://pay.example.com/s/nsa_01KAJ3V5Y7H2Q8M4N6P9R1S3T5';
    const { text } = await renderAndRead(receiptFacts({}, { subscriptionUrl }));
    expect(text).toContain(dense(`Subscription ${subscriptionUrl} (see or cancel)`));
    expect((await renderAndRead(sample('plain'))).text).not.toContain('/s/');
  });

  it('leads to the public proof and to nothing else, and runs nothing', async () => {
    for (const kind of ['plain', 'hostile', 'invoice']) {
      const { links, actions } = await renderAndRead(sample(kind));
      expect(links).toEqual([sample(kind).proofUrl]);
      expect(actions).toEqual([]);
    }
  });
});
