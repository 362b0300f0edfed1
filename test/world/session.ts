import type { SignIn, SignInMethod } from '../../worker/admission.ts';
import { newCtx } from '../../worker/context.ts';
import type { AccountId } from '../../worker/core/ids.ts';
import { getAccount } from '../../worker/identity/store.ts';
import { issueToken } from '../../worker/identity/tokens.ts';
import type { World } from './world.ts';

/** A session that began at an instant (ms) and was only refreshed since. */
export const sessionSince = (at: number, method: SignInMethod = 'pwd'): SignIn => ({ authTime: at, firstIat: at, method });

/** A token issued now to a person who signed in so many minutes ago. */
export async function tokenSignedIn(w: World, userId: string, minutesAgo: number, method: SignInMethod = 'pwd'): Promise<string> {
  const ctx = newCtx(w.env, { requestId: 'req_signed_in', defer: () => {} });
  const account = await getAccount(ctx.db, userId as AccountId);
  return (await issueToken(ctx, account, sessionSince(ctx.now - minutesAgo * 60_000, method))).token;
}
