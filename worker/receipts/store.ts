import { and, asc, desc, eq, isNull, sql } from 'drizzle-orm';
import type { Ctx, Db } from '../context.ts';
import { raise } from '../core/errors.ts';
import type { AccountId, ProductId, ReceiptId } from '../core/ids.ts';
import { receipts } from '../db/commerce.ts';
import { vetoIf, type Write } from '../db/commit.ts';
import { countTo, type PageRequest } from '../db/page.ts';
import { txClaims } from '../db/tx-claims.ts';

export type Receipt = typeof receipts.$inferSelect;

export async function getReceipt(db: Db, merchantId: AccountId, livemode: boolean, receiptId: ReceiptId): Promise<Receipt> {
  const mine = and(eq(receipts.merchantId, merchantId), eq(receipts.livemode, livemode), eq(receipts.id, receiptId));
  return (await db.select().from(receipts).where(mine).get()) ?? raise('not_found');
}

/** Of any merchant: a receipt proves itself to whoever holds its id. */
export async function getPublicReceipt(db: Db, receiptId: ReceiptId): Promise<Receipt> {
  return (await db.select().from(receipts).where(eq(receipts.id, receiptId)).get()) ?? raise('not_found');
}

/** With what became of its transaction, whatever that paid: for verification. */
export async function getReceiptWithFate(db: Db, receiptId: ReceiptId): Promise<{ receipt: Receipt; isOrphaned: boolean }> {
  const found = await db
    .select({ receipt: receipts, droppedAt: txClaims.droppedAt })
    .from(receipts)
    .leftJoin(txClaims, and(eq(txClaims.txSignature, receipts.txSignature), eq(txClaims.livemode, receipts.livemode)))
    .where(eq(receipts.id, receiptId))
    .get();
  return found ? { receipt: found.receipt, isOrphaned: found.droppedAt !== null } : raise('not_found');
}

export interface ReceiptFilter {
  wallet?: string;
  productId?: string;
  /** Searched for inside signature, receipt id and product name, whatever the case. */
  q?: string;
}

export async function listReceipts(db: Db, merchantId: AccountId, livemode: boolean, filter: ReceiptFilter, page: PageRequest) {
  const equal = (column: typeof receipts.payer | typeof receipts.productId, value: string | undefined) =>
    value === undefined ? undefined : eq(column, value as ProductId);
  // instr, not LIKE: a pattern longer than 50 bytes fails there, and % and _ would mean something.
  const contains = (words: string) => sql`(instr(${receipts.searchText}, ${words.toLowerCase()}) > 0)`;
  const mine = and(
    eq(receipts.merchantId, merchantId),
    eq(receipts.livemode, livemode),
    equal(receipts.payer, filter.wallet),
    equal(receipts.productId, filter.productId),
    filter.q === undefined || filter.q === '' ? undefined : contains(filter.q),
  );
  const rows = db
    .select()
    .from(receipts)
    .where(mine)
    .orderBy(desc(receipts.createdAt), desc(receipts.id))
    .limit(page.perPage)
    .offset(page.offset);
  const [items, [count]] = await db.batch([rows, countTo(db, receipts, mine)]);
  return { items, total: count?.total ?? 0 };
}

export const listUnlinked = (db: Db, limit: number) =>
  db
    .select({ id: receipts.id, sha256: receipts.sha256, merchantId: receipts.merchantId, livemode: receipts.livemode })
    .from(receipts)
    .where(isNull(receipts.linkSeq))
    .orderBy(asc(receipts.createdAt), asc(receipts.id))
    .limit(limit);

/** The newest link of each of these merchants' chains that has one, with the hash of its receipt. */
export async function listChainEnds(db: Db, chains: Pick<Receipt, 'merchantId' | 'livemode'>[]) {
  const named = chains.map(({ merchantId, livemode }) => ({ merchantId, livemode }));
  const ends = await db
    .select({
      merchantId: receipts.merchantId,
      livemode: receipts.livemode,
      seq: receipts.linkSeq,
      prevHash: receipts.linkPrevHash,
      sha256: receipts.sha256,
    })
    .from(receipts)
    .where(
      sql`receipts.rowid IN (SELECT (SELECT r.rowid FROM receipts r WHERE r.merchant_id = j.value ->> 'merchantId'
        AND r.livemode = j.value ->> 'livemode' AND r.link_seq IS NOT NULL ORDER BY r.link_seq DESC LIMIT 1)
        FROM json_each(${JSON.stringify(named)}) j)`,
    );
  return ends.map((end) => ({ ...end, seq: end.seq!, prevHash: end.prevHash! }));
}

/** Statements, not effects: many links in one update; all of them, or none where another sweep took a place. */
export const linkReceipts = (ctx: Ctx, links: { receiptId: string; seq: number; prevHash: string }[]): Write[] => [
  ctx.db
    .update(receipts)
    .set({ linkSeq: sql`j.value ->> 'seq'`, linkPrevHash: sql`j.value ->> 'prevHash'` })
    .from(sql`json_each(${JSON.stringify(links)}) j`)
    .where(sql`${receipts.id} = j.value ->> 'receiptId' AND ${receipts.linkSeq} IS NULL`),
  vetoIf(ctx, sql`changes() <> ${links.length}`),
];

export const findReceiptOfTransaction = (db: Db, merchantId: AccountId, livemode: boolean, txSignature: string) =>
  db
    .select()
    .from(receipts)
    .where(and(eq(receipts.merchantId, merchantId), eq(receipts.livemode, livemode), eq(receipts.txSignature, txSignature)))
    .get();

export const insertReceipt = (db: Db, receipt: Receipt): Write => db.insert(receipts).values(receipt);
