import { index, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import { DOMAIN, type DomainStatus } from '#rules/states.ts';
import { instant, oneOf } from '../columns.ts';

/** The domain a merchant says is theirs, one each. Ended by its merchant, and with the account. Times are of the wall clock. */
export const sellerDomains = sqliteTable(
  'seller_domains',
  {
    merchantId: text('merchant_id').$type<AccountId>().primaryKey(),
    /** A host in lower case, without a port. */
    domain: text('domain').notNull(),
    /** What its file has to hold, beside the account's id. */
    token: text('token').notNull(),
    status: text('status').$type<DomainStatus>().notNull(),
    checkedAt: instant('checked_at'),
    verifiedAt: instant('verified_at'),
    nextLookAt: instant('next_look_at').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [oneOf('seller_domains_status', 'status', DOMAIN.states), index('seller_domains_due').on(table.nextLookAt)],
);

export type SellerDomain = typeof sellerDomains.$inferSelect;
