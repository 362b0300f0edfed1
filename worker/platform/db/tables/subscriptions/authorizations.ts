import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, AuthorizationId, MembershipId, PaymentId, ProductId } from '#core/ids.ts';
import type { PaymentTerms } from '#rules/payment-terms.ts';
import { AUTHORIZATION } from '#rules/states.ts';
import type { AuthorizationStatus } from '#rules/subscriptions/authorization.ts';
import type { LastCollection } from '#rules/subscriptions/schedule.ts';
import { amount, flag, instant, json, oneOf } from '../columns.ts';

/**
 * A buyer's consent to be collected from, once a period. A checkout makes one, with its payment and in the same batch; one that came to
 * nothing, or is over, ends some time later. Whatever the chain shows of it is looked up anew before anything is done.
 */
export const subscriptionAuthorizations = sqliteTable(
  'subscription_authorizations',
  {
    id: text('id').$type<AuthorizationId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: text('product_id').$type<ProductId>().notNull(),
    slug: text('slug').notNull(),
    /** The checkout that it was made with, which the first collection pays. */
    paymentId: text('payment_id').$type<PaymentId>().notNull().unique(),
    membershipId: text('membership_id').$type<MembershipId>(),
    subscriberWallet: text('subscriber_wallet').notNull(),
    /** Of the customer, by whom each payment's access is counted; null: the subscriber's wallet. */
    customerRef: text('customer_ref'),
    email: text('email'),
    /** What the buyer was promised; each period's payment promises the same. */
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
    /** The start of the first period that was collected; all others follow it by whole periods. Null before it. */
    startedAt: instant('started_at'),
    /** The period that was collected last. */
    periodStartsAt: instant('period_starts_at'),
    periodEndsAt: instant('period_ends_at'),
    /** The end of the last period that was paid. */
    paidThrough: instant('paid_through'),
    /** Attempts at the period that is due, all without success. */
    failures: integer('failures').notNull().default(0),
    lastCollection: json<LastCollection>('last_collection'),
    /** When the chain was first seen without the buyer's further consent, and from when on that is so. */
    cancelledAt: instant('cancelled_at'),
    cancelEffectiveAt: instant('cancel_effective_at'),
    /** When the merchant stopped it: nothing is collected any more, whatever the chain allows. */
    stoppedAt: instant('stopped_at'),
    /** When a period is collected, or tried again; null: nothing is. */
    nextAttemptAt: instant('next_attempt_at'),
    /** When the sweep takes the collection: at `nextAttemptAt`, and again some minutes after each time it was taken. */
    collectAt: instant('collect_at'),
    /** When the chain is looked at next, whatever is collected; null: never again. */
    nextLookAt: instant('next_look_at'),
    /** Wall clock of the last chain read that a GET asked for; null: none yet. */
    askedReadAt: instant('asked_read_at'),
    /** When it was over for good. */
    endedAt: instant('ended_at'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('subscription_authorizations_status', 'status', AUTHORIZATION.states),
    // What stands at an address on the chain is collected for one authorization alone.
    uniqueIndex('subscription_authorizations_standing')
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
    // Each class of work has an index of its own, so that none is read past another.
    index('subscription_collections_due').on(table.collectAt).where(sql`collect_at IS NOT NULL AND livemode = 1`),
    // No lease moves this one, so that a queue which stands still is seen while sweeps run.
    index('subscription_attempts_due').on(table.nextAttemptAt).where(sql`next_attempt_at IS NOT NULL AND livemode = 1`),
    index('subscription_checkouts_due').on(table.nextLookAt).where(sql`next_look_at IS NOT NULL AND livemode = 1 AND status = 'pending'`),
    index('subscription_looks_due').on(table.nextLookAt).where(sql`next_look_at IS NOT NULL AND livemode = 1 AND status <> 'pending'`),
    // And one by merchant, so that none waits behind the flood of another.
    index('subscription_collections_by_merchant').on(table.merchantId, table.collectAt).where(sql`collect_at IS NOT NULL AND livemode = 1`),
    index('subscription_checkouts_by_merchant')
      .on(table.merchantId, table.nextLookAt)
      .where(sql`next_look_at IS NOT NULL AND livemode = 1 AND status = 'pending'`),
    index('subscription_looks_by_merchant')
      .on(table.merchantId, table.nextLookAt)
      .where(sql`next_look_at IS NOT NULL AND livemode = 1 AND status <> 'pending'`),
    index('sandbox_collections_due').on(table.collectAt).where(sql`collect_at IS NOT NULL AND livemode = 0`),
    index('sandbox_subscription_authorizations_due').on(table.nextLookAt).where(sql`next_look_at IS NOT NULL AND livemode = 0`),
    index('subscription_authorizations_pullers').on(table.puller).where(sql`ended_at IS NULL AND livemode = 1`),
    index('subscription_authorizations_over').on(table.endedAt).where(sql`ended_at IS NOT NULL`),
  ],
);

export type AuthorizationRow = typeof subscriptionAuthorizations.$inferSelect;

/**
 * Which payment collects a period: one for each period of an authorization, for ever. Claimed before anything is sent; an attempt that the
 * chain refused gives its place to the next. They end with their authorization.
 */
export const subscriptionCollections = sqliteTable(
  'subscription_collections',
  {
    authorizationId: text('authorization_id').$type<AuthorizationId>().notNull(),
    /** By the chain. */
    periodStartsAt: instant('period_starts_at').notNull(),
    periodEndsAt: instant('period_ends_at').notNull(),
    paymentId: text('payment_id').$type<PaymentId>().notNull().unique(),
    /** When the chain showed that it collected the period; null: not yet. */
    collectedAt: instant('collected_at'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.authorizationId, table.periodStartsAt] })],
);

export type CollectionRow = typeof subscriptionCollections.$inferSelect;
