import type { IdentitySessionId } from '#core/ids.ts';
import { completeIdentity, openIdentitySession } from '#features/checkout/buyer-identity/identity.ts';
import { retryDelivery } from '#features/membership-delivery/retry.ts';
import { REFUSES_FIRST } from '#features/membership-delivery/simulated.ts';
import { sweepSandboxPlacements } from '#features/membership-delivery/sweep.ts';
import { getMembershipBy } from '#features/memberships/store.ts';
import { skipStoring } from '#platform/db/once.ts';
import { buySteps, customerIn, loadListing, readAnswer } from './actions.ts';
import { done, type Step } from './script.ts';

export const CHAT = { product_type: 'telegram', delivery: { provider: 'telegram', chat_id: '-1001' } } as const;

/** Identifies the buyer as the platform's connector would. This test buyer refuses the first message. */
const identify: Step = {
  action: 'identify',
  run: async (stage) => {
    const { scope, notes } = stage;
    const { product } = await loadListing(stage);
    notes.identity ??= (await openIdentitySession(scope, product.slug, skipStoring)).session.id;
    const identitySessionId = notes.identity as IdentitySessionId;
    const named = { identitySessionId, provider: product.requiresIdentity!, providerUserId: REFUSES_FIRST, username: null };
    await completeIdentity(scope, named, skipStoring);
    return done('completed');
  },
};

const deliver: Step = {
  action: 'deliver',
  run: async ({ scope }) => {
    await sweepSandboxPlacements(scope);
    return done();
  },
  until: ['delivery.failed'],
};

const retry: Step = {
  action: 'retry_delivery',
  run: ({ scope, session }) =>
    readAnswer(async () => {
      const { id } = await getMembershipBy(scope, customerIn(session));
      const { delivery } = await retryDelivery(scope, id, skipStoring);
      await sweepSandboxPlacements(scope);
      return delivery?.status;
    }),
  until: ['delivery.succeeded'],
};

export const joinSteps: readonly Step[] = [identify, ...buySteps(), deliver, retry];
