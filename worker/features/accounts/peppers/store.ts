import { and, asc, eq, exists, gt, isNotNull, notLike, or, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import { amongIds, idField, jsonRows } from '#platform/db/among.ts';
import { cursors } from '#platform/db/tables/candidates.ts';
import { decodeId } from '#platform/db/tables/columns.ts';
import { persons } from '#platform/db/tables/office/people.ts';
import { signInIdentities } from '#platform/db/tables/office/sign-in.ts';

const CURSOR_NAME = 'peppers';

export const findCursor = async (db: Db): Promise<AccountId | null> =>
  ((await db.select({ last: cursors.walkBefore }).from(cursors).where(eq(cursors.name, CURSOR_NAME)).get())?.last ??
    null) as AccountId | null;

export const savePepperCursor = (db: Db, last: AccountId | null, now: number) =>
  db
    .insert(cursors)
    .values({ name: CURSOR_NAME, walkBefore: last, passedAt: now, version: 1 })
    .onConflictDoUpdate({ target: cursors.name, set: { walkBefore: last, passedAt: now } });

const isOpenIdentity = notLike(signInIdentities.subject, 'lock:%');

/** Lists accounts that still name an email, wallet or identity, by id. A deleted account retains only the keys. */
export const listNamedAccounts = (db: Db, after: AccountId | null, max: number) =>
  db
    .select({
      id: persons.id,
      email: persons.email,
      emailKey: persons.emailKey,
      walletAddress: persons.walletAddress,
      walletKey: persons.walletKey,
    })
    .from(persons)
    .where(
      and(
        after === null ? undefined : gt(persons.id, after),
        or(
          isNotNull(persons.email),
          isNotNull(persons.walletAddress),
          exists(
            db
              .select({ provider: signInIdentities.provider })
              .from(signInIdentities)
              .where(and(eq(signInIdentities.accountId, persons.id), isOpenIdentity)),
          ),
        ),
      ),
    )
    .orderBy(asc(persons.id))
    .limit(max);

export type NamedAccount = Awaited<ReturnType<typeof listNamedAccounts>>[number];

export const listOpenIdentities = (db: Db, accountIds: readonly AccountId[]) =>
  db
    .select()
    .from(signInIdentities)
    .where(and(amongIds(signInIdentities.accountId, accountIds), isOpenIdentity));

/**
 * Replaces the keys of persons who still have the email and wallet that were read. A change planned before writes the keys only with
 * another email or wallet, so it cannot restore the old ones. A row stays unchanged if another account has such a key. Returns the ids of those that were changed.
 */
export async function replaceKeys(db: Db, rows: readonly NamedAccount[]): Promise<AccountId[]> {
  const changed = await db.all<{ id: ArrayLike<number> }>(sql`UPDATE OR IGNORE persons
    SET email_key = j.value ->> 'emailKey', wallet_key = j.value ->> 'walletKey'
    FROM ${jsonRows(rows)}
    WHERE persons.id = ${idField('id')} AND email IS j.value ->> 'email' AND wallet_address IS j.value ->> 'walletAddress'
    RETURNING id`);
  return changed.map(({ id }) => decodeId(id) as AccountId);
}
