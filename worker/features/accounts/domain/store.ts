import { and, eq, lte, type SQL, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import { boundId } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import { type SellerDomain, sellerDomains } from '#platform/db/tables/office/domains.ts';

export const findDomain = (db: Db, merchantId: AccountId): Promise<SellerDomain | undefined> =>
  db.select().from(sellerDomains).where(eq(sellerDomains.merchantId, merchantId)).get();

export async function findVerifiedDomain(db: Db, merchantId: AccountId): Promise<string | null> {
  const found = await findDomain(db, merchantId);
  return found?.status === 'verified' ? found.domain : null;
}

export const saveDomain = (db: Db, domain: SellerDomain): Write =>
  db.insert(sellerDomains).values(domain).onConflictDoUpdate({ target: sellerDomains.merchantId, set: domain });

/** Stores a check's result unless the merchant has set another domain meanwhile. */
export async function saveDomainCheck(db: Db, { merchantId, token, ...reading }: SellerDomain): Promise<void> {
  const { status, checkedAt, verifiedAt, nextCheckAt } = reading;
  await db
    .update(sellerDomains)
    .set({ status, checkedAt, verifiedAt, nextCheckAt })
    .where(and(eq(sellerDomains.merchantId, merchantId), eq(sellerDomains.token, token)));
}

export const deleteDomain = (db: Db, merchantId: AccountId): Write =>
  db.delete(sellerDomains).where(eq(sellerDomains.merchantId, merchantId));

/** SQL condition: the merchant has no domain. */
export const isDomainGone = (merchantId: AccountId): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM seller_domains WHERE merchant_id = ${boundId(merchantId)})`;

/** Claims domains that are due and postpones their next check, so that no other sweep takes them and a failed one waits its turn. */
export const takeDueDomains = (db: Db, now: number, nextCheckAt: number, limit: number): Promise<SellerDomain[]> =>
  db
    .update(sellerDomains)
    .set({ nextCheckAt })
    .where(
      sql`merchant_id IN ${db
        .select({ id: sellerDomains.merchantId })
        .from(sellerDomains)
        .where(lte(sellerDomains.nextCheckAt, now))
        .orderBy(sellerDomains.nextCheckAt)
        .limit(limit)}`,
    )
    .returning();
