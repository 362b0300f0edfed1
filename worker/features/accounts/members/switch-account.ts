import { raise } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import type { Ctx } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { personObject } from '../auth/sessions.ts';
import { requireActive } from '../auth/sign-in.ts';
import type { Acting } from '../auth/tokens.ts';
import { getAccount } from '../store.ts';
import { findRole } from './acting.ts';
import { setLastAccount } from './store.ts';

/** Moves a session to another account of the person. Throws 404 not_found for one without a role, 403 for a suspended one. */
export async function switchAccount(
  ctx: Ctx,
  personId: AccountId,
  { accountId, sessionId }: { accountId: AccountId; sessionId: string },
): Promise<{ person: Account; acting: Acting }> {
  const home = homeOf(ctx, personId);
  const person = await getAccount(home.db, personId);
  const acting = (await findRole(ctx, person, accountId)) ?? raise('not_found');
  if (acting.account.status === 'deleted') raise('not_found');
  requireActive(acting.account);
  if (person.lastAccountId !== accountId) await setLastAccount(home.db, personId, accountId);
  await personObject(ctx, personId).moveSession(sessionId, accountId);
  return { person, acting };
}
