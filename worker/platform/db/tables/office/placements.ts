import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, CommunityId, MembershipId, PaymentId } from '#core/ids.ts';
import type { PlacementWork, PlatformGrant } from '#rules/members/placement.ts';
import type { IdentityProvider } from '#rules/payment-terms.ts';
import { PLACEMENT, type PlacementStatus } from '#rules/states.ts';
import { flag, instant, json, oneOf, uuidBytes } from '../columns.ts';

/**
 * Chat or guild access of a member, and the outbox of the platform's queue: one row per membership with delivery, inserted by the purchase
 * and deleted with the membership or the account.
 */
export const placements = sqliteTable(
  'placements',
  {
    membershipId: uuidBytes('membership_id').$type<MembershipId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    customerRef: text('customer_ref'),
    provider: text('provider').$type<IdentityProvider>().notNull(),
    status: text('status').$type<PlacementStatus>().notNull(),
    work: text('work').$type<PlacementWork>().notNull(),
    attempts: integer('attempts').notNull(),
    grant: json<PlatformGrant>('grant'),
    /** Key of one person's access to one chat, equal across memberships. */
    grantKey: text('grant_key'),
    inviteUrl: text('invite_url'),
    lastError: text('last_error'),
    deliveredAt: instant('delivered_at'),
    paymentId: uuidBytes('payment_id').$type<PaymentId>().notNull(),
    nextAttemptAt: instant('next_attempt_at'),
    leaseUntil: instant('lease_until').notNull(),
    createdAt: instant('created_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('placements_status', 'status', PLACEMENT.states),
    index('placements_due').on(table.provider, table.nextAttemptAt).where(sql`next_attempt_at IS NOT NULL AND livemode = 1`),
    index('sandbox_placements_due').on(table.nextAttemptAt).where(sql`next_attempt_at IS NOT NULL AND livemode = 0`),
    index('placements_by_grant').on(table.grantKey).where(sql`grant_key IS NOT NULL`),
    index('placements_by_merchant').on(table.merchantId, table.livemode, table.customerRef),
  ],
);

/**
 * Owner account of a chat or guild, in the first database only, because one bot serves the merchants of all databases. A new row has a code
 * that the chat's administrator posts within ten minutes, otherwise the row expires. A claimed row lasts until the merchant releases the
 * chat or the account is deleted.
 */
export const communities = sqliteTable(
  'communities',
  {
    id: uuidBytes('id').$type<CommunityId>().primaryKey(),
    accountId: uuidBytes('account_id').$type<AccountId>().notNull(),
    provider: text('provider').$type<IdentityProvider>().notNull(),
    codeHash: text('code_hash').notNull().unique(),
    nativeId: text('native_id'),
    expiresAt: instant('expires_at'),
    claimedAt: instant('claimed_at'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('communities_by_native_id').on(table.provider, table.nativeId).where(sql`claimed_at IS NOT NULL`),
    index('communities_by_account').on(table.accountId, table.createdAt),
    index('communities_ending').on(table.expiresAt).where(sql`expires_at IS NOT NULL`),
  ],
);

/** Last check of each platform, cached so that many callers cause few platform calls. */
export const platformChecks = sqliteTable('platform_checks', {
  provider: text('provider').$type<IdentityProvider>().primaryKey(),
  ok: flag('ok').notNull(),
  detail: text('detail').notNull(),
  botUsername: text('bot_username'),
  latencyMs: integer('latency_ms').notNull(),
  checkedAt: instant('checked_at').notNull(),
});

export type Placement = typeof placements.$inferSelect;

export type Community = typeof communities.$inferSelect;

export type PlatformCheck = typeof platformChecks.$inferSelect;
