import { ApiError, raise } from '#core/errors.ts';
import { consumeEntitlement, entitlementKeyOf } from '#features/entitlements/entitlement.ts';
import { consumeUnits } from '#features/pay-per-request/consume.ts';
import { settlePayment } from '#features/pay-per-request/settle.ts';
import type { IdempotentRequest } from '#platform/db/idempotency-record.ts';
import type { SandboxFate } from '#platform/db/tables/sandbox.ts';
import type { PaymentRequired } from '#protocols/x402/wire.ts';
import type { EventType } from '#rules/events.ts';
import { LANDS, planChallengePayment, send } from '../wallet.ts';
import { answerOf, buyerOf, customerIn } from './actions.ts';
import { done, type ScriptStage, type Step } from './script.ts';

const identityIn = (stage: ScriptStage) => {
  const { session } = stage;
  return entitlementKeyOf({ merchantId: session.merchantId, livemode: false }, session.productId!, customerIn(session));
};

/** A call of the session under a key of its own: made again, it answers the same. */
export const requestOf = ({ session }: ScriptStage, key: string): IdempotentRequest => ({
  scope: `sandbox:${session.id}`,
  key: `${session.id}:${key}`,
  text: key,
});

/** The resource uses up all that the customer has left. */
export const useUp: Step = {
  action: 'consume',
  run: (stage) =>
    answerOf(async () => {
      const held = await consumeEntitlement(stage.scope, identityIn(stage), requestOf(stage, 'first'), 1);
      if (held.ok && held.remaining !== null && held.remaining > 0)
        await consumeEntitlement(stage.scope, identityIn(stage), requestOf(stage, 'rest'), held.remaining);
      return 'consumed';
    }),
  until: ['entitlement.exhausted'],
};

/** The resource asks for a unit that is not paid, and is given the challenge to pass on. */
export const askStep: Step = {
  action: 'consume',
  run: async (stage) => {
    if (stage.notes.challenge !== undefined) return done('entitlement_missing');
    return answerOf(async () => {
      await consumeUnits(stage.scope, identityIn(stage), requestOf(stage, 'ask'), { units: 1 }).catch((error: unknown) => {
        const required = error instanceof ApiError ? error.options.meta?.payment_required : null;
        if (required) stage.notes.challenge = JSON.stringify(required);
        throw error;
      });
      return 'consumed';
    });
  },
};

/** The agent signs what the challenge asks for. */
export const signStep = (fate: SandboxFate = LANDS): Step => ({
  action: 'pay',
  run: async (stage) => {
    const required = JSON.parse(stage.notes.challenge ?? raise('setup_not_ready')) as PaymentRequired;
    const how = { wallet: buyerOf(stage), paying: 'paid', fate } as const;
    stage.notes.payment_signature ??= await send(stage.scope, await planChallengePayment(stage.scope, required, how));
    return done('paid');
  },
});

/** The resource settles it, and uses a unit in the same step. `key`: another one is another request. */
export const settleStep = (key: string, until: EventType[]): Step => ({
  action: 'settle',
  run: (stage) =>
    answerOf(async () => {
      const settling = await settlePayment(stage.scope, requestOf(stage, key), {
        productId: stage.session.productId!,
        paymentSignature: stage.notes.payment_signature!,
        customer: customerIn(stage.session),
        consumeUnits: 1,
      });
      if (settling.kind === 'pending') return 'settlement_pending';
      if (settling.kind === 'refused') return settling.reason;
      return settling.isDuplicate ? 'duplicate' : 'settled';
    }),
  until,
});
