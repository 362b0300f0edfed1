import { and, asc, eq, gt, inArray, isNotNull, isNull, lt, or, sql } from 'drizzle-orm';
import type { AccountId, PasskeyId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { abortUnlessChanged, type Write } from '#platform/db/commit.ts';
import { type Passkey, passkeys, recoveryCodes, type TotpSecret, totpSecrets } from '#platform/db/tables/office/factors.ts';
import { type CountedFactors, changedFactors } from '#rules/access/factors.ts';

export const findPasskey = (db: Db, personId: AccountId, id: PasskeyId): Promise<Passkey | undefined> =>
  db
    .select()
    .from(passkeys)
    .where(and(eq(passkeys.personId, personId), eq(passkeys.id, id)))
    .get();

export const findPasskeyByCredential = (db: Db, credentialId: string): Promise<Passkey | undefined> =>
  db.select().from(passkeys).where(eq(passkeys.credentialId, credentialId)).get();

/** Lists the passkeys of a person, the earliest first. */
export const listPasskeys = (db: Db, personId: AccountId): Promise<Passkey[]> =>
  db.select().from(passkeys).where(eq(passkeys.personId, personId)).orderBy(asc(passkeys.id));

export const insertPasskey = (db: Db, passkey: Passkey): Write => db.insert(passkeys).values(passkey);

export const setPasskeyName = (db: Db, { personId, id }: Passkey, name: string): Write =>
  db
    .update(passkeys)
    .set({ name })
    .where(and(eq(passkeys.personId, personId), eq(passkeys.id, id)));

/** Deletes a passkey. Aborts the batch if it is gone. */
export const deletePasskey = (ctx: Shard, { personId, id }: Passkey): Write[] => [
  ctx.db.delete(passkeys).where(and(eq(passkeys.personId, personId), eq(passkeys.id, id))),
  abortUnlessChanged(ctx),
];

/** Notes a use, if the counter is later than that of every other use. A counter of 0 says that the authenticator has none. */
export async function usePasskey(
  db: Db,
  { personId, id }: Passkey,
  { counter, isBackedUp, at }: { counter: number; isBackedUp: boolean; at: number },
): Promise<boolean> {
  const isLater = or(lt(passkeys.counter, counter), and(eq(passkeys.counter, 0), sql`${counter} = 0`));
  const { meta } = await db
    .update(passkeys)
    .set({ counter, isBackedUp, lastUsedAt: at })
    .where(and(eq(passkeys.personId, personId), eq(passkeys.id, id), isLater));
  return meta.changes === 1;
}

export const findTotp = (db: Db, personId: AccountId): Promise<TotpSecret | undefined> =>
  db.select().from(totpSecrets).where(eq(totpSecrets.personId, personId)).get();

/** Stores a pending secret in the position of another pending one. Aborts the batch if the person has a confirmed one. */
export const replacePendingTotp = (ctx: Shard, secret: TotpSecret): Write[] => [
  ctx.db
    .insert(totpSecrets)
    .values(secret)
    .onConflictDoUpdate({ target: totpSecrets.personId, set: secret, setWhere: isNull(totpSecrets.confirmedAt) }),
  abortUnlessChanged(ctx),
];

/** Confirms the pending secret that was read. Aborts the batch if it was replaced, confirmed or deleted meanwhile. */
export const confirmPendingTotp = (ctx: Shard, { personId, sealed }: TotpSecret, confirmed: Partial<TotpSecret>): Write[] => [
  ctx.db
    .update(totpSecrets)
    .set({ ...confirmed, expiresAt: null })
    .where(and(eq(totpSecrets.personId, personId), eq(totpSecrets.sealed, sealed), isNotNull(totpSecrets.expiresAt))),
  abortUnlessChanged(ctx),
];

/** Uses up the step of a code, and every step before. False if another request used it, or the secret is gone. */
export async function useTotpStep(db: Db, personId: AccountId, step: number): Promise<boolean> {
  const { meta } = await db
    .update(totpSecrets)
    .set({ lastStep: step })
    .where(and(eq(totpSecrets.personId, personId), isNotNull(totpSecrets.confirmedAt), lt(totpSecrets.lastStep, step)));
  return meta.changes === 1;
}

export const deleteTotp = (db: Db, personId: AccountId): Write => db.delete(totpSecrets).where(eq(totpSecrets.personId, personId));

/** True if the person has one of these unused codes, each under one pepper. */
export const findRecoveryCode = async (db: Db, personId: AccountId, hashes: readonly string[]): Promise<string | undefined> =>
  (
    await db
      .select({ hash: recoveryCodes.hash })
      .from(recoveryCodes)
      .where(and(eq(recoveryCodes.personId, personId), inArray(recoveryCodes.hash, [...hashes])))
      .get()
  )?.hash;

/** Deletes a code that is used. Aborts the batch if another request used it. */
export const useRecoveryCode = (ctx: Shard, personId: AccountId, hash: string): Write[] => [
  ctx.db.delete(recoveryCodes).where(and(eq(recoveryCodes.personId, personId), eq(recoveryCodes.hash, hash))),
  abortUnlessChanged(ctx),
];

export const deleteRecoveryCodes = (db: Db, personId: AccountId): Write =>
  db.delete(recoveryCodes).where(eq(recoveryCodes.personId, personId));

export const insertRecoveryCodes = (db: Db, personId: AccountId, hashes: readonly string[]): Write =>
  db.insert(recoveryCodes).values(hashes.map((hash) => ({ personId, hash })));

/** Removes every factor of an account that its address's reader takes over. */
export const deleteFactors = (db: Db, personId: AccountId): Write[] => [
  db.delete(passkeys).where(eq(passkeys.personId, personId)),
  deleteTotp(db, personId),
  deleteRecoveryCodes(db, personId),
];

/** Factors that a person has without those from before a time. */
export interface RetainedFactors {
  since: number;
  counted: CountedFactors | null;
}

/** Codes of a person who loses a factor end too, because they were shown with it. */
export async function findFactorsSince(
  db: Db,
  personId: AccountId,
  factors: CountedFactors | null,
  since: number,
): Promise<RetainedFactors> {
  const [known, totp] = [await listPasskeys(db, personId), await findTotp(db, personId)];
  const ended = known.filter(({ createdAt }) => createdAt < since).length;
  const endsTotp = totp?.confirmedAt != null && totp.confirmedAt < since;
  if (factors === null || (ended === 0 && !endsTotp)) return { since, counted: factors };
  const change = { passkeys: factors.passkeys - ended, totp: factors.totp && !endsTotp, recoveryCodes: 0 };
  return { since, counted: changedFactors(factors, change) };
}

/** Removes the factors of before a time. */
export const deleteFactorsBefore = (db: Db, personId: AccountId, { since, counted }: RetainedFactors): Write[] => [
  db.delete(passkeys).where(and(eq(passkeys.personId, personId), lt(passkeys.createdAt, since))),
  db.delete(totpSecrets).where(and(eq(totpSecrets.personId, personId), lt(totpSecrets.confirmedAt, since))),
  ...(counted && counted.recoveryCodes > 0 ? [] : [deleteRecoveryCodes(db, personId)]),
];

/** Erases the factors of a person who is deleted. Passkeys remain without a name, so that their holder learns of the deletion. */
export const eraseFactors = (db: Db, personId: AccountId): Write[] => [
  db.update(passkeys).set({ name: '', transports: [] }).where(eq(passkeys.personId, personId)),
  deleteTotp(db, personId),
  deleteRecoveryCodes(db, personId),
];

/** `after`: id of a passkey. */
export const listPasskeysAfter = (db: Db, after: string, max: number) =>
  db
    .select({ id: passkeys.id, credentialId: passkeys.credentialId, accountId: passkeys.personId })
    .from(passkeys)
    .where(gt(passkeys.id, after as PasskeyId))
    .orderBy(asc(passkeys.id))
    .limit(max);
