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
    authorization_id: z.string(),
    plan_address: z.string(),
    subscription_address: z.string(),
    period_hours: z.int(),
    steps: z
      .array(
        z.object({
          kind: z.enum(KINDS).openapi({
            description:
              '`approve`: lets the subscriptions program collect, once for all subscriptions of the wallet; asked of a wallet that is subscribed ' +
              'already, it shows that this checkout is its own. `subscribe`: the terms of this one. ' +
              '`resume`: takes a cancellation back. `revoke`: ends one that cannot go on.',
          }),
          transaction: z
            .string()
            .optional()
            .openapi({
              description:
                'Unsigned, base64. Sign it and send it to POST /v1/payments/{payment_id}/transaction. Absent while the step before it has not landed: ' +
                'GET /v1/payments/{payment_id} shows it then.',
            }),
          last_valid_block_height: z.int().optional(),
        }),
      )
      .openapi({ description: 'What is left to sign, in this order. Empty where nothing is: the first period is then collected.' }),
    problem: z
      .enum(STEP_PROBLEMS)
      .optional()
      .openapi({
        description:
          'Why `steps` is empty although something is left. `refused`: the network would refuse the next step, most often because the wallet ' +
          'holds too little SOL. `plan_missing`: the plan takes no subscribers any more. `ending`: a cancelled subscription has to be over ' +
          'first. `subscribed`: the wallet is subscribed already, and its period is paid. `unavailable`: no node answers now.',
      }),
    manage_url: z
      .string()
      .optional()
      .openapi({ description: 'Page where the buyer sees and cancels the subscription there is, where `problem` is `subscribed`.' }),
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
