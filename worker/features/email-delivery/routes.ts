import { z } from '@hono/zod-openapi';
import { ApiError, raise } from '#core/errors.ts';
import { operatorOnly } from '#features/accounts/operator/operator-only.ts';
import { addressKeysOf, liftBounce, rememberBounce } from '#features/email/outbox.ts';
import type { Ctx } from '#platform/context.ts';
import { shardsOf } from '#platform/db/each-database.ts';
import { DetailResponse, errors, protocolBodyErrors } from '#platform/http/openapi.ts';
import { underCeiling } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
import { findMailProvider } from '#platform/providers/mail/mail-providers.ts';

async function remember(ctx: Ctx, address: string, reason: 'bounced' | 'complained'): Promise<void> {
  const [key] = addressKeysOf(ctx, address);
  for (const { db } of shardsOf(ctx)) await rememberBounce(db, key, reason, ctx.wallNow);
}

export const mailRoutes = routes('Integrations').public({
  path: 'POST /integrations/mail/webhooks/{provider}',
  id: 'receiveMailEvents',
  sdk: false,
  idempotency: 'none',
  summary: 'Receive email events',
  description:
    'Receives events of the email provider, signed over the raw body. Addresses that bounced or complained get no further emails. Without the signing secret, returns 503 `mail_not_configured`, so that the provider retries later.',
  security: [{ mailSignature: [] }],
  guards: [underCeiling],
  params: z.object({ provider: z.string().max(40).describe('Provider name.') }),
  returns: DetailResponse,
  refusals: errors(
    'webhook_signature_failed',
    'mail_not_configured',
    'not_found',
    'rate_limited',
    'validation_error',
    ...protocolBodyErrors,
  ),
  answer: async ({ c, ctx, params }) => {
    const { secret, read } = findMailProvider(params.provider)?.bounces ?? raise('not_found');
    if (ctx.config[secret] === undefined) throw new ApiError('mail_not_configured', { meta: { missing: [secret] } });
    const said = read(ctx, c.req.raw.headers, new Uint8Array(await c.req.arrayBuffer()), ctx.wallNow);
    if (!said) throw new ApiError('webhook_signature_failed');
    for (const { address, reason } of said) await remember(ctx, address, reason);
    return { detail: 'Noted.' };
  },
});

/** Lets the operator clear an address that a provider reported as dead by mistake. */
export const bounceOperatorRoutes = routes().public({
  path: 'POST /v1/operator/bounces',
  bucket: 'operator',
  guards: [operatorOnly],
  body: z.object({ address: z.string().min(3).max(254) }),
  returns: z.object({ lifted: z.boolean() }),
  codes: ['not_found'],
  answer: async ({ ctx, body }) => ({ lifted: await liftBounce(ctx, body.address) }),
});
