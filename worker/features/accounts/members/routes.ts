import { z } from '@hono/zod-openapi';
import type { AccountId } from '#core/ids.ts';
import { iso, isoOrNull } from '#core/time.ts';
import { given, orNull, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { GIVEN_ROLES, ROLES } from '#rules/access/roles.ts';
import { PLAN_NAMES, planAt } from '#rules/plans.ts';
import { AuthResponse, toAuthResponse } from '../auth/routes.ts';
import { getAccount } from '../store.ts';
import { listActing } from './acting.ts';
import { changeRole, listMembers, MADE, removeMember, type ShownMember, withLastSeen } from './members.ts';
import { switchAccount } from './switch-account.ts';

export const RoleName = z.enum(ROLES).openapi('Role');

const MemberBody = z
  .object({
    user_id: z.uuid(),
    display_name: z.string(),
    email: orNull(z.string()),
    role: RoleName,
    has_factor: z.boolean().describe('True if the person has a passkey or an authenticator app.'),
    joined_at: Timestamp,
    last_seen_at: Timestamp.optional().describe('Last use of an open session that acts on the account. Exact within 5 minutes.'),
    invited_by: z.uuid().optional(),
  })
  .openapi('Member');

const toMemberResource = ({ personId, name, email, role, hasFactor, joinedAt, invitedBy, lastSeenAt }: ShownMember) => ({
  user_id: personId,
  display_name: name,
  email,
  role,
  has_factor: hasFactor,
  joined_at: iso(joinedAt),
  ...given('last_seen_at', isoOrNull(lastSeenAt ?? null)),
  ...given('invited_by', invitedBy),
});

const AccountOfPersonBody = z
  .object({
    account_id: z.uuid(),
    display_name: z.string().describe('Name of the account, as buyers see it.'),
    role: RoleName,
    tier: z.enum(PLAN_NAMES).describe('Plan: `free`, `starter`, `growth` or `scale`.'),
    current: z.boolean().describe('True for the account that the token acts on.'),
    joined_at: Timestamp,
  })
  .openapi('AccountOfPerson');

const memberParams = z.object({
  user_id: z
    .uuid()
    .transform((id) => id as AccountId)
    .openapi({ param: { name: 'user_id', in: 'path' }, type: 'string' }),
});

const Made = z
  .string()
  .max(64)
  .refine((text) => text.split(',').every((name) => MADE.includes(name as never)), 'Expected keys, endpoints, or both separated by a comma')
  .transform((text) => text.split(',') as (typeof MADE)[number][])
  .openapi({ type: 'string', example: 'keys,endpoints' })
  .optional()
  .describe('Also ends what the member made: `keys` revokes keys, `endpoints` disables endpoints and hooks. Separated by a comma.');

export const memberRoutes = routes('Account', 'members')
  .person({
    path: 'GET /account/members',
    id: 'listMembers',
    sdk: 'members.list',
    summary: 'List members',
    description: 'Lists the owner and the other members of the account.',
    returns: z.object({ items: z.array(MemberBody).describe('Members, the owner first.') }).openapi('Members'),
    answer: async ({ scope }) => ({ items: (await withLastSeen(scope, await listMembers(scope))).map(toMemberResource) }),
  })
  .person({
    path: 'PATCH /account/members/{user_id}',
    id: 'changeRole',
    sdk: 'members.changeRole',
    agent: { confirm: true },
    summary: 'Change a role',
    description:
      'Gives a member another role, from the next request on. Requires a recent sign-in. The owner alone makes, changes and removes admins.',
    params: memberParams,
    body: z.object({ role: z.enum(GIVEN_ROLES) }).openapi('ChangeRoleRequest', { example: { role: 'developer' } }),
    returns: MemberBody,
    codes: ['not_found', 'state_conflict'],
    once: ({ scope, actor, params: { user_id: personId }, body: { role } }, storeAnswer) =>
      changeRole(scope, actor, { personId, role }, storeAnswer),
    audit: ['member.role_changed'],
    present: toMemberResource,
  })
  .person({
    path: 'DELETE /account/members/{user_id}',
    id: 'removeMember',
    sdk: 'members.remove',
    agent: { confirm: true },
    summary: 'Remove a member',
    description:
      'Removes a member, from the next request on. Requires a person who signed in within the last 15 minutes, but for oneself. The owner cannot be removed.',
    memberParam: 'user_id',
    params: memberParams,
    query: z.object({ with: Made }),
    returns: { 204: { description: 'Removed' } },
    codes: ['not_found', 'state_conflict'],
    once: ({ scope, actor, params: { user_id: personId }, query }, storeAnswer) =>
      removeMember(scope, actor, { personId, made: query.with ?? [] }, storeAnswer),
    audit: ['member.removed', 'key.revoked', 'endpoint.disabled'],
    present: () => undefined,
  });

export const actingRoutes = routes('Authentication')
  .self({
    path: 'GET /accounts',
    id: 'listAccounts',
    sdk: 'auth.listAccounts',
    summary: 'List your accounts',
    description: 'Lists the accounts that you may act on, your own one first.',
    returns: z.object({ items: z.array(AccountOfPersonBody) }).openapi('AccountsOfPerson'),
    answer: async ({ scope, actor }) => {
      const found = await listActing(scope, await getAccount(scope.db, actor.accountId));
      return {
        items: found.map(({ account, role, joinedAt }) => ({
          account_id: account.id,
          display_name: account.displayName,
          role,
          tier: planAt(account, scope.now),
          current: account.id === actor.actsOn,
          joined_at: iso(joinedAt),
        })),
      };
    },
  })
  .self({
    path: 'POST /auth/switch',
    id: 'switchAccount',
    sdk: 'auth.switchAccount',
    idempotency: 'natural',
    summary: 'Switch to another account',
    description: 'Returns a token of the same session for another account that you are a member of. Other accounts are 404.',
    key: 'none',
    body: z
      .object({
        account_id: z
          .uuid()
          .transform((id) => id as AccountId)
          .openapi({ type: 'string' }),
      })
      .openapi('SwitchAccountRequest'),
    returns: AuthResponse,
    codes: ['not_found'],
    audit: false,
    answer: async ({ ctx, actor, body }) => {
      const signIn = actor.signIn!;
      const { person, acting } = await switchAccount(ctx, actor.accountId, { accountId: body.account_id, sessionId: signIn.sessionId });
      return toAuthResponse(ctx, person, signIn, acting);
    },
  });
