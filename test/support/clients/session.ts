import type { AccountId } from '#core/ids.ts';
import { issueToken } from '#features/accounts/auth/tokens.ts';
import { getAccount } from '#features/accounts/store.ts';
import { newCtx } from '#platform/context.ts';
import type { SignIn, SignInMethod } from '#rules/admission.ts';
import type { World } from '../world.ts';

/** Session that began at an instant (ms) and was only refreshed since. */
export const sessionSince = (at: number, method: SignInMethod = 'pwd'): SignIn => ({ authTime: at, firstIat: at, method });

export async function tokenSignedIn(w: World, userId: string, minutesAgo: number, method: SignInMethod = 'pwd'): Promise<string> {
  const ctx = newCtx(w.env, { requestId: 'req_signed_in', defer: () => {} });
  const account = await getAccount(ctx.db, userId as AccountId);
  return (await issueToken(ctx, account, sessionSince(ctx.now - minutesAgo * 60_000, method))).token;
}
