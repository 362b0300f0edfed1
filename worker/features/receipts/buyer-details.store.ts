import { and, eq, inArray, type SQL, sql } from 'drizzle-orm';
import { hex } from '#core/encoding.ts';
import type { PaymentId } from '#core/ids.ts';
import type { Db, Scope } from '#platform/context.ts';
import { amongIds, fieldOf, idField, jsonRows, setOf } from '#platform/db/among.ts';
import { abortUnlessChanged, type Write } from '#platform/db/commit.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { buyerDetails, receiptMetadata } from '#platform/db/tables/receipts.ts';

export type BuyerDetails = typeof buyerDetails.$inferSelect;

const isTheirs = ({ merchantId, livemode }: Scope, buyerKey: Uint8Array): SQL =>
  and(eq(buyerDetails.merchantId, merchantId), eq(buyerDetails.livemode, livemode), eq(buyerDetails.buyerKey, buyerKey))!;

export const findDetails = async (scope: Scope, buyerKey: Uint8Array): Promise<BuyerDetails | null> =>
  (await scope.db.select().from(buyerDetails).where(isTheirs(scope, buyerKey)).get()) ?? null;

/** Replaces the details of a buyer. Aborts the batch if another call was faster. No row is updated, so that a move needs no trigger for it. */
export function storeDetails(
  ctx: Scope,
  buyerKey: Uint8Array,
  before: BuyerDetails | null,
  after: Partial<Pick<BuyerDetails, 'billTo' | 'erasureAskedAt'>>,
): Write[] {
  const { db, merchantId, livemode, now: updatedAt } = ctx;
  const row = before ?? { merchantId, livemode, buyerKey, billTo: null, erasureAskedAt: null, version: 0 };
  const insertion = db.insert(buyerDetails).values({ ...row, ...after, updatedAt, version: row.version + 1 });
  if (!before) return [insertion];
  const isAsRead = and(isTheirs(ctx, buyerKey), eq(buyerDetails.version, before.version));
  return [db.delete(buyerDetails).where(isAsRead), abortUnlessChanged(ctx), insertion];
}

/** Merchant in one mode. */
interface Owner {
  merchantId: string;
  livemode: boolean;
}

/** Lists those merchants of whom a buyer has details. */
export async function listDetailed(db: Db, owners: readonly Owner[]): Promise<Owner[]> {
  if (owners.length === 0) return [];
  const rows = await db
    .select({ merchantId: sql<string>`j.value ->> 'merchantId'`, livemode: sql<number>`j.value ->> 'livemode'` })
    .from(jsonRows(owners))
    .where(
      sql`EXISTS (SELECT 1 FROM buyer_details d WHERE d.merchant_id = ${idField('merchantId')} AND d.livemode = ${fieldOf('livemode')}
        AND d.bill_to IS NOT NULL)`,
    );
  return rows.map(({ merchantId, livemode }) => ({ merchantId, livemode: Boolean(livemode) }));
}

/** Lists who bought in these payments, with their receipts. */
export const listBuyersOf = (db: Db, paymentIds: readonly PaymentId[]) =>
  db
    .select({
      ...{ merchantId: payments.merchantId, livemode: payments.livemode, receiptId: payments.receiptId },
      ...{ payerWallet: payments.payerWallet, customerRef: payments.customerRef, customerWallet: payments.customerWallet },
      email: payments.email,
    })
    .from(payments)
    .where(amongIds(payments.id, paymentIds));

/** Lists details by key, the newest last. */
export const listDetails = (db: Db, merchantIds: readonly string[], keys: readonly Uint8Array[]) =>
  db
    .select()
    .from(buyerDetails)
    .where(
      and(
        amongIds(buyerDetails.merchantId, merchantIds),
        inArray(buyerDetails.livemode, [true, false]),
        sql`${buyerDetails.buyerKey} IN (SELECT unhex(value) FROM ${setOf(keys.map((key) => hex.encode(key)))})`,
        sql`bill_to IS NOT NULL`,
      ),
    )
    .orderBy(buyerDetails.updatedAt);

interface Billed {
  receiptId: string;
  buyerKey: Uint8Array;
}

/** Plans the billed party of receipts, from details that are stored when the batch runs. What a receipt has already stays. */
export const billReceipts = (db: Db, billed: readonly Billed[], at: number): Write =>
  db.insert(receiptMetadata).select(sql`SELECT r.id, r.merchant_id, r.livemode, r.rowid, r.product_name,
      json_object('bill_to', json(d.bill_to)), d.buyer_key, 1, ${at}
    FROM ${jsonRows(billed.map(({ receiptId, buyerKey }) => ({ receiptId, buyerKey: hex.encode(buyerKey) })))}
    JOIN receipts r ON r.id = ${idField('receiptId')}
    JOIN buyer_details d ON d.merchant_id = r.merchant_id AND d.livemode = r.livemode AND d.buyer_key = unhex(${fieldOf('buyerKey')})
    WHERE d.bill_to IS NOT NULL
    ON CONFLICT (receipt_id) DO UPDATE SET metadata = json_set(metadata, '$.bill_to', json(excluded.metadata -> '$.bill_to')),
      billed_by = excluded.billed_by, updated_at = excluded.updated_at, version = version + 1
    WHERE metadata -> '$.bill_to' IS NULL`) as unknown as Write;
