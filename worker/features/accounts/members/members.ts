import { ApiError, formatErrorChain, raise } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import { type Actor, type Ctx, type Scope, type Shard, scopeIn } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import type { Write } from '#platform/db/commit.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { requireFreshSignIn, roleRefused, roleRequired } from '#platform/http/callers.ts';
import { type GivenRole, hasRole, isHandedOver, type Role, roleIn } from '#rules/access/roles.ts';
import { planOwnerAlert } from '../auth/owner-emails.ts';
import { listSessions } from '../auth/sessions.ts';
import { changeAccount } from '../change-account.ts';
import { eraseAuthor, readAuthor } from '../entries/erasure.store.ts';
import { changeKeys } from '../keys/keys.ts';
import { getAccount } from '../store.ts';
import { readHomes } from './acting.ts';
import { planWithdrawals } from './invitation.store.ts';
import {
  deleteJoined,
  deleteMember,
  disableEndpointsMadeBy,
  listEverJoined,
  listKeysMadeBy,
  listMemberRows,
  listPersons,
  revokeKeysMadeBy,
  setLeft,
  setMemberRole,
} from './store.ts';

export interface ShownMember {
  personId: AccountId;
  name: string;
  email: string | null;
  role: Role;
  hasFactor: boolean;
  joinedAt: number;
  invitedBy: AccountId | null;
  lastSeenAt?: number | null;
}

/** Lists the owner, then the members in the order in which they joined, with names and addresses from their own databases. */
export async function listMembers(ctx: Scope): Promise<ShownMember[]> {
  const [account, rows] = await Promise.all([getAccount(ctx.db, ctx.merchantId), listMemberRows(ctx.db, ctx.merchantId)]);
  const owner = { personId: account.ownerId, role: 'owner' as const, joinedAt: account.createdAt, invitedBy: null };
  const found = [owner, ...rows.map(({ personId, role, joinedAt, invitedBy }) => ({ personId, role, joinedAt, invitedBy }))];
  const ids = found.map(({ personId }) => personId);
  const persons = await readHomes(ctx, ids, ({ db }, group) => listPersons(db, group));
  const byId = new Map(persons.map((person) => [person.id, person]));
  return found.map((member) => {
    const { name = '', email = null, factors = null } = byId.get(member.personId) ?? {};
    return { ...member, name, email, hasFactor: factors !== null };
  });
}

/** Adds when each member last acted on the account. The sessions are those of each person's object, so this is one call per member. */
export const withLastSeen = (ctx: Scope, members: ShownMember[]): Promise<ShownMember[]> =>
  Promise.all(
    members.map(async (member) => {
      const sessions = await listSessions(ctx, member.personId).catch((error: unknown) => {
        ctx.note(`sessions not read: ${formatErrorChain(error)}`);
        return [];
      });
      const seen = sessions.filter(({ accountId }) => accountId === ctx.merchantId).map(({ lastSeenAt }) => lastSeenAt);
      return { ...member, lastSeenAt: seen.length > 0 ? Math.max(...seen) : null };
    }),
  );

const live = (merchantId: AccountId) => ({ merchantId, livemode: true });

/** Entry of the end of a membership. */
export const recordRemoval = (ctx: Shard, accountId: AccountId, personId: AccountId, role: GivenRole): Write =>
  recordAction(ctx, live(accountId), { action: 'member.removed', subject: { type: 'member', id: personId }, before: { role } });

const getMember = async (ctx: Scope, personId: AccountId): Promise<ShownMember> =>
  (await listMembers(ctx)).find((member) => member.personId === personId) ?? raise('not_found');

/** Role of a member whom others may change. Throws 404 for a stranger, 409 state_conflict for the owner. */
function requireMember(account: Account, personId: AccountId): GivenRole {
  const role = roleIn(account, personId) ?? raise('not_found');
  if (role !== 'owner') return role;
  const detail = 'The owner’s role cannot be changed or removed.';
  throw new ApiError('state_conflict', { detail, meta: { reason: 'owner' } });
}

/** Judges the caller by the account as it is changed: the role may have been lost since the call was admitted. */
export function requireMayChange(account: Account, { personId }: Actor, ...roles: Role[]): void {
  const caller = roleIn(account, personId!) ?? raise('not_found');
  if (!hasRole(caller, 'members:write')) throw roleRefused(caller, 'members:write');
  if (caller !== 'owner' && roles.includes('admin')) throw roleRequired(caller, ['owner']);
}

/**
 * Gives a member another role, from the next request on. With a role that may not invite, the open invitations of the member end. Throws
 * 403 invalid_authorization (sign_in_required, role), 404, or 409 state_conflict for the owner.
 */
