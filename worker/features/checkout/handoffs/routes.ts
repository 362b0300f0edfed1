import { createRoute, z } from '@hono/zod-openapi';
import type { ProductId } from '#core/ids.ts';
import { LIFE } from '#core/limits.ts';
import { iso } from '#core/time.ts';
import { hasSlug } from '#features/products/store.ts';
import { HttpsUrl, Metadata, OwnName } from '#platform/http/bodies/own-fields.ts';
import { merchantWriteErrors, writeRoute } from '#platform/http/callers.ts';
import { answerOnce, OptionalIdempotencyHeader, sendStored } from '#platform/http/idempotency-key.ts';
import { created, errors, given, idOf, idParam, ModeQuery, ok, optionalJsonBody, router, Timestamp } from '#platform/http/openapi.ts';
import { publicBucket } from '#platform/http/rate-limit.ts';
import { enterShard } from '#platform/http/shard.ts';
import { type CreatedHandoff, createHandoff, getHandedListing, getHandoff, labelOf, verifyHandoff } from './handoff.ts';

const slug = z
  .string()
  .max(80)
  .openapi({ param: { name: 'slug', in: 'path' } });

const create = createRoute({
  method: 'post',
  path: '/products/{product_id}/handoffs',
  operationId: 'createHandoff',
  tags: ['Checkout'],
  summary: 'Create a hand-off',
  description: `It is used once, within ${LIFE.handoffMinutes} minutes. What you say of the buyer stays with us: the link only names it.`,
  ...writeRoute,
  request: {
    headers: OptionalIdempotencyHeader,
    params: idParam('product_id', idOf<ProductId>()),
    query: z.object(ModeQuery),
    ...optionalJsonBody(
      z
        .object({
          customer_ref: OwnName.optional(),
          email: z.email().max(254).optional(),
          wallet_address: z.string().max(64).optional(),
          success_url: HttpsUrl.optional(),
          metadata: Metadata.optional(),
        })
        .openapi('HandoffRequest', { example: { customer_ref: 'user-42', email: 'ada@example.com' } }),
    ),
  },
  responses: {
    ...created(z.object({ handoff_token: z.string(), url: z.string(), expires_at: Timestamp }).openapi('Handoff')),
    ...merchantWriteErrors('not_found', 'state_conflict', 'invalid_wallet_address', 'handoff_not_configured'),
  },
});

const resolve = createRoute({
  method: 'get',
  path: '/products/p/{slug}/handoff/{token}',
  operationId: 'resolveHandoff',
  tags: ['Checkout'],
  summary: 'Look at a hand-off',
  description: 'Whom a hand-off is for, without using it.',
  middleware: publicBucket('payload'),
  request: {
    params: z.object({
      slug,
      token: z
        .string()
        .max(2048)
        .openapi({ param: { name: 'token', in: 'path' } }),
    }),
  },
  responses: {
    ...ok(
      z
        .object({
          product_id: z.uuid(),
          slug: z.string(),
          customer_label: z.string().optional().openapi({ description: 'Shortened, for the buyer to recognise.', example: 'gr…@ex….com' }),
          expires_at: Timestamp,
        })
        .openapi('ResolvedHandoff'),
    ),
    ...errors('handoff_secret_mismatch', 'not_found', 'handoff_expired', 'validation_error', 'rate_limited', 'handoff_not_configured'),
  },
});

export const handoffRoutes = router()
  .openapi(create, async (c) => {
    const { scope: ctx } = c.var;
    const { customer_ref, email, wallet_address, success_url, metadata } = c.req.valid('json');
    const input = {
      productId: c.req.valid('param').product_id,
      customerRef: customer_ref,
      email,
      walletAddress: wallet_address,
      successUrl: success_url,
      metadata,
    };
    const present = ({ token, product, expiresAt }: CreatedHandoff) => {
      const url = `${ctx.baseUrl}/p/${product.slug}?handoff=${token}`;
      return { status: 201, body: { handoff_token: token, url, expires_at: iso(expiresAt) } };
    };
    // The token lets its holder buy as this buyer, so the stored answer is sealed.
    return sendStored(c, await answerOnce(c, (storeAnswer) => createHandoff(ctx, input, storeAnswer), present, { isSecret: true }));
  })
  .openapi(resolve, async (c) => {
    const params = c.req.valid('param');
    const ctx = await enterShard(c, ({ db }) => hasSlug(db, params.slug));
    const { product } = await getHandedListing(ctx, params.slug, params.token);
    const handoff = await getHandoff(ctx, verifyHandoff(ctx, product.id, params.token));
    return c.json(
      {
        product_id: product.id,
        slug: product.slug,
        ...given('customer_label', labelOf(handoff)),
        expires_at: iso(handoff.expiresAt),
      },
      200,
    );
  });
