import { and, eq, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { AccountId, PaymentId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { insertClaim } from '#platform/db/fate.ts';
import { newestFirst, type PageRequest, readPage, rowsOf } from '#platform/db/page.ts';
import { paymentSessions } from '#platform/db/tables/access.ts';
import { paymentCandidates } from '#platform/db/tables/candidates.ts';
import { memberships, type Payment, payments, products, unmatchedPayments } from '#platform/db/tables/commerce.ts';
import { accounts } from '#platform/db/tables/identity.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import type { PaymentStatus } from '#rules/states.ts';
import { findEnded } from './watch/ended.store.ts';

/** Of any merchant: the id itself is the capability. One that ended long ago is told from what is kept of it. (contract D7) */
export const findPayment = async (db: Db, paymentId: PaymentId): Promise<Payment | undefined> =>
  (await db.select().from(payments).where(eq(payments.id, paymentId)).get()) ?? findEnded(db, paymentId);

export async function getPayment(db: Db, paymentId: PaymentId): Promise<Payment> {
  return (await findPayment(db, paymentId)) ?? raise('not_found');
}

/** A payment, and of whom its product wants to know by now who buys. */
export const findWithProduct = (db: Db, paymentId: PaymentId) =>
  db
    .select({ payment: payments, requiresIdentity: products.requiresIdentity })
    .from(payments)
    .innerJoin(products, eq(products.id, payments.productId))
    .where(eq(payments.id, paymentId))
    .get();

/** The session that owns the nonce of a memo, of any merchant. */
export const findSession = (db: Db, nonce: string) =>
  db
    .select()
    .from(payments)
    .where(and(eq(payments.nonce, nonce), sql`recovers_payment_id IS NULL AND reference <> ''`))
    .get();

/**
 * All a confirmation has to know, in one round trip: the payment with its seller and product, what became of the transaction before and
 * who brought it, the memberships its possible payers hold for this product, and how often less than the price came in.
 */
export async function loadConfirmation(db: Db, paymentId: PaymentId, txSignature: string, payers: string[]) {
  // One list of keys, so that the search uses all four columns of their index. A key of NULL matches nothing.
  const ofWallet = (wallet: unknown) => sql`CASE WHEN ${payments.customerRef} IS NULL THEN 'wallet:' || ${wallet} END`;
  const keys = [sql`'ref:' || ${payments.customerRef}`, ofWallet(payments.expectedWallet), ...payers.map(ofWallet)];
  const samePlace = and(
    eq(memberships.merchantId, payments.merchantId),
    eq(memberships.livemode, payments.livemode),
    eq(memberships.productId, payments.productId),
    sql`${memberships.customerKey} IN (${sql.join(keys, sql`, `)})`,
  );
  const [[found], [claim], [unmatched], held, [recovered], [candidate]] = await db.batch([
    db
      .select({ payment: payments, merchantName: accounts.displayName, requiresIdentity: products.requiresIdentity })
      .from(payments)
      .innerJoin(accounts, eq(accounts.id, payments.merchantId))
      .innerJoin(products, eq(products.id, payments.productId))
      .where(eq(payments.id, paymentId)),
    db
      .select({ subjectId: txClaims.subjectId })
      .from(txClaims)
      .innerJoin(payments, and(eq(payments.id, paymentId), eq(payments.livemode, txClaims.livemode)))
      .where(eq(txClaims.txSignature, txSignature)),
    db.select().from(unmatchedPayments).where(eq(unmatchedPayments.txSignature, txSignature)),
    db.select({ membership: memberships }).from(payments).innerJoin(memberships, samePlace).where(eq(payments.id, paymentId)),
    db.select({ times: sql<number>`count(*)` }).from(payments).where(eq(payments.recoversPaymentId, paymentId)),
    db
      .select({ origin: paymentCandidates.origin, sentAt: paymentCandidates.sentAt })
      .from(paymentCandidates)
      .where(and(eq(paymentCandidates.paymentId, paymentId), eq(paymentCandidates.txSignature, txSignature))),
  ]);
  if (!found) return null;
  const timesRecovered = recovered?.times ?? 0;
  return {
    ...found,
    claim: claim ?? null,
    unmatched: unmatched ?? null,
    timesRecovered,
    /** The service itself sent this transaction, or found it on the chain. */
    isOurs: candidate !== undefined && (candidate.origin === 'found' || candidate.sentAt !== null),
    memberships: held.map(({ membership }) => membership),
  };
}

export const insertPayment = (db: Db, payment: Payment): Write => db.insert(payments).values(payment);

/** A statement, not an effect: guarded by the event of the same version in the same batch. */
export const updatePayment = (db: Db, before: Payment, after: Payment): Write =>
  db
    .update(payments)
    .set(after)
    .where(and(eq(payments.id, before.id), eq(payments.version, before.version)));

/** Statements, not effects: many made final at once, each under the event of its next version in the same batch. */
export const finalizePayments = ({ db, now }: Shard, before: Pick<Payment, 'id' | 'version'>[]): Write =>
  db
    .update(payments)
    .set({ finalizedAt: now, updatedAt: now, version: sql`${payments.version} + 1` })
    .from(sql`json_each(${JSON.stringify(before.map(({ id, version }) => ({ id, version })))}) j`)
    .where(sql`${payments.id} = j.value ->> 'id' AND ${payments.version} = j.value ->> 'version'`);

export const listPaymentsById = (db: Db, paymentIds: PaymentId[]): Promise<Payment[]> =>
  db
    .select()
    .from(payments)
    .where(sql`${payments.id} IN (SELECT value FROM json_each(${JSON.stringify(paymentIds)}))`);

/** A statement, not an effect: the transaction pays this payment and nothing else, and is watched until it is final. */
export const claimTransaction = (
  { db, now }: Shard,
  payment: Payment,
  { txSignature, slot }: { txSignature: string; slot: number },
): Write => insertClaim(db, { txSignature, livemode: payment.livemode, kind: 'checkout', subjectId: payment.id, createdAt: now }, slot);

export interface PaymentFilter {
  status?: PaymentStatus;
  productId?: string;
  customerRef?: string;
  wallet?: string;
}

/** The merchant's payments, newest first. */
export function listPayments(db: Db, merchantId: AccountId, livemode: boolean, filter: PaymentFilter, page: PageRequest) {
  const mine = rowsOf(payments, merchantId, livemode, [
    [payments.status, filter.status],
    [payments.productId, filter.productId],
    [payments.customerRef, filter.customerRef],
    [payments.payerWallet, filter.wallet],
  ]);
  return readPage(db, payments, mine, newestFirst(payments.createdAt), page);
}

/** A statement, not an effect: a session whose payment failed and was recovered afterwards is paid, unless another was begun since. */
export const holdRecovered = (db: Db, { id, recoversPaymentId, paymentSessionId }: Payment): Write[] =>
  paymentSessionId === null || recoversPaymentId === null
    ? []
    : [
        db
          .update(paymentSessions)
          .set({ paymentId: id, version: sql`${paymentSessions.version} + 1` })
          .where(and(eq(paymentSessions.id, paymentSessionId), eq(paymentSessions.paymentId, recoversPaymentId))),
      ];
