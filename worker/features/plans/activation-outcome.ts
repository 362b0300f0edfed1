/**
 * A confirmed payment grants a plan. The account's plan is the fold of its valid activations, so it is recomputed when the chain drops or
 * restores one.
 * @module
 */

import type { PaymentId } from '#core/ids.ts';
import { LIFE } from '#core/limits.ts';
import { HOUR } from '#core/time.ts';
import { changeAccount } from '#features/accounts/change-account.ts';
import type { Shard } from '#platform/context.ts';
import { type OutcomeHandler, type OutcomeStep, storeStep } from '#platform/db/outcome.ts';
import { planAt } from '#rules/plans.ts';
import { foldActivations } from './holding.ts';
import { getActivationWithSetup, setExpiry } from './store.ts';

export const activationOutcome: OutcomeHandler = {
  onFinal: (ctx, _paymentIds, step) => storeStep(ctx, step),
  onDropped: (ctx, paymentId, step) => countAfresh(ctx, { paymentId: paymentId as PaymentId, isValid: false }, step),
  onReturned: (ctx, paymentId, step) => countAfresh(ctx, { paymentId: paymentId as PaymentId, isValid: true }, step),
};

/** Time to pay again for a setup with a dropped payment, equal to that of a new setup. */
const SETUP_MS = LIFE.setupHours * HOUR;

async function countAfresh(ctx: Shard, one: { paymentId: PaymentId; isValid: boolean }, step: OutcomeStep): Promise<void> {
  const { accountId, livemode, setupIntentId } = await getActivationWithSetup(ctx.db, one.paymentId);
  // Test purchases are folded on demand and changed no account.
  if (!livemode) {
    await storeStep(ctx, step);
    return;
  }
  await changeAccount(ctx, accountId, async (account) => {
    if (await step.isOver()) return null;
    const { planPrice: _price, ...folded } = await foldActivations(ctx.db, accountId, one);
    const isPaid = planAt(folded, ctx.now) !== 'free';
    // A plan without an end was not bought, and no purchase changes it.
    const isEndless = account.plan !== 'free' && account.planThrough === null;
    const values = isEndless ? {} : isPaid ? folded : { plan: 'free' as const, planThrough: null };
    const expiry = setupIntentId === null ? [] : [setExpiry(ctx, setupIntentId, isPaid || isEndless ? null : ctx.now + SETUP_MS)];
    return { values, writes: [...step.writes, ...expiry], wasStored: step.isOver };
  });
}
