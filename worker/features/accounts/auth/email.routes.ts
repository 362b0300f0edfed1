import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { DAY, iso } from '#core/time.ts';
import { addressKeysOf, planEmail, requireMail } from '#features/email/outbox.ts';
import type { Ctx, Scope, Shard } from '#platform/context.ts';
import { commit, unchanged, type Write } from '#platform/db/commit.ts';
import { globalOf } from '#platform/db/directory.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import { type ActorEnv, DetailResponse, type RouteContext, Timestamp } from '#platform/http/openapi.ts';
import { callerOrigin, hitBucket } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
import type { AccountAccess } from '../claim/store.ts';
import { learnNetworks } from '../passwords/tries.ts';
import { getAccount } from '../store.ts';
import { disownEmail, emailOfSpent, findByProof, findLinkHome, isUnreachable, resetPassword, verifyEmail } from './email-proof.ts';
import { LinkBody, LinkToken } from './emailed-links.ts';
import { linksAnHour, ownNameOf, planVerification } from './owner-emails.ts';
import { Email } from './routes.ts';
import { normaliseEmail } from './sign-in.ts';

const accepted = { 202: { description: 'Accepted', content: { 'application/json': { schema: DetailResponse } } } };

/** Counts emails per caller's address even for a known caller. The headers continue to show the account's own limit. */
async function limitEmails(c: RouteContext<ActorEnv>): Promise<void> {
  await hitBucket(c, 'emails', '');
}

/** Database where the answer is stored with the change. A token that names no account is refused, in whichever database. */
const homeOfLink = ({ ctx, body: { token } }: { ctx: Ctx; body: { token: string } }): Shard => findLinkHome(ctx, token) ?? globalOf(ctx);

const PASSWORD_SET = 'The password is set, and all sessions have ended. Sign in with it.';
const MOVED =
  'The password is set. Buyers have paid the account that had this address, so it stays with its maker. Your address has a new account: sign in to it.';
const auditDetailOf = ({ keys, endpoints, providers, wallets }: AccountAccess): string =>
  ` Earlier access has ended: ${keys} keys, ${endpoints} webhook endpoints,` +
  ` ${providers} linked providers, ${wallets} payout wallets. Set a payout wallet before you sell.`;

