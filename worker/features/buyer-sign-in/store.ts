import { eq, sql } from 'drizzle-orm';
import { hex } from '#core/encoding.ts';
import type { AccountId, CustomerId } from '#core/ids.ts';
import type { Ctx, Db, Shard } from '#platform/context.ts';
import { boundId, fieldOf, idField, jsonRows } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import { readEach } from '#platform/db/each-database.ts';
import { buyerSellers, customers } from '#platform/db/tables/entitlements.ts';
import { buyerKeyOf, type OpenSubject, SELLERS_MAX } from '#rules/access/buyers.ts';

/** Merchants from whom the subject bought. The databases that do not answer are left out. */
export async function listKnownSellers(ctx: Ctx, subject: OpenSubject): Promise<AccountId[]> {
  const { found } = await readEach(ctx, ({ db }) =>
    db
      .select({ merchantId: buyerSellers.merchantId })
      .from(buyerSellers)
      .where(eq(buyerSellers.buyerKey, buyerKeyOf(subject)))
      .limit(SELLERS_MAX),
  );
  return [...new Set(found.flat().map(({ merchantId }) => merchantId))].slice(0, SELLERS_MAX);
}

/** True if the customer, or the one that it was merged into, is under erasure or was erased at `since` or later. */
export async function isErasedSince({ db }: Pick<Shard, 'db'>, customerId: CustomerId, since: number): Promise<boolean> {
  const [erased] = await db
    .select({ one: sql`1` })
    .from(customers)
    .where(
      sql`(id = ${boundId(customerId)} OR id = (SELECT merged_into FROM customers WHERE id = ${boundId(customerId)}))
        AND (status = 'erasing' OR erased_at >= ${since})`,
    )
    .limit(1);
  return erased !== undefined;
}

/** Plans rows of subjects and their sellers. A known one is not written. */
export const insertSellers = (db: Db, found: readonly { subject: OpenSubject; merchantId: AccountId }[]): Write =>
  db
    .insert(buyerSellers)
    .select(
      sql`SELECT unhex(${fieldOf('buyerKey')}), ${idField('merchantId')} FROM ${jsonRows(
        found.map(({ subject, merchantId }) => ({ buyerKey: hex.encode(buyerKeyOf(subject)), merchantId })),
      )} WHERE true ON CONFLICT DO NOTHING`,
    ) as unknown as Write;
