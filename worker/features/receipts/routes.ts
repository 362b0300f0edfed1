import { z } from '@hono/zod-openapi';
import type { ProductId } from '#core/ids.ts';
import { COUNTED_FILTERED_MAX } from '#core/limits.ts';
import { iso } from '#core/time.ts';
import { locate } from '#platform/db/directory.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { countedLessWith, idOf, PageQuery, pageOf, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { receiptKeySet, verifyReceipt } from './document.ts';
import { DIRECTIONS, listReceipts } from './list.store.ts';
import { ReceiptBody, toReceiptResource } from './receipt.ts';
import { findMetadata, getPublicReceipt, getReceipt, getReceiptWithFate, hasReceipt, listMetadata } from './store.ts';

/** What narrows a list of receipts, and an export alike. */
export const ReceiptQuery = {
  wallet: z.string().max(64).optional(),
  q: z
    .string()
    .max(200)
    .optional()
    .openapi({
      description:
        'The beginning (4 characters or more) of a payment id, receipt id, transaction signature, wallet or e-mail address. If none begins ' +
        'with it: words of the product name, invoice number, reference or billed name.',
    }),
  product_id: idOf<ProductId>().optional(),
  direction: z.enum(DIRECTIONS).default('received').openapi({ description: 'What you were paid, what you paid for plans, or both.' }),
};
const VerificationBody = z
  .object({
    valid: z.boolean(),
    reason: z.enum(['sha256_mismatch', 'signature_invalid', 'unknown_key', 'record_mismatch', 'transaction_orphaned']).optional(),
    sha256_matches: z.boolean(),
    signature_valid: z.boolean(),
    key_id: z.string(),
    sha256: z.string(),
    checked_at: Timestamp,
  })
  .openapi('ReceiptVerification');

export const receiptRoutes = routes('Receipts')
  .read({
    path: 'GET /receipt/{receipt_id}',
    id: 'getReceipt',
    summary: 'Get a receipt',
    description: 'The full signed receipt.',
    returns: ReceiptBody,
    codes: ['not_found'],
    answer: async ({ scope, params }) => {
      const receipt = await getReceipt(scope, params.receipt_id);
      const known = await findMetadata(scope.db, receipt.id);
      return toReceiptResource(receipt, scope.baseUrl, 'merchant', known?.metadata);
    },
  })
  .read({
    path: 'GET /receipts',
    id: 'listReceipts',
    summary: 'List receipts',
    description: `Receipts, newest first. ${countedLessWith('`q`')}`,
    query: { ...PageQuery, ...ReceiptQuery },
    returns: pageOf(ReceiptBody, 'ReceiptPage'),
    answer: async ({ scope, query: { wallet, q, product_id: productId, direction, ...query } }) => {
      const page = pageRequest(query, q === undefined ? undefined : COUNTED_FILTERED_MAX);
      const found = await listReceipts(scope, { wallet, q, productId, direction }, page);
      const invoices = await listMetadata(
        scope.db,
        found.items.map(({ id }) => id),
      );
      return toPage(page, found, (receipt) => toReceiptResource(receipt, scope.baseUrl, 'merchant', invoices.get(receipt.id)));
    },
  })
  .public({
    path: 'GET /receipt/{receipt_id}/public',
    id: 'getPublicReceipt',
    summary: 'Get a public proof',
    description: 'The proof anybody may see.',
    bucket: 'receipt',
    returns: ReceiptBody,
    codes: ['not_found'],
    shard: ({ ctx, params }) => locate(ctx, ({ db }) => hasReceipt(db, params.receipt_id)),
    answer: async ({ shard, params }) => toReceiptResource(await getPublicReceipt(shard, params.receipt_id), shard.baseUrl, 'public'),
  })
  .public({
    path: 'GET /receipt/{receipt_id}/verify',
    id: 'verifyReceipt',
    summary: 'Verify a receipt',
    description: 'Recompute the hash and check the signature.',
    bucket: 'receipt',
    returns: VerificationBody,
    codes: ['not_found'],
    shard: ({ ctx, params }) => locate(ctx, ({ db }) => hasReceipt(db, params.receipt_id)),
    answer: async ({ shard, params }) => {
      const { receipt, isOrphaned } = await getReceiptWithFate(shard, params.receipt_id);
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

const KeySetBody = z
  .object({
    keys: z.array(
      z.object({
        kty: z.literal('OKP'),
        crv: z.literal('Ed25519'),
        x: z.string(),
        kid: z.string(),
        use: z.literal('sig'),
        alg: z.literal('EdDSA'),
      }),
    ),
  })
  .openapi('ReceiptKeySet');

/** Mounted at the root: with these keys a third party verifies a receipt without calling the service. */
export const receiptKeyRoutes = routes('Receipts').public({
  path: 'GET /.well-known/svc-receipt-keys.json',
  id: 'getReceiptKeys',
  summary: 'Get receipt keys',
  description: 'Public keys that sign receipts, old ones too.',
  returns: KeySetBody,
  answer: ({ ctx }) => receiptKeySet(ctx.config.RECEIPT_KEYS),
});
