import { pepperedHashes } from '#core/crypto.ts';
import { ApiError } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import type { Actor, Ctx, Db, Scope, Shard } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import type { Write } from '#platform/db/commit.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { IsUsed } from '#platform/db/names/names.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { SignInIdentity } from '#platform/db/tables/office/sign-in.ts';
import { requireFreshSignIn } from '#platform/http/callers.ts';
import { hasPassword } from '#rules/access/factors.ts';
import type { SignInProvider } from '#rules/admission.ts';
import { planSecurityAlert } from '../auth/owner-emails.ts';
import { changeAccount } from '../change-account.ts';
import { titleOf } from './registry.ts';
import { deleteIdentity, findAnyIdentity, findIdentity, listIdentities, lockIdentity } from './store.ts';

/** Prefix of a deleted account's identity. No provider names a person like that. */
const LOCK = 'lock:';

const locksOf = ({ config }: Ctx, provider: SignInProvider, subject: string): string[] =>
  pepperedHashes(config.PEPPER, 'sign-in identity', `${provider}:${subject}`).map((hash) => `${LOCK}${hash}`);

export async function findOwner(db: Db, ctx: Ctx, provider: SignInProvider, subject: string): Promise<SignInIdentity | undefined> {
  const known = await findIdentity(db, provider, subject);
  return known ?? findAnyIdentity(db, provider, locksOf(ctx, provider, subject));
}

export const isLocked = ({ subject }: SignInIdentity): boolean => subject.startsWith(LOCK);

export const identityName = (ctx: Ctx, provider: SignInProvider, subject: string) => {
  const [first, ...others] = locksOf(ctx, provider, subject);
  return { kind: 'identity', keys: [first!, ...others], isUsed: isIdentityUsed } as const;
};

/** Each key is a keyed hash that locks the identity, under any pepper. */
export const isIdentityUsed: IsUsed = async (home, accountId, keys) =>
  (await listIdentities(home.db, accountId)).some(({ provider, subject }) =>
    [subject, ...locksOf(home, provider, subject)].some((key) => keys.includes(key)),
  );

/**
 * Replaces a deleted account's provider identities with keyed hashes, so that the same person cannot create a second account and learns
 * why.
 */
export async function planLocks(ctx: Shard, accountId: AccountId): Promise<Write[]> {
  const open = (await listIdentities(ctx.db, accountId)).filter((identity) => !isLocked(identity));
  return open.map((identity) => lockIdentity(ctx.db, identity, locksOf(ctx, identity.provider, identity.subject)[0]!));
}

export const isLinked = async (ctx: Ctx, accountId: AccountId, provider: SignInProvider): Promise<boolean> =>
  (await listIdentities(homeOf(ctx, accountId).db, accountId)).some((one) => one.provider === provider);

/** Unlinks a provider. Idempotent. Throws 403 sign_in_required for an old session, 409 state_conflict for the last way in. */
export async function unlinkIdentity(ctx: Scope, actor: Actor, provider: SignInProvider, storeAnswer: StoreAnswer<null>): Promise<void> {
  requireFreshSignIn(ctx, actor);
  await changeAccount(ctx, actor.accountId, async (account) => {
    const identities = await listIdentities(ctx.db, account.id);
    const others = identities.filter((one) => one.provider !== provider);
    if (others.length === identities.length) return { writes: await storeAnswer(null) };
    if (others.length === 0 && !hasPassword(account) && account.walletKey === null && !account.factors?.passkeys)
      throw new ApiError('state_conflict', {
        detail: 'The provider is the last sign-in method of the account. Set a password or link another provider first.',
        meta: { reason: 'last_way_in' },
      });
    // Increments the account's version, so that of two concurrent unlinks each sees the other.
    const entry = recordAction(ctx, ctx, {
      action: 'person.provider_unlinked',
      subject: { type: 'person', id: account.id },
      before: { provider },
      after: {},
    });
    const alerts = planSecurityAlert(ctx, account, { change: 'provider_unlinked', named: titleOf(provider) });
    return { values: {}, writes: [deleteIdentity(ctx.db, account.id, provider), ...alerts, entry, ...(await storeAnswer(null))] };
  });
}
