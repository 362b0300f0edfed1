import { ApiError, raise } from '#core/errors.ts';
import { consumeEntitlement, entitlementKeyOf } from '#features/entitlements/entitlement.ts';
import { consumeUnits } from '#features/pay-per-request/consume.ts';
import { settlePayment } from '#features/pay-per-request/settle.ts';
import type { IdempotentRequest } from '#platform/db/idempotency-record.ts';
import type { SandboxOutcome } from '#platform/db/tables/sandbox.ts';
import type { PaymentRequired } from '#protocols/x402/wire.ts';
import type { EventType } from '#rules/events.ts';
import { LANDS, planChallengePayment, send } from '../wallet.ts';
import { buyerOf, customerIn, readAnswer } from './actions.ts';
import { done, type ScriptStage, type Step } from './script.ts';

const identityIn = (stage: ScriptStage) => {
  const { session } = stage;
  return entitlementKeyOf({ merchantId: session.merchantId, livemode: false }, session.productId!, customerIn(session));
};

/** Idempotent request of the session: repeated with the same key, the call returns the same answer. */
export const requestOf = ({ session }: ScriptStage, key: string): IdempotentRequest => ({
  scope: `sandbox:${session.id}`,
  key: `${session.id}:${key}`,
  text: key,
});

export const useUp: Step = {
  action: 'consume',
  run: (stage) =>
    readAnswer(async () => {
      const held = await consumeEntitlement(stage.scope, identityIn(stage), requestOf(stage, 'first'), { units: 1 });
      if (held.ok && held.remaining !== null && held.remaining > 0)
        await consumeEntitlement(stage.scope, identityIn(stage), requestOf(stage, 'rest'), { units: held.remaining });
      return 'consumed';
    }),
  until: ['entitlement.exhausted'],
};

export const askStep: Step = {
  action: 'consume',
  run: async (stage) => {
    if (stage.notes.challenge !== undefined) return done('entitlement_missing');
    return readAnswer(async () => {
      await consumeUnits(stage.scope, identityIn(stage), requestOf(stage, 'ask'), { units: 1 }).catch((error: unknown) => {
        const required = error instanceof ApiError ? error.options.meta?.payment_required : null;
        if (required) stage.notes.challenge = JSON.stringify(required);
        throw error;
      });
      return 'consumed';
    });
  },
};

export const signStep = (chainOutcome: SandboxOutcome = LANDS): Step => ({
  action: 'pay',
  run: async (stage) => {
    const required = JSON.parse(stage.notes.challenge ?? raise('setup_not_ready')) as PaymentRequired;
    const how = { wallet: buyerOf(stage), paying: 'paid', chainOutcome } as const;
    stage.notes.payment_signature ??= await send(stage.scope, await planChallengePayment(stage.scope, required, how));
    return done('paid');
  },
});

export const settleStep = (key: string, until: EventType[]): Step => ({
  action: 'settle',
  run: (stage) =>
    readAnswer(async () => {
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
