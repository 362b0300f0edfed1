import { eq, type SQL, sql } from 'drizzle-orm';
import { utcDayOf } from '#core/days.ts';
import { DAY } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';
import { boundId } from '#platform/db/among.ts';
import { abortIf, type Write } from '#platform/db/commit.ts';
import { payments } from '#platform/db/tables/payments.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { settlements } from '#platform/db/tables/settlements.ts';

/** Time of a payment's claim, which decides its day. */
interface PayerDay {
  payerWallet: string;
  at: number;
}

/**
 * SQL sum of a payer's payments of one product by claims of one day: pending ones, and settled ones that the chain did not drop. A failed one
 * is in neither. The indexes bound the read by the payer's payments of that day.
 */
function paidInDay({ id, merchantId, livemode }: Product, { payerWallet, at }: PayerDay): SQL {
  const from = utcDayOf(at);
  const ofDay = sql`livemode = ${livemode ? 1 : 0} AND created_at >= ${from} AND created_at < ${from + DAY} AND product_id = ${boundId(id)}`;
  return sql`(coalesce((SELECT sum(CAST(amount AS INTEGER)) FROM settlements INDEXED BY settlements_by_payer
      WHERE ${eq(settlements.payerWallet, payerWallet)} AND ${ofDay} AND status <> 'settled' AND status = 'pending' AND purpose = 'access'), 0)
    + coalesce((SELECT sum(CAST(price_amount AS INTEGER)) FROM payments INDEXED BY payments_by_payer
      WHERE ${eq(payments.payerWallet, payerWallet)} AND ${ofDay} AND merchant_id = ${boundId(merchantId)} AND payer_wallet IS NOT NULL AND reference = '' AND recovers_payment_id IS NULL
        AND orphaned_at IS NULL AND terms ->> 'isMetered' IS NULL AND terms ->> 'authorizationId' IS NULL), 0))`;
}

export async function readPaidInDay({ db }: Shard, product: Product, day: PayerDay): Promise<bigint> {
  const { paid } = (await db.get<{ paid: string }>(sql`SELECT CAST(${paidInDay(product, day)} AS TEXT) AS paid`))!;
  return BigInt(paid);
}

/** Aborts the batch of a claim that would exceed the limit, whatever else was claimed since it was read. */
export const abortIfOverPayerLimit = (ctx: Shard, product: Product, day: PayerDay, amount: bigint, limit: bigint): Write =>
  abortIf(ctx, sql`${paidInDay(product, day)} + CAST(${amount.toString()} AS INTEGER) > CAST(${limit.toString()} AS INTEGER)`);
