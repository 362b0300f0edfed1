import fc from 'fast-check';
import Papa from 'papaparse';
import { describe, expect, it } from 'vitest';
import { csvOfReceipts, type ReceiptRow } from '#features/receipts/papers/csv.ts';

const HEAD =
  'receipt_id,issued_at,block_time,product_id,product_name,asset,amount,base_units,fee,net,payer,recipient,tx_sig,slot,network,memo,status,invoice_number,reference,bill_to_name,livemode,direction';

const row = (change: Partial<ReceiptRow> = {}): ReceiptRow => ({
  receiptId: '0197a3c0-0000-7000-8000-000000000001',
  issuedAt: Date.UTC(2026, 10, 14, 22, 13, 27, 412),
  blockTime: Date.UTC(2026, 10, 14, 22, 13, 20),
  productId: '0197a3c0-0000-7000-8000-000000000002',
  productName: 'Weather API',
  amount: { asset: 'USDC', units: 12_500_000n },
  fee: { asset: 'USDC', units: 125_000n },
  net: { asset: 'USDC', units: 12_375_000n },
  payer: 'payer',
  recipient: 'recipient',
  txSignature: 'signature',
  slot: 42,
  network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  memo: 'svc:nonce',
  status: 'final',
  invoiceNumber: 'INV-1',
  reference: null,
  billToName: null,
  livemode: true,
  direction: 'received',
  ...change,
});

/** A stream that asks its source for the next page when there is room for it. */
const streamOf = (source: AsyncIterator<ReceiptRow[]>): ReadableStream<ReceiptRow[]> =>
  new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await source.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await source.return?.()),
  });
async function* each(pages: ReceiptRow[][]) {
  yield* pages;
}

const bytesOf = async (...pages: ReceiptRow[][]): Promise<Uint8Array> =>
  new Uint8Array(await new Response(streamOf(each(pages)).pipeThrough(csvOfReceipts())).arrayBuffer());
const textOf = async (...pages: ReceiptRow[][]): Promise<string> =>
  new TextDecoder('utf-8', { ignoreBOM: true, fatal: true }).decode(await bytesOf(...pages));
/** As a reader of CSV that is not ours reads it. */
const read = (text: string): Record<string, string>[] => {
  const { data, errors } = Papa.parse<Record<string, string>>(text, { header: true, delimiter: ',', newline: '\r\n' });
  expect(errors.filter(({ code }) => code !== 'TooFewFields')).toEqual([]);
  expect(data.pop()).toEqual({ receipt_id: '' });
  return data;
};
const isFormula = (text: string): boolean => ['=', '+', '-', '@', '\t', '\r'].includes(text[0] ?? '');

describe('the export of receipts', () => {
  it('has the columns in their order, and CRLF after every line, the last too', async () => {
    expect(await textOf()).toBe(`${HEAD}\r\n`);
    expect(await textOf([row()])).toBe(
      `${HEAD}\r\n0197a3c0-0000-7000-8000-000000000001,2026-11-14T22:13:27.412Z,2026-11-14T22:13:20.000Z,0197a3c0-0000-7000-8000-000000000002,Weather API,USDC,12.5,12500000,0.125,12.375,payer,recipient,signature,42,solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1,svc:nonce,final,INV-1,,,true,received\r\n`,
    );
  });

  it('is UTF-8 without a mark at its beginning', async () => {
    expect([...(await bytesOf([row({ productName: '東京☀' })])).slice(0, 3)]).toEqual([...new TextEncoder().encode('rec')]);
    expect(await textOf([row({ productName: '東京☀' })])).toContain(',東京☀,');
  });

  it('says amounts to the last unit, and nothing where there is none', async () => {
    const [{ amount, base_units, fee, net }] = read(
      await textOf([row({ amount: { asset: 'SOL', units: 18_446_744_073_709_551_615n }, fee: null, net: null })]),
    ) as [Record<string, string>];
    expect([amount, base_units, fee, net]).toEqual(['18446744073.709551615', '18446744073709551615', '', '']);
  });

  it('gives a reader the same values back, the quote before a formula apart', async () => {
    const hostile = fc.constantFrom(
      '=1+1',
      '+1',
      '-1',
      '@SUM(A1)',
      '\t=1',
      '\r=1',
      '"',
      '""',
      ',',
      '\n',
      '\r\n',
      "'",
      ';',
      '|',
      ' =1',
      "=cmd|' /C calc'!A0",
    );
    const text = fc
      .array(fc.oneof(hostile, fc.string({ unit: 'grapheme', maxLength: 6 })), { maxLength: 5 })
      .map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(text, text, text, text), { maxLength: 8 }), async (cells) => {
        const rows = cells.map(([productName, memo, invoiceNumber, billToName]) => row({ productName, memo, invoiceNumber, billToName }));
        const expected = cells.map((values) => values.map((value) => (isFormula(value) ? `'${value}` : value)));
        const data = read(await textOf(rows));
        expect(data.map((line) => [line.product_name, line.memo, line.invoice_number, line.bill_to_name])).toEqual(expected);
        expect(data.flatMap((line) => Object.values(line)).filter(isFormula)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('streams a hundred thousand rows and never holds more than a few pages of them', async () => {
    const [pages, perPage] = [100, 1000];
    let made = 0;
    let lines = 0;
    let ahead = 0;
    async function* source() {
      for (; made < pages; made++) yield Array.from({ length: perPage }, (_, index) => row({ slot: made * perPage + index }));
    }
    const reader = streamOf(source()).pipeThrough(csvOfReceipts()).getReader();
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      lines += value!.reduce((count: number, byte: number) => count + (byte === 0x0a ? 1 : 0), 0);
      ahead = Math.max(ahead, made - Math.floor((lines - 1) / perPage));
    }
    expect(lines).toBe(pages * perPage + 1);
    expect(ahead).toBeLessThanOrEqual(3);
  });

  it('takes no more pages once its reader has gone', async () => {
    let made = 0;
    let isClosed = false;
    async function* source() {
      try {
        for (; made < 1000; made++) yield [row()];
      } finally {
        isClosed = true;
      }
    }
    const reader = streamOf(source()).pipeThrough(csvOfReceipts()).getReader();
    await reader.read();
    await reader.cancel();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(made).toBeLessThan(5);
    expect(isClosed).toBe(true);
  });

  it('breaks off where its source does, rather than end as if it were whole', async () => {
    async function* source() {
      yield [row()];
      throw new Error('the database is away');
    }
    await expect(new Response(streamOf(source()).pipeThrough(csvOfReceipts())).text()).rejects.toThrow('the database is away');
  });
});
