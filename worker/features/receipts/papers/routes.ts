import { createRoute, z } from '@hono/zod-openapi';
import type { ReceiptId } from '#core/ids.ts';
import { merchantErrors, merchantRoute, merchantWriteErrors, writeRoute } from '#platform/http/callers.ts';
import { answerOnce, OptionalIdempotencyHeader, sendStored } from '#platform/http/idempotency-key.ts';
import { errors, idOf, idParam, jsonBody, ModeQuery, ok, type RouteContext, router, UpdateResponse } from '#platform/http/openapi.ts';
import { publicBucket } from '#platform/http/rate-limit.ts';
import { enterShard } from '#platform/http/shard.ts';
import { ReceiptQuery } from '../routes.ts';
import { getReceipt, getReceiptWithFate, hasReceipt } from '../store.ts';
import { exportReceipts } from './export.ts';
import { InvoiceMetadataPatch, updateMetadata } from './invoice-metadata.ts';
import { drawReceipt } from './paper.ts';
import { SendProofRequest, sendProof } from './send-proof.ts';

const tags = ['Receipts'];
const params = idParam('receipt_id', idOf<ReceiptId>());
const file = (type: string, description: string) => ({
  200: { description, content: { [type]: { schema: z.string().openapi({ format: 'binary' }) } } },
});

const publicPdf = createRoute({
  method: 'get',
  path: '/receipt/{receipt_id}/pdf',
  operationId: 'getReceiptPdf',
  tags,
  summary: 'Get a proof as PDF',
  description: 'The public proof as a PDF.',
  middleware: publicBucket('pdf'),
  request: { params },
  responses: { ...file('application/pdf', 'A4, in English'), ...errors('not_found', 'rate_limited', 'validation_error') },
});
const privatePdf = createRoute({
  method: 'get',
  path: '/receipt/{receipt_id}/pdf/private',
  operationId: 'getPrivateReceiptPdf',
  tags,
  summary: 'Get a receipt as PDF',
  description: 'The merchant’s copy as a PDF: with fee, net and invoice metadata.',
  ...merchantRoute('read'),
  request: { params, query: z.object(ModeQuery) },
  responses: { ...file('application/pdf', 'A4, in English'), ...merchantErrors('not_found') },
});
const csv = createRoute({
  method: 'get',
  path: '/receipts/export.csv',
  operationId: 'exportReceipts',
  tags,
  summary: 'Export receipts',
  description:
    'RFC 4180, UTF-8, at most 100,000 rows; `X-Svc-Truncated: true` where there are more. A row has the price and the rate it was ' +
    'converted at, who bought, what was refunded in the asset of `amount`, and the time paid for: the period of a subscription, else the ' +
    "days bought, counted from the payment. A cell that a spreadsheet would take for a formula begins with a `'`.",
  ...merchantRoute('read'),
  request: { query: z.object({ ...ReceiptQuery, ...ModeQuery }) },
  responses: { ...file('text/csv', 'One line for each receipt'), ...merchantErrors() },
});
const update = createRoute({
  method: 'patch',
  path: '/receipt/{receipt_id}/invoice-metadata',
  operationId: 'updateInvoiceMetadata',
  tags,
  summary: 'Write invoice details',
  description:
    'Merged field by field; `null` takes a field away, a list replaces the one before. It stands beside the signed document, in the ' +
    'merchant’s own answers and copy alone. At most 16 KB altogether.',
  ...writeRoute,
  request: { params, headers: OptionalIdempotencyHeader, query: z.object(ModeQuery), ...jsonBody(InvoiceMetadataPatch) },
  responses: { ...ok(UpdateResponse), ...merchantWriteErrors('not_found', 'state_conflict') },
});

const send = createRoute({
  method: 'post',
  path: '/receipt/{receipt_id}/send-proof',
  operationId: 'sendReceiptProof',
  tags,
  summary: 'Mail a proof',
  description:
    'At most five a day of a receipt to one address, and 200 a day of an account, whose own address is verified (403 `invalid_authorization`, ' +
    '`meta.reason: email_unverified`). With a sandbox key nothing is sent.',
  ...writeRoute,
  request: { params, headers: OptionalIdempotencyHeader, query: z.object(ModeQuery), ...jsonBody(SendProofRequest) },
  responses: {
    ...ok(z.object({ detail: z.string(), message_id: z.uuid() }).openapi('SendProofResponse')),
    ...merchantWriteErrors('not_found', 'mail_not_configured'),
  },
});

const sendPdf = (c: RouteContext, receiptId: string, bytes: Uint8Array) =>
  c.body(bytes as Uint8Array<ArrayBuffer>, 200, {
    'Content-Type': 'application/pdf',
    'Content-Disposition': `inline; filename="receipt-${receiptId}.pdf"`,
  });

export const paperRoutes = router()
  .openapi(publicPdf, async (c) => {
    const receiptId = c.req.valid('param').receipt_id;
    const ctx = await enterShard(c, ({ db }) => hasReceipt(db, receiptId));
    return sendPdf(c, receiptId, await drawReceipt(ctx, await getReceiptWithFate(ctx, receiptId), 'public')) as never;
  })
  .openapi(privatePdf, async (c) => {
    const { scope: ctx } = c.var;
    const receiptId = c.req.valid('param').receipt_id;
    await getReceipt(ctx, receiptId);
    return sendPdf(c, receiptId, await drawReceipt(ctx, await getReceiptWithFate(ctx, receiptId), 'merchant')) as never;
  })
  .openapi(csv, async (c) => {
    const { wallet, q, product_id: productId, direction } = c.req.valid('query');
    const exported = await exportReceipts(c.var.scope, { wallet, q, productId, direction });
    if (exported.isTruncated) c.header('X-Svc-Truncated', 'true');
    return c.body(exported.csv, 200, {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': 'attachment; filename="receipts.csv"',
    }) as never;
  })
  .openapi(update, async (c) => {
    const receiptId = c.req.valid('param').receipt_id;
    const patch = c.req.valid('json');
    const present = (updated: string[]) => ({ status: 200, body: { detail: 'Invoice metadata updated.', updated_fields: updated } });
    return sendStored(
      c,
      await answerOnce<string[]>(c, (storeAnswer) => updateMetadata(c.var.scope, receiptId, patch, storeAnswer), present),
    );
  })
  .openapi(send, async (c) => {
    const receiptId = c.req.valid('param').receipt_id;
    const proof = c.req.valid('json');
    const present = (messageId: string) => ({ status: 200, body: { detail: 'The proof is on its way.', message_id: messageId } });
    return sendStored(c, await answerOnce<string>(c, (storeAnswer) => sendProof(c.var.scope, receiptId, proof, storeAnswer), present));
  });
