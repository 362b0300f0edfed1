import { pepperedHashes } from '#core/crypto.ts';
import { ApiError } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import type { Actor, Ctx, Db, Scope, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { SignInIdentity } from '#platform/db/tables/office/sign-in.ts';
import { requireFreshSignIn } from '#platform/http/callers.ts';
import type { SignInProvider } from '#rules/admission.ts';
import { planSecurityAlert } from '../auth/owner-emails.ts';
import { changeAccount } from '../change-account.ts';
import { deleteIdentity, findAnyIdentity, findIdentity, listIdentities, lockIdentity } from '../store.ts';
import { titleOf } from './registry.ts';

/** What is left of an identity of a deleted account begins so: no provider names a person like that. */
const LOCK = 'lock:';

/** Keyed hashes of an identity under each pepper; the first is what a deleted account keeps of it. */
const locksOf = ({ config }: Ctx, provider: SignInProvider, subject: string): string[] =>
  pepperedHashes(config.PEPPER, 'sign-in identity', `${provider}:${subject}`).map((hash) => `${LOCK}${hash}`);

/** Whose a person at a provider is, or was before the account was deleted. */
export async function findOwner(db: Db, ctx: Ctx, provider: SignInProvider, subject: string): Promise<SignInIdentity | undefined> {
  const known = await findIdentity(db, provider, subject);
  return known ?? findAnyIdentity(db, provider, locksOf(ctx, provider, subject));
}

/** True for what a deleted account left. */
export const isLocked = ({ subject }: SignInIdentity): boolean => subject.startsWith(LOCK);

/**
 * Erases who the person of a deleted account is at providers, but for a keyed hash: as with its e-mail and
 * wallet, the same person makes no second account, and is told why.
 */
export async function planLocks(ctx: Shard, accountId: AccountId): Promise<Write[]> {
  const open = (await listIdentities(ctx.db, accountId)).filter((identity) => !isLocked(identity));
  return open.map((identity) => lockIdentity(ctx.db, identity, locksOf(ctx, identity.provider, identity.subject)[0]!));
}

/**
 * Takes a provider away from an account; one that it does not have is away already. 403 sign_in_required for an old session, 409
 * state_conflict for the last way in.
 */
export async function unlinkIdentity(ctx: Scope, actor: Actor, provider: SignInProvider, storeAnswer: StoreAnswer<null>): Promise<void> {
  requireFreshSignIn(ctx, actor);
  await changeAccount(ctx, actor.accountId, async (account) => {
    const identities = await listIdentities(ctx.db, account.id);
    const others = identities.filter((one) => one.provider !== provider);
    if (others.length === identities.length) return { writes: await storeAnswer(null) };
    if (others.length === 0 && account.passwordHash === null && account.walletKey === null)
      throw new ApiError('state_conflict', {
        detail: 'The provider is the last sign-in method of the account. Set a password or link another provider first.',
        meta: { reason: 'last_way_in' },
      });
    // The row goes on to another version, so that of two at once each sees what the other took away.
    const alerts = planSecurityAlert(ctx, account, { change: 'provider_unlinked', named: titleOf(provider) });
    return { values: {}, writes: [deleteIdentity(ctx.db, account.id, provider), ...alerts, ...(await storeAnswer(null))] };
  });
}
