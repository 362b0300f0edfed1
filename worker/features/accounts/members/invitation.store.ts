import { and, desc, eq, gt, inArray, lte } from 'drizzle-orm';
import type { AccountId, InvitationId } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import type { Db, Scope } from '#platform/context.ts';
import { amongIds } from '#platform/db/among.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import type { Write } from '#platform/db/commit.ts';
import { type Invitation, invitations } from '#platform/db/tables/office/people.ts';
import type { GivenRole } from '#rules/access/roles.ts';
import { INVITATION } from '#rules/states.ts';

/** Retention of ended invitations: that of the audit log, so that the entries about an address are found by it. */
const ENDED_MS = 730 * DAY;

/** More than a month can have, at 20 a day. */
const LISTED_MAX = 1000;

/** Lists invitations of an account with a newest link that ends after `since`, newest first. Reads only these. */
export const listInvitationRows = (db: Db, accountId: AccountId, since: number): Promise<Invitation[]> =>
  db
    .select()
    .from(invitations)
    .where(and(eq(invitations.accountId, accountId), gt(invitations.expiresAt, since)))
    .orderBy(desc(invitations.createdAt), desc(invitations.id))
    .limit(LISTED_MAX);

export const findInvitation = (db: Db, accountId: AccountId, id: InvitationId): Promise<Invitation | undefined> =>
  db
    .select()
    .from(invitations)
    .where(and(eq(invitations.id, id), eq(invitations.accountId, accountId)))
    .get();

/** Finds the invitation that a link names. The caller has checked the link. */
export const findLinkedInvitation = (db: Db, id: InvitationId): Promise<Invitation | undefined> =>
  db.select().from(invitations).where(eq(invitations.id, id)).get();

/** Inserts an invitation, and deletes those of the account that ended long ago. */
export const insertInvitation = (db: Db, invitation: Invitation, now: number): Write[] => [
  db.delete(invitations).where(and(eq(invitations.accountId, invitation.accountId), lte(invitations.expiresAt, now - ENDED_MS))),
  db.insert(invitations).values(invitation),
];

export const updateInvitation = (db: Db, id: InvitationId, patch: Partial<Pick<Invitation, 'status' | 'expiresAt'>>): Write =>
  db.update(invitations).set(patch).where(eq(invitations.id, id));

type InvitationAction = 'member.invited' | 'invitation.resent' | 'invitation.withdrawn';
export const recordInvitation = (ctx: Scope, action: InvitationAction, { id, email, role }: Invitation): Write =>
  recordAction(
    ctx,
    { merchantId: ctx.merchantId, livemode: true },
    { action, subject: { type: 'invitation', id }, after: { email, role } },
  );

/** Withdraws an open invitation and records it. */
export const setWithdrawn = (ctx: Scope, invitation: Invitation): Write[] => [
  updateInvitation(ctx.db, invitation.id, { status: INVITATION.next(invitation.status, 'withdraw') }),
  recordInvitation(ctx, 'invitation.withdrawn', invitation),
];

/** Withdraws the open invitations that a person sent for the account, or those to one role alone. */
export async function planWithdrawals(ctx: Scope, invitedBy: AccountId, role?: GivenRole): Promise<Write[]> {
  const open = await listInvitationRows(ctx.db, ctx.merchantId, ctx.wallNow);
  const isGone = (one: Invitation) => one.invitedBy === invitedBy && one.status === 'pending' && one.role === (role ?? one.role);
  return open.filter(isGone).flatMap((one) => setWithdrawn(ctx, one));
}

/** Lists invitations to an address, in all accounts of a database. */
export const listInvitationsTo = (db: Db, emailKeys: readonly string[], max: number): Promise<Invitation[]> =>
  db
    .select()
    .from(invitations)
    .where(inArray(invitations.emailKey, [...emailKeys]))
    .limit(max);

export const deleteInvitationRows = (db: Db, accountId: AccountId, ids: readonly InvitationId[]): Write =>
  db.delete(invitations).where(and(eq(invitations.accountId, accountId), amongIds(invitations.id, ids)));

export const deleteInvitations = (db: Db, accountId: AccountId): Write =>
  db.delete(invitations).where(eq(invitations.accountId, accountId));
