import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, AuthorizationId, MembershipId, PaymentId, ProductId } from '#core/ids.ts';
import type { DeliverTo } from '#rules/members/placement.ts';
import { MEMBERSHIP, type MembershipStatus, type PlacementStatus } from '#rules/states.ts';
import type { AuthorizationStatus } from '#rules/subscriptions/authorization.ts';
import { flag, instant, json, oneOf, uuidBytes } from './columns.ts';

export interface ShownDelivery {
  status: PlacementStatus;
  attempts: number;
  inviteUrl?: string;
  lastError?: string;
  deliveredAt?: number;
}

/** Memberships by customer and product. WITHOUT ROWID: ids have the order of creation. */
export const memberships = sqliteTable(
  'memberships',
  {
    id: uuidBytes('id').$type<MembershipId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: uuidBytes('product_id').$type<ProductId>().notNull(),
    /** `ref:<customer_ref>`, or else `wallet:<address>`. With the three columns above, the lock between two concurrent first purchases. */
    customerKey: text('customer_key').notNull(),
    walletAddress: text('wallet_address'),
    customerRef: text('customer_ref'),
    email: text('email'),
    /** True until a purchase that proves the reference: wallet and email may be a stranger's. */
    isClaimed: flag('is_claimed').notNull(),
    status: text('status').$type<MembershipStatus>().notNull(),
    paidThrough: instant('paid_through'),
    graceUntil: instant('grace_until'),
    /** Grace in hours that the last purchase granted. Later product edits do not shorten it. */
    graceHours: integer('grace_hours').notNull().default(72),
    cancelledAt: instant('cancelled_at'),
    cancelReason: text('cancel_reason').$type<'merged'>(),
    lastPaymentId: uuidBytes('last_payment_id').$type<PaymentId>().notNull(),
    deliverTo: json<DeliverTo>('deliver_to'),
    /** Written only with the placement's row, in one batch, without a version of the membership. */
    delivery: json<ShownDelivery>('delivery'),
    /** Native subscription that pays for the membership, and a copy of its state, written in the batch that changes the authorization. */
    authorizationId: text('authorization_id').$type<AuthorizationId>(),
    subscriptionStatus: text('subscription_status').$type<AuthorizationStatus>(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('memberships_status', 'status', MEMBERSHIP.states),
    uniqueIndex('memberships_by_customer').on(table.merchantId, table.livemode, table.customerKey, table.productId),
    index('memberships_ending').on(table.paidThrough).where(sql`status = 'active' AND livemode = 1`),
    index('memberships_in_grace').on(table.graceUntil).where(sql`status = 'grace' AND livemode = 1`),
    index('sandbox_memberships_ending').on(table.paidThrough).where(sql`status = 'active' AND livemode = 0`),
    index('sandbox_memberships_in_grace').on(table.graceUntil).where(sql`status = 'grace' AND livemode = 0`),
    // The end is read from this index alone, to count renewals.
    index('memberships_by_status').on(table.merchantId, table.livemode, table.status, table.createdAt, table.id, table.paidThrough),
    index('memberships_by_product').on(table.merchantId, table.livemode, table.productId, table.createdAt),
    // Customers without a reference are found by their key.
    index('memberships_by_wallet')
      .on(table.merchantId, table.livemode, table.walletAddress, table.createdAt)
      .where(sql`customer_ref IS NOT NULL`),
    index('memberships_by_ref').on(table.merchantId, table.livemode, table.customerRef).where(sql`customer_ref IS NOT NULL`),
    index('memberships_by_email').on(table.merchantId, table.livemode, table.email).where(sql`email IS NOT NULL`),
  ],
);

export type Membership = typeof memberships.$inferSelect;
