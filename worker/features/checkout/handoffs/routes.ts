import { z } from '@hono/zod-openapi';
import { LIFE } from '#core/limits.ts';
import { iso } from '#core/time.ts';
import { hasSlug } from '#features/products/store.ts';
import { locate } from '#platform/db/directory.ts';
import { HttpsUrl, Metadata, OwnName } from '#platform/http/bodies/own-fields.ts';
import { created, given, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { createHandoff, labelOf, loadHandoff } from './handoff.ts';

const slug = z
  .string()
  .max(80)
  .openapi({ param: { name: 'slug', in: 'path' } });

export const handoffRoutes = routes('Checkout')
  .write({
    path: 'POST /products/{product_id}/handoffs',
    id: 'createHandoff',
    summary: 'Create a hand-off',
    description: `It is used once, within ${LIFE.handoffMinutes} minutes. What you say of the buyer stays with us: the link only names it.`,
    body: z
      .object({
        customer_ref: OwnName.optional(),
        email: z.email().max(254).optional(),
        wallet_address: z.string().max(64).optional(),
        success_url: HttpsUrl.optional(),
        metadata: Metadata.optional(),
      })
      .openapi('HandoffRequest', { example: { customer_ref: 'user-42', email: 'ada@example.com' } }),
    isBodyOptional: true,
    returns: created(z.object({ handoff_token: z.string(), url: z.string(), expires_at: Timestamp }).openapi('Handoff')),
    codes: ['not_found', 'state_conflict', 'invalid_wallet_address', 'handoff_not_configured'],
    once: ({ scope, params, body: { customer_ref, email, wallet_address, success_url, metadata } }, storeAnswer) => {
      const input = {
        productId: params.product_id,
        customerRef: customer_ref,
        email,
        walletAddress: wallet_address,
        successUrl: success_url,
        metadata,
      };
      return createHandoff(scope, input, storeAnswer);
    },
    present: ({ token, product, expiresAt }, { scope }) => {
      const url = `${scope.baseUrl}/p/${product.slug}?handoff=${token}`;
      return { handoff_token: token, url, expires_at: iso(expiresAt) };
    },
    // The token lets its holder buy as this buyer, so the stored answer is sealed.
    isSecret: true,
  })
  .public({
    path: 'GET /products/p/{slug}/handoff/{token}',
    id: 'resolveHandoff',
    summary: 'Look at a hand-off',
    description: 'Whom a hand-off is for, without using it.',
    bucket: 'payload',
    params: z.object({
      slug,
      token: z
        .string()
        .max(2048)
        .openapi({ param: { name: 'token', in: 'path' } }),
    }),
    returns: z
      .object({
        product_id: z.uuid(),
        slug: z.string(),
        customer_label: z.string().optional().openapi({ description: 'Shortened, for the buyer to recognise.', example: 'gr…@ex….com' }),
        expires_at: Timestamp,
      })
      .openapi('ResolvedHandoff'),
    codes: ['handoff_secret_mismatch', 'not_found', 'handoff_expired', 'handoff_not_configured'],
    shard: ({ ctx, params }) => locate(ctx, ({ db }) => hasSlug(db, params.slug)),
    answer: async ({ shard, params }) => {
      const { listing, handoff } = await loadHandoff(shard, params.slug, params.token);
      return {
        product_id: listing.product.id,
        slug: listing.product.slug,
        ...given('customer_label', labelOf(handoff)),
        expires_at: iso(handoff.expiresAt),
      };
    },
  });
