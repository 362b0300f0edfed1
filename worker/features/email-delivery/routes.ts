import { z } from '@hono/zod-openapi';
import { ApiError, raise } from '#core/errors.ts';
import { operatorOnly } from '#features/accounts/operator/operator-only.ts';
import { liftBounce } from '#features/email/outbox.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { DetailResponse, errors, protocolBodyErrors } from '#platform/http/openapi.ts';
import { underCeiling } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
import { findMailProvider } from '#platform/providers/mail/mail-providers.ts';
import { countComplaint, rememberAddress, reportComplaint, resumeEmails } from './complaints.ts';

export const mailRoutes = routes('Integrations').public({
  path: 'POST /integrations/mail/webhooks/{provider}',
  id: 'receiveMailEvents',
  sdk: false,
  idempotency: 'none',
  summary: 'Receive email events',
  description:
    'Receives events of the email provider, signed over the raw body. Addresses that bounced or complained get no further emails.',
  security: [{ mailSignature: [] }],
  guards: [underCeiling],
  params: z.object({ provider: z.string().max(40) }),
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
    for (const { address, reason } of said) {
      await rememberAddress(ctx, address, reason);
      if (reason === 'complained') await countComplaint(ctx, address);
    }
    return { detail: 'Noted.' };
  },
});

const Address = z.string().min(3).max(254);
const Named = z.string().min(1).max(254);
const EmailPause = z.object({ user_id: z.uuid(), complaints: z.int(), emails_paused: z.boolean() });
const toEmailPause = ({ id, emailComplaints, emailsPausedAt }: Account): z.infer<typeof EmailPause> => ({
  user_id: id,
  complaints: emailComplaints.length,
  emails_paused: emailsPausedAt !== null,
});

/** Acts of the operator on addresses and on the emails of an account. */
export const bounceOperatorRoutes = routes()
  .public({
    path: 'POST /v1/operator/bounces',
    bucket: 'operator',
    guards: [operatorOnly],
    body: z.object({ address: Address }),
    returns: z.object({ lifted: z.boolean() }),
    codes: ['not_found'],
    answer: async ({ ctx, body }) => ({ lifted: await liftBounce(ctx, body.address) }),
  })
  .public({
    path: 'POST /v1/operator/accounts/complaint',
    bucket: 'operator',
    guards: [operatorOnly],
    body: z.object({ account: Named, address: Address }),
    returns: EmailPause,
    codes: ['not_found', 'state_conflict'],
    answer: async ({ ctx, body }) => toEmailPause(await reportComplaint(ctx, body)),
  })
  .public({
    path: 'POST /v1/operator/accounts/resume-emails',
    bucket: 'operator',
    guards: [operatorOnly],
    body: z.object({ account: Named }),
    returns: EmailPause,
    codes: ['not_found', 'state_conflict'],
    answer: async ({ ctx, body }) => toEmailPause(await resumeEmails(ctx, body)),
  });
