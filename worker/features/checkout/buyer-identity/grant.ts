import { seal, unseal } from '#core/crypto.ts';
import type { IdentitySessionId } from '#core/ids.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { IdentitySession } from '#platform/db/tables/checkout.ts';
import { findGranting } from '../sessions/store.ts';

export { eraseGrants } from '../sessions/store.ts';

/** What a buyer lets the service do for them at a platform, once: Discord's OAuth2 token with the scope `guilds.join`. */
export interface BuyerGrant {
  accessToken: string;
  /** Epoch ms. */
  expiresAt: number;
}

const purposeOf = (sessionId: IdentitySessionId): string => `buyer grant ${sessionId}`;

export const sealGrant = ({ config }: Ctx, sessionId: IdentitySessionId, grant: BuyerGrant): Promise<string> =>
  seal(config.SEAL_KEYS, purposeOf(sessionId), JSON.stringify(grant));

/** A grant of this person for this merchant that can still be used, with the session it was given in; null: there is none. */
export async function openGrant(
  ctx: Shard,
  person: Parameters<typeof findGranting>[1],
): Promise<{ session: IdentitySession; accessToken: string } | null> {
  const session = await findGranting(ctx.db, person);
  if (!session?.grantSealed) return null;
  // A key that is gone leaves a grant as good as none: the buyer is invited.
  const opened = await unseal(ctx.config.SEAL_KEYS, purposeOf(session.id), session.grantSealed).catch(() => null);
  const grant = opened === null ? null : (JSON.parse(opened) as BuyerGrant);
  return grant && grant.expiresAt > ctx.wallNow ? { session, accessToken: grant.accessToken } : null;
}
