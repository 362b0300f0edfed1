import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, AuthorizationId, MembershipId, PaymentId, ProductId } from '#core/ids.ts';
import type { PaymentTerms } from '#rules/payment-terms.ts';
import { AUTHORIZATION } from '#rules/states.ts';
import type { AuthorizationStatus } from '#rules/subscriptions/authorization.ts';
import type { LastCollection } from '#rules/subscriptions/schedule.ts';
import { amount, flag, instant, json, oneOf, uuidBytes } from '../columns.ts';

/**
 * Buyer's authorization to collect once per period. Inserted by a checkout, in the batch of its payment. Deleted some time after it fails
 * or ends. State of the chain must be read again before any action.
 */
export const subscriptionAuthorizations = sqliteTable(
  'subscription_authorizations',
  {
    id: text('id').$type<AuthorizationId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: uuidBytes('product_id').$type<ProductId>().notNull(),
    slug: text('slug').notNull(),
    /** Payment of the checkout, which the first collection pays. */
    paymentId: uuidBytes('payment_id').$type<PaymentId>().notNull().unique(),
    membershipId: uuidBytes('membership_id').$type<MembershipId>(),
    subscriberWallet: text('subscriber_wallet').notNull(),
    /** Customer to whom each payment grants access, null: the subscriber's wallet. */
    customerRef: text('customer_ref'),
    email: text('email'),
    /** Terms fixed at purchase. Each period's payment has the same terms. */
    terms: json<PaymentTerms>('terms').notNull(),
    planAddress: text('plan_address').notNull(),
    subscriptionAddress: text('subscription_address').notNull(),
    mint: text('mint').notNull(),
    puller: text('puller').notNull(),
    recipientWallet: text('recipient_wallet').notNull(),
    recipientAta: text('recipient_ata').notNull(),
    amount: amount('amount').notNull(),
    periodHours: integer('period_hours').notNull(),
    status: text('status').$type<AuthorizationStatus>().notNull(),
    /** Start of the first collected period, from which all others follow. null before the first collection. */
    startedAt: instant('started_at'),
    periodStartsAt: instant('period_starts_at'),
    periodEndsAt: instant('period_ends_at'),
    paidThrough: instant('paid_through'),
    failures: integer('failures').notNull().default(0),
    lastCollection: json<LastCollection>('last_collection'),
    /** Time at which the chain first showed the buyer's cancellation, and its effective time. */
    cancelledAt: instant('cancelled_at'),
    cancelEffectiveAt: instant('cancel_effective_at'),
    /** Time at which the merchant stopped the subscription. Nothing is collected afterwards, whatever the chain allows. */
    stoppedAt: instant('stopped_at'),
    nextAttemptAt: instant('next_attempt_at'),
    /** Due time of the collection sweep: `nextAttemptAt`, then again some minutes after each attempt. */
    collectAt: instant('collect_at'),
    nextCheckAt: instant('next_check_at'),
    /** Wall time of the last chain read that a GET requested, null if none. */
    askedReadAt: instant('asked_read_at'),
    endedAt: instant('ended_at'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('subscription_authorizations_status', 'status', AUTHORIZATION.states),
    // A chain address is collected for one authorization alone.
    uniqueIndex('subscription_authorizations_current')
      .on(table.livemode, table.subscriptionAddress)
      .where(sql`status IN ('active', 'past_due', 'cancel_requested', 'requires_reapproval')`),
    index('subscription_authorizations_by_address').on(table.subscriptionAddress, table.livemode, table.createdAt),
    index('subscription_authorizations_by_merchant').on(table.merchantId, table.livemode, table.createdAt),
    index('subscription_authorizations_by_status').on(table.merchantId, table.livemode, table.status, table.createdAt),
    index('subscription_authorizations_of_product').on(table.merchantId, table.livemode, table.productId, table.createdAt),
    index('subscription_authorizations_by_wallet').on(table.merchantId, table.livemode, table.subscriberWallet, table.productId),
    index('subscription_authorizations_by_ref')
      .on(table.merchantId, table.livemode, table.customerRef, table.productId)
      .where(sql`customer_ref IS NOT NULL`),
    // Separate indexes per class of work, so that no scan passes over rows of another.
    index('subscription_collections_due').on(table.collectAt).where(sql`collect_at IS NOT NULL AND livemode = 1`),
    // No lease changes this column, so that a stalled queue is visible while sweeps run.
    index('subscription_attempts_due').on(table.nextAttemptAt).where(sql`next_attempt_at IS NOT NULL AND livemode = 1`),
    index('subscription_checkouts_due').on(table.nextCheckAt).where(sql`next_check_at IS NOT NULL AND livemode = 1 AND status = 'pending'`),
    index('subscription_checks_due').on(table.nextCheckAt).where(sql`next_check_at IS NOT NULL AND livemode = 1 AND status <> 'pending'`),
    index('subscription_collections_by_merchant').on(table.merchantId, table.collectAt).where(sql`collect_at IS NOT NULL AND livemode = 1`),
    index('subscription_checkouts_by_merchant')
      .on(table.merchantId, table.nextCheckAt)
      .where(sql`next_check_at IS NOT NULL AND livemode = 1 AND status = 'pending'`),
    index('subscription_checks_by_merchant')
      .on(table.merchantId, table.nextCheckAt)
      .where(sql`next_check_at IS NOT NULL AND livemode = 1 AND status <> 'pending'`),
    index('sandbox_collections_due').on(table.collectAt).where(sql`collect_at IS NOT NULL AND livemode = 0`),
    index('sandbox_subscription_authorizations_due').on(table.nextCheckAt).where(sql`next_check_at IS NOT NULL AND livemode = 0`),
    index('subscription_authorizations_pullers').on(table.puller).where(sql`ended_at IS NULL AND livemode = 1`),
    index('subscription_authorizations_over').on(table.endedAt).where(sql`ended_at IS NOT NULL`),
  ],
);

export type AuthorizationRow = typeof subscriptionAuthorizations.$inferSelect;

/**
 * Payment that collects a period, one per period of an authorization. Claimed before broadcast. After a refusal by the chain the next
 * attempt replaces it. Deleted with the authorization.
 */
export const subscriptionCollections = sqliteTable(
  'subscription_collections',
  {
    authorizationId: text('authorization_id').$type<AuthorizationId>().notNull(),
    periodStartsAt: instant('period_starts_at').notNull(),
    periodEndsAt: instant('period_ends_at').notNull(),
    paymentId: uuidBytes('payment_id').$type<PaymentId>().notNull().unique(),
    collectedAt: instant('collected_at'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.authorizationId, table.periodStartsAt] })],
);

export type CollectionRow = typeof subscriptionCollections.$inferSelect;
