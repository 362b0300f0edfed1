import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { vetoIf, type Write } from '#platform/db/commit.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { type SignInIdentity, signInIdentities, usedSignInStates } from '#platform/db/tables/office/sign-in.ts';
import type { SignInProvider } from '#rules/admission.ts';

/** Takes a state for used. False where it was used before. */
export async function takeState(db: Db, id: string, expiresAt: number): Promise<boolean> {
  const { meta } = await db.insert(usedSignInStates).values({ id, expiresAt }).onConflictDoNothing();
  return meta.changes === 1;
}

export const findIdentity = (db: Db, provider: SignInProvider, subject: string): Promise<SignInIdentity | undefined> =>
  db
    .select()
    .from(signInIdentities)
    .where(and(eq(signInIdentities.provider, provider), eq(signInIdentities.subject, subject)))
    .get();

export const findAnyIdentity = (db: Db, provider: SignInProvider, subjects: readonly string[]): Promise<SignInIdentity | undefined> =>
  db
    .select()
    .from(signInIdentities)
    .where(and(eq(signInIdentities.provider, provider), inArray(signInIdentities.subject, [...subjects])))
    .get();

export const listIdentities = (db: Db, accountId: AccountId): Promise<SignInIdentity[]> =>
  db.select().from(signInIdentities).where(eq(signInIdentities.accountId, accountId)).orderBy(asc(signInIdentities.linkedAt));

/** Fails the batch where the identity is an account's already, or the account has another of this provider. */
export const insertIdentity = (
  ctx: Shard,
  accountId: AccountId,
  provider: SignInProvider,
  { subject, email }: Pick<SignInIdentity, 'subject' | 'email'>,
): Write => ctx.db.insert(signInIdentities).values({ provider, subject, accountId, email, linkedAt: ctx.wallNow });

/** Fails the batch where the account was ended, or its address or password changed, since it was read. */
export const vetoUnlessAsBefore = (ctx: Shard, { id, tokenVersion }: Account): Write =>
  vetoIf(ctx, sql`NOT EXISTS (SELECT 1 FROM accounts WHERE id = ${id} AND status = 'active' AND token_version = ${tokenVersion})`);

/** The address that a provider tells now; the account's own stays. */
export const noteEmail = (db: Db, { provider, subject }: SignInIdentity, email: string | null): Promise<unknown> =>
  db
    .update(signInIdentities)
    .set({ email })
    .where(and(eq(signInIdentities.provider, provider), eq(signInIdentities.subject, subject)));

/** A statement, not an effect: of an identity only this keyed hash is left. */
export const lockIdentity = (db: Db, { provider, subject }: SignInIdentity, lock: string): Write =>
  db
    .update(signInIdentities)
    .set({ subject: lock, email: null })
    .where(and(eq(signInIdentities.provider, provider), eq(signInIdentities.subject, subject)));

export const deleteIdentity = (db: Db, accountId: AccountId, provider: SignInProvider): Write =>
  db.delete(signInIdentities).where(and(eq(signInIdentities.accountId, accountId), eq(signInIdentities.provider, provider)));
