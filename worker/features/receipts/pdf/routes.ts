import { z } from '@hono/zod-openapi';
import type { Shard } from '#platform/context.ts';
import { homeOf, readNear } from '#platform/db/directory.ts';
import { Detail, headersOf, ModeQuery, refuseReversed, UpdateResponse } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { ReceiptQuery, receiptFilter } from '../routes.ts';
import { getReceipt, getReceiptWithOutcome } from '../store.ts';
import { file, pdfFile, sendPdf } from './answer.ts';
import { exportReceipts } from './export.ts';
import { InvoiceMetadataPatch } from './invoice-metadata.ts';
import { drawReceipt } from './paper.ts';
import { SendProofRequest, sendProof } from './send-proof.ts';
import { updateMetadata } from './update-metadata.ts';

export const pdfRoutes = routes('Receipts', 'receipts')
  .public({
    path: 'GET /receipt/{receipt_id}/pdf',
    id: 'getReceiptPdf',
    sdk: 'receipts.getPdf',
    summary: 'Get a proof as PDF',
    description: 'Returns the public proof as a PDF.',
    bucket: 'pdf',
    returns: pdfFile,
    codes: ['not_found'],
    shard: ({ ctx, params }) => homeOf(ctx, params.receipt_id),
    respond: async ({ c, shard, params }) => {
      const draw = async (near: Shard) => drawReceipt(near, await getReceiptWithOutcome(near, params.receipt_id), 'public');
      return sendPdf(c, params.receipt_id, await readNear(shard, draw)) as never;
    },
  })
  .read({
    path: 'GET /receipt/{receipt_id}/pdf/private',
    id: 'getPrivateReceiptPdf',
    sdk: 'receipts.getPrivatePdf',
    summary: 'Get a receipt as PDF',
    description: 'Returns the merchant’s copy as a PDF, with fee, net and invoice metadata.',
    returns: pdfFile,
    codes: ['not_found'],
    respond: async ({ c, scope, params }) => {
      await getReceipt(scope, params.receipt_id);
      return sendPdf(
        c,
        params.receipt_id,
        await drawReceipt(scope, await getReceiptWithOutcome(scope, params.receipt_id), 'merchant'),
      ) as never;
    },
  })
  .read({
    path: 'GET /receipts/export.csv',
    id: 'exportReceipts',
    sdk: 'receipts.export',
    summary: 'Export receipts',
    description:
      "Exports receipts as CSV (RFC 4180, UTF-8), at most 100,000 rows; `X-Svc-Truncated: true` if more exist. Cells that a spreadsheet would read as a formula begin with a `'`.",
    query: z.object({ ...ReceiptQuery, ...ModeQuery }).check(refuseReversed()),
    returns: { 200: { ...file('text/csv', 'One row per receipt')[200], headers: headersOf('X-Svc-Truncated') } },
    respond: async ({ c, scope, query }) => {
      const exported = await exportReceipts(scope, await receiptFilter(scope, query));
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
    sdk: 'receipts.updateInvoiceMetadata',
    summary: 'Update invoice metadata',
    description:
      'Merges invoice metadata field by field; `null` removes a field, a list replaces the previous one. Not part of the signed document. At most 16 KB in total.',
    body: InvoiceMetadataPatch,
    returns: UpdateResponse,
    codes: ['not_found', 'state_conflict'],
    once: ({ scope, params, body }, storeAnswer) => updateMetadata(scope, params.receipt_id, body, storeAnswer),
    audit: {
      action: 'receipt.invoice_updated',
      subject: 'receipt',
      fields: (updated_fields, { params }) => ({ id: params.receipt_id, updated_fields }),
    },
    present: (updated: string[]) => ({ detail: 'Invoice metadata updated.', updated_fields: updated }),
  })
  .write({
    path: 'POST /receipt/{receipt_id}/send-proof',
    id: 'sendReceiptProof',
    sdk: 'receipts.sendProof',
    summary: 'Email a proof',
    description:
      'Emails the public proof of a receipt, at most five a day per receipt and address, and 200 per account. Your own address must be verified. The sandbox sends nothing.',
    body: SendProofRequest,
    returns: z.object({ detail: Detail, message_id: z.uuid() }).openapi('SendProofResponse'),
    codes: ['not_found', 'mail_not_configured'],
    once: ({ scope, params, body }, storeAnswer) => sendProof(scope, params.receipt_id, body, storeAnswer),
    audit: {
      action: 'receipt.proof_sent',
      subject: 'receipt',
      fields: (message_id, { params }) => ({ id: params.receipt_id, message_id }),
    },
    present: (messageId) => ({ detail: 'The proof was sent.', message_id: messageId }),
  });
