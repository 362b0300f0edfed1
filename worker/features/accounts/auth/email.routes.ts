import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { DAY, iso } from '#core/time.ts';
import { addressKeysOf, planLetter, requireMail } from '#features/mail/outbox.ts';
import type { Ctx, Scope, Shard } from '#platform/context.ts';
import { commit, unchanged, type Write } from '#platform/db/commit.ts';
import { globalOf } from '#platform/db/directory.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import { type ActorEnv, DetailResponse, type RouteContext, Timestamp } from '#platform/http/openapi.ts';
import { hitBucket, rememberSignIn } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
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

const PASSWORD_SET = 'The password is set, and every session has ended. Sign in with it.';
const toldOf = ({ keys, endpoints, providers, wallets }: Arms): string =>
  ` Nobody had proven this address before, so what was set up until now has ended: ${keys} keys, ${endpoints} webhook endpoints,` +
  ` ${providers} linked providers, ${wallets} payout wallets. Set a payout wallet before you sell.`;

export const emailRoutes = routes('Account')
  .person({
    path: 'POST /account/email/verification',
    id: 'sendVerification',
    summary: 'Send a verification e-mail',
    description: 'Registration sends one by itself. Its link works once, for 24 hours. After three e-mails within an hour none is sent.',
    limit: limitLetters,
    returns: accepted,
    codes: ['state_conflict', 'mail_not_configured'],
    once: ({ scope }, storeAnswer) => askVerification(scope, storeAnswer),
    present: () => ({ detail: 'An e-mail is on its way. Its link works for 24 hours.' }),
  })
  .public({
    path: 'POST /account/email/verify',
    id: 'verifyEmail',
    summary: 'Verify an e-mail',
    description: 'Prove an address by the token of its e-mail.',
    bucket: 'email-proof',
    body: z.object({ token: Token }).openapi('VerifyEmailRequest'),
    returns: DetailResponse,
    codes: ['invalid_credentials', 'state_conflict'],
    once: ({ ctx, body: { token } }, storeAnswer) => verifyEmail(ctx, token, storeAnswer),
    present: () => ({ detail: 'The address is verified.' }),
    isSecret: true,
  })
  .public({
    path: 'POST /account/email/preview',
    id: 'previewVerification',
    summary: 'Preview a verification link',
    description: 'The account that the link would verify the address of. It uses nothing up.',
    bucket: 'email-proof',
    body: z.object({ token: Token }).openapi('PreviewVerificationRequest'),
    returns: z.object({ account: z.string(), created_at: Timestamp, email: z.string() }).openapi('VerificationPreview'),
    codes: ['invalid_credentials'],
    answer: async ({ ctx, body }) => {
      const { displayName, createdAt, email } = await previewEmail(ctx, body.token);
      return { account: displayName, created_at: iso(createdAt), email: email! };
    },
  })
  .public({
    path: 'POST /account/email/disown',
    id: 'disownEmail',
    summary: 'Take an address off an account',
    description:
      'For the reader of an address that another person made an account with: by the token of the verification e-mail. The account keeps all ' +
      'else. 409 `state_conflict` for an address that is verified.',
    bucket: 'email-proof',
    body: z.object({ token: Token }).openapi('DisownEmailRequest'),
    returns: DetailResponse,
    codes: ['invalid_credentials', 'state_conflict'],
    once: ({ ctx, body: { token } }, storeAnswer) => disownEmail(ctx, token, storeAnswer),
    present: () => ({ detail: 'The address is taken off the account.' }),
    isSecret: true,
  })
  .public({
    path: 'POST /auth/password/forgot',
    id: 'forgotPassword',
    tag: 'Authentication',
    summary: 'Ask for a new password',
    description: 'The same answer in the same time for every address. The link works once, for 30 minutes.',
    bucket: 'letters',
    body: z.object({ email: Email }).openapi('ForgotPasswordRequest'),
    returns: accepted,
    codes: ['mail_not_configured'],
    once: ({ ctx, body: { email } }, storeAnswer) => askReset(globalOf(ctx), email, storeAnswer),
    present: () => ({ detail: 'If an account has this address, an e-mail is on its way to it.' }),
  })
  .public({
    path: 'POST /auth/password/reset',
    id: 'resetPassword',
    tag: 'Authentication',
    summary: 'Set a new password',
    description:
      'Set a new password by the token of its e-mail; every session ends. Where the address was never verified, keys, endpoints, linked ' +
      'providers, the wallet that signs in and payout wallets end too, and sales that have begun are over; 409 `state_conflict` where buyers have ' +
      'paid the account and it has another way in.',
    bucket: 'email-proof',
    body: z.object({ token: Token, new_password: z.string().max(1024) }).openapi('ResetPasswordRequest'),
    returns: DetailResponse,
    codes: ['invalid_credentials', 'state_conflict', 'password_too_short'],
    once: ({ ctx, body: { token, new_password } }, storeAnswer) => resetPassword(ctx, token, new_password, storeAnswer),
    present: (ended) => ({ detail: PASSWORD_SET + (ended ? toldOf(ended) : '') }),
    answered: async ({ c, ctx, body }) => rememberSignIn(c, await emailOfSpent(ctx, body.token)),
    isSecret: true,
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
