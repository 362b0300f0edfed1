import { ApiError } from '#core/errors.ts';
import { DAY, HOUR } from '#core/time.ts';
import { addressKeysOf, planLetter, requireMail } from '#features/mail/outbox.ts';
import type { Ctx, Scope, Shard } from '#platform/context.ts';
import { commit, unchanged } from '#platform/db/commit.ts';
import { type Keep, withAnswer } from '#platform/db/once.ts';
import { getAccount } from '../store.ts';
import { isUnreachable } from './email-proof.ts';
import { normaliseEmail } from './sign-in.ts';

/** Letters to one address that callers asked for. */
const AN_HOUR_MAX = 3;

/** And to one that bounced, so that its owner can show that letters arrive again. */
const BOUNCED_A_DAY_MAX = 1;

/** Letters to an address that bounced, or complained. */
const soFew = (ctx: Ctx, address: string) => ({
  counted: { letters: ['verify_email'] as const, addressKeys: addressKeysOf(ctx, address), since: ctx.wallNow - DAY },
  max: BOUNCED_A_DAY_MAX,
});

const soMany = (ctx: Ctx, address: string) => ({
  counted: { letters: ['verify_email', 'reset_password'] as const, addressKeys: addressKeysOf(ctx, address), since: ctx.wallNow - HOUR },
  max: AN_HOUR_MAX,
});

/** Writes a letter that was asked for, unless too many were: that is not told, so that it tells nothing of the address. */
async function storeAskedLetter(
  ctx: Shard,
  letter: Parameters<typeof planLetter>[1] & { address: string },
  keep: Keep<null>,
  { counted, max }: ReturnType<typeof soMany | typeof soFew> = soMany(ctx, letter.address),
): Promise<null> {
  const { writes } = planLetter(ctx, letter, { counted: { ...counted, letters: [...counted.letters] }, max });
  return commit(ctx, await withAnswer({ ...unchanged(null), writes }, keep(null)));
}

/**
 * A letter with a link that proves the account's address, for the first time or again after it bounced. 409 state_conflict where there is
 * none, or it is proven; 503 mail_not_configured.
 */
export async function askVerification(ctx: Scope, keep: Keep<null>): Promise<null> {
  const { id, email, emailVerified } = await getAccount(ctx.db, ctx.merchantId);
  if (email === null) throw new ApiError('state_conflict', { detail: 'This account has no e-mail.', meta: { reason: 'no_email' } });
  const isBounced = await isUnreachable(ctx, email);
  if (emailVerified && !isBounced)
    throw new ApiError('state_conflict', { detail: 'This address is verified.', meta: { reason: 'already_verified' } });
  requireMail(ctx);
  const letter = { letter: 'verify_email' as const, facts: {}, accountId: id, address: email };
  return storeAskedLetter(ctx, letter, keep, isBounced ? soFew(ctx, email) : undefined);
}

/**
 * A letter with a link for a new password to the account that has this address. Whether one has it is looked up when the letter is sent:
 * the same is written here for every address, so that the answer tells nothing. 503 mail_not_configured.
 */
export async function askReset(ctx: Shard, email: string, keep: Keep<null>): Promise<null> {
  requireMail(ctx);
  return storeAskedLetter(ctx, { letter: 'reset_password', facts: {}, accountId: null, address: normaliseEmail(email) }, keep);
}
