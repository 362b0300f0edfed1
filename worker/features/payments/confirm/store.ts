import { and, eq, inArray, ne, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import type { PaymentId } from '#core/ids.ts';
import { loadNextAnchor, receiptChainEndQuery } from '#features/receipts/hash-chain.ts';
import type { Db, Shard } from '#platform/context.ts';
import { boundId } from '#platform/db/among.ts';
import type { StoredPayment } from '#platform/db/archive.ts';
import { claimKeyOf } from '#platform/db/outcome.ts';
import { rowsOf } from '#platform/db/page.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { archivedPayments } from '#platform/db/tables/archives.ts';
import { paymentCandidates } from '#platform/db/tables/candidates.ts';
import { memberships } from '#platform/db/tables/memberships.ts';
import { payments, unmatchedPayments } from '#platform/db/tables/payments.ts';
import { products } from '#platform/db/tables/products.ts';
import { subscriptionAuthorizations } from '#platform/db/tables/subscriptions/authorizations.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import { findArchived, listUnmatchedOf } from '../store.ts';

const rivals = alias(subscriptionAuthorizations, 'rivals');

/**
 * Loads everything `confirmPayment` needs in one D1 batch: payment, seller, product, end of the receipt chain, claim, unmatched money,
 * authorization, candidate origin, memberships of possible payers and the count of payments recovered from it. An archived payment takes three more round trips.
 */
export async function loadConfirmation(ctx: Shard, paymentId: PaymentId, txSignature: string, payers: string[]) {
  const { db } = ctx;
  // A single list of keys lets the search use all four columns of the index. A NULL key matches nothing.
  const ofWallet = (wallet: unknown) => sql`CASE WHEN ${payments.customerRef} IS NULL THEN 'wallet:' || ${wallet} END`;
  const keys = [sql`'ref:' || ${payments.customerRef}`, ofWallet(payments.expectedWallet), ...payers.map(ofWallet)];
  const sameCustomer = and(
    eq(memberships.merchantId, payments.merchantId),
    eq(memberships.livemode, payments.livemode),
    eq(memberships.productId, payments.productId),
    sql`${memberships.customerKey} IN (${sql.join(keys, sql`, `)})`,
  );
  const ofPayment = (column: string) => sql`(SELECT ${sql.raw(column)} FROM payments WHERE id = ${boundId(paymentId)})`;
  const facts = transactionFactQueries(db, paymentId, txSignature, ofPayment('livemode'));
  const chain = { merchantId: ofPayment('merchant_id'), livemode: ofPayment('livemode'), isPaidByOwner: false };
  const [[found], ofBuyer, receiptChainEnd, ...known] = await db.batch([
    db
      .select({ payment: payments, merchantName: accounts.displayName, requiresIdentity: products.requiresIdentity })
      .from(payments)
      .innerJoin(accounts, eq(accounts.id, payments.merchantId))
      .innerJoin(products, eq(products.id, payments.productId))
      .where(eq(payments.id, paymentId)),
    db.select({ membership: memberships }).from(payments).innerJoin(memberships, sameCustomer).where(eq(payments.id, paymentId)),
    receiptChainEndQuery(db, chain),
    ...facts,
  ]);
  return found
    ? {
        ...found,
        memberships: ofBuyer.map(({ membership }) => membership),
        anchor: await loadNextAnchor(ctx, { ...found.payment, isPaidByOwner: false }, receiptChainEnd),
        ...toTransactionFacts(known),
      }
    : loadArchived(ctx, paymentId, txSignature, payers);
}

async function loadArchived(ctx: Shard, paymentId: PaymentId, txSignature: string, payers: string[]) {
  const { db } = ctx;
  const payment = await findArchived(ctx, eq(archivedPayments.id, paymentId));
  if (!payment) return null;
  const [[seller], held, receiptChainEnd, ...known] = await db.batch([
    db
      .select({ merchantName: accounts.displayName, requiresIdentity: products.requiresIdentity })
      .from(products)
      .innerJoin(accounts, eq(accounts.id, products.merchantId))
      .where(eq(products.id, payment.productId)),
    db
      .select()
      .from(memberships)
      .where(
        and(
          rowsOf(memberships, payment, [[memberships.productId, payment.productId]]),
          inArray(memberships.customerKey, keysOf(payment, payers)),
        ),
      ),
    receiptChainEndQuery(db, { ...payment, isPaidByOwner: false }),
    ...transactionFactQueries(db, paymentId, txSignature, sql`${payment.livemode ? 1 : 0}`),
  ]);
  const anchor = await loadNextAnchor(ctx, { ...payment, isPaidByOwner: false }, receiptChainEnd);
  return seller ? { payment, ...seller, memberships: held, anchor, ...toTransactionFacts(known) } : null;
}

const keysOf = ({ customerRef, expectedWallet }: StoredPayment, payers: string[]): string[] =>
  customerRef === null
    ? [expectedWallet, ...payers].flatMap((wallet) => (wallet === null ? [] : `wallet:${wallet}`))
    : [`ref:${customerRef}`];

const transactionFactQueries = (db: Db, paymentId: PaymentId, txSignature: string, livemode: SQL) =>
  [
    db
      .select({ subjectId: txClaims.subjectId })
      .from(txClaims)
      .where(and(eq(txClaims.txKey, claimKeyOf(txSignature)), sql`${txClaims.livemode} = ${livemode}`)),
    db
      .select()
      .from(unmatchedPayments)
      .where(and(eq(unmatchedPayments.txSignature, txSignature), sql`${unmatchedPayments.livemode} = ${livemode}`)),
    db.select().from(subscriptionAuthorizations).where(eq(subscriptionAuthorizations.paymentId, paymentId)),
    db
      .select({ rival: rivals })
      .from(subscriptionAuthorizations)
      .innerJoin(
        rivals,
        and(
          eq(rivals.subscriptionAddress, subscriptionAuthorizations.subscriptionAddress),
          eq(rivals.livemode, subscriptionAuthorizations.livemode),
          sql`(${rivals.livemode} = 1 OR ${rivals.merchantId} = ${subscriptionAuthorizations.merchantId})`,
          ne(rivals.id, subscriptionAuthorizations.id),
          sql`${rivals.status} IN ('active', 'past_due', 'cancel_requested', 'requires_reapproval')`,
        ),
      )
      .where(eq(subscriptionAuthorizations.paymentId, paymentId)),
    db.select({ times: sql<number>`count(*)` }).from(payments).where(eq(payments.recoversPaymentId, paymentId)),
    db
      .select({ origin: paymentCandidates.origin, sentAt: paymentCandidates.sentAt })
      .from(paymentCandidates)
      .where(and(eq(paymentCandidates.paymentId, paymentId), eq(paymentCandidates.txSignature, txSignature))),
    listUnmatchedOf(db, [paymentId]),
  ] as const;

type Answers<T extends readonly PromiseLike<unknown>[]> = { [K in keyof T]: Awaited<T[K]> };

const toTransactionFacts = ([[claim], [unmatched], [authorization], others, [recovered], [candidate], arrived]: Answers<
  ReturnType<typeof transactionFactQueries>
>) => ({
  claim: claim ?? null,
  unmatched: unmatched ?? null,
  /** Authorization that the payment begins, and earlier ones of the same on-chain account. */
  authorization: authorization ?? null,
  rivals: others.map(({ rival }) => rival),
  timesRecovered: recovered?.times ?? 0,
  isOurs: candidate !== undefined && (candidate.origin === 'found' || candidate.sentAt !== null),
  /** Money that missed the payment. */
  arrived,
});
