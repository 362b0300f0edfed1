import { and, eq, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { SetupIntentId } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import type { Db, Shard } from '#platform/context.ts';
import { boundId } from '#platform/db/among.ts';
import { abortIf, abortIfExists, type Write } from '#platform/db/commit.ts';
import { claimKeyOf } from '#platform/db/outcome.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { setupIntents } from '#platform/db/tables/setups.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
export const isSignatureTaken = async (db: Db, { txSignature, livemode }: Settlement): Promise<boolean> =>
  (await db.$count(txClaims, and(eq(txClaims.txKey, claimKeyOf(txSignature)), eq(txClaims.livemode, livemode)))) > 0;
const spentSince = (setupIntentId: SetupIntentId, since: number) => sql`(SELECT coalesce(sum(CAST(amount AS INTEGER)), 0) FROM settlements
  WHERE setup_intent_id = ${boundId(setupIntentId)} AND status <> 'failed' AND created_at >= ${since})`;

const dayOf = (at: number): number => at - (at % DAY);

export async function getSpending(
  { db, now }: Shard,
  setupIntentId: SetupIntentId,
): Promise<{ perPayment: bigint | null; perDay: bigint | null; today: bigint }> {
  const { spendPerPayment: perPayment, spendPerDay: perDay } = setupIntents;
  const today = sql<number>`${spentSince(setupIntentId, dayOf(now))}`;
  const found = await db.select({ perPayment, perDay, today }).from(setupIntents).where(eq(setupIntents.id, setupIntentId)).get();
  return found ? { ...found, today: BigInt(found.today) } : raise('not_found');
}

/**
 * Aborts a payment claim if the account's setup ended before. Counterpart of `abortWhilePaid`: of a claim and an end at the same moment,
 * exactly one is stored.
 */
export const abortIfSetupEnded = (ctx: Shard, { merchantId }: Settlement): Write =>
  abortIfExists(ctx, setupIntents, sql`account_id = ${boundId(merchantId)} AND status = 'expired'`);

/** Aborts the batch if the claim would exceed the setup's current limits. A limit that is not set is NULL and aborts nothing. */
export function abortIfOverspending(ctx: Shard, { setupIntentId, amount, createdAt }: Settlement): Write[] {
  if (setupIntentId === null) return [];
  const units = amount.toString();
  const limit = (column: 'spend_per_payment' | 'spend_per_day') =>
    sql`(SELECT CAST(${sql.raw(column)} AS INTEGER) FROM setup_intents WHERE id = ${boundId(setupIntentId)})`;
  return [
    abortIf(ctx, sql`CAST(${units} AS INTEGER) > ${limit('spend_per_payment')}`),
    abortIf(ctx, sql`${spentSince(setupIntentId, dayOf(createdAt))} + CAST(${units} AS INTEGER) > ${limit('spend_per_day')}`),
  ];
}
