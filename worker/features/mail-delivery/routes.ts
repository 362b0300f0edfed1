import { createRoute, z } from '@hono/zod-openapi';
import { ApiError, raise } from '#core/errors.ts';
import { operatorOnly } from '#features/accounts/operator/operator-only.ts';
import { addressKeysOf, liftBounce, rememberBounce } from '#features/mail/outbox.ts';
import type { Ctx } from '#platform/context.ts';
import { shardsOf } from '#platform/db/directory.ts';
import { publicBodyErrors } from '#platform/http/callers.ts';
import { DetailResponse, errors, jsonBody, ok, router } from '#platform/http/openapi.ts';
import { publicBucket, underCeiling } from '#platform/http/rate-limit.ts';
import { findMailProvider } from '#platform/providers/mail/mail-providers.ts';

const bounces = createRoute({
  method: 'post',
  path: '/integrations/mail/webhooks/{provider}',
  operationId: 'receiveMailEvents',
  tags: ['Integrations'],
  summary: 'Receive mail events',
  description:
    'Signed by the provider over the raw bytes. Nothing is sent again to an address that bounced or complained. Without its secret: 503 ' +
    '`mail_not_configured`, so that the provider keeps what it has to tell.',
  security: [{ mailSignature: [] }],
  middleware: underCeiling,
  request: { params: z.object({ provider: z.string().max(40) }) },
  responses: {
    ...ok(DetailResponse),
    ...errors(
      'webhook_signature_failed',
      'mail_not_configured',
      'not_found',
      'rate_limited',
      'validation_error',
      'payload_too_large',
      'unsupported_media_type',
    ),
  },
});

const lift = createRoute({
  method: 'post',
  path: '/v1/operator/bounces',
  hide: true,
  middleware: [publicBucket('operator'), operatorOnly] as const,
  request: jsonBody(z.object({ address: z.string().min(3).max(254) })),
  responses: { ...ok(z.object({ lifted: z.boolean() })), ...publicBodyErrors('not_found', 'rate_limited') },
});

/** Each database remembers for its own letters. */
async function remember(ctx: Ctx, address: string, reason: 'bounced' | 'complained'): Promise<void> {
  const [key] = addressKeysOf(ctx, address);
  for (const { db } of shardsOf(ctx)) await rememberBounce(db, key, reason, ctx.wallNow);
}

export const mailRoutes = router().openapi(bounces, async (c) => {
  const { ctx } = c.var;
  const { secret, read } = findMailProvider(c.req.valid('param').provider)?.bounces ?? raise('not_found');
  if (ctx.config[secret] === undefined) throw new ApiError('mail_not_configured', { meta: { missing: [secret] } });
  const said = read(ctx, c.req.raw.headers, new Uint8Array(await c.req.arrayBuffer()), ctx.wallNow);
  if (!said) throw new ApiError('webhook_signature_failed');
  for (const { address, reason } of said) await remember(ctx, address, reason);
  return c.json({ detail: 'Noted.' }, 200);
});

/** Of the operator alone: an address that a provider called dead, and that is not. */
export const bounceOperatorRoutes = router().openapi(lift, async (c) =>
  c.json({ lifted: await liftBounce(c.var.ctx, c.req.valid('json').address) }, 200),
);
