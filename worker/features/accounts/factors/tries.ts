import { ApiError, formatErrorChain } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import { MINUTE } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import { rateLimited } from '#platform/http/rate-limit.ts';
import { admissionObject } from '#platform/objects.ts';

/** Six digits are guessed in a million tries, so no deployment raises this limit. */
const WRONG = { max: 5, windowMs: 5 * MINUTE };
const CODES = 'codes';

const MANY_CODES = 'Too many wrong codes. Wait, or use a passkey.';

export const wrongProof = (detail = 'The code is wrong, or it was used.'): ApiError => new ApiError('invalid_credentials', { detail });

/** Object that counts the tries of a person. */
const triesOf = (ctx: Ctx, personId: AccountId) => admissionObject(ctx, `factor:${personId}`);

/** Takes the try back, because only wrong ones count. A failure leaves the person one try less for some minutes. */
const giveBack = (ctx: Ctx, personId: AccountId): Promise<void> =>
  triesOf(ctx, personId)
    .release(CODES)
    .catch((error: unknown) => ctx.note(`try not released: ${formatErrorChain(error)}`));

/**
 * Checks a code of a person. Counted before the check, so that concurrent guesses count too. Throws 401 invalid_credentials for a wrong code,
 * 429 rate_limited from the fifth within five minutes.
 */
export async function tryCode<T>(ctx: Ctx, personId: AccountId, check: () => Promise<T | null>): Promise<T> {
  const counted = await triesOf(ctx, personId).hit([{ name: CODES, ...WRONG }], ctx.wallNow);
  if (!counted.allowed) throw rateLimited(counted.rate, ctx.wallNow, MANY_CODES);
  const checked = await check();
  if (checked === null) throw counted.rate.remaining === 0 ? rateLimited(counted.rate, ctx.wallNow, MANY_CODES) : wrongProof();
  await giveBack(ctx, personId);
  return checked;
}

/**
 * Checks a proof for a ticket. The fifth wrong one spends the ticket. A wrong code counts for the person too, so that more tickets give no
 * more guesses. Throws 401 invalid_credentials, or 429 rate_limited for a person with too many wrong codes.
 */
export async function tryTicket<T>(
  ctx: Ctx,
  { id, personId, isCode }: { id: string; personId: AccountId; isCode: boolean },
  check: () => Promise<T | null>,
): Promise<T> {
  const windows = [{ name: `ticket:${id}`, ...WRONG }, ...(isCode ? [{ name: CODES, ...WRONG }] : [])];
  const counted = await triesOf(ctx, personId).hit(windows, ctx.wallNow);
  if (!counted.allowed && counted.full === CODES) throw rateLimited(counted.rate, ctx.wallNow, MANY_CODES);
  const checked = counted.allowed ? await check() : null;
  if (checked === null) throw wrongProof('The proof is wrong, or the ticket was used or has expired. Sign in again if it repeats.');
  if (isCode) await giveBack(ctx, personId);
  return checked;
}
