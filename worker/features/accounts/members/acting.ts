import type { AccountId } from '#core/ids.ts';
import type { Ctx } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { roleIn } from '#rules/access/roles.ts';
import type { Acting } from '../auth/tokens.ts';
import { findAccount } from '../store.ts';
import { listAmong, listJoined, listJoinedAt } from './store.ts';

/** Reads the role of a person at the account itself. Null: no member, or no account. */
export async function findRole(ctx: Ctx, person: Account, accountId: AccountId): Promise<Acting | null> {
  const account = accountId === person.id ? person : await findAccount(homeOf(ctx, accountId).db, accountId);
  const role = account ? roleIn(account, person.id) : null;
  return account && role ? { account, role } : null;
}

/** Groups ids by their database and reads each group there. */
export async function readHomes<T>(
  ctx: Ctx,
  ids: readonly AccountId[],
  read: (home: ReturnType<typeof homeOf>, ids: AccountId[]) => Promise<T[]>,
): Promise<T[]> {
  const groups = new Map<string, AccountId[]>();
  for (const id of ids) {
    const { database } = homeOf(ctx, id);
    groups.set(database, [...(groups.get(database) ?? []), id]);
  }
  return (await Promise.all([...groups.values()].map((group) => read(homeOf(ctx, group[0]!), group)))).flat();
}

/** Lists the accounts of a person with the roles there, the own one first. */
export async function listActing(ctx: Ctx, person: Account): Promise<(Acting & { joinedAt: number })[]> {
  const joined = await listJoined(homeOf(ctx, person.id).db, person.id);
  const found = await readHomes(ctx, [person.id, ...joined], async ({ db }, ids) => {
    const [accounts, joinedAt] = await Promise.all([listAmong(db, ids), listJoinedAt(db, person.id, ids)]);
    return accounts.flatMap((account) => {
      const role = account.status === 'deleted' ? null : roleIn(account, person.id);
      return role ? [{ account, role, joinedAt: joinedAt.get(account.id) ?? account.createdAt }] : [];
    });
  });
  return found.sort(
    (one, other) => Number(other.account.id === person.id) - Number(one.account.id === person.id) || one.joinedAt - other.joinedAt,
  );
}

/** Finds the account that a person acts on after a sign-in: the last one if its members still include the person, else the own one. */
export async function findActing(ctx: Ctx, person: Account): Promise<Acting> {
  const last = await findRole(ctx, person, person.lastAccountId ?? person.id);
  return last?.account.status === 'active' ? last : { account: person, role: 'owner' };
}
