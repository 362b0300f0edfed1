import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PdfFacts, ReceiptDocument } from '#pdf/facts.ts';
import { renderReceipt } from '#pdf/render.ts';
import { invoiceOf, RECEIPT_SAMPLES, receiptFacts } from '../../../../local/bench/receipt-samples.ts';
import { dense, loadFont, renderAndRead } from './reader.ts';

const KIB = 1024;
const CJK = ['japanese', 'chinese', 'korean'];
const A4 = [595.28, 841.89];
const sample = (kind: string): PdfFacts => RECEIPT_SAMPLES[kind]!;
const documentOf = ({ document }: PdfFacts): ReceiptDocument => JSON.parse(document) as ReceiptDocument;

/** Returns every text and number of a value without white space. */
function leavesOf(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leavesOf);
  return typeof value === 'string' || typeof value === 'number' ? [dense(String(value))] : [];
}
function publicFacts(facts: PdfFacts): string[] {
  const { fee: _, ...document } = documentOf(facts);
  return [...leavesOf(document), facts.sha256, facts.signature, facts.keyId, facts.proofUrl];
}
/** A PDF reader may return accented characters in decomposed form. */
const missing = (text: string, facts: string[]): string[] => facts.filter((fact) => !text.normalize('NFC').includes(fact.normalize('NFC')));

const money = (amount: string) => ({ asset: 'USDC' as const, amount, base_units: `${amount.replace('.', '')}77` });
const withFee = { fee: money('99.9871') };
const copy = { fee: money('99.9871'), net: money('1134.5129'), invoice: invoiceOf(3) };

