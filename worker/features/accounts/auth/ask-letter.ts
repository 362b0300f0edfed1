import { ApiError } from '#core/errors.ts';
import { DAY } from '#core/time.ts';
import { addressKeysOf, planLetter, requireMail } from '#features/mail/outbox.ts';
import type { Ctx, Scope, Shard } from '#platform/context.ts';
import { commit, unchanged, type Write } from '#platform/db/commit.ts';
import { type Keep, withAnswer } from '#platform/db/once.ts';
import { getAccount } from '../store.ts';
import { isUnreachable } from './email-proof.ts';
import { linksAnHour, planVerification } from './owner-emails.ts';
import { normaliseEmail } from './sign-in.ts';

/** Emails to an address that bounced, so that its owner can show that letters arrive again. */
const BOUNCED_A_DAY_MAX = 1;

/** Limit on emails to an address that bounced, or complained. */
const linksADay = (ctx: Ctx, address: string) => ({
  counted: { letters: ['verify_email' as const], addressKeys: addressKeysOf(ctx, address), since: ctx.wallNow - DAY },
  max: BOUNCED_A_DAY_MAX,
});

/** Stores an email that was asked for. The answer is the same where too many were: it says nothing of the address. */
const storeAsked = async (ctx: Shard, writes: Write[], keep: Keep<null>): Promise<null> =>
  commit(ctx, await withAnswer({ ...unchanged(null), writes }, keep(null)));

/**
 * A letter with a link that proves the account's address, for the first time or again after it bounced. 409 state_conflict where there is
 * none, or it is proven; 503 mail_not_configured.
 */
export async function askVerification(ctx: Scope, keep: Keep<null>): Promise<null> {
  const account = await getAccount(ctx.db, ctx.merchantId);
  const { email, emailVerified } = account;
  if (email === null) throw new ApiError('state_conflict', { detail: 'This account has no e-mail.', meta: { reason: 'no_email' } });
  const isBounced = await isUnreachable(ctx, email);
  if (emailVerified && !isBounced)
    throw new ApiError('state_conflict', { detail: 'This address is verified.', meta: { reason: 'already_verified' } });
  requireMail(ctx);
  return storeAsked(ctx, planVerification(ctx, account, isBounced ? linksADay(ctx, email) : undefined), keep);
}

/**
 * A letter with a link for a new password to the account that has this address. Whether one has it is looked up when the letter is sent:
 * the same is written here for every address, so that the answer tells nothing. 503 mail_not_configured.
 */
export async function askReset(ctx: Shard, email: string, keep: Keep<null>): Promise<null> {
  requireMail(ctx);
  const address = normaliseEmail(email);
  const letter = { letter: 'reset_password' as const, facts: {}, accountId: null, address };
  return storeAsked(ctx, planLetter(ctx, letter, linksAnHour(ctx, address)).writes, keep);
}
