import { and, asc, gt, isNotNull, or, sql } from 'drizzle-orm';
import type { AccountId, ProductId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import { boundId } from '#platform/db/among.ts';
import { billingCustomers } from '#platform/db/tables/office/billing.ts';
import { persons } from '#platform/db/tables/office/people.ts';
import { signInIdentities } from '#platform/db/tables/office/sign-in.ts';
import { products } from '#platform/db/tables/products.ts';

export const listAccountKeys = (db: Db, after: string, max: number) =>
  db
    .select({ id: persons.id, emailKey: persons.emailKey, walletKey: persons.walletKey })
    .from(persons)
    .where(and(gt(persons.id, after as AccountId), or(isNotNull(persons.emailKey), isNotNull(persons.walletKey))))
    .orderBy(asc(persons.id))
    .limit(max);

/** `after`: account and provider, joined by a space. */
export const listIdentitiesAfter = (db: Db, after: string, max: number) => {
  const [accountId = '', provider = ''] = after.split(' ');
  return db
    .select()
    .from(signInIdentities)
    .where(sql`(account_id, provider) > (${boundId(accountId)}, ${provider})`)
    .orderBy(asc(signInIdentities.accountId), asc(signInIdentities.provider))
    .limit(max);
};

export const listSlugsAfter = (db: Db, after: string, max: number) =>
  db
    .select({ id: products.id, merchantId: products.merchantId, slug: products.slug })
    .from(products)
    .where(gt(products.id, after as ProductId))
    .orderBy(asc(products.id))
    .limit(max);

export const listCustomersAfter = (db: Db, after: string, max: number) =>
  db
    .select({ accountId: billingCustomers.accountId, customerId: billingCustomers.customerId })
    .from(billingCustomers)
    .where(gt(billingCustomers.accountId, after as AccountId))
    .orderBy(asc(billingCustomers.accountId))
    .limit(max);
