import { and, asc, eq, gt, isNotNull, or, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import { jsonRows } from '#platform/db/among.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { cursors } from '#platform/db/tables/candidates.ts';

/** How far the walk over all accounts has come; null: it begins. */
const PLACE = 'peppers';

export const findPlace = async (db: Db): Promise<AccountId | null> =>
  ((await db.select({ last: cursors.walkBefore }).from(cursors).where(eq(cursors.name, PLACE)).get())?.last ?? null) as AccountId | null;

export const savePlace = (db: Db, last: AccountId | null, now: number) =>
  db
    .insert(cursors)
    .values({ name: PLACE, walkBefore: last, passedAt: now, version: 1 })
    .onConflictDoUpdate({ target: cursors.name, set: { walkBefore: last, passedAt: now } });

/** Accounts that still say what their keys are made of, in the order of their ids: of a deleted one only the keys are left. */
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
    .where(and(after === null ? undefined : gt(accounts.id, after), or(isNotNull(accounts.email), isNotNull(accounts.walletAddress))))
    .orderBy(asc(accounts.id))
    .limit(max);

export type NamedAccount = Awaited<ReturnType<typeof listNamedAccounts>>[number];

/**
 * New keys, in one statement, for accounts that nothing has changed since they were read. A new version, so that a change which read the row
 * before does not put the old keys back; where another account has such a key the row stays as it is.
 */
export async function replaceKeys(
  db: Db,
  rows: readonly Pick<NamedAccount, 'id' | 'version' | 'emailKey' | 'walletKey'>[],
): Promise<number> {
  const { meta } = await db.run(sql`UPDATE OR IGNORE accounts
    SET email_key = j.value ->> 'emailKey', wallet_key = j.value ->> 'walletKey', version = version + 1
    FROM ${jsonRows(rows)}
    WHERE accounts.id = j.value ->> 'id' AND accounts.version = j.value ->> 'version'`);
  return meta.changes;
}
