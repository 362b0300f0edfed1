import { z } from '@hono/zod-openapi';
import { type MoneyResource, toMoneyResource } from '#core/money.ts';
import { iso, isoOrNull } from '#core/time.ts';
import { AccountUuid, given, MoneyBody, Timestamp, TransactionSignature } from '#platform/http/openapi.ts';
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
    account_id: AccountUuid,
    plan: z.enum(PLAN_NAMES).optional(),
    active_plan: z.enum(PLAN_NAMES),
    plan_paid_through: Timestamp.optional(),
    sandbox_key_id: z.uuid(),
    live_key_id: z.uuid().optional().describe('Identifier of the live key that this setup issued last.'),
    live_key_active: z.boolean(),
    spend_limits: z
      .object({
        per_payment: MoneyBody.optional(),
        per_day: MoneyBody.optional().describe('Maximum per day (UTC).'),
      })
      .describe('Spending limits of payments with the setup secret.'),
    manifest: ManifestBody.optional(),
    evaluation: EvaluationBody.optional(),
    approved_at: Timestamp.optional(),
    expires_at: Timestamp.optional().describe('Time of expiry. Absent once a plan is active: the setup then does not expire.'),
    pending_payments: z
      .array(
        z.object({
          plan: z.enum(PLAN_NAMES).optional().describe('Plan: `free`, `starter`, `growth` or `scale`.'),
          amount: MoneyBody,
          tx_signature: TransactionSignature,
          created_at: Timestamp,
        }),
      )
      .optional()
      .describe('Payments in flight. The setup stays open until the chain has decided: do not pay again.'),
    next_actions: z.array(NextActionBody).describe('Next actions, in order.'),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .openapi('SetupIntent');

export const CreatedSetupBody = SetupIntentBody.extend({
  setup_secret: z.string().describe('Secret of the setup. Authenticates the setup and pays for its plan. Shown only in this response.'),
  sandbox_api_key: z.string().describe('Sandbox API key. Shown only in this response.'),
}).openapi('CreatedSetupIntent');
export const ApprovedSetupBody = SetupIntentBody.extend({
  live_api_key: z.string().optional().describe('Live API key. Shown only in the response that issued it.'),
}).openapi('ApprovedSetupIntent');

const usdc = (units: bigint): MoneyResource => toMoneyResource({ asset: 'USDC', units }) as MoneyResource;
const limit = <N extends string>(name: N, units: bigint | null) => given(name, units === null ? null : usdc(units));

/** Returns the current status by the clock, because the sweep that stores `expired` may be late. */
export const statusAt = ({ intent, pending }: Pick<SetupState, 'intent' | 'pending'>, now: number) =>
  isSetupOpen({ ...intent, isPaying: pending.length > 0 }, now) ? intent.status : 'expired';

const toPendingPayment = ({ terms, amount, txSignature, createdAt }: SetupState['pending'][number]) => ({
  ...given('plan', terms.plan ?? null),
  amount: usdc(amount),
  tx_signature: txSignature,
  created_at: iso(createdAt),
});

export const hasLiveKey = ({ liveKey }: SetupState): boolean => liveKey !== null && liveKey.revokedAt === null;

export function toSetupIntentResource(setup: SetupState, now: number): z.infer<typeof SetupIntentBody> {
  const { intent, account, pending } = setup;
  const activePlan = planAt(account, now);
  const status = statusAt(setup, now);
  const stage = {
    setupIntentId: intent.id,
    status,
    activePlan,
    plan: intent.plan,
    hasLiveKey: hasLiveKey(setup),
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