export async function changeRole(
  ctx: Scope,
  actor: Actor,
  { personId, role }: { personId: AccountId; role: GivenRole },
  storeAnswer: StoreAnswer<ShownMember>,
): Promise<ShownMember> {
  requireFreshSignIn(ctx, actor);
  let changed: ShownMember | null = null;
  await changeAccount(ctx, ctx.merchantId, async (account) => {
    const before = requireMember(account, personId);
    requireMayChange(account, actor, before, role);
    changed = { ...(await getMember(ctx, personId)), role };
    const writes = await storeAnswer(changed);
    if (before === role) return { writes };
    const roles = { ...account.roles, [personId]: role };
    const subject = { type: 'member', id: personId } as const;
    const entry = recordAction(ctx, live(account.id), {
      action: 'member.role_changed',
      subject,
      before: { role: before },
      after: { role },
    });
    const alerts = role === 'admin' ? await planOwnerAlert(ctx, account, { change: 'admin_added', named: changed.name }) : [];
    const withdrawn = hasRole(role, 'members:write') ? [] : await planWithdrawals(ctx, personId);
    return { values: { roles }, writes: [setMemberRole(ctx, account.id, personId, role), entry, ...withdrawn, ...alerts, ...writes] };
  });
  return changed!;
}

/** Pending transfer of an account once the member is gone. */
const transferWithout = ({ transfer }: Account, personId: AccountId): Account['transfer'] => (transfer?.to === personId ? null : transfer);

/** Creations of a member that a removal can end. */
export const MADE = ['keys', 'endpoints'] as const;
type Made = (typeof MADE)[number];

/**
 * Removes a member and their open invitations, from the next request on, with the keys and endpoints that the member made if `made` names
 * them, in one batch. Members may leave by themselves without a recent sign-in. Throws 403 invalid_authorization (sign_in_required, role),
 * 404, or 409 state_conflict for the owner.
 */
export async function removeMember(
  ctx: Scope,
  actor: Actor,
  { personId, made }: { personId: AccountId; made: readonly Made[] },
  storeAnswer: StoreAnswer<null>,
): Promise<null> {
  const leaves = personId === actor.personId;
  if (!leaves) requireFreshSignIn(ctx, actor);
  const remove = (ended: Write[]) =>
    changeAccount(ctx, ctx.merchantId, async (account) => {
      const role = requireMember(account, personId);
      if (!leaves) requireMayChange(account, actor, role);
      const { [personId]: _, ...roles } = account.roles;
      const removed = [deleteMember(ctx.db, account.id, personId), recordRemoval(ctx, account.id, personId, role)];
      return {
        values: { roles, transfer: transferWithout(account, personId) },
        writes: [...removed, ...(await planWithdrawals(ctx, personId)), ...ended, ...(await storeAnswer(null))],
      };
    });
  const account = await getAccount(ctx.db, ctx.merchantId);
  const endpoints = made.includes('endpoints') ? disableEndpointsMadeBy(ctx, account.id, personId) : [];
  if (made.includes('keys')) {
    requireMember(account, personId);
    const keys = await listKeysMadeBy(ctx, account.id, personId);
    await changeKeys(ctx, account, keys, () => remove([...revokeKeysMadeBy(ctx, account.id, personId), ...endpoints]));
  } else await remove(endpoints);
  ctx.defer(leaveJoined(ctx, personId, account.id));
  return null;
}

/** Ends the copy in the person's database. One that stays open names an account without a role, which no list shows. */
async function leaveJoined(ctx: Ctx, personId: AccountId, accountId: AccountId): Promise<void> {
  const home: Shard = homeOf(ctx, personId);
  await setLeft(home, personId, accountId).catch((error: unknown) => ctx.note(`account not left: ${formatErrorChain(error)}`));
}

const LEFT_AT_ONCE = 20;
/** Erases up to `max` archived objects that name a person. Returns how many: fewer than `max` means that none is left. */
export type EraseMember = (home: Shard, accountId: AccountId, personId: AccountId, max: number) => Promise<number>;

/**
 * Removes a deleted person and their open invitations from the accounts of others, and the name from the logs and archived logs of those that the person left before.
 * Erases up to `objectsMax` archived objects. Returns how many accounts had anything to erase: 0 means done.
 */
export async function leaveAccounts(ctx: Shard, personId: AccountId, objectsMax: number, eraseArchived: EraseMember): Promise<number> {
  const person = await getAccount(ctx.db, personId);
  const joined = (await listEverJoined(ctx.db, personId)).slice(0, LEFT_AT_ONCE);
  // The account of the same id may have been handed over, and has no copy.
  const isOwnNamed = isHandedOver(person) && (personId in person.roles || (await readAuthor(ctx.db, personId, personId)).isNamed);
  const left = [...new Set([...(isOwnNamed ? [personId] : []), ...joined])];
  let objectsLeft = objectsMax;
  for (const accountId of left) {
    const home = homeOf(ctx, accountId);
    const { isNamed, isRecorded } = await readAuthor(home.db, accountId, personId);
    const erasure = () => eraseAuthor(home, accountId, personId, isRecorded);
    await changeAccount(home, accountId, async (account) => {
      const { [personId]: role, ...roles } = account.roles;
      if (role === undefined) return isNamed ? { writes: erasure() } : null;
      const withdrawn = await planWithdrawals(scopeIn(home, live(accountId)), personId);
      const removal = [deleteMember(home.db, accountId, personId), recordRemoval(home, accountId, personId, role), ...withdrawn];
      return { values: { roles, transfer: transferWithout(account, personId) }, writes: [...removal, ...erasure()] };
    });
    // After the entries of the database: what the archive takes from here on has no name.
    objectsLeft -= await eraseArchived(home, accountId, personId, objectsLeft);
    if (objectsLeft <= 0) break;
    await deleteJoined(ctx.db, personId, accountId);
  }
  return left.length;
}
