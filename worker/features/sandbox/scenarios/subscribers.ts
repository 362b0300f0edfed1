import type { Address } from '@solana/kit';
import { ApiError } from '#core/errors.ts';
import { DAY, MINUTE, SECOND } from '#core/time.ts';
import { findAuthorizationFor } from '#features/authorizations/store.ts';
import { followSubscription } from '#features/checkout/subscribing/follow.ts';
import { getSale } from '#features/products/product.ts';
import { prospectOf } from '#features/products/selling/obstacles.ts';
import { confirmPlan, preparePlan } from '#features/rails/subscription-plan/plan.ts';
import { confirmCancel, prepareCancel } from '#features/subscriptions/cancel.ts';
import { commit } from '#platform/db/commit.ts';
import { skipStoring } from '#platform/db/once.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { SUBSCRIPTION_RAIL } from '#rules/rails.ts';
import { firstAttemptAt, jitterFraction } from '#rules/subscriptions/schedule.ts';
import { TOKEN_PROGRAM } from '#solana/assets.ts';
import { buildUnsigned } from '#solana/checkout-transaction.ts';
import { revokeAuthorityInstruction } from '#solana/programs/subscriptions/instructions.ts';
import { leaveInWallet, subscribeAs } from '../subscribe.ts';
import { planSignature, planVouchedSignature, send, simulatedChainOf } from '../wallet.ts';
import { advanceStep, buyerOf, connectSteps, paymentIn, readAnswer } from './actions.ts';
import { done, later, type ScriptStage, type Step } from './script.ts';

/** Renewal every third day, so that few daily checks fall in between. */
export const RENEWING = { usage_units: null, access_period_days: 3, billing_model: 'recurring', renewal_mode: 'AUTOMATIC' } as const;

/** Signs as the buyer and broadcasts. Returns null if the chain refuses the transaction because an earlier attempt has landed. */
async function signAsBuyer(stage: ScriptStage, transaction: string): Promise<string | null> {
  const { txSignature, writes } = await planSignature(stage.scope, buyerOf(stage), transaction);
  return txSignature && send(stage.scope, { signature: txSignature, writes });
}

const publish: Step = {
  action: 'publish_plan',
  run: ({ scope, session }) =>
    readAnswer(async () => {
      const sale = await getSale(scope, session.productId!, SUBSCRIPTION_RAIL);
      const sold = { ...prospectOf(sale), product: sale.product };
      const { transaction } = await commit(scope, await preparePlan(scope, sold));
      if (transaction !== null) {
        const { txSignature, writes } = await planVouchedSignature(scope, transaction);
        if (txSignature !== null) await send(scope, { signature: txSignature, writes });
      }
      return (await commit(scope, await confirmPlan(scope, sold))).status;
    }),
};

/** Approves and consents as the buyer. A repetition finds nothing left to sign. */
const subscribe: Step = {
  action: 'subscribe',
  run: async (stage) => {
    const payment = await paymentIn(stage);
    try {
      await subscribeAs(stage.scope, payment, { outcome: 'paid', wallet: buyerOf(stage) }, skipStoring);
    } catch (error) {
      if (!(error instanceof ApiError) || error.options.meta?.reason !== 'subscribed') throw error;
    }
    return done('subscribed');
  },
};

const collectStep: Step = {
  action: 'confirm',
  run: (stage) => readAnswer(async () => (await followSubscription(stage.scope, await paymentIn(stage))).payment.status),
  until: ['payment.confirmed', 'subscription.authorized', 'entitlement.granted'],
};

export const subscribeSteps: Step[] = [publish, ...connectSteps(), subscribe, collectStep];

const authorizationIn = async (stage: ScriptStage): Promise<AuthorizationRow> =>
  (await findAuthorizationFor(stage.scope.db, (await paymentIn(stage)).id))!;

/** Delay after which a sent collection is checked, with a margin. Shorter than finality. */
const SEEN_MS = 20 * SECOND;

export const untilCollected: Step = {
  action: 'advance',
  advanceMs: async (stage) => {
    const { id, paidThrough } = await authorizationIn(stage);
    return firstAttemptAt(paidThrough!, jitterFraction(id)) + SEEN_MS - stage.scope.now;
  },
};

/** Waits for the second grant of the session, which the entitlement's object reports after the renewal. */
export const untilGranted: Step = {
  action: 'advance',
  run: async ({ session }) => (session.steps.filter(({ eventType }) => eventType === 'entitlement.granted').length > 1 ? done() : later),
};

export const spendAll: Step = {
  action: 'spend',
  run: async (stage) => {
    await leaveInWallet(stage.scope, await authorizationIn(stage), 0n);
    return done('spent');
  },
};

export const revokeApproval: Step = {
  action: 'revoke_approval',
  run: async (stage) => {
    const { scope } = stage;
    const user = buyerOf(stage).address as Address;
    const { lifetime } = await simulatedChainOf(scope).prepare([]);
    const owner = { user, mint: scope.config.network.usdcMint as Address, tokenProgram: TOKEN_PROGRAM as Address };
    await signAsBuyer(stage, buildUnsigned(user, [revokeAuthorityInstruction(owner)], lifetime));
    return done('revoked');
  },
};

export const cancelSteps: Step[] = [
  {
    action: 'cancel',
    run: async (stage) => {
      const { scope, notes } = stage;
      const authorization = await authorizationIn(stage);
      return readAnswer(async () => {
        const { transaction } = await prepareCancel(scope, authorization, authorization.subscriberWallet);
        const signature = await signAsBuyer(stage, transaction);
        if (signature !== null) notes.cancellation = signature;
        return 'sent';
      });
    },
  },
  {
    action: 'cancel_confirm',
    run: async (stage) => {
      const authorization = await authorizationIn(stage);
      return readAnswer(async () => (await confirmCancel(stage.scope, authorization, { txSignature: stage.notes.cancellation! })).status);
    },
    until: ['subscription.cancel_requested'],
  },
];

export const untilOver: Step = {
  action: 'advance',
  advanceMs: async (stage) => (await authorizationIn(stage)).paidThrough! + SECOND - stage.scope.now,
};

export const untilChecked = advanceStep(DAY + MINUTE);
