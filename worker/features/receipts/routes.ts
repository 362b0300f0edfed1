import { z } from '@hono/zod-openapi';
import { keyRing } from '#core/crypto.ts';
import type { ProductId, ReceiptId } from '#core/ids.ts';
import { COUNTED_FILTERED_MAX } from '#core/limits.ts';
import { iso } from '#core/time.ts';
import type { Scope } from '#platform/context.ts';
import { homeOf, readNear } from '#platform/db/directory.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { narrowToCustomers } from '#platform/db/search/customer.ts';
import {
  CreatedRange,
  countedLessWith,
  epochOf,
  idOf,
  ModeQuery,
  OfCustomer,
  PageQuery,
  pageOf,
  refuseReversed,
  Timestamp,
} from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { didDocument, didOf } from '#protocols/x402/offer-receipt.ts';
import { receiptKeySet, verifyReceipt } from './document.ts';
import { listLinks } from './hash-chain.ts';
import { DIRECTIONS, listReceipts, type ReceiptFilter } from './list.store.ts';
import { ReceiptBody, toReceiptResource } from './receipt.ts';
import { findMetadata, getPublicReceipt, getReceipt, getReceiptWithOutcome, listMetadata } from './store.ts';

export const ReceiptQuery = {
  wallet: z.string().max(64).optional().describe('Return only objects of this wallet.'),
  q: z
    .string()
    .max(200)
    .optional()
    .describe(
      'Search text: the beginning (4 characters or more) of an id, signature, wallet or email address, or words of the product name, invoice number, reference or billed name.',
    ),
  product_id: idOf<ProductId>().optional().describe('Return only objects of this product.'),
  customer_id: OfCustomer,
  ...CreatedRange,
  direction: z.enum(DIRECTIONS).default('received').describe('Direction of the receipts: received payments, payments for plans, or both.'),
};
type ReceiptParameters = { [K in keyof typeof ReceiptQuery]?: z.infer<(typeof ReceiptQuery)[K]> };

/** Builds the filter of a query for receipts. */
export async function receiptFilter(scope: Scope, query: ReceiptParameters): Promise<ReceiptFilter> {
  const { wallet, q, product_id: productId, customer_id: customerId, direction, created_from: from, created_to: to } = query;
  const customers = await narrowToCustomers(scope, customerId);
  return { wallet, q, productId, customers, direction, createdFrom: epochOf(from), createdTo: epochOf(to) };
}

const VerificationBody = z
  .object({
    valid: z.boolean().describe('True if the receipt is authentic and its payment is still valid.'),
    reason: z.enum(['sha256_mismatch', 'signature_invalid', 'unknown_key', 'record_mismatch', 'transaction_orphaned']).optional(),
    sha256_matches: z.boolean().describe('True if the document’s bytes have the hash of the receipt.'),
    signature_valid: z.boolean().describe('True if the named key signed these bytes.'),
    key_id: z.string().describe('Identifier of the signing key.'),
    sha256: z.string().describe('SHA-256 of the document’s bytes, in hex.'),
    checked_at: Timestamp,
  })
  .openapi('ReceiptVerification');

