import { ApiError } from '#core/errors.ts';
import { type InvitationId, partitionOf } from '#core/ids.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { findShardAt } from '#platform/db/directory.ts';
import type { Invitation } from '#platform/db/tables/office/people.ts';
import { isLinkMac, linkMacs } from '../auth/emailed-links.ts';
import { findLinkedInvitation } from './invitation.store.ts';

const TOKEN = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([1-9a-z][0-9a-z]{0,9})\.([\w-]{43})$/;

const invitationContent = (id: string, expiresAt: number) => ['invitation', id, expiresAt] as const;

/** Token of the newest link of an invitation. Made while an email is sent and never stored. */
export const invitationToken = (ctx: Ctx, { id, expiresAt }: { id: string; expiresAt: number }): string =>
  `${id}.${expiresAt.toString(36)}.${linkMacs(ctx, ...invitationContent(id, expiresAt))[0]}`;

/** True if a link that ends at this time is the newest one of an open invitation. */
export const isOpenLink = ({ wallNow }: Ctx, invitation: Invitation | undefined, expiresAt: number): invitation is Invitation =>
  invitation?.status === 'pending' && invitation.expiresAt === expiresAt && wallNow < expiresAt;

/**
 * Finds the invitation of a link. Throws 401 invalid_credentials for a forged link, 410 link_expired for one that was used, withdrawn,
 * replaced or has expired.
 */
export async function findByLink(ctx: Ctx, token: string): Promise<{ home: Shard; invitation: Invitation; expiresAt: number }> {
  const [, id = '', expiry = '', mac = ''] = TOKEN.exec(token) ?? [];
  const expiresAt = Number.parseInt(expiry, 36);
  const isOurs = id !== '' && isLinkMac(ctx, mac, ...invitationContent(id, expiresAt));
  const home = isOurs ? findShardAt(ctx, partitionOf(id)) : null;
  if (!home)
    throw new ApiError('invalid_credentials', { detail: 'The link is not of this deployment. Check that it was copied completely.' });
  const invitation = await findLinkedInvitation(home.db, id as InvitationId);
  if (!isOpenLink(ctx, invitation, expiresAt)) throw new ApiError('link_expired');
  return { home, invitation, expiresAt };
}
