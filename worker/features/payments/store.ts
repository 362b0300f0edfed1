import { and, eq, getTableColumns, isNull, type SQL, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { PaymentId } from '#core/ids.ts';
import { rowsOnChain } from '#platform/chain/clock-filter.store.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import { amongIds, boundId, idOfText, jsonRows } from '#platform/db/among.ts';
import { type ArchivedPayment, paymentOf, readLines, type StoredPayment } from '#platform/db/archive.ts';
import { abortIfExists, abortUnlessChanged, type Write } from '#platform/db/commit.ts';
import { claimKeyOf, insertClaim } from '#platform/db/outcome.ts';
import { type Listed, listPage, newestFirst, type PageRequest, rowsOf } from '#platform/db/page.ts';
import { archivedPayments } from '#platform/db/tables/archives.ts';
import { endedSessions, paymentSessions } from '#platform/db/tables/checkout.ts';
import { type Payment, payments, type Unmatched, unmatchedPayments } from '#platform/db/tables/payments.ts';
import { products } from '#platform/db/tables/products.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import { casUpdate, casUpdateMany, stepRows } from '#platform/db/versioned.ts';
import { UNMATCHED, type UnmatchedStatus } from '#rules/states.ts';
import { findEnded } from './watch/ended-sessions.store.ts';

/**
 * Finds a payment of any merchant, because the id is the capability. Searches rows, then ended sessions, then the archive: the archive
 * comes last, because a payment may move there meanwhile.
 */
export const findPayment = async (ctx: Shard, paymentId: PaymentId): Promise<Payment | undefined> =>
  (await ctx.db.select().from(payments).where(eq(payments.id, paymentId)).get()) ??
  (await findEnded(ctx, paymentId)) ??
  findArchived(ctx, eq(archivedPayments.id, paymentId));

export async function getPayment(ctx: Shard, paymentId: PaymentId): Promise<Payment> {
  return (await findPayment(ctx, paymentId)) ?? raise('not_found');
}

export async function findWithProduct(ctx: Shard, paymentId: PaymentId) {
  const found = await ctx.db
    .select({ payment: payments, requiresIdentity: products.requiresIdentity })
    .from(payments)
    .innerJoin(products, eq(products.id, payments.productId))
    .where(eq(payments.id, paymentId))
    .get();
  if (found) return found;
  const payment = await findArchived(ctx, eq(archivedPayments.id, paymentId));
  if (!payment) return undefined;
  const isProduct = eq(products.id, payment.productId);
  const product = await ctx.db.select({ requiresIdentity: products.requiresIdentity }).from(products).where(isProduct).get();
  return product && { payment, ...product };
}

export const findSession = async (ctx: Shard, nonce: string): Promise<Payment | undefined> =>
  (await ctx.db
    .select()
    .from(payments)
    .where(and(rowsOnChain(ctx, payments), eq(payments.nonce, nonce), sql`recovers_payment_id IS NULL AND reference <> ''`))
    .get()) ?? findArchived(ctx, and(rowsOnChain(ctx, archivedPayments), eq(archivedPayments.nonce, nonce))!);

export const insertPayment = (db: Db, payment: Payment): Write => db.insert(payments).values(payment);

/** Updates a payment. Aborts the batch if the payment was changed or archived meanwhile. */
export const updatePayment = (ctx: Shard, before: Payment, after: Partial<Payment>): Write[] => casUpdate(ctx, payments, before, after);

export const finalizePayments = (ctx: Shard, before: Pick<Payment, 'id' | 'version'>[]): Write[] =>
  casUpdateMany(ctx, payments, before, { finalizedAt: ctx.now, updatedAt: ctx.now });

export const listPaymentsById = (db: Db, paymentIds: PaymentId[]): Promise<Payment[]> =>
  db.select().from(payments).where(amongIds(payments.id, paymentIds));

export const claimTransaction = (
  { db, now }: Shard,
  payment: Payment,
  { txSignature, slot }: { txSignature: string; slot: number },
): Write => insertClaim(db, { txSignature, livemode: payment.livemode, kind: 'checkout', subjectId: payment.id }, { now, slot });

/** Marks a session as paid by its recovered payment, unless another payment began since. */
export const holdRecovered = (db: Db, { id, recoversPaymentId, paymentSessionId }: Payment): Write[] =>
  paymentSessionId === null || recoversPaymentId === null
    ? []
    : [
        stepRows(
          db,
          paymentSessions,
          { paymentId: id },
          and(eq(paymentSessions.id, paymentSessionId), eq(paymentSessions.paymentId, recoversPaymentId)),
        ),
      ];

const isArchived = (row: StoredPayment | ArchivedPayment): row is ArchivedPayment => !('status' in row);

/** Loads payments in order, from rows or the archive. Throws 503 if the archive does not answer. */
export async function loadArchivedBodies(ctx: Shard, rows: readonly (StoredPayment | ArchivedPayment)[]): Promise<StoredPayment[]> {
  const lines = (await readLines(ctx, rows.filter(isArchived))).values();
  return rows.map((row) => (isArchived(row) ? { ...paymentOf(lines.next().value!), membershipId: row.membershipId } : row));
}

export async function findArchived(ctx: Shard, isIt: SQL): Promise<StoredPayment | undefined> {
  const row = await ctx.db.select().from(archivedPayments).where(isIt).limit(1).get();
  return row && (await loadArchivedBodies(ctx, [row]))[0];
}

/** Inserts unmatched money. Aborts the batch if the transaction has paid for something meanwhile, or the session was reduced to a stub. */
export const insertUnmatched = (ctx: Shard, unmatched: Unmatched): Write[] => [
  abortIfExists(ctx, txClaims, sql`tx_key = ${claimKeyOf(unmatched.txSignature)} AND livemode = ${unmatched.livemode}`),
  abortIfExists(ctx, endedSessions, sql`id = ${boundId(unmatched.paymentId)}`),
  ctx.db.insert(unmatchedPayments).values(unmatched),
];

/** Accepts unmatched money. The second write aborts the batch if another acceptance was faster, or the money is gone. */
export const acceptUnmatchedRow = (ctx: Shard, unmatched: Unmatched, recoveredPaymentId: PaymentId): Write[] => [
  ctx.db
    .update(unmatchedPayments)
    .set({ status: UNMATCHED.next(unmatched.status, 'accept'), recoveredPaymentId, nextCheckAt: null })
    .where(
      and(eq(unmatchedPayments.id, unmatched.id), eq(unmatchedPayments.status, unmatched.status), isNull(unmatchedPayments.droppedAt)),
    ),
  abortUnlessChanged(ctx),
];

export const closeUnmatched = (db: Db, txSignature: string, { id: paymentId, livemode }: Pick<Payment, 'id' | 'livemode'>): Write =>
  db
    .update(unmatchedPayments)
    .set({ status: UNMATCHED.next('open', 'accept'), recoveredPaymentId: paymentId, doubtedAt: null, droppedAt: null, nextCheckAt: null })
    .where(
      and(eq(unmatchedPayments.txSignature, txSignature), eq(unmatchedPayments.livemode, livemode), eq(unmatchedPayments.status, 'open')),
    );

/** Aborts the batch if the session was recovered before: only one late transaction is accepted automatically. */
export const abortIfRecovered = (ctx: Shard, { id }: Payment): Write =>
  abortIfExists(ctx, payments, sql`recovers_payment_id = ${boundId(id)}`);

/** Lists money that paid no session, newest first. */
export const listUnmatched = (scope: Scope, status: UnmatchedStatus, page: PageRequest): Promise<Listed<Unmatched>> =>
  listPage(
    scope.db,
    unmatchedPayments,
    rowsOf(unmatchedPayments, scope, [[unmatchedPayments.status, status]]),
    newestFirst(unmatchedPayments.createdAt),
    page,
  );

/** Limit shown per payment, the largest first, so that dust from strangers hides no full payment. */
const SHOWN_MAX = 10;

export const listUnmatchedOf = (db: Db, paymentIds: PaymentId[]) =>
  db
    .select(getTableColumns(unmatchedPayments))
    .from(jsonRows(paymentIds))
    .innerJoin(
      unmatchedPayments,
      // Amounts are integers without leading zeros, so the longer is the larger.
      sql`unmatched_payments.rowid IN (
        SELECT u.rowid FROM unmatched_payments u WHERE u.payment_id = ${idOfText(sql`j.value`)} AND u.dropped_at IS NULL
        ORDER BY length(u.amount) DESC, u.amount DESC LIMIT ${SHOWN_MAX})`,
    )
    .orderBy(unmatchedPayments.createdAt);
