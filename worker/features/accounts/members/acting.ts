import { ApiError } from '#core/errors.ts';
import { type AccountId, admissionIdOf } from '#core/ids.ts';
import type { Ctx } from '#platform/context.ts';
import { homeOf, newIdAbout } from '#platform/db/directory.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { isHandedOver, roleIn } from '#rules/access/roles.ts';
import type { Acting } from '../auth/tokens.ts';
import { changeAccount } from '../change-account.ts';
import { newAccount, recordNewAccount } from '../new-account.ts';
import { findAccount, getAccount, insertAccount } from '../store.ts';
import { insertJoined, listAmong, listJoined, listJoinedAt } from './store.ts';

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

/** Lists the accounts of a person with the roles there, the one of the same id first. */
export async function listActing(ctx: Ctx, person: Account): Promise<(Acting & { joinedAt: number })[]> {
  const joined = await listJoined(homeOf(ctx, person.id).db, person.id);
  const found = await readHomes(ctx, [...new Set([person.id, ...joined])], async ({ db }, ids) => {
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

/** Loads the person who owns an account. */
export const getOwner = async (ctx: Ctx, account: Account): Promise<Account> =>
  isHandedOver(account) ? getAccount(homeOf(ctx, account.ownerId).db, account.ownerId) : account;

/** Lists the accounts that a person owns, but one. */
export async function listOwned(ctx: Ctx, person: Account, except?: AccountId): Promise<Account[]> {
  const found = await listActing(ctx, person);
  return found.flatMap(({ account, role }) => (role === 'owner' && account.id !== except ? [account] : []));
}

/**
 * Finds the account that a person acts on after a sign-in: the last one if its members still include the person, else the own one. A person
 * who was left without any gets an empty one. Throws 403 account_suspended if an own one is suspended.
 */
export async function findActing(ctx: Ctx, person: Account): Promise<Acting> {
  const last = await findRole(ctx, person, person.lastAccountId ?? person.id);
  if (last?.account.status === 'active') return last;
  if (!isHandedOver(person)) return { account: person, role: 'owner' };
  return (await findActive(ctx, person)) ?? openAccount(ctx, person);
}

async function findActive(ctx: Ctx, person: Account): Promise<Acting | undefined> {
  const found = await listActing(ctx, person);
  const active = found.find(({ account }) => account.status === 'active');
  if (!active && found.some(({ account, role }) => role === 'owner' && account.status === 'suspended'))
    throw new ApiError('account_suspended');
  return active;
}

/** Creates an empty account of a person who handed the first one over. Concurrent sign-ins end in the same one. */
async function openAccount(ctx: Ctx, person: Account): Promise<Acting> {
  const home = homeOf(ctx, person.id);
  const id = newIdAbout<AccountId>(home, home.now, person.id);
  const account: Account = { ...newAccount(home, person.name, {}), name: '', id, admissionId: admissionIdOf(id), ownerId: person.id };
  let acting: Acting = { account, role: 'owner' };
  await changeAccount(home, person.id, async (now) => {
    const found = await findActive(ctx, now);
    if (found) acting = found;
    if (found) return null;
    acting = { account, role: 'owner' };
    return {
      values: { lastAccountId: id },
      writes: [...insertAccount(home.db, account), insertJoined(home.db, person.id, id), recordNewAccount(home, account)],
    };
  });
  return acting;
}
