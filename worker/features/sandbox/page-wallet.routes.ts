import { z } from '@hono/zod-openapi';
import { homeOfSlug } from '#platform/db/names/names.ts';
import { WireTransaction } from '#platform/http/bodies/wire-transaction.ts';
import { routes } from '#platform/http/route.ts';

/** Used by the page's own script only and therefore not an API operation. Programs call POST /v1/testing/pay. */
export const pageWalletRoutes = routes().public({
  path: 'POST /p/{slug}/test-wallet',
  bucket: 'confirm',
  by: 'slug',
  params: z.object({ slug: z.string().max(80) }),
  body: z.object({
    wallet_id: z.string().regex(/^[\w-]{22}$/),
    shown: z.object({ transaction: WireTransaction, outcome: z.enum(['paid', 'underpaid']) }).optional(),
  }),
  returns: z.object({ address: z.string(), tx_signature: z.string().optional() }),
  codes: ['not_found'],
  shard: ({ ctx, params }) => homeOfSlug(ctx, params.slug),
  answer: async ({ shard, params, body: { wallet_id: walletId, shown = null } }) => {
    const { payAtPage } = await import('./page-wallet.ts');
    const { value, payer } = await payAtPage(shard, { slug: params.slug, walletId, shown });
    return { address: payer, ...(value === null ? {} : { tx_signature: value }) };
  },
});
