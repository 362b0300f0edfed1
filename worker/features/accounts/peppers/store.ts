import { and, asc, eq, exists, gt, isNotNull, notLike, or, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import { amongIds, idField, jsonRows } from '#platform/db/among.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { cursors } from '#platform/db/tables/candidates.ts';
import { decodeId } from '#platform/db/tables/columns.ts';
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
      id: accounts.id,
      version: accounts.version,
      email: accounts.email,
      emailKey: accounts.emailKey,
      walletAddress: accounts.walletAddress,
      walletKey: accounts.walletKey,
    })
    .from(accounts)
    .where(
      and(
        after === null ? undefined : gt(accounts.id, after),
        or(
          isNotNull(accounts.email),
          isNotNull(accounts.walletAddress),
          exists(
            db
              .select({ provider: signInIdentities.provider })
              .from(signInIdentities)
              .where(and(eq(signInIdentities.accountId, accounts.id), isOpenIdentity)),
          ),
        ),
      ),
    )
    .orderBy(asc(accounts.id))
    .limit(max);

export type NamedAccount = Awaited<ReturnType<typeof listNamedAccounts>>[number];

export const listOpenIdentities = (db: Db, accountIds: readonly AccountId[]) =>
  db
    .select()
    .from(signInIdentities)
    .where(and(amongIds(signInIdentities.accountId, accountIds), isOpenIdentity));

/**
 * Replaces the keys of accounts that did not change since they were read. Increments the version, so that a change planned before cannot
 * restore the old keys. A row stays unchanged if another account has such a key. Returns the ids of the accounts that were changed.
 */
export async function replaceKeys(
  db: Db,
  rows: readonly Pick<NamedAccount, 'id' | 'version' | 'emailKey' | 'walletKey'>[],
): Promise<AccountId[]> {
  const changed = await db.all<{ id: ArrayLike<number> }>(sql`UPDATE OR IGNORE accounts
    SET email_key = j.value ->> 'emailKey', wallet_key = j.value ->> 'walletKey', version = version + 1
    FROM ${jsonRows(rows)}
    WHERE accounts.id = ${idField('id')} AND accounts.version = j.value ->> 'version'
    RETURNING id`);
  return changed.map(({ id }) => decodeId(id) as AccountId);
}
