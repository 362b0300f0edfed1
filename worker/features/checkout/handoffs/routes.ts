import { z } from '@hono/zod-openapi';
import { LIFE } from '#core/limits.ts';
import { iso } from '#core/time.ts';
import { homeOfSlug } from '#platform/db/names/names.ts';
import { CustomerRef, HttpsUrl, Metadata } from '#platform/http/bodies/own-fields.ts';
import { created, given, ProductSlug, ProductUuid, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { createHandoff, labelOf, loadHandoff } from './handoff.ts';

const slug = z
  .string()
  .max(80)
  .describe('Last part of the checkout page’s URL.')
  .openapi({ param: { name: 'slug', in: 'path' } });

export const handoffRoutes = routes('Checkout', 'products')
  .write({
    path: 'POST /products/{product_id}/handoffs',
    id: 'createHandoff',
    sdk: 'handoffs.create',
    summary: 'Create a hand-off',
    description: `Creates a single-use link for a known buyer, valid for ${LIFE.handoffMinutes} minutes. The service stores the buyer’s data; the link contains only a token.`,
    body: z
      .object({
        customer_ref: CustomerRef.optional().describe(
          'Your own name for the customer: 1 to 180 characters, no control characters, no leading or trailing space. Compared after Unicode NFC.',
        ),
        email: z.email().max(254).optional(),
        wallet_address: z.string().max(64).optional(),
        success_url: HttpsUrl.optional().describe(
          'https URL for buyers after payment; `payment_id` and `status` are added. A hint only: verify the payment from your server.',
        ),
        metadata: Metadata.optional().describe(
          'Your own key-value pairs, never shown to buyers: up to 50 keys of 40 characters, values of 500. An update merges; null removes a key.',
        ),
      })
      .openapi('HandoffRequest', { example: { customer_ref: 'user-42', email: 'ada@example.com' } }),
    isBodyOptional: true,
    returns: created(
      z
        .object({
          handoff_token: z.string().describe('Token of a hand-off, from its link.'),
          url: z.string().describe('Link for the buyer. Valid for one payment.'),
          expires_at: Timestamp,
        })
        .openapi('Handoff'),
    ),
    codes: ['not_found', 'state_conflict', 'invalid_wallet_address', 'handoff_not_configured'],
    audit: false,
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
    sdk: 'handoffs.resolve',
    summary: 'Resolve a hand-off',
    description: 'Returns the buyer of a hand-off without consuming it.',
    bucket: 'payload',
    params: z.object({
      slug,
      token: z
        .string()
        .max(2048)
        .openapi({ param: { name: 'token', in: 'path' } })
        .describe('Token of the hand-off.'),
    }),
    returns: z
      .object({
        product_id: ProductUuid,
        slug: ProductSlug,
        customer_label: z.string().optional().openapi({ example: 'gr…@ex….com' }).describe('Shortened name, for the buyer to recognize.'),
        expires_at: Timestamp,
      })
      .openapi('ResolvedHandoff'),
    codes: ['handoff_secret_mismatch', 'not_found', 'handoff_expired', 'handoff_not_configured'],
    shard: ({ ctx, params }) => homeOfSlug(ctx, params.slug),
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
