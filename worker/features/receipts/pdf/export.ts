import { DAY } from '#core/time.ts';
import type { InvoiceMetadata } from '#pdf/facts.ts';
import { newCtx, type Scope } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { PaymentTerms } from '#rules/payment-terms.ts';
import { hasMoreReceipts, type ReceiptFilter, walkReceipts } from '../list.store.ts';
import { documentOf, listMetadata, listSales, type Receipt, type SaleFacts } from '../store.ts';
import { csvOfReceipts, type ReceiptRow } from './csv.ts';
import { moneyOf, netOf } from './paper.ts';

const ROWS_MAX = 100_000;
/** Rows in memory at a time, enough that a full file stays below the invocation's call limit. */
const PAGE = 1000;

/**
 * Exports a receipt list as CSV, newest first, page by page as the reader consumes it. `isTruncated`: more receipts match than one file
 * holds.
 */
export async function exportReceipts(
  ctx: Scope,
  filter: ReceiptFilter,
): Promise<{ csv: ReadableStream<Uint8Array>; isTruncated: boolean }> {
  const isTruncated = await hasMoreReceipts(ctx, filter, ROWS_MAX);
  return { csv: streamOf(readPages(patient(ctx), filter)).pipeThrough(csvOfReceipts()), isTruncated };
}

const streamOf = <T>(pages: AsyncGenerator<T>): ReadableStream<T> =>
  new ReadableStream<T>({
    pull: async (controller) => {
      const { done, value } = await pages.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await pages.return(undefined)),
  });

function patient(ctx: Scope): Scope {
  const { env, requestId, cause, baseUrl, now, wallNow, defer, note, merchantId, livemode } = ctx;
  const fresh = newCtx(env, { requestId, cause, kind: 'export', origin: baseUrl, now, wallNow, defer, note });
  return { ...homeOf(fresh, merchantId), merchantId, livemode };
}

async function* readPages(ctx: Scope, filter: ReceiptFilter): AsyncGenerator<ReceiptRow[]> {
  for await (const receipts of walkReceipts(ctx, filter, { max: ROWS_MAX, pageMax: PAGE })) {
    const [sales, invoices] = await Promise.all([
      listSales(ctx, receipts),
      listMetadata(
        ctx.db,
        receipts.map(({ id }) => id),
      ),
    ]);
    yield receipts.map((receipt) => rowOf(ctx, receipt, sales.get(receipt.paymentId), invoices.get(receipt.id)));
  }
}

/** Returns the paid period: that of the subscription, or the purchased days from the payment on. */
function periodOf({ accessPeriodDays: days, periodEndsAt }: PaymentTerms, paidAt: number): ReceiptRow['period'] {
  if (days === null) return null;
  const from = periodEndsAt === undefined ? paidAt : periodEndsAt - days * DAY;
  return { from, to: from + days * DAY };
}

function rowOf(ctx: Scope, receipt: Receipt, sale: SaleFacts | undefined, invoice: InvoiceMetadata = {}): ReceiptRow {
  const document = documentOf(receipt);
  const payment = sale?.payment ?? null;
  const amount = moneyOf(document.amount);
  const refunded = payment?.refunds?.reduce((sum, { units }) => sum + BigInt(units), 0n) ?? 0n;
  return {
    receiptId: receipt.id,
    issuedAt: Date.parse(document.issued_at),
    blockTime: Date.parse(document.block_time),
    productId: document.product_id,
    productName: document.product_name,
    amount,
    fee: document.fee ? moneyOf(document.fee) : null,
    net: netOf(document),
    quote: document.price_quote
      ? {
          price: moneyOf(document.price_quote.price),
          rate: document.price_quote.rate,
          source: document.price_quote.source,
          asOf: document.price_quote.as_of,
        }
      : null,
    payer: document.payer,
    recipient: document.recipient,
    txSignature: document.tx_sig,
    slot: document.slot,
    network: document.network,
    memo: document.memo,
    status: sale?.outcome ?? 'confirmed',
    invoiceNumber: invoice.invoice_number ?? null,
    reference: invoice.reference ?? null,
    billToName: invoice.bill_to?.name ?? null,
    livemode: document.livemode,
    direction: document.merchant.account_id === ctx.merchantId ? 'received' : 'paid',
    customerRef: payment?.customerRef ?? null,
    email: payment?.email ?? null,
    refunded: refunded > 0n ? { asset: amount.asset, units: refunded } : null,
    period: payment && periodOf(payment.terms, Date.parse(document.block_time)),
  };
}
