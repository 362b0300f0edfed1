import { z } from '@hono/zod-openapi';
import type { Ctx } from '#platform/context.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { given } from '#platform/http/openapi.ts';
import type { StepKind } from '#solana/programs/subscriptions/steps.ts';

const KINDS = ['approve', 'subscribe', 'resume', 'revoke'] as const satisfies StepKind[];
/** Reasons for an empty list of steps. */
const STEP_PROBLEMS = ['refused', 'plan_missing', 'ending', 'subscribed', 'unavailable'] as const;
type StepProblem = (typeof STEP_PROBLEMS)[number];

export const SubscribingBody = z
  .object({
    authorization_id: z.string().describe('Identifier of the native subscription: the buyer’s consent to one collection per period.'),
    plan_address: z.string().describe('Address of the on-chain plan: price, period and destination. No party can change it.'),
    subscription_address: z.string().describe('Address of the subscription account, derived from the plan and the wallet.'),
    period_hours: z.int().describe('Length of a period in hours.'),
    steps: z
      .array(
        z.object({
          kind: z
            .enum(KINDS)
            .describe(
              'Kind of the step. `approve`: allows the subscriptions program to collect. `subscribe`: accepts the terms. `resume`: withdraws a cancellation. `revoke`: ends a subscription that cannot continue.',
            ),
          transaction: z
            .string()
            .optional()
            .describe(
              'Unsigned transaction in base64. Sign it and send it to POST /v1/payments/{payment_id}/transaction. Absent until the previous step has landed: GET /v1/payments/{payment_id} returns it then.',
            ),
          last_valid_block_height: z
            .int()
            .optional()
            .describe('Last block height at which the transaction is valid. Request a new transaction afterwards.'),
        }),
      )
      .describe('Remaining steps to sign, in order. If empty, the first period is collected next.'),
    problem: z
      .enum(STEP_PROBLEMS)
      .optional()
      .describe(
        'Reason `steps` is empty although steps remain. `refused`: the network would refuse the next one. `plan_missing`: no further subscribers. `ending`: a cancelled subscription must end first. `subscribed`: already paid. `unavailable`: no node responds.',
      ),
    manage_url: z
      .string()
      .optional()
      .describe('Page at which the buyer views and cancels the existing subscription, if `problem` is `subscribed`.'),
  })
  .openapi('Subscribing');

/** Page on which a subscriber sees what runs, and ends it. */
export const manageUrlOf = (baseUrl: string, id: string): string => `${baseUrl}/s/${id}`;

/** `holder`: the authorization that collects already, if `problem` is `subscribed`. */
export interface Subscribing {
  authorization: Pick<AuthorizationRow, 'id' | 'planAddress' | 'subscriptionAddress' | 'periodHours'>;
  steps: { kind: StepKind; transaction: string | null; lastValidBlockHeight: bigint | null }[];
  problem: StepProblem | null;
  holder?: Pick<AuthorizationRow, 'id'>;
}

export const toSubscribingResource = (
  ctx: Ctx,
  { authorization, steps, problem, holder }: Subscribing,
): z.infer<typeof SubscribingBody> => ({
  authorization_id: authorization.id,
  plan_address: authorization.planAddress,
  subscription_address: authorization.subscriptionAddress,
  period_hours: authorization.periodHours,
  steps: steps.map(({ kind, transaction, lastValidBlockHeight: height }) => ({
    kind,
    ...given('transaction', transaction),
    ...given('last_valid_block_height', height === null ? null : Number(height)),
  })),
  ...given('problem', problem),
  ...given('manage_url', holder ? manageUrlOf(ctx.baseUrl, holder.id) : null),
});
