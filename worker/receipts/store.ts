import { and, eq } from 'drizzle-orm';
import type { Db } from '../context.ts';
import { raise } from '../core/errors.ts';
import type { AccountId, ReceiptId } from '../core/ids.ts';
import { receipts } from '../db/commerce.ts';
import type { Write } from '../db/commit.ts';

export type Receipt = typeof receipts.$inferSelect;

export async function getReceipt(db: Db, merchantId: AccountId, livemode: boolean, receiptId: ReceiptId): Promise<Receipt> {
  const mine = and(eq(receipts.merchantId, merchantId), eq(receipts.livemode, livemode), eq(receipts.id, receiptId));
  return (await db.select().from(receipts).where(mine).get()) ?? raise('not_found');
}

/** Of any merchant: a receipt proves itself to whoever holds its id. */
export async function getPublicReceipt(db: Db, receiptId: ReceiptId): Promise<Receipt> {
  return (await db.select().from(receipts).where(eq(receipts.id, receiptId)).get()) ?? raise('not_found');
}

export const findReceiptOfTransaction = (db: Db, merchantId: AccountId, livemode: boolean, txSignature: string) =>
  db
    .select()
    .from(receipts)
    .where(and(eq(receipts.merchantId, merchantId), eq(receipts.livemode, livemode), eq(receipts.txSignature, txSignature)))
    .get();

export const insertReceipt = (db: Db, receipt: Receipt): Write => db.insert(receipts).values(receipt);
