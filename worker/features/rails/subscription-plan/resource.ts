import { z } from '@hono/zod-openapi';
import { toMoneyResource } from '#core/money.ts';
import { isoOrNull } from '#core/time.ts';
import { given, MoneyBody, Timestamp } from '#platform/http/openapi.ts';
import { PLAN_STATUSES, type PlanView, type PreparedPlan } from './plan.ts';

export const SubscriptionPlanBody = z
  .object({
    status: z.enum(PLAN_STATUSES).openapi({
      description:
        '`outdated`: a plan was published, and the product has another price, period or payout wallet by now. Nothing is sold until the new ' +
        'plan is published; who subscribed stays on theirs. `sunset`: its owner lets nobody subscribe to it any more.',
    }),
    plan_address: z.string().openapi({ description: 'Where the plan of the present terms stands on the chain, or will.' }),
    plan_id: z.string().openapi({ description: 'The program’s number of that plan, made of its terms.' }),
    terms: z.object({
      amount: MoneyBody,
      period_hours: z.int(),
      destination: z.string().openapi({ description: 'The payout wallet: nobody else can be paid by this plan.' }),
      puller: z.string().openapi({ description: 'The key of this service that collects. It holds no money of yours or of buyers.' }),
    }),
    transaction: z.string().optional().openapi({
      description:
        'Unsigned, base64: publishes the plan. Sign it with the payout wallet and send it. Absent where nothing is left to sign.',
    }),
    expires_at: Timestamp.optional().openapi({ description: 'From then on the transaction can land no more.' }),
  })
  .openapi('SubscriptionPlan');

export function toPlanResource({ status, draft, ...prepared }: PlanView & Partial<PreparedPlan>): z.infer<typeof SubscriptionPlanBody> {
  const { address, plan } = draft;
  return {
    status,
    plan_address: address,
    plan_id: plan.planId.toString(),
    terms: {
      amount: toMoneyResource({ asset: 'USDC', units: plan.amount }),
      period_hours: Number(plan.periodHours),
      destination: plan.destinations[0]!,
      puller: plan.pullers[0]!,
    },
    ...given('transaction', prepared.transaction ?? null),
    ...given('expires_at', isoOrNull(prepared.expiresAt ?? null)),
  };
}
