import { z } from '@hono/zod-openapi';
import { raise } from '#core/errors.ts';
import { type AccountId, partitionOf } from '#core/ids.ts';
import { requireBuyerSession } from '#features/buyer-sign-in/token.ts';
import { billReceipt, readBillTo, saveBillTo } from '#features/receipts/buyer-details.ts';
import { pdfFile, sendPdf } from '#features/receipts/pdf/answer.ts';
import { BillToBody } from '#features/receipts/pdf/invoice-metadata.ts';
import { drawReceipt } from '#features/receipts/pdf/paper.ts';
import { findShardAt } from '#platform/db/directory.ts';
import { DetailResponse, idOf, type RouteContext } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { buyerKeyOf } from '#rules/access/buyers.ts';
import { askErasure, loadOwnReceipt, requireSeller } from './own-data.ts';

const account_id = idOf<AccountId>();
const asBuyer = {
  bucket: 'buyer' as const,
  security: [{ buyer: [] }],
  check: ({ c }: { c: RouteContext }) => requireBuyerSession(c),
};
const InvoiceDetails = BillToBody.openapi('InvoiceDetails');
const codes = ['invalid_authorization', 'not_found'] as const;

/** Invoice details are one object per seller. `account_id` may be left out if the session opens one seller. */
export const ownDataRoutes = routes('Buyers')
  .public({
    path: 'GET /buyer/invoice-details',
    id: 'getInvoiceDetails',
    sdk: 'buyer.getInvoiceDetails',
    summary: 'Get invoice details',
    description: 'Returns the billed party for a seller. `account_id` is required if the session opens several.',
    ...asBuyer,
    query: { account_id: account_id.optional() },
    returns: InvoiceDetails,
    codes,
    answer: async ({ ctx, checked, query }) =>
      readBillTo((await requireSeller(ctx, checked, query.account_id, 'query')).scope, checked.subject),
  })
  .public({
    path: 'PUT /buyer/invoice-details',
    id: 'setInvoiceDetails',
    sdk: 'buyer.setInvoiceDetails',
    idempotency: 'natural',
    summary: 'Set invoice details',
    description: 'Replaces the billed party, which new receipts of the seller get within a minute.',
    ...asBuyer,
    body: BillToBody.extend({ account_id: account_id.optional() }).openapi('InvoiceDetailsRequest'),
    returns: InvoiceDetails,
    codes: [...codes, 'state_conflict'],
    answer: async ({ ctx, checked, body: { account_id: accountId, ...billTo } }) =>
      saveBillTo((await requireSeller(ctx, checked, accountId, 'body')).scope, checked.subject, billTo),
  })
  .public({
    path: 'POST /buyer/receipts/{receipt_id}/invoice-details',
    id: 'billReceipt',
    sdk: 'buyer.billReceipt',
    idempotency: 'natural',
    summary: 'Bill an earlier receipt',
    description: 'Puts the saved details on an earlier receipt. 409 if the seller wrote a billed party.',
    ...asBuyer,
    returns: InvoiceDetails,
    codes: [...codes, 'state_conflict'],
    answer: async ({ ctx, checked, params }) => {
      const { scope, receipt } = await loadOwnReceipt(ctx, checked, params.receipt_id);
      return billReceipt(scope, checked.subject, receipt);
    },
  })
  .public({
    path: 'GET /buyer/receipts/{receipt_id}/pdf',
    id: 'getBuyerReceiptPdf',
    sdk: 'buyer.getReceiptPdf',
    summary: 'Get a receipt of a buyer as PDF',
    description: 'Returns a receipt as a PDF with your billed party.',
    ...asBuyer,
    bucket: 'pdf',
    returns: pdfFile,
    codes,
    respond: async ({ c, ctx, checked, params }) => {
      const { scope, ...found } = await loadOwnReceipt(ctx, checked, params.receipt_id);
      return sendPdf(c, params.receipt_id, await drawReceipt(scope, found, { buyerKey: buyerKeyOf(checked.subject) })) as never;
    },
  })
  .public({
    path: 'POST /buyer/erasure',
    id: 'requestErasure',
    sdk: 'buyer.requestErasure',
    summary: 'Request erasure',
    description: 'Asks a seller, by event and email, to erase your data, once a day. Invoice details are erased at once.',
    ...asBuyer,
    body: z.object({ account_id }).openapi('BuyerErasureRequest'),
    returns: { 202: { description: 'Accepted', content: { 'application/json': { schema: DetailResponse } } } },
    codes,
    shard: ({ ctx, body }) => findShardAt(ctx, partitionOf(body.account_id)) ?? raise('not_found'),
    once: ({ ctx, checked, body }, storeAnswer) => askErasure(ctx, checked, body.account_id, storeAnswer),
    present: () => ({ detail: 'The seller was asked to erase what names you. Your invoice details are erased.' }),
  });
