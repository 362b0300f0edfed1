import { utf8 } from '#core/encoding.ts';
import { formatAmount, type Money } from '#core/money.ts';
import { csvLine } from '#core/text/csv.ts';
import { iso } from '#core/time.ts';

export interface ReceiptRow {
  receiptId: string;
  issuedAt: number;
  blockTime: number;
  productId: string;
  productName: string;
  amount: Money;
  fee: Money | null;
  net: Money | null;
  quote: { price: Money; rate: string; source: string; asOf: string } | null;
  payer: string;
  recipient: string;
  txSignature: string;
  slot: number;
  network: string;
  memo: string;
  status: 'final' | 'confirmed' | 'orphaned';
  invoiceNumber: string | null;
  reference: string | null;
  billToName: string | null;
  livemode: boolean;
  direction: 'received' | 'paid';
  customerRef: string | null;
  email: string | null;
  refunded: Money | null;
  period: { from: number; to: number } | null;
}

const COLUMNS: [name: string, cell: (row: ReceiptRow) => string | null][] = [
  ['receipt_id', ({ receiptId }) => receiptId],
  ['issued_at', ({ issuedAt }) => iso(issuedAt)],
  ['block_time', ({ blockTime }) => iso(blockTime)],
  ['product_id', ({ productId }) => productId],
  ['product_name', ({ productName }) => productName],
  ['asset', ({ amount }) => amount.asset],
  ['amount', ({ amount }) => formatAmount(amount)],
  ['base_units', ({ amount }) => amount.units.toString()],
  ['fee', ({ fee }) => fee && formatAmount(fee)],
  ['net', ({ net }) => net && formatAmount(net)],
  ['payer', ({ payer }) => payer],
  ['recipient', ({ recipient }) => recipient],
  ['tx_sig', ({ txSignature }) => txSignature],
  ['slot', ({ slot }) => String(slot)],
  ['network', ({ network }) => network],
  ['memo', ({ memo }) => memo],
  ['status', ({ status }) => status],
  ['invoice_number', ({ invoiceNumber }) => invoiceNumber],
  ['reference', ({ reference }) => reference],
  ['bill_to_name', ({ billToName }) => billToName],
  ['livemode', ({ livemode }) => String(livemode)],
  ['direction', ({ direction }) => direction],
  ['price_asset', ({ quote, amount }) => (quote?.price ?? amount).asset],
  ['price_amount', ({ quote, amount }) => formatAmount(quote?.price ?? amount)],
  ['rate', ({ quote }) => quote?.rate ?? null],
  ['rate_source', ({ quote }) => quote?.source ?? null],
  ['rate_as_of', ({ quote }) => quote?.asOf ?? null],
  ['customer_ref', ({ customerRef }) => customerRef],
  ['email', ({ email }) => email],
  ['refunded', ({ refunded }) => refunded && formatAmount(refunded)],
  ['period_from', ({ period }) => period && iso(period.from)],
  ['period_to', ({ period }) => period && iso(period.to)],
];

/**
 * Streams pages of rows as CSV: UTF-8 without a BOM, header first. Holds one page at a time and pulls the next when the reader has room.
 */
export const csvOfReceipts = (): TransformStream<ReceiptRow[], Uint8Array> =>
  new TransformStream({
    start: (controller) => controller.enqueue(utf8(csvLine(COLUMNS.map(([name]) => name)))),
    transform: (rows, controller) =>
      controller.enqueue(utf8(rows.map((row) => csvLine(COLUMNS.map(([, cell]) => cell(row) ?? ''))).join(''))),
  });
