import { and, eq, lte, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import { type SellerDomain, sellerDomains } from '#platform/db/tables/office/domains.ts';

export const findDomain = (db: Db, merchantId: AccountId): Promise<SellerDomain | undefined> =>
  db.select().from(sellerDomains).where(eq(sellerDomains.merchantId, merchantId)).get();

/** The domain that is known to be the merchant's by now; null where there is none. */
export async function findVerifiedDomain(db: Db, merchantId: AccountId): Promise<string | null> {
  const found = await findDomain(db, merchantId);
  return found?.status === 'verified' ? found.domain : null;
}

export async function saveDomain(db: Db, domain: SellerDomain): Promise<void> {
  await db.insert(sellerDomains).values(domain).onConflictDoUpdate({ target: sellerDomains.merchantId, set: domain });
}

/** Stores what a look showed, unless the merchant has named another domain meanwhile. */
export async function saveDomainLook(db: Db, { merchantId, token, ...looked }: SellerDomain): Promise<void> {
  const { status, checkedAt, verifiedAt, nextLookAt } = looked;
  await db
    .update(sellerDomains)
    .set({ status, checkedAt, verifiedAt, nextLookAt })
    .where(and(eq(sellerDomains.merchantId, merchantId), eq(sellerDomains.token, token)));
}

export async function deleteDomain(db: Db, merchantId: AccountId): Promise<void> {
  await db.delete(sellerDomains).where(eq(sellerDomains.merchantId, merchantId));
}

/** Takes those whose look is due, and puts off their next one: no other sweep takes them, and one that fails waits for its turn. */
export const takeDueDomains = (db: Db, now: number, nextLookAt: number, limit: number): Promise<SellerDomain[]> =>
  db
    .update(sellerDomains)
    .set({ nextLookAt })
    .where(
      sql`merchant_id IN ${db
        .select({ id: sellerDomains.merchantId })
        .from(sellerDomains)
        .where(lte(sellerDomains.nextLookAt, now))
        .orderBy(sellerDomains.nextLookAt)
        .limit(limit)}`,
    )
    .returning();
