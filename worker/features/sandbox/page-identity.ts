import { raise } from '#core/errors.ts';
import type { IdentitySessionId } from '#core/ids.ts';
import { completeIdentity } from '#features/checkout/buyer-identity/identity.ts';
import { findIdentitySession } from '#features/checkout/sessions/store.ts';
import { inSandbox } from '#platform/chain/scope.ts';
import type { Shard } from '#platform/context.ts';
import { skipStoring } from '#platform/db/once.ts';

/**
 * Identifies the buyer of a sandbox product's page as a test buyer of this session. Idempotent, and a no-op if a program named another
 * person. Throws 404 for live products and once the session has expired.
 */
export async function identifyAtPage(shard: Shard, identitySessionId: IdentitySessionId): Promise<void> {
  const known = (await findIdentitySession(shard.db, identitySessionId)) ?? raise('not_found');
  if (known.livemode) raise('not_found');
  if (known.providerUserId !== null) return;
  if (shard.now >= known.expiresAt) raise('not_found');
  const scope = inSandbox(shard, known.merchantId, null);
  const buyer = { providerUserId: `test-${identitySessionId}`, username: 'test_buyer' };
  await completeIdentity(scope, { identitySessionId, provider: known.provider, ...buyer }, skipStoring);
}
