import { z } from '@hono/zod-openapi';
import { createMiddleware } from 'hono/factory';
import { base58Bytes } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import { MONEY_UNITS_MAX } from '#core/money.ts';
import { countForMerchant } from '#features/accounts/auth/authenticate.ts';
import { type AppEnv, created, errors, headersOf, ok, protocolBodyErrors, type RouteContext } from '#platform/http/openapi.ts';
import { hitCeiling } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
import { SignedVoucher } from '#protocols/mpp/session.ts';
import { announceDelivery } from '../deliver.ts';
import { CommitReceiptBody, DirectiveBody, MeteredSessionBody, sessionParam, toDirective, toMeteredResource } from '../resource.ts';
import { recallSession, sessionOfChannel, withProgram } from '../session.ts';
import { authorizeSession } from './authorize.ts';
import { type CommitRefusal, type CountUse, commitDelivery, readCommit } from './commit.ts';

/** Counts a call for its caller's address only if it is refused: credentials are the authority of these routes. */
const countRefused = createMiddleware<AppEnv>(async (c, next) => {
  await next();
  if (c.error instanceof ApiError && c.error.status < 500) await hitCeiling(c);
});

/** Counts a use of a session as a call of its merchant. 429 rate_limited. */
const countsUse =
  (c: RouteContext): CountUse =>
  (session) =>
    countForMerchant(c, session, 'metered');

const CredentialHeader = z.object({
  authorization: z.string().max(32_768).optional().describe('Credential of scheme `Payment`.'),
});
const VOUCHER_EXAMPLE = {
  data: { channelId: '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2', cumulativeAmount: '1200', expiresAt: 4_102_444_800 },
  signature: '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW',
};
const CommitRequest = z
  .looseObject({
    deliveryId: z.string().min(1).max(256),
    voucher: SignedVoucher.optional().describe('Signed promise of a cumulative amount.'),
  })
  .openapi('MeteredCommitRequest', { example: { deliveryId: 'mpp-3yZe7d', voucher: VOUCHER_EXAMPLE } });
const AnnounceRequest = z
  .looseObject({
    amount: z
      .string()
      .regex(/^[1-9][0-9]{0,19}$/)
      .describe('Amount in base units, as text.'),
    deliveryId: z
      .string()
      .regex(/^[\x21-\x7e]{1,256}$/)
      .optional(),
    sessionId: z.string().max(64),
  })
  .openapi('MeteredAnnouncement');

const withReceipt = <S extends z.ZodType>(schema: S) => ({ 200: { ...ok(schema)[200], headers: headersOf('Payment-Receipt') } });

const mismatch = (reason: CommitRefusal): ApiError =>
  new ApiError('payment_mismatch', {
    detail: 'The voucher does not pay for this delivery. Sign a voucher for its amount.',
    meta: { reason },
  });

export const meteredSessionRoutes = routes('Metered')
  .public({
    path: 'POST /access/metered-sessions/{session_id}/authorize',
    id: 'authorizeMeteredSession',
    sdk: 'meteredSessions.authorize',
    idempotency: 'natural',
    agent: { confirm: true },
    summary: 'Open, pay, top up or close',
    description:
      'Performs the action of the credential of scheme Payment. Without one, or with one that is refused, returns 402 with a challenge in `WWW-Authenticate`. The response to action `commit` is the receipt of the delivery.',
    guards: [countRefused],
    params: sessionParam,
    headers: CredentialHeader,
    returns: withReceipt(z.union([MeteredSessionBody, CommitReceiptBody])),
    codes: ['payment_required', 'not_found', 'channel_closed', 'rpc_unavailable'],
    answer: async ({ c, ctx, params, headers }) => {
      const done = await authorizeSession(ctx, params.session_id, headers.authorization, countsUse(c));
      c.header('Payment-Receipt', done.receipt);
      c.header('Cache-Control', 'private, no-store');
      // The customer is shown to the merchant alone.
      return 'session' in done ? toMeteredResource(ctx, withProgram({ ...done.session, customer: null })) : done.committed;
    },
  })
  .public({
    path: 'POST /access/metered-sessions/{session_id}/commits',
    id: 'commitMeteredDelivery',
    sdk: 'meteredSessions.commit',
    idempotency: 'natural',
    agent: { confirm: true },
    summary: 'Pay for a delivery',
    description:
      'Pays for a delivery with a voucher, in the body or in the credential of scheme Payment. The same again returns 200 and `replayed`.',
    guards: [countRefused],
    params: sessionParam,
    headers: CredentialHeader,
    body: CommitRequest,
    returns: withReceipt(CommitReceiptBody),
    refusals: errors('payment_mismatch', 'not_found', 'channel_closed', 'rate_limited', 'validation_error', ...protocolBodyErrors),
    answer: async ({ c, ctx, params, body, headers }) => {
      const commit = readCommit(headers.authorization, body);
      if (commit === 'voucher-mismatch') throw mismatch(commit);
      if (commit === null) {
        const problem = { loc: ['body', 'voucher'], msg: 'Required, here or in Authorization', type: 'missing' };
        throw new ApiError('validation_error', { problems: [problem] });
      }
      const committed = await commitDelivery(ctx, await recallSession(ctx, params.session_id), commit, countsUse(c));
      if (!committed.ok) throw mismatch(committed.reason);
      return committed.committed;
    },
  });

/** The public client calls it at the root of the origin. */
export const announcedDeliveryRoutes = routes('Metered').public({
  path: 'POST /__402/session/deliveries',
  id: 'announceMeteredDelivery',
  sdk: 'meteredSessions.announce',
  idempotency: 'natural',
  summary: 'Announce a delivery',
  description: 'Announces a delivery, as the public client of payment sessions does at the root of an origin. Reserves nothing.',
  guards: [countRefused],
  body: AnnounceRequest,
  returns: created(DirectiveBody),
  refusals: errors('not_found', 'state_conflict', 'channel_closed', 'rate_limited', 'validation_error', ...protocolBodyErrors),
  answer: async ({ c, ctx, body: { sessionId: channelId, deliveryId, amount } }) => {
    if (base58Bytes(channelId, 32) === null || BigInt(amount) > MONEY_UNITS_MAX) throw new ApiError('not_found');
    const asked = { deliveryId: deliveryId ?? null, amount: BigInt(amount) };
    const count = { flood: () => hitCeiling(c), use: countsUse(c) };
    const reserved = await announceDelivery(ctx, await sessionOfChannel(ctx, channelId), asked, count);
    return toDirective(ctx, reserved.delivery, reserved.snapshot);
  },
});
