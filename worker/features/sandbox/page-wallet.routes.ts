import { createRoute, z } from '@hono/zod-openapi';
import { hasSlug } from '#features/products/store.ts';
import { WireTransaction } from '#platform/http/bodies/wire-transaction.ts';
import { errors, jsonBody, ok, router } from '#platform/http/openapi.ts';
import { publicBucket } from '#platform/http/rate-limit.ts';
import { enterShard } from '#platform/http/shard.ts';

/** Of the page and its own script, so no operation of the API: programs call POST /v1/testing/pay. */
const askTestWallet = createRoute({
  method: 'post',
  path: '/p/{slug}/test-wallet',
  hide: true,
  middleware: [publicBucket('confirm', (c) => c.req.param('slug') ?? '')] as const,
  request: {
    params: z.object({ slug: z.string().max(80) }),
    ...jsonBody(
      z.object({
        wallet_id: z.string().regex(/^[\w-]{22}$/),
        shown: z.object({ transaction: WireTransaction, outcome: z.enum(['paid', 'underpaid']) }).optional(),
      }),
    ),
  },
  responses: { ...ok(z.object({ address: z.string(), tx_signature: z.string().optional() })), ...errors('not_found') },
});

export const pageWalletRoutes = router().openapi(askTestWallet, async (c) => {
  const { slug } = c.req.valid('param');
  const { wallet_id: walletId, shown = null } = c.req.valid('json');
  const shard = await enterShard(c, ({ db }) => hasSlug(db, slug));
  const { payAtPage } = await import('./page-wallet.ts');
  const { value, payer } = await payAtPage(shard, { slug, walletId, shown });
  return c.json({ address: payer, ...(value === null ? {} : { tx_signature: value }) }, 200);
});
