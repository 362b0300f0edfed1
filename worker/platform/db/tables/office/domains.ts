import { index, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import { DOMAIN, type DomainStatus } from '#rules/states.ts';
import { instant, oneOf, uuidBytes } from '../columns.ts';

/** Domain that a merchant claims, one each. Deleted by the merchant, and with the account. Times are wall clock. */
export const sellerDomains = sqliteTable(
  'seller_domains',
  {
    merchantId: uuidBytes('merchant_id').$type<AccountId>().primaryKey(),
    /** Lower-case host without a port. */
    domain: text('domain').notNull(),
    /** Required content of the verification file, together with the account id. */
    token: text('token').notNull(),
    status: text('status').$type<DomainStatus>().notNull(),
    checkedAt: instant('checked_at'),
    verifiedAt: instant('verified_at'),
    nextCheckAt: instant('next_check_at').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [oneOf('seller_domains_status', 'status', DOMAIN.states), index('seller_domains_due').on(table.nextCheckAt)],
);

export type SellerDomain = typeof sellerDomains.$inferSelect;
