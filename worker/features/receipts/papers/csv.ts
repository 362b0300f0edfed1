import { utf8 } from '#core/encoding.ts';
import { formatAmount, type Money } from '#core/money.ts';
import { iso } from '#core/time.ts';

/** A receipt as one row of the export. Absent facts are empty cells. */
export interface ReceiptRow {
  receiptId: string;
  issuedAt: number;
  blockTime: number;
  productId: string;
  productName: string;
  amount: Money;
  /** In the asset of the amount, as `net` is. */
  fee: Money | null;
  net: Money | null;
  /** Price in the asset it was set in, and the rate it was converted at; null where it was paid as it was set. */
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
  /** Time that was paid for; null where it has no end. */
  period: { from: number; to: number } | null;
}

/** The columns in their order, each with what stands in it. */
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
 * The start of what a spreadsheet would take for a formula (OWASP, CSV injection), full-width signs included. A spreadsheet that separates
 * cells at semicolons or tabs takes no quotes of ours, so a formula may begin after one of those, and after a line break.
 */
const FORMULA = /^(?=[\t\r\n])|(?<=^|[;\t\r\n])(?=[=+\-@＝＋－＠])/g;
const QUOTED = /[",;\t\r\n]/;

/** A cell as RFC 4180 writes it. An apostrophe before a formula makes it text. */
function cellOf(value: string): string {
  const text = value.replace(FORMULA, "'");
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A line and its end: CRLF after every one, the last too. */
const lineOf = (cells: string[]): string => `${cells.map(cellOf).join(',')}\r\n`;

/**
 * Pages of rows to the bytes of a CSV file: UTF-8 without a mark, the header first, then a line for each row. It holds one page at
 * a time, and takes the next when the reader has room.
 */
export const csvOfReceipts = (): TransformStream<ReceiptRow[], Uint8Array> =>
  new TransformStream({
    start: (controller) => controller.enqueue(utf8(lineOf(COLUMNS.map(([name]) => name)))),
    transform: (rows, controller) =>
      controller.enqueue(utf8(rows.map((row) => lineOf(COLUMNS.map(([, cell]) => cell(row) ?? ''))).join(''))),
  });
