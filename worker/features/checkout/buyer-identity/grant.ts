import { seal, unseal } from '#core/crypto.ts';
import type { IdentitySessionId } from '#core/ids.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { IdentitySession } from '#platform/db/tables/checkout.ts';
import { findGranting } from '../sessions/store.ts';

export { eraseGrants } from '../sessions/store.ts';

/** Permission of a buyer at a platform, usable once: Discord's OAuth2 token with the scope `guilds.join`. */
export interface BuyerGrant {
  accessToken: string;
  expiresAt: number;
}

const purposeOf = (sessionId: IdentitySessionId): string => `buyer grant ${sessionId}`;

export const sealGrant = ({ config }: Ctx, sessionId: IdentitySessionId, grant: BuyerGrant): Promise<string> =>
  seal(config.SEAL_KEYS, purposeOf(sessionId), JSON.stringify(grant));

export async function openGrant(
  ctx: Shard,
  person: Parameters<typeof findGranting>[1],
): Promise<{ session: IdentitySession; accessToken: string } | null> {
  const session = await findGranting(ctx.db, person);
  if (!session?.grantSealed) return null;
  // A grant sealed under a removed key counts as missing, and the buyer gets an invitation.
  const opened = await unseal(ctx.config.SEAL_KEYS, purposeOf(session.id), session.grantSealed).catch(() => null);
  const grant = opened === null ? null : (JSON.parse(opened) as BuyerGrant);
  return grant && grant.expiresAt > ctx.wallNow ? { session, accessToken: grant.accessToken } : null;
}
