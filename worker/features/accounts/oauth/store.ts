import { and, asc, eq, inArray } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { abortIfExists, type Write } from '#platform/db/commit.ts';
import { persons } from '#platform/db/tables/office/people.ts';
import { type SignInIdentity, signInIdentities } from '#platform/db/tables/office/sign-in.ts';
import type { SignInProvider } from '#rules/admission.ts';

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

/** Aborts the batch if a provider is linked to the account. */
export const abortIfLinked = (ctx: Shard, accountId: AccountId): Write =>
  abortIfExists(ctx, signInIdentities, eq(signInIdentities.accountId, accountId));

/** Aborts the batch if the identity belongs to an account already, or the account has another of this provider. */
export const insertIdentity = (
  ctx: Shard,
  accountId: AccountId,
  provider: SignInProvider,
  { subject, email }: Pick<SignInIdentity, 'subject' | 'email'>,
): Write => ctx.db.insert(signInIdentities).values({ provider, subject, accountId, email, linkedAt: ctx.wallNow });

/** Notes that a provider proved the person's address and the password was asked for, or with null that it was shown. */
export const setJoinAsked = (db: Db, personId: AccountId, joinAskedAt: number | null) =>
  db.update(persons).set({ joinAskedAt }).where(eq(persons.id, personId));

/** Stores the provider's current email. The account's own email is unchanged. */
export const noteEmail = (db: Db, { provider, subject }: SignInIdentity, email: string | null): Promise<unknown> =>
  db
    .update(signInIdentities)
    .set({ email })
    .where(and(eq(signInIdentities.provider, provider), eq(signInIdentities.subject, subject)));

export const lockIdentity = (db: Db, { provider, subject }: SignInIdentity, lock: string): Write =>
  db
    .update(signInIdentities)
    .set({ subject: lock, email: null })
    .where(and(eq(signInIdentities.provider, provider), eq(signInIdentities.subject, subject)));

export const deleteIdentity = (db: Db, accountId: AccountId, provider: SignInProvider): Write =>
  db.delete(signInIdentities).where(and(eq(signInIdentities.accountId, accountId), eq(signInIdentities.provider, provider)));
