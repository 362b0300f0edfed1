import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, CommunityId, MembershipId, PaymentId } from '#core/ids.ts';
import type { PlacementWork, StandingPlace } from '#rules/members/placement.ts';
import type { IdentityProvider } from '#rules/payment-terms.ts';
import { PLACEMENT, type PlacementStatus } from '#rules/states.ts';
import { flag, instant, json, oneOf } from '../columns.ts';

/**
 * A member's place in a chat or guild: one row a membership that is delivered, made by its purchase, and the outbox of its platform's queue.
 * It lasts as the membership does, and goes with the account.
 */
export const placements = sqliteTable(
  'placements',
  {
    membershipId: text('membership_id').$type<MembershipId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    /** By it the rows of a sandbox session are known. */
    customerRef: text('customer_ref'),
    provider: text('provider').$type<IdentityProvider>().notNull(),
    status: text('status').$type<PlacementStatus>().notNull(),
    work: text('work').$type<PlacementWork>().notNull(),
    /** Attempts at this work. */
    attempts: integer('attempts').notNull(),
    standing: json<StandingPlace>('standing'),
    /** The same place of the same person, whichever membership gave it. */
    standingKey: text('standing_key'),
    inviteUrl: text('invite_url'),
    lastError: text('last_error'),
    deliveredAt: instant('delivered_at'),
    paymentId: text('payment_id').$type<PaymentId>().notNull(),
    nextAttemptAt: instant('next_attempt_at'),
    leaseUntil: instant('lease_until').notNull(),
    createdAt: instant('created_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('placements_status', 'status', PLACEMENT.states),
    index('placements_due').on(table.provider, table.nextAttemptAt).where(sql`next_attempt_at IS NOT NULL AND livemode = 1`),
    index('sandbox_placements_due').on(table.nextAttemptAt).where(sql`next_attempt_at IS NOT NULL AND livemode = 0`),
    index('placements_standing').on(table.standingKey).where(sql`standing_key IS NOT NULL`),
    index('placements_by_merchant').on(table.merchantId, table.livemode, table.customerRef),
  ],
);

/**
 * Which account a chat or guild belongs to, in the first database alone, because one bot serves the merchants of all. Begun by a merchant
 * with a code of ten minutes; without its administrator's word it goes with the code, else it lasts until it is given
 * back or the account is deleted.
 */
export const communities = sqliteTable(
  'communities',
  {
    id: text('id').$type<CommunityId>().primaryKey(),
    accountId: text('account_id').$type<AccountId>().notNull(),
    provider: text('provider').$type<IdentityProvider>().notNull(),
    /** SHA-256 of the code that its administrator posts. */
    codeHash: text('code_hash').notNull().unique(),
    /** The platform's own name for it; null until it was claimed. */
    nativeId: text('native_id'),
    /** null once it was claimed. */
    expiresAt: instant('expires_at'),
    claimedAt: instant('claimed_at'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('communities_by_native_id').on(table.provider, table.nativeId).where(sql`native_id IS NOT NULL`),
    index('communities_by_account').on(table.accountId, table.createdAt),
    index('communities_ending').on(table.expiresAt).where(sql`expires_at IS NOT NULL`),
  ],
);

/** What the last look at a platform showed: one row a platform, so that however many ask, the platform is asked seldom. */
export const platformLooks = sqliteTable('platform_looks', {
  provider: text('provider').$type<IdentityProvider>().primaryKey(),
  ok: flag('ok').notNull(),
  detail: text('detail').notNull(),
  botUsername: text('bot_username'),
  latencyMs: integer('latency_ms').notNull(),
  lookedAt: instant('looked_at').notNull(),
});

export type Placement = typeof placements.$inferSelect;

export type Community = typeof communities.$inferSelect;

export type PlatformLook = typeof platformLooks.$inferSelect;
