import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import type { Ctx } from '#platform/context.ts';
import { globalOf } from '#platform/db/directory.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import type { Origin } from '#rules/access/sessions.ts';
import type { SignIn } from '#rules/admission.ts';
import { findByProof, linkExpiry, refuseLink } from '../auth/email-proof.ts';
import { startSession } from '../auth/sessions.ts';
import { forgetState, takeState } from '../store.ts';

/**
 * Signs in with an emailed link, which was sent for a right password. It works once, unless the session could not be stored. Throws 401
 * invalid_credentials, or factor_required for a person with a factor.
 */
export async function signInByLink(ctx: Ctx, token: string, origin: Origin): Promise<{ account: Account; signIn: SignIn }> {
  const { home, account } = await findByProof(ctx, 'sign_in', token);
  const used = `sign-in-link:${sha256Hex(utf8(token))}`;
  if (!(await takeState(globalOf(ctx).db, used, linkExpiry(token)))) refuseLink(ctx, token);
  try {
    return { account, signIn: await startSession(home, account, 'email_link', origin) };
  } catch (error) {
    if (error instanceof ApiError && error.code === 'temporarily_unavailable') ctx.defer(forgetState(globalOf(ctx).db, used));
    throw error;
  }
}
