import { createRoute, z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { DAY, iso } from '#core/time.ts';
import { addressKeysOf, planLetter, requireMail } from '#features/mail/outbox.ts';
import type { Ctx, Scope, Shard } from '#platform/context.ts';
import { commit, unchanged, type Write } from '#platform/db/commit.ts';
import { globalOf } from '#platform/db/directory.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import { keyedPersonRoute, merchantWriteErrors, publicBodyErrors } from '#platform/http/callers.ts';
import {
  answerOnce,
  checkIdempotencyKey,
  OptionalIdempotencyHeader,
  optionalKeyErrors,
  sendStored,
} from '#platform/http/idempotency-key.ts';
import { type ActorEnv, DetailResponse, jsonBody, ok, type RouteContext, router, Timestamp } from '#platform/http/openapi.ts';
import { hitBucket, publicBucket, rememberSignIn } from '#platform/http/rate-limit.ts';
import type { Arms } from '../claim/store.ts';
import { getAccount } from '../store.ts';
import { disownEmail, emailOfSpent, isUnreachable, previewEmail, resetPassword, verifyEmail } from './email-proof.ts';
import { linksAnHour, planVerification } from './owner-emails.ts';
import { Email } from './routes.ts';
import { normaliseEmail } from './sign-in.ts';

const accepted = { 202: { description: 'Taken', content: { 'application/json': { schema: DetailResponse } } } };
const Token = z.string().max(200).openapi({ description: 'From the e-mail: what follows `#token=` in its link.' });

/** Counted where the caller is known too: the headers go on telling the account's own limit. */
async function limitLetters(c: RouteContext<ActorEnv>): Promise<void> {
  await hitBucket(c, 'letters', '');
}

const ask = createRoute({
  method: 'post',
  path: '/account/email/verification',
  operationId: 'sendVerification',
  tags: ['Account'],
  summary: 'Send a verification e-mail',
  description: 'Registration sends one by itself. Its link works once, for 24 hours. After three e-mails within an hour none is sent.',
  ...keyedPersonRoute(limitLetters),
  request: { headers: OptionalIdempotencyHeader },
  responses: { ...accepted, ...merchantWriteErrors('state_conflict', 'mail_not_configured') },
});
const verify = createRoute({
  method: 'post',
  path: '/account/email/verify',
  operationId: 'verifyEmail',
  tags: ['Account'],
  summary: 'Verify an e-mail',
  description: 'Prove an address by the token of its e-mail.',
  middleware: [publicBucket('email-proof'), checkIdempotencyKey] as const,
  request: { headers: OptionalIdempotencyHeader, ...jsonBody(z.object({ token: Token }).openapi('VerifyEmailRequest')) },
  responses: {
    ...ok(DetailResponse),
    ...publicBodyErrors(...optionalKeyErrors, 'invalid_credentials', 'state_conflict', 'rate_limited'),
  },
});
const preview = createRoute({
  method: 'post',
  path: '/account/email/preview',
  operationId: 'previewVerification',
  tags: ['Account'],
  summary: 'Preview a verification link',
  description: 'The account that the link would verify the address of. It uses nothing up.',
  middleware: publicBucket('email-proof'),
  request: jsonBody(z.object({ token: Token }).openapi('PreviewVerificationRequest')),
  responses: {
    ...ok(z.object({ account: z.string(), created_at: Timestamp, email: z.string() }).openapi('VerificationPreview')),
    ...publicBodyErrors('invalid_credentials', 'rate_limited'),
  },
});
const disown = createRoute({
  method: 'post',
  path: '/account/email/disown',
  operationId: 'disownEmail',
  tags: ['Account'],
  summary: 'Take an address off an account',
  description:
    'For the reader of an address that another person made an account with: by the token of the verification e-mail. The account keeps all ' +
    'else. 409 `state_conflict` for an address that is verified.',
  middleware: [publicBucket('email-proof'), checkIdempotencyKey] as const,
  request: { headers: OptionalIdempotencyHeader, ...jsonBody(z.object({ token: Token }).openapi('DisownEmailRequest')) },
  responses: {
    ...ok(DetailResponse),
    ...publicBodyErrors(...optionalKeyErrors, 'invalid_credentials', 'state_conflict', 'rate_limited'),
  },
});
const forgot = createRoute({
  method: 'post',
  path: '/auth/password/forgot',
  operationId: 'forgotPassword',
  tags: ['Authentication'],
  summary: 'Ask for a new password',
  description: 'The same answer in the same time for every address. The link works once, for 30 minutes.',
  middleware: [publicBucket('letters'), checkIdempotencyKey] as const,
  request: { headers: OptionalIdempotencyHeader, ...jsonBody(z.object({ email: Email }).openapi('ForgotPasswordRequest')) },
  responses: { ...accepted, ...publicBodyErrors(...optionalKeyErrors, 'mail_not_configured', 'rate_limited') },
});
const reset = createRoute({
  method: 'post',
  path: '/auth/password/reset',
  operationId: 'resetPassword',
  tags: ['Authentication'],
  summary: 'Set a new password',
  description:
    'Set a new password by the token of its e-mail; every session ends. Where the address was never verified, keys, endpoints, linked ' +
    'providers, the wallet that signs in and payout wallets end too, and sales that have begun are over; 409 `state_conflict` where buyers have ' +
    'paid the account and it has another way in.',
  middleware: [publicBucket('email-proof'), checkIdempotencyKey] as const,
  request: {
    headers: OptionalIdempotencyHeader,
    ...jsonBody(z.object({ token: Token, new_password: z.string().max(1024) }).openapi('ResetPasswordRequest')),
  },
  responses: {
    ...ok(DetailResponse),
    ...publicBodyErrors(...optionalKeyErrors, 'invalid_credentials', 'state_conflict', 'password_too_short', 'rate_limited'),
  },
});

const PASSWORD_SET = 'The password is set, and every session has ended. Sign in with it.';
const toldOf = ({ keys, endpoints, providers, wallets }: Arms): string =>
  ` Nobody had proven this address before, so what was set up until now has ended: ${keys} keys, ${endpoints} webhook endpoints,` +
  ` ${providers} linked providers, ${wallets} payout wallets. Set a payout wallet before you sell.`;

const said = (status: 200 | 202, detail: string) => () => ({ status, body: { detail } });

export const emailRoutes = router()
  .openapi(ask, async (c) => {
    const present = said(202, 'An e-mail is on its way. Its link works for 24 hours.');
    return sendStored(c, await answerOnce<null>(c, (storeAnswer) => askVerification(c.var.scope, storeAnswer), present));
  })
  .openapi(verify, async (c) => {
    const { token } = c.req.valid('json');
    const run = answerOnce<null>(c, (storeAnswer) => verifyEmail(c.var.ctx, token, storeAnswer), said(200, 'The address is verified.'), {
      isSecret: true,
    });
    return sendStored(c, await run);
  })
  .openapi(preview, async (c) => {
    const { displayName, createdAt, email } = await previewEmail(c.var.ctx, c.req.valid('json').token);
    return c.json({ account: displayName, created_at: iso(createdAt), email: email! }, 200);
  })
  .openapi(disown, async (c) => {
    const { token } = c.req.valid('json');
    const present = said(200, 'The address is taken off the account.');
    const run = (storeAnswer: StoreAnswer<null>) => disownEmail(c.var.ctx, token, storeAnswer);
    return sendStored(c, await answerOnce<null>(c, run, present, { isSecret: true }));
  })
  .openapi(forgot, async (c) => {
    const { email } = c.req.valid('json');
    const present = said(202, 'If an account has this address, an e-mail is on its way to it.');
    return sendStored(c, await answerOnce<null>(c, (storeAnswer) => askReset(globalOf(c.var.ctx), email, storeAnswer), present));
  })
  .openapi(reset, async (c) => {
    const { token, new_password } = c.req.valid('json');
    const present = (ended: Arms | null) => ({ status: 200, body: { detail: PASSWORD_SET + (ended ? toldOf(ended) : '') } });
    const run = (storeAnswer: StoreAnswer<Arms | null>) => resetPassword(c.var.ctx, token, new_password, storeAnswer);
    const answer = await answerOnce(c, run, present, { isSecret: true });
    await rememberSignIn(c, await emailOfSpent(c.var.ctx, token));
    return sendStored(c, answer);
  });

/** Emails to an address that bounced, so that its owner can show that letters arrive again. */
const BOUNCED_A_DAY_MAX = 1;

/** Limit on emails to an address that bounced, or complained. */
const linksADay = (ctx: Ctx, address: string) => ({
  counted: { letters: ['verify_email' as const], addressKeys: addressKeysOf(ctx, address), since: ctx.wallNow - DAY },
  max: BOUNCED_A_DAY_MAX,
});

/** Stores an email that was asked for. The answer is the same where too many were: it says nothing of the address. */
const storeAsked = async (ctx: Shard, writes: Write[], storeAnswer: StoreAnswer<null>): Promise<null> =>
  commit(ctx, await withAnswer({ ...unchanged(null), writes }, storeAnswer(null)));

/**
 * A letter with a link that proves the account's address, for the first time or again after it bounced. 409 state_conflict where there is
 * none, or it is proven; 503 mail_not_configured.
 */
async function askVerification(ctx: Scope, storeAnswer: StoreAnswer<null>): Promise<null> {
  const account = await getAccount(ctx.db, ctx.merchantId);
  const { email, emailVerified } = account;
  if (email === null) throw new ApiError('state_conflict', { detail: 'This account has no e-mail.', meta: { reason: 'no_email' } });
  const isBounced = await isUnreachable(ctx, email);
  if (emailVerified && !isBounced)
    throw new ApiError('state_conflict', { detail: 'This address is verified.', meta: { reason: 'already_verified' } });
  requireMail(ctx);
  return storeAsked(ctx, planVerification(ctx, account, isBounced ? linksADay(ctx, email) : undefined), storeAnswer);
}

/**
 * A letter with a link for a new password to the account that has this address. Whether one has it is looked up when the letter is sent:
 * the same is written here for every address, so that the answer tells nothing. 503 mail_not_configured.
 */
async function askReset(ctx: Shard, email: string, storeAnswer: StoreAnswer<null>): Promise<null> {
  requireMail(ctx);
  const address = normaliseEmail(email);
  const letter = { letter: 'reset_password' as const, facts: {}, accountId: null, address };
  return storeAsked(ctx, planLetter(ctx, letter, linksAnHour(ctx, address)).writes, storeAnswer);
}
