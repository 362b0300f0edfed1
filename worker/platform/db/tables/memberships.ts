import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, MembershipId, PaymentId, ProductId } from '#core/ids.ts';
import { MEMBERSHIP, type MembershipStatus } from '#rules/states.ts';
import { flag, instant, oneOf } from './columns.ts';

export const memberships = sqliteTable(
  'memberships',
  {
    id: text('id').$type<MembershipId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: text('product_id').$type<ProductId>().notNull(),
    /** `ref:<customer_ref>` or `wallet:<address>`; with the three above the lock that two first purchases need. */
    customerKey: text('customer_key').notNull(),
    walletAddress: text('wallet_address'),
    customerRef: text('customer_ref'),
    email: text('email'),
    status: text('status').$type<MembershipStatus>().notNull(),
    paidThrough: instant('paid_through'),
    graceUntil: instant('grace_until'),
    cancelledAt: instant('cancelled_at'),
    lastPaymentId: text('last_payment_id').$type<PaymentId>().notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('memberships_status', 'status', MEMBERSHIP.states),
    uniqueIndex('memberships_by_customer').on(table.merchantId, table.livemode, table.productId, table.customerKey),
    index('memberships_ending').on(table.paidThrough).where(sql`status = 'active' AND livemode = 1`),
    index('memberships_in_grace').on(table.graceUntil).where(sql`status = 'grace' AND livemode = 1`),
    index('sandbox_memberships_ending').on(table.paidThrough).where(sql`status = 'active' AND livemode = 0`),
    index('sandbox_memberships_in_grace').on(table.graceUntil).where(sql`status = 'grace' AND livemode = 0`),
    index('memberships_by_merchant').on(table.merchantId, table.livemode, table.createdAt),
    index('memberships_by_wallet').on(table.merchantId, table.livemode, table.walletAddress).where(sql`wallet_address IS NOT NULL`),
    index('memberships_by_ref').on(table.merchantId, table.livemode, table.customerRef).where(sql`customer_ref IS NOT NULL`),
    index('memberships_by_email').on(table.merchantId, table.livemode, table.email).where(sql`email IS NOT NULL`),
  ],
);

export type Membership = typeof memberships.$inferSelect;
