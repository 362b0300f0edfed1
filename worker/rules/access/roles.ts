import { DAY } from '#core/time.ts';
import type { AccountStatus } from '../states.ts';
import { GROUPS, type Group, type KeyScope } from './scopes.ts';

/** Roles of a person in an account. */
export const ROLES = ['owner', 'admin', 'developer', 'finance', 'support', 'viewer'] as const;
export type Role = (typeof ROLES)[number];
/** Roles that an invitation or a change can give. The owner alone hands the account over. */
export const GIVEN_ROLES = ROLES.slice(1) as [Exclude<Role, 'owner'>, ...Exclude<Role, 'owner'>[]];
export type GivenRole = (typeof GIVEN_ROLES)[number];

/** Groups of operations for persons alone. No key has a scope of them. */
export const PERSON_GROUPS = ['members', 'privacy', 'account'] as const;
export type RoleGroup = Group | (typeof PERSON_GROUPS)[number];
/** Group and access that an operation needs. */
export type Need = KeyScope | `${RoleGroup}:${'read' | 'write'}`;
export const ROLE_GROUPS: readonly RoleGroup[] = [...GROUPS, ...PERSON_GROUPS];

/** Access of each role, in the order of `ROLES`: write, read or none. Write includes read. */
const ACCESS: Record<RoleGroup, string> = {
  products: 'WWWRRR',
  payments: 'WWRWRR',
  refunds: 'WW-W--',
  receipts: 'WWRWWR',
  customers: 'WWWRWR',
  consume: 'WWW---',
  payouts: 'WWRR-R',
  webhooks: 'WWW-RR',
  sandbox: 'WWW-RR',
  figures: 'RRRR-R',
  requests: 'RRR-R-',
  billing: 'WWRW-R',
  tickets: 'WWWWWR',
  settings: 'WWRRRR',
  keys: 'WWW---',
  members: 'WWRRRR',
  log: 'RR----',
  privacy: 'WW----',
  account: 'W-----',
};

/** True if the role may do what needs this access. Mode makes no difference. */
export function hasRole(role: Role, need: Need): boolean {
  const [group, access] = need.split(':') as [RoleGroup, 'read' | 'write'];
  const held = ACCESS[group][ROLES.indexOf(role)];
  return held === 'W' || (held === 'R' && access === 'read');
}

/** Roles that may do what needs this access, highest first. */
export const rolesWith = (need: Need): Role[] => ROLES.filter((role) => hasRole(role, need));

/** Role of a person. Null: no member of the account. */
export const roleIn = (
  { ownerId, roles }: { ownerId: string; roles: Readonly<Record<string, GivenRole>> },
  personId: string,
): Role | null => (personId === ownerId ? 'owner' : (roles[personId] ?? null));

/** Time for which an account is offered to a member. */
export const TRANSFER_MS = 7 * DAY;

/** True if the person of the same id does not own the account. */
export const isHandedOver = ({ id, ownerId }: { id: string; ownerId: string }): boolean => id !== ownerId;

/** Status of the person of the same id, who ends apart from an account that was handed over. */
export const personStatusOf = (account: {
  id: string;
  ownerId: string;
  status: AccountStatus;
  personEndedAt: number | null;
}): AccountStatus => {
  if (!isHandedOver(account)) return account.status;
  return account.personEndedAt === null ? 'active' : 'deleted';
};