export const receiptRoutes = routes('Receipts', 'receipts')
  .read({
    path: 'GET /receipt/{receipt_id}',
    id: 'getReceipt',
    sdk: 'receipts.get',
    summary: 'Get a receipt',
    description: 'Returns the full signed receipt.',
    returns: ReceiptBody,
    codes: ['not_found'],
    answer: async ({ scope, params }) => {
      const receipt = await getReceipt(scope, params.receipt_id);
      const [known, links] = await Promise.all([findMetadata(scope.db, receipt.id), listLinks(scope, [receipt])]);
      return toReceiptResource(receipt, scope.baseUrl, { invoice: known?.metadata, link: links.get(receipt.id), email: receipt.emailNote });
    },
  })
  .read({
    path: 'GET /receipts',
    id: 'listReceipts',
    sdk: 'receipts.list',
    summary: 'List receipts',
    description: `Lists receipts, newest first. ${countedLessWith('`q`')}`,
    query: z.object({ ...PageQuery, ...ReceiptQuery, ...ModeQuery }).check(refuseReversed()),
    returns: pageOf(ReceiptBody, 'ReceiptPage'),
    answer: async ({ scope, query }) => {
      const page = pageRequest(query, query.q === undefined ? undefined : COUNTED_FILTERED_MAX);
      const found = await listReceipts(scope, await receiptFilter(scope, query), page);
      const ids = found.items.map(({ id }) => id);
      const [invoices, links] = await Promise.all([listMetadata(scope.db, ids), listLinks(scope, found.items)]);
      const own = (id: ReceiptId) => ({ invoice: invoices.get(id), link: links.get(id) });
      return toPage(page, found, (receipt) => toReceiptResource(receipt, scope.baseUrl, { ...own(receipt.id), email: receipt.emailNote }));
    },
  })
  .public({
    path: 'GET /receipt/{receipt_id}/public',
    id: 'getPublicReceipt',
    sdk: 'receipts.getPublic',
    summary: 'Get a public proof',
    description: 'Returns the public proof of a receipt.',
    bucket: 'receipt',
    returns: ReceiptBody,
    codes: ['not_found'],
    shard: ({ ctx, params }) => homeOf(ctx, params.receipt_id),
    answer: async ({ shard, params }) =>
      toReceiptResource(await readNear(shard, (near) => getPublicReceipt(near, params.receipt_id)), shard.baseUrl),
  })
  .public({
    path: 'GET /receipt/{receipt_id}/verify',
    id: 'verifyReceipt',
    sdk: 'receipts.verify',
    summary: 'Verify a receipt',
    description: 'Recomputes the hash and verifies the signature of a receipt.',
    bucket: 'receipt',
    returns: VerificationBody,
    codes: ['not_found'],
    shard: ({ ctx, params }) => homeOf(ctx, params.receipt_id),
    answer: async ({ shard, params }) => {
      const { receipt, isOrphaned } = await readNear(shard, (near) => getReceiptWithOutcome(near, params.receipt_id));
      const { valid, reason, sha256Matches, signatureValid, sha256 } = verifyReceipt({ ...receipt, isOrphaned }, shard.config.RECEIPT_KEYS);
      return {
        valid,
        ...(reason ? { reason } : {}),
        sha256_matches: sha256Matches,
        signature_valid: signatureValid,
        key_id: receipt.keyId,
        sha256,
        checked_at: iso(shard.now),
      };
    },
  });

const JwkBody = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string(),
  kid: z.string(),
});

const KeySetBody = z
  .object({
    keys: z.array(
      JwkBody.extend({
        use: z.literal('sig'),
        alg: z.literal('EdDSA'),
      }),
    ),
  })
  .openapi('ReceiptKeySet');

const DidDocumentBody = z
  .object({
    '@context': z.array(z.string()),
    id: z.string().describe('DID of this service: `did:web:<host>`.'),
    verificationMethod: z
      .array(
        z.object({
          id: z.string().describe('Key identifier in signatures: the DID and the key id.'),
          type: z.literal('JsonWebKey2020'),
          controller: z.string(),
          publicKeyJwk: JwkBody.extend({ alg: z.literal('EdDSA') }),
        }),
      )
      .describe('Public keys, old ones too.'),
    assertionMethod: z.array(z.string()).describe('Identifiers of the keys that sign offers and receipts.'),
  })
  .openapi('DidDocument');

/** Mounted at the root: third parties verify receipts with these keys without calling the service. */
export const receiptKeyRoutes = routes('Receipts')
  .public({
    path: 'GET /.well-known/did.json',
    id: 'getDidDocument',
    sdk: 'receipts.getDidDocument',
    summary: 'Get the DID document',
    description:
      'Returns the `did:web` document of this service. Its keys sign x402 offers and receipts (extension `offer-receipt`), and receipts.',
    returns: DidDocumentBody,
    answer: ({ ctx }) => didDocument(didOf(ctx.baseUrl), keyRing(ctx.config.RECEIPT_KEYS)),
  })
  .public({
    path: 'GET /.well-known/svc-receipt-keys.json',
    id: 'getReceiptKeys',
    sdk: 'receipts.getKeys',
    summary: 'Get receipt keys',
    description: 'Returns the public keys that sign receipts, including retired ones.',
    returns: KeySetBody,
    answer: ({ ctx }) => receiptKeySet(ctx.config.RECEIPT_KEYS),
  });
