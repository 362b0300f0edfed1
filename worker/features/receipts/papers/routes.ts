import { z } from '@hono/zod-openapi';
import { locate } from '#platform/db/directory.ts';
import { type RouteContext, UpdateResponse } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { ReceiptQuery } from '../routes.ts';
import { getReceipt, getReceiptWithFate, hasReceipt } from '../store.ts';
import { exportReceipts } from './export.ts';
import { InvoiceMetadataPatch, updateMetadata } from './invoice-metadata.ts';
import { drawReceipt } from './paper.ts';
import { SendProofRequest, sendProof } from './send-proof.ts';

const file = (type: string, description: string) => ({
  200: { description, content: { [type]: { schema: z.string().openapi({ format: 'binary' }) } } },
});

const sendPdf = (c: RouteContext, receiptId: string, bytes: Uint8Array) =>
  c.body(bytes as Uint8Array<ArrayBuffer>, 200, {
    'Content-Type': 'application/pdf',
    'Content-Disposition': `inline; filename="receipt-${receiptId}.pdf"`,
  });

export const paperRoutes = routes('Receipts')
  .public({
    path: 'GET /receipt/{receipt_id}/pdf',
    id: 'getReceiptPdf',
    summary: 'Get a proof as PDF',
    description: 'The public proof as a PDF.',
    bucket: 'pdf',
    returns: file('application/pdf', 'A4, in English'),
    codes: ['not_found'],
    shard: ({ ctx, params }) => locate(ctx, ({ db }) => hasReceipt(db, params.receipt_id)),
    respond: async ({ c, shard, params }) => {
      return sendPdf(c, params.receipt_id, await drawReceipt(shard, await getReceiptWithFate(shard, params.receipt_id), 'public')) as never;
    },
  })
  .read({
    path: 'GET /receipt/{receipt_id}/pdf/private',
    id: 'getPrivateReceiptPdf',
    summary: 'Get a receipt as PDF',
    description: 'The merchant’s copy as a PDF: with fee, net and invoice metadata.',
    returns: file('application/pdf', 'A4, in English'),
    codes: ['not_found'],
    respond: async ({ c, scope, params }) => {
      await getReceipt(scope, params.receipt_id);
      return sendPdf(
        c,
        params.receipt_id,
        await drawReceipt(scope, await getReceiptWithFate(scope, params.receipt_id), 'merchant'),
      ) as never;
    },
  })
  .read({
    path: 'GET /receipts/export.csv',
    id: 'exportReceipts',
    summary: 'Export receipts',
    description:
      'RFC 4180, UTF-8, at most 100,000 rows; `X-Svc-Truncated: true` where there are more. A row has the price and the rate it was ' +
      'converted at, who bought, what was refunded in the asset of `amount`, and the time paid for: the period of a subscription, else the ' +
      "days bought, counted from the payment. A cell that a spreadsheet would take for a formula begins with a `'`.",
    query: { ...ReceiptQuery },
    returns: file('text/csv', 'One line for each receipt'),
    respond: async ({ c, scope, query: { wallet, q, product_id: productId, direction } }) => {
      const exported = await exportReceipts(scope, { wallet, q, productId, direction });
      if (exported.isTruncated) c.header('X-Svc-Truncated', 'true');
      return c.body(exported.csv, 200, {
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': 'attachment; filename="receipts.csv"',
      }) as never;
    },
  })
  .write({
    path: 'PATCH /receipt/{receipt_id}/invoice-metadata',
    id: 'updateInvoiceMetadata',
    summary: 'Write invoice details',
    description:
      'Merged field by field; `null` takes a field away, a list replaces the one before. It stands beside the signed document, in the ' +
      'merchant’s own answers and copy alone. At most 16 KB altogether.',
    body: InvoiceMetadataPatch,
    returns: UpdateResponse,
    codes: ['not_found', 'state_conflict'],
    once: ({ scope, params, body }, storeAnswer) => updateMetadata(scope, params.receipt_id, body, storeAnswer),
    present: (updated: string[]) => ({ detail: 'Invoice metadata updated.', updated_fields: updated }),
  })
  .write({
    path: 'POST /receipt/{receipt_id}/send-proof',
    id: 'sendReceiptProof',
    summary: 'Mail a proof',
    description:
      'At most five a day of a receipt to one address, and 200 a day of an account, whose own address is verified (403 `invalid_authorization`, ' +
      '`meta.reason: email_unverified`). With a sandbox key nothing is sent.',
    body: SendProofRequest,
    returns: z.object({ detail: z.string(), message_id: z.uuid() }).openapi('SendProofResponse'),
    codes: ['not_found', 'mail_not_configured'],
    once: ({ scope, params, body }, storeAnswer) => sendProof(scope, params.receipt_id, body, storeAnswer),
    present: (messageId) => ({ detail: 'The proof is on its way.', message_id: messageId }),
  });