export const emailRoutes = routes('Account')
  .self({
    path: 'POST /account/email/verification',
    id: 'sendVerification',
    sdk: 'account.sendVerification',
    summary: 'Send a verification email',
    description:
      'Sends a verification email. Registration sends the first one. The link works once, for 24 hours. At most three are sent per hour.',
    limit: limitEmails,
    returns: accepted,
    codes: ['state_conflict', 'mail_not_configured'],
    once: ({ scope }, storeAnswer) => askVerification(scope, storeAnswer),
    audit: { action: 'person.verification_sent', subject: 'person', fields: (_, { actor }) => ({ id: actor.accountId }) },
    present: () => ({ detail: 'An email was sent. Its link works for 24 hours.' }),
  })
  .public({
    path: 'POST /account/email/verify',
    id: 'verifyEmail',
    sdk: 'account.verifyEmail',
    summary: 'Verify an email address',
    description: 'Verifies an email address by the token from the verification email.',
    bucket: 'email-proof',
    body: LinkBody,
    returns: DetailResponse,
    codes: ['invalid_credentials', 'state_conflict'],
    shard: homeOfLink,
    once: ({ ctx, body: { token } }, storeAnswer) => verifyEmail(ctx, token, storeAnswer),
    audit: ['person.email_verified'],
    present: () => ({ detail: 'The email address is verified.' }),
    isSecret: true,
  })
  .public({
    path: 'POST /account/email/preview',
    id: 'previewVerification',
    sdk: 'account.previewVerification',
    idempotency: 'natural',
    summary: 'Preview a verification link',
    description: 'Returns the account that the link would verify. Does not consume the token.',
    bucket: 'email-proof',
    body: LinkBody,
    returns: z
      .object({
        account: z.string().describe('Name of the account, as buyers see it.'),
        created_at: Timestamp,
        email: z.string(),
      })
      .openapi('VerificationPreview'),
    codes: ['invalid_credentials'],
    answer: async ({ ctx, body }) => {
      const { account } = await findByProof(ctx, 'verify', body.token);
      return { account: ownNameOf(account), created_at: iso(account.createdAt), email: account.email! };
    },
  })
  .public({
    path: 'POST /account/email/disown',
    id: 'disownEmail',
    sdk: 'account.disownEmail',
    summary: 'Remove an email address',
    description:
      'Removes an email address from an account that someone else created with it. Without another way to sign in and without sales the account ends.',
    bucket: 'email-proof',
    body: LinkBody,
    returns: DetailResponse,
    codes: ['invalid_credentials', 'state_conflict'],
    shard: homeOfLink,
    once: ({ ctx, body: { token } }, storeAnswer) => disownEmail(ctx, token, storeAnswer),
    audit: ['person.email_disowned', 'account.deleted'],
    present: () => ({ detail: 'The email address is removed from the account.' }),
    isSecret: true,
  })
  .public({
    path: 'POST /auth/password/forgot',
    id: 'forgotPassword',
    sdk: 'auth.forgotPassword',
    tag: 'Authentication',
    summary: 'Request a password reset',
    description:
      'Sends a password reset link. The response and its timing are the same for every address. The link works once, for 30 minutes.',
    bucket: 'emails',
    body: z.object({ email: Email }).openapi('ForgotPasswordRequest'),
    returns: accepted,
    codes: ['mail_not_configured'],
    once: ({ ctx, body: { email } }, storeAnswer) => askReset(globalOf(ctx), email, storeAnswer),
    present: () => ({ detail: 'If an account has this address, an email was sent to it.' }),
  })
  .public({
    path: 'POST /auth/password/reset',
    id: 'resetPassword',
    sdk: 'auth.resetPassword',
    tag: 'Authentication',
    summary: 'Set a new password',
    description:
      'Sets a new password by the token from the email, and ends all sessions. If the address was never verified, all other access ends as well.',
    bucket: 'email-proof',
    body: z
      .object({
        token: LinkToken,
        new_password: z.string().max(1024).describe('New password of 8 to 128 characters, and none of the commonest.'),
        end_others: z
          .boolean()
          .default(false)
          .describe('Also ends all other access: keys, providers, factors, members, endpoints and payout wallets.'),
      })
      .openapi('ResetPasswordRequest'),
    returns: DetailResponse,
    codes: ['invalid_credentials', 'state_conflict', 'password_too_short', 'password_too_common'],
    shard: homeOfLink,
    once: ({ ctx, body: { token, new_password: password, end_others: endsOthers } }, storeAnswer) =>
      resetPassword(ctx, token, { password, endsOthers }, storeAnswer),
    audit: ['person.password_changed', 'account.claimed', 'person.email_disowned', 'account.created'],
    present: ({ ended, isNewAccount }) => ({ detail: isNewAccount ? MOVED : PASSWORD_SET + (ended ? auditDetailOf(ended) : '') }),
    // The reader of the address is the owner, so guesses of others do not hinder the sign-in that follows.
    answered: async ({ c, ctx, body }) => learnNetworks(ctx, await emailOfSpent(ctx, body.token), [callerOrigin(c).ip]),
    isSecret: true,
  });

/** Limit on emails to an address that bounced, so that its owner can prove that emails arrive again. */
const BOUNCED_A_DAY_MAX = 1;

const linksADay = (ctx: Ctx, address: string) => ({
  counted: { templates: ['verify_email' as const], addressKeys: addressKeysOf(ctx, address), since: ctx.wallNow - DAY },
  max: BOUNCED_A_DAY_MAX,
});

/** Stores a requested email. The answer is the same if the limit was exceeded, so it reveals nothing about the address. */
const storeAsked = async (ctx: Shard, writes: Write[], storeAnswer: StoreAnswer<null>): Promise<null> =>
  commit(ctx, await withAnswer({ ...unchanged(null), writes }, storeAnswer(null)));

async function askVerification(ctx: Scope, storeAnswer: StoreAnswer<null>): Promise<null> {
  const account = await getAccount(ctx.db, ctx.merchantId);
  const { email, emailVerified } = account;
  if (email === null)
    throw new ApiError('state_conflict', { detail: 'The account has no email address. Add one first.', meta: { reason: 'no_email' } });
  const isBounced = await isUnreachable(ctx, email);
  if (emailVerified && !isBounced)
    throw new ApiError('state_conflict', { detail: 'The email address is already verified.', meta: { reason: 'already_verified' } });
  requireMail(ctx);
  return storeAsked(ctx, planVerification(ctx, account, isBounced ? linksADay(ctx, email) : undefined), storeAnswer);
}

/**
 * Emails a password reset link. Whether an account has the address is checked at send time: the same row is written for every address, so
 * the answer reveals nothing. Throws 503 mail_not_configured.
 */
async function askReset(ctx: Shard, email: string, storeAnswer: StoreAnswer<null>): Promise<null> {
  requireMail(ctx);
  const address = normaliseEmail(email);
  const resetEmail = { template: 'reset_password' as const, facts: {}, accountId: null, address };
  return storeAsked(ctx, planEmail(ctx, resetEmail, linksAnHour(ctx, address)).writes, storeAnswer);
}
