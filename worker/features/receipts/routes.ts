import { createRoute, z } from '@hono/zod-openapi';
import type { ProductId, ReceiptId } from '#core/ids.ts';
import { COUNTED_FILTERED_MAX } from '#core/limits.ts';
import { iso } from '#core/time.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { merchantErrors, merchantRoute } from '#platform/http/callers.ts';
import { countedLessWith, errors, idOf, idParam, ModeQuery, ok, PageQuery, pageOf, router, Timestamp } from '#platform/http/openapi.ts';
import { publicBucket } from '#platform/http/rate-limit.ts';
import { enterShard } from '#platform/http/shard.ts';
import { receiptKeySet, verifyReceipt } from './document.ts';
import { DIRECTIONS, listReceipts } from './list.store.ts';
import { ReceiptBody, toReceiptResource } from './receipt.ts';
import { findMetadata, getPublicReceipt, getReceipt, getReceiptWithFate, hasReceipt, listMetadata } from './store.ts';

const tags = ['Receipts'];
const params = idParam('receipt_id', idOf<ReceiptId>());
const get = createRoute({
  method: 'get',
  path: '/receipt/{receipt_id}',
  operationId: 'getReceipt',
  tags,
  summary: 'Get a receipt',
  description: 'The full signed receipt.',
  ...merchantRoute('read'),
  request: { params, query: z.object(ModeQuery) },
  responses: { ...ok(ReceiptBody), ...merchantErrors('not_found') },
});
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

const list = createRoute({
  method: 'get',
  path: '/receipts',
  operationId: 'listReceipts',
  tags,
  summary: 'List receipts',
  description: `Receipts, newest first. ${countedLessWith('`q`')}`,
  ...merchantRoute('read'),
  request: {
    query: z.object({
      ...PageQuery,
      ...ReceiptQuery,
      ...ModeQuery,
    }),
  },
  responses: { ...ok(pageOf(ReceiptBody, 'ReceiptPage')), ...merchantErrors() },
});
const proof = createRoute({
  method: 'get',
  path: '/receipt/{receipt_id}/public',
  operationId: 'getPublicReceipt',
  tags,
  summary: 'Get a public proof',
  description: 'The proof anybody may see.',
  middleware: publicBucket('receipt'),
  request: { params },
  responses: { ...ok(ReceiptBody), ...errors('not_found', 'rate_limited', 'validation_error') },
});
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
const verify = createRoute({
  method: 'get',
  path: '/receipt/{receipt_id}/verify',
  operationId: 'verifyReceipt',
  tags,
  summary: 'Verify a receipt',
  description: 'Recompute the hash and check the signature.',
  middleware: publicBucket('receipt'),
  request: { params },
  responses: { ...ok(VerificationBody), ...errors('not_found', 'rate_limited', 'validation_error') },
});

export const receiptRoutes = router()
  .openapi(get, async (c) => {
    const { scope: ctx } = c.var;
    const receipt = await getReceipt(ctx, c.req.valid('param').receipt_id);
    const known = await findMetadata(ctx.db, receipt.id);
    return c.json(toReceiptResource(receipt, ctx.baseUrl, 'merchant', known?.metadata), 200);
  })
  .openapi(list, async (c) => {
    const { scope: ctx } = c.var;
    const { wallet, q, product_id: productId, direction, ...query } = c.req.valid('query');
    const page = pageRequest(query, q === undefined ? undefined : COUNTED_FILTERED_MAX);
    const found = await listReceipts(ctx, { wallet, q, productId, direction }, page);
    const invoices = await listMetadata(
      ctx.db,
      found.items.map(({ id }) => id),
    );
    return c.json(
      toPage(page, found, (receipt) => toReceiptResource(receipt, ctx.baseUrl, 'merchant', invoices.get(receipt.id))),
      200,
    );
  })
  .openapi(proof, async (c) => {
    const receiptId = c.req.valid('param').receipt_id;
    const ctx = await enterShard(c, ({ db }) => hasReceipt(db, receiptId));
    return c.json(toReceiptResource(await getPublicReceipt(ctx, receiptId), ctx.baseUrl, 'public'), 200);
  })
  .openapi(verify, async (c) => {
    const receiptId = c.req.valid('param').receipt_id;
    const ctx = await enterShard(c, ({ db }) => hasReceipt(db, receiptId));
    const { receipt, isOrphaned } = await getReceiptWithFate(ctx, receiptId);
    const { valid, reason, sha256Matches, signatureValid, sha256 } = verifyReceipt({ ...receipt, isOrphaned }, ctx.config.RECEIPT_KEYS);
    return c.json(
      {
        valid,
        ...(reason ? { reason } : {}),
        sha256_matches: sha256Matches,
        signature_valid: signatureValid,
        key_id: receipt.keyId,
        sha256,
        checked_at: iso(ctx.now),
      },
      200,
    );
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
const keys = createRoute({
  method: 'get',
  path: '/.well-known/svc-receipt-keys.json',
  operationId: 'getReceiptKeys',
  tags,
  summary: 'Get receipt keys',
  description: 'Public keys that sign receipts, old ones too.',
  responses: { ...ok(KeySetBody), ...errors('rate_limited') },
});

/** Mounted at the root: with these keys a third party verifies a receipt without calling the service. */
export const receiptKeyRoutes = router().openapi(keys, (c) => c.json(receiptKeySet(c.var.ctx.config.RECEIPT_KEYS), 200));
