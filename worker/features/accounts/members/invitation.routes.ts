import { z } from '@hono/zod-openapi';
import type { InvitationId } from '#core/ids.ts';
import { LOCALE_NAMES } from '#core/locales.ts';
import { iso } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import { type ActorEnv, DetailResponse, given, idOf, idParam, type RouteContext, Timestamp } from '#platform/http/openapi.ts';
import { hitBucket } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
import { GIVEN_ROLES } from '#rules/access/roles.ts';
import { LinkBody } from '../auth/emailed-links.ts';
import { Email } from '../auth/routes.ts';
import {
  acceptInvitation,
  invite,
  listInvitations,
  previewInvitation,
  resendInvitation,
  type ShownInvitation,
  withdrawInvitation,
} from './invitations.ts';
import { RoleName } from './routes.ts';

const InvitationBody = z
  .object({
    invitation_id: z.uuid(),
    email: z.string(),
    role: RoleName,
    status: z.enum(['pending', 'accepted', 'expired', 'withdrawn']),
    invited_by: z.object({ user_id: z.uuid(), display_name: z.string() }),
    expires_at: Timestamp.describe('Time at which the newest link ends.'),
    created_at: Timestamp,
  })
  .openapi('Invitation');

const toResource = (ctx: Ctx, { id, email, role, status, invitedBy, inviter, expiresAt, createdAt }: ShownInvitation) => ({
  invitation_id: id,
  email,
  role,
  status: status === 'pending' && expiresAt <= ctx.wallNow ? ('expired' as const) : status,
  invited_by: { user_id: invitedBy, display_name: inviter },
  expires_at: iso(expiresAt),
  created_at: iso(createdAt),
});

const invitationParams = idParam('invitation_id', idOf<InvitationId>());
/** Returns an address that its reader recognises, and a stranger does not learn. */
const maskedEmail = (email: string): string => email.replace(/^(.)[^@]*/u, '$1…');

// The headers continue to show the account's own limit.
async function limitTokens(c: RouteContext<ActorEnv>): Promise<void> {
  await hitBucket(c, 'email-proof', '');
}

export const invitationRoutes = routes('Account', 'members')
  .person({
    path: 'POST /account/invitations',
    id: 'createInvitation',
    sdk: 'members.invite',
    agent: { confirm: true },
    summary: 'Invite a member',
    description:
      'Emails an invitation that works once, for 7 days. At most 20 a day. Your own address must be verified. The owner alone invites admins.',
    body: z
      .object({
        email: Email,
        role: z.enum(GIVEN_ROLES),
        locale: z.enum(LOCALE_NAMES).optional().describe('Language of the email, such as `en`.'),
      })
      .openapi('InviteRequest', { example: { email: 'bob@example.com', role: 'developer' } }),
    returns: { 201: { description: 'Invited', content: { 'application/json': { schema: InvitationBody } } } },
    codes: ['state_conflict', 'plan_limit_reached', 'mail_not_configured'],
    once: ({ scope, actor, body }, storeAnswer) => invite(scope, actor, body, storeAnswer),
    audit: ['member.invited'],
    present: (made, { ctx }) => toResource(ctx, made),
  })
  .person({
    path: 'GET /account/invitations',
    id: 'listInvitations',
    sdk: 'members.listInvitations',
    summary: 'List invitations',
    description: 'Lists the invitations of the account, newest first. Those that ended are listed for a month.',
    returns: z.object({ items: z.array(InvitationBody) }).openapi('Invitations'),
    answer: async ({ scope }) => ({ items: (await listInvitations(scope)).map((one) => toResource(scope, one)) }),
  })
  .person({
    path: 'POST /account/invitations/{invitation_id}/resend',
    id: 'resendInvitation',
    sdk: 'members.resendInvitation',
    summary: 'Send an invitation again',
    description: 'Emails a new link for 7 days. The earlier one ends.',
    params: invitationParams,
    returns: { 202: { description: 'Accepted', content: { 'application/json': { schema: DetailResponse } } } },
    codes: ['not_found', 'state_conflict', 'mail_not_configured'],
    once: ({ scope, actor, params }, storeAnswer) => resendInvitation(scope, actor, params.invitation_id, storeAnswer),
    audit: ['invitation.resent'],
    present: () => ({ detail: 'An email with a new link was sent. The earlier link has ended.' }),
  })
  .person({
    path: 'DELETE /account/invitations/{invitation_id}',
    id: 'withdrawInvitation',
    sdk: 'members.withdrawInvitation',
    summary: 'Withdraw an invitation',
    description: 'Ends the link of an invitation.',
    params: invitationParams,
    returns: { 204: { description: 'Withdrawn' } },
    codes: ['not_found', 'state_conflict'],
    once: ({ scope, actor, params }, storeAnswer) => withdrawInvitation(scope, actor, params.invitation_id, storeAnswer),
    audit: ['invitation.withdrawn'],
    present: () => undefined,
  });

export const invitedRoutes = routes('Authentication')
  .public({
    path: 'POST /invitations/preview',
    id: 'previewInvitation',
    sdk: 'auth.previewInvitation',
    idempotency: 'natural',
    summary: 'Preview an invitation',
    description: 'Returns who invites, and to what. Does not consume the token.',
    bucket: 'email-proof',
    body: LinkBody,
    returns: z
      .object({
        account: z.object({
          display_name: z.string().describe('Name of the account, as buyers see it.'),
          domain: z.string().optional(),
        }),
        role: RoleName,
        email: z.string().describe('Invited email address, masked.'),
        invited_by: z.string(),
        expires_at: Timestamp,
      })
      .openapi('InvitationPreview'),
    codes: ['invalid_credentials', 'link_expired'],
    answer: async ({ ctx, body: { token } }) => {
      const { invitation, account, domain, inviter } = await previewInvitation(ctx, token);
      return {
        account: { display_name: account, ...given('domain', domain) },
        role: invitation.role,
        email: maskedEmail(invitation.email),
        invited_by: inviter,
        expires_at: iso(invitation.expiresAt),
      };
    },
  })
  .self({
    path: 'POST /invitations/accept',
    id: 'acceptInvitation',
    sdk: 'auth.acceptInvitation',
    agent: { confirm: true },
    idempotency: 'natural',
    summary: 'Accept an invitation',
    description:
      'Makes you a member of the account. Your email address must be the invited one (409 `state_conflict`), and the link verifies it.',
    key: 'none',
    limit: limitTokens,
    body: LinkBody,
    returns: z
      .object({ account_id: z.uuid().describe('Account that you are a member of now.'), role: RoleName })
      .openapi('AcceptedInvitation'),
    codes: ['invalid_credentials', 'link_expired', 'state_conflict'],
    audit: ['member.joined', 'person.email_verified'],
    answer: async ({ ctx, actor, body: { token } }) => {
      const { accountId, role } = await acceptInvitation(ctx, actor.accountId, token);
      return { account_id: accountId, role };
    },
  });
