import type { IdentitySessionId } from '#core/ids.ts';
import { completeIdentity, openIdentitySession } from '#features/checkout/buyer-identity/identity.ts';
import { getMembershipBy } from '#features/memberships/store.ts';
import { retryDelivery } from '#features/placements/retry.ts';
import { REFUSES_FIRST } from '#features/placements/simulated.ts';
import { sweepSandboxPlacements } from '#features/placements/sweep.ts';
import { skipStoring } from '#platform/db/once.ts';
import { answerOf, buySteps, customerIn, listingOf } from './actions.ts';
import { done, type Step } from './script.ts';

/** What is sold: access to a chat that exists nowhere. */
export const CHAT = { product_type: 'telegram', delivery: { provider: 'telegram', chat_id: '-1001' } } as const;

/** The buyer shows who they are on the platform, as its connector would tell: a person who takes no message at first. */
const identify: Step = {
  action: 'identify',
  run: async (stage) => {
    const { scope, notes } = stage;
    const { product } = await listingOf(stage);
    notes.identity ??= (await openIdentitySession(scope, product.slug, skipStoring)).session.id;
    const identitySessionId = notes.identity as IdentitySessionId;
    const named = { identitySessionId, provider: product.requiresIdentity!, providerUserId: REFUSES_FIRST, username: null };
    await completeIdentity(scope, named, skipStoring);
    return done('completed');
  },
};

/** The first attempt, once the purchase was told. */
const deliver: Step = {
  action: 'deliver',
  run: async ({ scope }) => {
    await sweepSandboxPlacements(scope);
    return done();
  },
  until: ['delivery.failed'],
};

/** The merchant asks for another attempt. */
const retry: Step = {
  action: 'retry_delivery',
  run: ({ scope, session }) =>
    answerOf(async () => {
      const { id } = await getMembershipBy(scope, customerIn(session));
      const { delivery } = await retryDelivery(scope, id, skipStoring);
      await sweepSandboxPlacements(scope);
      return delivery?.status;
    }),
  until: ['delivery.succeeded'],
};

/** A member who is invited at the second try. */
export const joinSteps: readonly Step[] = [identify, ...buySteps(), deliver, retry];
