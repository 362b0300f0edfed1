import type { AccountId } from '#core/ids.ts';
import { startSession } from '#features/accounts/auth/sessions.ts';
import { issueToken } from '#features/accounts/auth/tokens.ts';
import { getAccount } from '#features/accounts/store.ts';
import { type Ctx, newCtx } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import type { SessionMethod } from '#rules/access/sessions.ts';
import type { SignIn } from '#rules/admission.ts';
import type { World } from '../world.ts';

export const ORIGIN = { ip: '192.0.2.1', country: null, userAgent: 'test' };

/** Session that began at an instant (ms) and was only refreshed since. */
export const sessionSince = (ctx: Ctx, account: Account, at: number, method: SessionMethod = 'password'): Promise<SignIn> =>
  startSession({ ...ctx, wallNow: at }, account, method, ORIGIN);

export async function tokenSignedIn(w: World, userId: string, minutesAgo: number, method: SessionMethod = 'password'): Promise<string> {
  const ctx = newCtx(w.env, { requestId: 'req_signed_in', defer: () => {} });
  const account = await getAccount(homeOf(ctx, userId).db, userId as AccountId);
  return (await issueToken(ctx, account, await sessionSince(ctx, account, ctx.wallNow - minutesAgo * 60_000, method))).token;
}