describe('content of a PDF receipt', () => {
  it.each(Object.keys(RECEIPT_SAMPLES).filter((kind) => !['hostile', 'emoji'].includes(kind)))(
    'the PDF has every fact of its signed document: %s',
    async (kind) => {
      const { text } = await renderAndRead(sample(kind));
      expect(missing(text, publicFacts(sample(kind)))).toEqual([]);
    },
  );

  it('signatures, hashes and addresses are on one line each', async () => {
    const facts = sample('plain');
    const { tx_sig, payer } = documentOf(facts);
    const { lines } = await renderAndRead(facts);
    for (const fact of [tx_sig, payer, facts.sha256, facts.signature]) expect(lines).toContain(fact);
  });

  it('the file is titled with its receipt, in English, and has no creation date', async () => {
    const { info } = await renderAndRead(sample('plain'));
    expect(info).toMatchObject({ Title: `Receipt ${documentOf(sample('plain')).receipt_id}`, Language: 'en' });
    expect(Object.keys(info).filter((key) => /date|author|creator/i.test(key))).toEqual([]);
  });

  it('the seller’s display name is shown next to another brand', async () => {
    const { text } = await renderAndRead(receiptFacts({}, { brand: { name: 'Bright Skies Ltd' } }));
    expect(text).toContain('BrightSkiesLtd');
    expect(text).toContain(dense('Ada’s weather'));
  });

  it('times are in UTC, and amounts are formatted and exact', async () => {
    const { text } = await renderAndRead(sample('plain'));
    for (const expected of ['14 November 2026, 22:13:20 UTC', '1,234.50 USDC', '1234.5 USDC', 'Amount in base units 1234500000']) {
      expect(text).toContain(dense(expected));
    }
  });

  it('ids and base units are only in the proof section', async () => {
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

  it('a used rate and the operator of version 2 are shown', async () => {
    const { text } = await renderAndRead(sample('quoted'));
    for (const expected of ['1 SOL = 151.4205 USDC', 'Example Operator', 'https://hermes.pyth.network'])
      expect(text).toContain(dense(expected));
    expect((await renderAndRead(sample('plain'))).text).not.toContain('Operator');
  });
});

describe('marks of a PDF receipt', () => {
  it.each([
    ['a receipt of real money bears none', 'plain', []],
    ['test money is marked', 'test', ['TEST']],
    ['a lost transaction is marked, and test money too', 'orphaned', ['ORPHANED', 'TEST']],
  ])('%s', async (_title, kind, marks) => {
    const { text } = await renderAndRead(sample(kind));
    expect(['ORPHANED', 'TEST'].filter((mark) => text.includes(mark))).toEqual(marks);
  });

  it('a live payment on a network other than mainnet is marked TEST', async () => {
    const { network } = documentOf(sample('test'));
    expect((await renderAndRead(receiptFacts({ network, livemode: true }))).text).toContain('TEST');
  });

  it('the marks are on every page', async () => {
    const facts = receiptFacts({ livemode: false }, { isOrphaned: true, merchantCopy: { ...copy, invoice: invoiceOf(50) } });
    const { pages } = await renderAndRead(facts);
    expect(pages.length).toBeGreaterThan(1);
    for (const page of pages) expect(page).toMatch(/ORPHANED.*TEST/);
  });
});

describe('merchant copy', () => {
  it('the merchant copy adds fee, net and every invoice field', async () => {
    const { text } = await renderAndRead(receiptFacts(withFee, { merchantCopy: copy }));
    const { fee, net } = copy;
    const added = [`Fee${fee.amount}USDC`, `Net${net.amount}USDC`, ...Object.values(copy.invoice).flatMap(leavesOf)];
    const lines = added.flatMap((fact) => fact.split('\n'));
    expect(missing(text, lines.map(dense))).toEqual([]);
  });

  it('the merchant copy states that there was no fee', async () => {
    const { text } = await renderAndRead(receiptFacts({}, { merchantCopy: { fee: null, net: money('1234.5') } }));
    expect(text).toContain('Feenone');
  });

  it('the public PDF has none of the merchant’s fields', async () => {
    const { text } = await renderAndRead(receiptFacts(withFee));
    const secret = [copy.fee.amount, copy.net.amount, ...leavesOf(copy.invoice).filter((leaf) => leaf.length > 6)];
    expect(secret.length).toBeGreaterThan(15);
    expect(secret.filter((fact) => text.includes(fact))).toEqual([]);
  });

  it('fifty lines fill two pages with table head and page number', async () => {
    const { pages } = await renderAndRead(sample('invoice-50-lines'));
    expect(pages).toHaveLength(2);
    for (const [index, page] of pages.entries()) {
      expect(page).toContain('DescriptionQuantityAmount');
      expect(page).toContain(`Page${index + 1}of2`);
    }
    for (const { description } of invoiceOf(50).lines!) expect(pages.join('')).toContain(dense(description));
  });
});

describe('logo', () => {
  const branded = (logo: Uint8Array) => receiptFacts({}, { brand: { name: 'Bright Skies', logo } });
  /** Builds a JPEG header with these dimensions, which a viewer reads before it decodes the image. */
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

  it('a JPEG is embedded unchanged, and a PNG is scaled down', async () => {
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
  ])('a logo that is %s is omitted, and the name is shown', async (_what, logo) => {
    const { bytes, text } = await renderAndRead(branded(logo));
    expect(hasPicture(bytes)).toBe(false);
    expect(text).toContain('BrightSkies');
  });

  it('no logo bytes break the file', async () => {
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

describe('PDF file', () => {
  it.each(Object.keys(RECEIPT_SAMPLES))('the file is A4, below its size limit, and one page without an invoice: %s', async (kind) => {
    const { bytes, sizes } = await renderAndRead(sample(kind));
    expect(bytes.length).toBeLessThan((CJK.includes(kind) ? 400 : 120) * KIB);
    for (const size of sizes) expect(size.map((side) => Math.round(side * 100) / 100)).toEqual(A4);
    if (!kind.startsWith('invoice')) expect(sizes).toHaveLength(1);
  });

  it('a subscription receipt links to its cancellation, and no other receipt does', async () => {
    const subscriptionUrl = 'https://pay.example.com/s/nsa_01KAJ3V5Y7H2Q8M4N6P9R1S3T5';
    const { text } = await renderAndRead(receiptFacts({}, { subscriptionUrl }));
    expect(text).toContain(dense(`Subscription ${subscriptionUrl} (see or cancel)`));
    expect((await renderAndRead(sample('plain'))).text).not.toContain('/s/');
  });

  it('the only link is the public proof, and the file has no actions', async () => {
    for (const kind of ['plain', 'hostile', 'invoice']) {
      const { links, actions } = await renderAndRead(sample(kind));
      expect(links).toEqual([sample(kind).proofUrl]);
      expect(actions).toEqual([]);
    }
  });
});
