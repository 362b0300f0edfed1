import { z } from '@hono/zod-openapi';
import { type AccountId, newId, type PaymentId, type ProductId, type ReceiptId } from '#core/ids.ts';
import { iso } from '#core/time.ts';
import type { InvoiceMetadata } from '#pdf/facts.ts';
import type { Shard } from '#platform/context.ts';
import type { Change } from '#platform/db/commit.ts';
import {
  AccountUuid,
  Livemode,
  MoneyBody,
  NetworkId,
  PayerWallet,
  ProductUuid,
  ReceiptUuid,
  RecipientWallet,
  Timestamp,
  TransactionSignature,
} from '#platform/http/openapi.ts';
import { isPlanProduct } from '#rules/plans.ts';
import { type ReceiptFacts, signReceipt } from './document.ts';
import type { Anchor, Link } from './hash-chain.ts';
import { InvoiceMetadataBody } from './pdf/invoice-metadata.ts';
import { insertReceipt, type NewReceipt } from './store.ts';

export {
  findReceiptOfTransaction,
  getReceiptWithOutcome,
  LIMIT_ERROR,
  loadArchivedReceipts,
  type NewReceipt,
  noteWithheldEmail,
  type Receipt,
} from './store.ts';

const DocumentBody = z
  .object({
    version: z.enum(['1', '2']),
    receipt_id: ReceiptUuid,
    tx_sig: TransactionSignature,
    network: NetworkId,
    slot: z.int(),
    block_time: Timestamp,
    payer: PayerWallet,
    recipient: RecipientWallet,
    amount: MoneyBody,
    fee: MoneyBody.optional().describe('Service fee, paid in the same transaction as the price; absent if none applies.'),
    product_id: ProductUuid,
    product_name: z.string().describe('Name of the product at the time of payment.'),
    merchant: z.object({ account_id: AccountUuid, display_name: z.string().describe('Name of the account, as buyers see it.') }),
    memo: z.string().describe('Memo that the transaction must carry to be matched to this payment.'),
    issued_at: Timestamp,
    livemode: Livemode,
    price_quote: z
      .object({
        price: MoneyBody,
        rate: z.string().describe('Units of the price’s asset for one unit of the paid asset: a decimal as text.'),
        source: z.string(),
        as_of: Timestamp,
      })
      .optional()
      .describe('Exchange rate, if the price had another asset than the payment. From version 2.'),
    operator: z.object({ name: z.string(), url: z.string() }).optional().describe('Operator of the service. From version 2.'),
  })
  .openapi('ReceiptDocument');

const PrevHash = z
  .string()
  .openapi({ example: '0'.repeat(64) })
  .describe(
    'Hash of the previous link: the lower-case hex SHA-256 over the RFC 8785 bytes of `{"prev_hash": its prev_hash, "seq": its seq, "sha256": the sha256 of its receipt}`. The first link (`seq` 1) of a chain has 64 zeros.',
  );

export const ReceiptBody = z
  .object({
    receipt_id: ReceiptUuid,
    tx_sig: TransactionSignature,
    document: DocumentBody.describe('Signed document, as its RFC 8785 bytes.'),
    sha256: z.string().describe('SHA-256 of the document’s bytes, in hex.'),
    signature: z.string().describe('Ed25519 signature over the bytes, in base58.'),
    key_id: z.string().describe('Identifier of the signing key, published at `/.well-known/svc-receipt-keys.json`.'),
    verify_url: z.string(),
    public_url: z.string(),
    link: z
      .object({ seq: z.int().describe('Position of the receipt in its receipt chain, from 1.'), prev_hash: PrevHash })
      .optional()
      .describe(
        'Position in the receipt chain. An account has one chain per mode and `direction`: received payments, and payments for plans. Merchant view only.',
      ),
    email: z.literal('limit').optional().describe('Set if a limit kept the receipt from being emailed to the buyer. Merchant view only.'),
    invoice_metadata: InvoiceMetadataBody.optional().describe('Invoice metadata of the merchant. Merchant view only.'),
    created_at: Timestamp,
  })
  .openapi('Receipt');

/** Formats a receipt. The public proof has the same shape without the merchant's `own` fields. */
export const toReceiptResource = (
  receipt: NewReceipt,
  baseUrl: string,
  own: { invoice?: InvoiceMetadata | undefined; link?: Link | undefined; email?: 'limit' | null | undefined } = {},
): z.infer<typeof ReceiptBody> => ({
  receipt_id: receipt.id,
  tx_sig: receipt.txSignature,
  // Parsing canonical text preserves the order of members, so serialising gives the stored bytes.
  document: JSON.parse(receipt.document),
  sha256: receipt.sha256,
  signature: receipt.signature,
  key_id: receipt.keyId,
  verify_url: `${baseUrl}/v1/receipt/${receipt.id}/verify`,
  public_url: `${baseUrl}/v1/receipt/${receipt.id}/public`,
  ...(own.link ? { link: { seq: own.link.seq, prev_hash: own.link.prevHash } } : {}),
  ...(own.email ? { email: own.email } : {}),
  ...(own.invoice && Object.keys(own.invoice).length > 0 ? { invoice_metadata: own.invoice } : {}),
  created_at: iso(receipt.createdAt),
});

/**
 * Plans the signed receipt of a confirmed payment, for the confirming batch. One per transaction. `anchor`: of its chain, read before.
 * `owner`: the seller, or the buying account if the service sold.
 */
export function planReceipt(
  ctx: Shard,
  paymentId: PaymentId,
  facts: Omit<ReceiptFacts, 'receiptId' | 'issuedAt' | 'network' | 'operator'>,
  anchor: Anchor,
  owner = facts.merchant.accountId as AccountId,
): Change<NewReceipt> {
  const receiptId = newId<ReceiptId>(ctx.now, owner);
  const { RECEIPT_KEYS, OPERATOR_NAME, OPERATOR_URL, network } = ctx.config;
  const operator = OPERATOR_NAME && OPERATOR_URL ? { name: OPERATOR_NAME, url: OPERATOR_URL } : null;
  const signed = signReceipt({ ...facts, receiptId, issuedAt: ctx.now, network: network.caip2, operator }, RECEIPT_KEYS);
  const receipt: NewReceipt = {
    id: receiptId,
    merchantId: owner,
    livemode: facts.livemode,
    productId: facts.productId as ProductId,
    paymentId,
    txSignature: facts.txSignature,
    ...signed,
    productName: facts.productName,
    payer: facts.payer,
    isPaidByOwner: isPlanProduct(facts.productId),
    ...anchor,
    createdAt: ctx.now,
  };
  return {
    events: [
      {
        merchantId: receipt.merchantId,
        livemode: receipt.livemode,
        type: 'receipt.created',
        subject: { type: 'receipt', id: receipt.id, version: 1 },
        object: toReceiptResource(receipt, ctx.baseUrl),
        productId: receipt.productId,
        paymentId,
      },
    ],
    writes: [insertReceipt(ctx.db, receipt)],
    result: receipt,
  };
}
