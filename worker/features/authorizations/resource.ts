import { z } from '@hono/zod-openapi';
import { toMoneyResource } from '#core/money.ts';
import { iso, isoOrNull } from '#core/time.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import {
  given,
  Livemode,
  MoneyBody,
  ObjectVersion,
  PaidThrough,
  ProductUuid,
  Timestamp,
  TransactionSignature,
} from '#platform/http/openapi.ts';
import { AUTHORIZATION } from '#rules/states.ts';
import { COLLECTION_CODES } from '#rules/subscriptions/schedule.ts';

export const AuthorizationBody = z
  .object({
    authorization_id: z.string().describe('Identifier of the native subscription: the buyer’s consent to one collection per period.'),
    product_id: ProductUuid,
    subscriber_wallet: z.string(),
    plan_address: z.string().describe('Address of the on-chain plan: price, period and destination. No party can change it.'),
    subscription_address: z.string().describe('Address of the subscription account, derived from the plan and the wallet.'),
    status: z.enum(AUTHORIZATION.states),
    amount: MoneyBody.describe('Price of each period, as the buyer agreed to it.'),
    period_hours: z.int().describe('Length of a period in hours.'),
    current_period_start: Timestamp.optional().describe('Start of the last collected period on the chain.'),
    current_period_end: Timestamp.optional(),
    paid_through: PaidThrough,
    last_collection: z
      .object({
        at: Timestamp,
        status: z.enum(['collected', 'failed']),
        code: z.enum(COLLECTION_CODES).optional(),
        tx_signature: TransactionSignature.optional(),
      })
      .optional(),
    cancel: z
      .object({
        requested_at: Timestamp.describe('Time at which the cancellation was found on the chain.'),
        effective_at: Timestamp.describe('Time from which nothing can be collected.'),
      })
      .optional()
      .describe('Cancellation by the buyer: the time it was found on the chain, and the time from which nothing can be collected.'),
    stopped_at: Timestamp.optional().describe('Time at which the merchant ended collecting.'),
    livemode: Livemode,
    version: ObjectVersion,
  })
  .openapi('NativeSubscription', { description: 'On-chain consent of a buyer to one collection per period.' });

/** Time of the next charge. Null where none follows. */
export const nextChargeOf = ({ status, paidThrough, nextAttemptAt }: AuthorizationRow): number | null =>
  status === 'active' || status === 'past_due' ? (paidThrough ?? nextAttemptAt) : null;

export function toAuthorizationResource(row: AuthorizationRow): z.infer<typeof AuthorizationBody> {
  const { lastCollection: last, cancelledAt, cancelEffectiveAt } = row;
  return {
    authorization_id: row.id,
    product_id: row.productId,
    subscriber_wallet: row.subscriberWallet,
    plan_address: row.planAddress,
    subscription_address: row.subscriptionAddress,
    status: row.status,
    amount: toMoneyResource({ asset: 'USDC', units: row.amount }),
    period_hours: row.periodHours,
    ...given('current_period_start', isoOrNull(row.periodStartsAt)),
    ...given('current_period_end', isoOrNull(row.periodEndsAt)),
    paid_through: isoOrNull(row.paidThrough),
    ...(last && {
      last_collection: {
        at: iso(last.at),
        status: last.status,
        ...given('code', last.code ?? null),
        ...given('tx_signature', last.txSignature ?? null),
      },
    }),
    ...(cancelledAt !== null && cancelEffectiveAt !== null
      ? { cancel: { requested_at: iso(cancelledAt), effective_at: iso(cancelEffectiveAt) } }
      : {}),
    ...given('stopped_at', isoOrNull(row.stoppedAt)),
    livemode: row.livemode,
    version: row.version,
  };
}
