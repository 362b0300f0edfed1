import { z } from '@hono/zod-openapi';
import { type AccountId, newId, type PaymentId, type ProductId, type ReceiptId } from '#core/ids.ts';
import { iso } from '#core/time.ts';
import type { InvoiceMetadata } from '#papers/facts.ts';
import type { Shard } from '#platform/context.ts';
import type { Change } from '#platform/db/commit.ts';
import { MoneyBody, Timestamp } from '#platform/http/openapi.ts';
import { isPlanProduct } from '#rules/plans.ts';
import { type ReceiptFacts, signReceipt } from './document.ts';
import { InvoiceMetadataBody } from './papers/invoice-metadata.ts';
import { insertReceipt, type Receipt } from './store.ts';

export { findReceiptOfTransaction, getReceiptWithFate, type Receipt, wholeReceipts } from './store.ts';

const DocumentBody = z
  .object({
    version: z.enum(['1', '2']),
    receipt_id: z.uuid(),
    tx_sig: z.string(),
    network: z.string(),
    slot: z.int(),
    block_time: Timestamp,
    payer: z.string(),
    recipient: z.string(),
    amount: MoneyBody,
    fee: MoneyBody.optional(),
    product_id: z.uuid(),
    product_name: z.string(),
    merchant: z.object({ account_id: z.uuid(), display_name: z.string() }),
    memo: z.string(),
    issued_at: Timestamp,
    livemode: z.boolean(),
    price_quote: z
      .object({ price: MoneyBody, rate: z.string(), source: z.string(), as_of: Timestamp })
      .optional()
      .openapi({ description: 'Where the price was of another asset than what was paid. Version 2.' }),
    operator: z.object({ name: z.string(), url: z.string() }).optional().openapi({ description: 'Who runs the service. Version 2.' }),
  })
  .openapi('ReceiptDocument');

const PrevHash = z.string().openapi({
  description:
    'Of the link before: the lower-case hex SHA-256 over the RFC 8785 bytes of `{"prev_hash": its prev_hash, "seq": its seq, ' +
    '"sha256": the sha256 of its receipt}`. The first link (`seq` 1) of a chain carries 64 zeros.',
  example: '0'.repeat(64),
});

export const ReceiptBody = z
  .object({
    receipt_id: z.uuid(),
    tx_sig: z.string(),
    document: DocumentBody.openapi({ description: 'Signed as its RFC 8785 bytes.' }),
    sha256: z.string(),
    signature: z.string().openapi({ description: 'Ed25519 over the bytes, base58.' }),
    key_id: z.string(),
    verify_url: z.string(),
    public_url: z.string(),
    link: z
      .object({ seq: z.int(), prev_hash: PrevHash })
      .optional()
      .openapi({
        description:
          'Place in its hash chain. An account has one in each mode for each `direction`: what it received, and what it paid for plans. ' +
          'Merchant view only.',
      }),
    invoice_metadata: InvoiceMetadataBody.optional().openapi({ description: 'What the merchant wrote to it. Merchant view only.' }),
    created_at: Timestamp,
  })
  .openapi('Receipt');

/** The receipt on the wire. The public proof has the same shape without the merchant's private fields. */
export const toReceiptResource = (
  receipt: Receipt,
  baseUrl: string,
  view: 'public' | 'merchant',
  invoice?: InvoiceMetadata,
): z.infer<typeof ReceiptBody> => ({
  receipt_id: receipt.id,
  tx_sig: receipt.txSignature,
  // Canonical text parses to the same members in the same order, so serialising it again gives the stored bytes back.
  document: JSON.parse(receipt.document),
  sha256: receipt.sha256,
  signature: receipt.signature,
  key_id: receipt.keyId,
  verify_url: `${baseUrl}/v1/receipt/${receipt.id}/verify`,
  public_url: `${baseUrl}/v1/receipt/${receipt.id}/public`,
  ...(view === 'merchant' && receipt.linkSeq !== null && receipt.linkPrevHash !== null
    ? { link: { seq: receipt.linkSeq, prev_hash: receipt.linkPrevHash } }
    : {}),
  ...(view === 'merchant' && invoice && Object.keys(invoice).length > 0 ? { invoice_metadata: invoice } : {}),
  created_at: iso(receipt.createdAt),
});

/**
 * The receipt of a confirmed payment, signed now, stored in the same batch as the confirmation. One per transaction. It is
 * kept by `owner`: the seller, unless the service sold it.
 */
export function planReceipt(
  ctx: Shard,
  paymentId: PaymentId,
  facts: Omit<ReceiptFacts, 'receiptId' | 'issuedAt' | 'network' | 'operator'>,
  owner = facts.merchant.accountId as AccountId,
): Change<Receipt> {
  const receiptId = newId<ReceiptId>(ctx.now);
  const { RECEIPT_KEYS, OPERATOR_NAME, OPERATOR_URL, network } = ctx.config;
  const operator = OPERATOR_NAME && OPERATOR_URL ? { name: OPERATOR_NAME, url: OPERATOR_URL } : null;
  const signed = signReceipt({ ...facts, receiptId, issuedAt: ctx.now, network: network.caip2, operator }, RECEIPT_KEYS);
  const receipt: Receipt = {
    id: receiptId,
    merchantId: owner,
    livemode: facts.livemode,
    productId: facts.productId as ProductId,
    paymentId,
    txSignature: facts.txSignature,
    ...signed,
    payer: facts.payer,
    isPaidByOwner: isPlanProduct(facts.productId),
    linkSeq: null,
    linkPrevHash: null,
    createdAt: ctx.now,
  };
  return {
    events: [
      {
        merchantId: receipt.merchantId,
        livemode: receipt.livemode,
        type: 'receipt.created',
        subject: { type: 'receipt', id: receipt.id, version: 1 },
        object: toReceiptResource(receipt, ctx.baseUrl, 'merchant'),
        productId: receipt.productId,
        paymentId,
      },
    ],
    writes: [insertReceipt(ctx.db, receipt)],
    result: receipt,
  };
}
