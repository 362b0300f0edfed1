import { z } from '@hono/zod-openapi';
import { toMoneyResource } from '#core/money.ts';
import { iso, isoOrNull } from '#core/time.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { given, MoneyBody, orNull, Timestamp } from '#platform/http/openapi.ts';
import { AUTHORIZATION } from '#rules/states.ts';
import { COLLECTION_CODES } from '#rules/subscriptions/schedule.ts';

export const AuthorizationBody = z
  .object({
    authorization_id: z.string(),
    product_id: z.uuid(),
    subscriber_wallet: z.string(),
    plan_address: z.string(),
    subscription_address: z.string(),
    status: z.enum(AUTHORIZATION.states),
    amount: MoneyBody.openapi({ description: 'What each period costs, as the buyer agreed to it.' }),
    period_hours: z.int(),
    current_period_start: Timestamp.optional().openapi({ description: 'Of the period that was collected last, by the chain.' }),
    current_period_end: Timestamp.optional(),
    paid_through: orNull(Timestamp),
    last_collection: z
      .object({
        at: Timestamp,
        status: z.enum(['collected', 'failed']),
        code: z.enum(COLLECTION_CODES).optional(),
        tx_signature: z.string().optional(),
      })
      .optional()
      .openapi({ description: 'The last attempt to collect a period.' }),
    cancel: z
      .object({ requested_at: Timestamp, effective_at: Timestamp })
      .optional()
      .openapi({ description: 'When the buyer’s cancellation was seen on the chain, and from when on nothing can be collected.' }),
    stopped_at: Timestamp.optional().openapi({ description: 'Time at which the merchant ended collecting.' }),
    livemode: z.boolean(),
    version: z.int(),
  })
  .openapi('NativeSubscription', { description: 'A buyer’s consent on the chain to be collected from, once a period.' });

/** Time of the next charge; null where none follows. */
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
