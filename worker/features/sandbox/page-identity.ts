import { raise } from '#core/errors.ts';
import type { IdentitySessionId } from '#core/ids.ts';
import { completeIdentity } from '#features/checkout/buyer-identity/identity.ts';
import { findIdentitySession } from '#features/checkout/sessions/store.ts';
import { inSandbox } from '#platform/chain/scope.ts';
import type { Shard } from '#platform/context.ts';
import { skipStoring } from '#platform/db/once.ts';

/**
 * Makes the buyer at a sandbox product's page known, as the platform would: a test buyer of this session alone. Harmless twice,
 * and after a program has named another person. 404 for what is sold live, and once the session's time is over: the page has another link.
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
