import { z } from '@hono/zod-openapi';
import { type MoneyResource, toMoneyResource } from '#core/money.ts';
import { iso, isoOrNull } from '#core/time.ts';
import { given, MoneyBody, Timestamp } from '#platform/http/openapi.ts';
import { PLAN_NAMES, planAt } from '#rules/plans.ts';
import { SETUP } from '#rules/states.ts';
import { type Evaluation, EvaluationBody, type Manifest, ManifestBody } from './manifest/schema.ts';
import { NextActionBody, nextActionsOf } from './next-actions.ts';
import { isSetupOpen } from './secret.ts';
import type { SetupState } from './store.ts';

export const SetupIntentBody = z
  .object({
    setup_intent_id: z.uuid(),
    status: z.enum(SETUP.states),
    agent_name: z.string(),
    operator_contact: z.string().optional(),
    intended_use: z.string().optional(),
    account_id: z.uuid(),
    plan: z.enum(PLAN_NAMES).optional().openapi({ description: 'The plan that was asked for.' }),
    active_plan: z.enum(PLAN_NAMES).openapi({ description: 'The plan that counts now.' }),
    plan_paid_through: Timestamp.optional(),
    sandbox_key_id: z.uuid(),
    live_key_id: z.uuid().optional().openapi({ description: 'The live key this setup issued last.' }),
    live_key_active: z.boolean(),
    spend_limits: z
      .object({ per_payment: MoneyBody.optional(), per_day: MoneyBody.optional() })
      .openapi({ description: 'Bind what is paid with the setup secret.' }),
    manifest: ManifestBody.optional(),
    evaluation: EvaluationBody.optional(),
    approved_at: Timestamp.optional(),
    expires_at: Timestamp.optional().openapi({ description: 'Absent once a plan was activated: then it stays.' }),
    pending_payments: z
      .array(z.object({ plan: z.enum(PLAN_NAMES).optional(), amount: MoneyBody, tx_signature: z.string(), created_at: Timestamp }))
      .optional()
      .openapi({ description: 'Paid, and not decided by the chain yet. Until it is, the setup does not end: never pay again.' }),
    next_actions: z.array(NextActionBody).openapi({ description: 'What to do now, in this order.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .openapi('SetupIntent');

export const CreatedSetupBody = SetupIntentBody.extend({
  setup_secret: z.string().openapi({ description: 'Shown once, here. It opens this setup and pays for its plan.' }),
  sandbox_api_key: z.string().openapi({ description: 'Shown once, here.' }),
}).openapi('CreatedSetupIntent');
export const ApprovedSetupBody = SetupIntentBody.extend({
  live_api_key: z.string().optional().openapi({ description: 'Shown once, in the answer that issued it.' }),
}).openapi('ApprovedSetupIntent');

const usdc = (units: bigint): MoneyResource => toMoneyResource({ asset: 'USDC', units }) as MoneyResource;
const limit = <N extends string>(name: N, units: bigint | null) => given(name, units === null ? null : usdc(units));

/** The state that counts: the sweep that writes `expired` may be late, the time is not. */
export const statusAt = ({ intent, pending }: Pick<SetupState, 'intent' | 'pending'>, now: number) =>
  isSetupOpen({ ...intent, isPaying: pending.length > 0 }, now) ? intent.status : 'expired';

const toPendingPayment = ({ terms, amount, txSignature, createdAt }: SetupState['pending'][number]) => ({
  ...given('plan', terms.plan ?? null),
  amount: usdc(amount),
  tx_signature: txSignature,
  created_at: iso(createdAt),
});

export const hasLiveKey = ({ liveKey }: SetupState): boolean => liveKey !== null && liveKey.revokedAt === null;

export function toSetupIntentResource(standing: SetupState, now: number): z.infer<typeof SetupIntentBody> {
  const { intent, account, pending } = standing;
  const activePlan = planAt(account, now);
  const status = statusAt(standing, now);
  const stage = {
    setupIntentId: intent.id,
    status,
    activePlan,
    plan: intent.plan,
    hasLiveKey: hasLiveKey(standing),
    manifest: intent.manifest as Manifest | null,
    pendingPlans: pending.map(({ terms }) => terms.plan ?? null),
  };
  return {
    setup_intent_id: intent.id,
    status,
    agent_name: intent.agentName,
    ...given('operator_contact', intent.operatorContact),
    ...given('intended_use', intent.intendedUse),
    account_id: intent.accountId,
    ...given('plan', intent.plan),
    active_plan: activePlan,
    ...given('plan_paid_through', activePlan === 'free' ? null : isoOrNull(account.planThrough)),
    sandbox_key_id: intent.sandboxKeyId,
    ...given('live_key_id', intent.liveKeyId),
    live_key_active: stage.hasLiveKey,
    spend_limits: { ...limit('per_payment', intent.spendPerPayment), ...limit('per_day', intent.spendPerDay) },
    ...given('manifest', stage.manifest),
    ...given('evaluation', intent.evaluation as Evaluation | null),
    ...given('approved_at', isoOrNull(intent.approvedAt)),
    ...given('expires_at', isoOrNull(intent.expiresAt)),
    ...given('pending_payments', pending.length === 0 ? null : pending.map(toPendingPayment)),
    next_actions: nextActionsOf(stage),
    created_at: iso(intent.createdAt),
    updated_at: iso(intent.updatedAt),
  };
}
