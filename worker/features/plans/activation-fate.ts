/**
 * A plan is granted when its payment is confirmed. What an account holds is the fold of its activations that stand, so one that the
 * chain dropped, or that is there after all, has it counted afresh.
 * @module
 */

import type { PaymentId } from '#core/ids.ts';
import { LIFE } from '#core/limits.ts';
import { HOUR } from '#core/time.ts';
import { changeAccount } from '#features/accounts/change-account.ts';
import type { Shard } from '#platform/context.ts';
import { type FateFollower, type FateStep, storeStep } from '#platform/db/fate.ts';
import { planAt } from '#rules/plans.ts';
import { foldActivations } from './holding.ts';
import { getActivationOfSetup, setExpiry } from './store.ts';

export const activationFate: FateFollower = {
  onFinal: (ctx, _paymentIds, step) => storeStep(ctx, step),
  onDropped: (ctx, paymentId, step) => countAfresh(ctx, { paymentId: paymentId as PaymentId, stands: false }, step),
  onReturned: (ctx, paymentId, step) => countAfresh(ctx, { paymentId: paymentId as PaymentId, stands: true }, step),
};

/** A setup whose payment is gone has as long to pay again as a new one. */
const SETUP_MS = LIFE.setupHours * HOUR;

async function countAfresh(ctx: Shard, one: { paymentId: PaymentId; stands: boolean }, step: FateStep): Promise<void> {
  const { accountId, livemode, setupIntentId } = await getActivationOfSetup(ctx.db, one.paymentId);
  // What was paid with test money is folded whenever it is asked for, and changed no account.
  if (!livemode) {
    await storeStep(ctx, step);
    return;
  }
  await changeAccount(ctx, accountId, async (account) => {
    if (await step.isOver()) return null;
    const { planPrice: _price, ...folded } = await foldActivations(ctx.db, accountId, one);
    const isPaid = planAt(folded, ctx.now) !== 'free';
    // A plan without an end was not bought, and no purchase moves it.
    const isEndless = account.plan !== 'free' && account.planThrough === null;
    const values = isEndless ? {} : isPaid ? folded : { plan: 'free' as const, planThrough: null };
    const expiry = setupIntentId === null ? [] : [setExpiry(ctx, setupIntentId, isPaid || isEndless ? null : ctx.now + SETUP_MS)];
    return { values, writes: [...step.writes, ...expiry], wasStored: step.isOver };
  });
}
