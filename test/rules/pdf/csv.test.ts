import { describe, expect, it } from 'vitest';
import { csvOfReceipts, type ReceiptRow } from '#features/receipts/pdf/csv.ts';

const row = (productName: string): ReceiptRow => ({
  receiptId: 'r',
  issuedAt: 0,
  blockTime: 0,
  productId: 'p',
  productName,
  amount: { asset: 'USDC', units: 1n },
  fee: null,
  net: null,
  quote: null,
  payer: 'a',
  recipient: 'b',
  txSignature: 's',
  slot: 1,
  network: 'n',
  memo: 'm',
  status: 'final',
  invoiceNumber: null,
  reference: null,
  billToName: null,
  livemode: true,
  direction: 'received',
  customerRef: null,
  email: null,
  refunded: null,
  period: null,
});

async function renderCell(productName: string): Promise<string> {
  const stream = csvOfReceipts();
  const writer = stream.writable.getWriter();
  const text = new Response(stream.readable).text();
  await writer.write([row(productName)]);
  await writer.close();
  const [, line = ''] = /\r\n([\s\S]*)\r\n$/.exec(await text)!;
  return line.slice('r,1970-01-01T00:00:00.000Z,1970-01-01T00:00:00.000Z,p,'.length, line.indexOf(',USDC,0.000001,1,'));
}

describe('CSV export', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['＝1+1', "'＝1+1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠SUM(A1)', "'＠SUM(A1)"],
    ['\t=1', `"'\t'=1"`],
    ['\r=1', `"'\r'=1"`],
    ['\n=1+1', `"'\n'=1+1"`],
    ['ACME;=1+1', `"ACME;'=1+1"`],
    ['ACME\t＝1+1', `"ACME\t'＝1+1"`],
    ['ACME\r\n=1+1', `"ACME\r\n'=1+1"`],
    ['A;B', '"A;B"'],
    ['1 + 1 = 2', '1 + 1 = 2'],
    ['Ada-Lou, 2', '"Ada-Lou, 2"'],
  ])('the cell %j is escaped so that no spreadsheet runs it, whatever the separator', async (text, cell) => {
    expect(await renderCell(text)).toBe(cell);
  });
});
