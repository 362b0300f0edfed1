import { eq, sql } from 'drizzle-orm';
import { hex } from '#core/encoding.ts';
import type { AccountId, CustomerId } from '#core/ids.ts';
import type { Ctx, Db, Shard } from '#platform/context.ts';
import { boundId, fieldOf, idField, jsonRows } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import { readEach } from '#platform/db/each-database.ts';
import { buyerSellers, customers } from '#platform/db/tables/entitlements.ts';
import { buyerKeyOf, granteeKeyOf, type OpenSubject, SELLERS_MAX } from '#rules/access/buyers.ts';

const selectSellers = (db: Db, key: Uint8Array) =>
  db.select({ merchantId: buyerSellers.merchantId }).from(buyerSellers).where(eq(buyerSellers.buyerKey, key)).limit(SELLERS_MAX);

/** Merchants from whom the subject bought, then those that gave it access. The databases that do not answer are left out. */
export async function listKnownSellers(ctx: Ctx, subject: OpenSubject): Promise<AccountId[]> {
  const { found } = await readEach(ctx, ({ db }) =>
    db.batch([selectSellers(db, buyerKeyOf(subject)), selectSellers(db, granteeKeyOf(subject))]),
  );
  const listed = [...found.flatMap(([paid]) => paid), ...found.flatMap(([, granting]) => granting)];
  return [...new Set(listed.map(({ merchantId }) => merchantId))].slice(0, SELLERS_MAX);
}

/** True if the customer, or the one that it was merged into, is under erasure or was erased at `since` or later. */
export async function isErasedSince({ db }: Pick<Shard, 'db'>, customerId: CustomerId, since: number): Promise<boolean> {
  const [erased] = await db
    .select({ one: sql`1` })
    .from(customers)
    .where(
      sql`(id = ${boundId(customerId)} OR id = (SELECT merged_into FROM customers WHERE id = ${boundId(customerId)}))
        AND (status <> 'active' OR (wallet_address IS NOT NULL AND erased_at >= ${since}))`,
    )
    .limit(1);
  return erased !== undefined;
}

/** Plans rows of subjects and their sellers. A known one is not written. */
export const insertSellers = (db: Db, found: readonly { buyerKey: Uint8Array; merchantId: AccountId }[]): Write =>
  db
    .insert(buyerSellers)
    .select(
      sql`SELECT unhex(${fieldOf('buyerKey')}), ${idField('merchantId')} FROM ${jsonRows(
        found.map(({ buyerKey, merchantId }) => ({ buyerKey: hex.encode(buyerKey), merchantId })),
      )} WHERE true ON CONFLICT DO NOTHING`,
    ) as unknown as Write;
