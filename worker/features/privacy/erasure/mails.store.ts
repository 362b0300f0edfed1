import { and, eq, inArray, lte, sql } from 'drizzle-orm';
import type { AuthorizationId, MailId, ReceiptId } from '#core/ids.ts';
import { amongIds, setOf } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import { rowsOf } from '#platform/db/page.ts';
import type { Erasing } from '#platform/db/search/erasing.ts';
import { mails } from '#platform/db/tables/mail.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { buyerDetails } from '#platform/db/tables/receipts.ts';
import { subscriptionAuthorizations } from '#platform/db/tables/subscriptions/authorizations.ts';
import { isOwnPayment, ROWS_MAX } from './rows.store.ts';

/** Emails that go to the buyer of a receipt or subscription. */
const TO_BUYERS = [
  'buyer_receipt',
  'receipt_proof',
  'subscription_renews',
  'subscription_past_due',
  'subscription_reapprove',
  'subscription_cancelled',
  'subscription_stopped',
] as const;

/** Lists emails to a buyer's addresses. */
const listBuyersMails = ({ ctx, progress }: Erasing, addressKeys: readonly string[]) =>
  ctx.db
    .select({ id: mails.id, facts: mails.facts })
    .from(mails)
    .where(
      and(
        eq(mails.accountId, ctx.merchantId),
        sql`address_key IS NOT NULL AND ${amongIds(mails.addressKey, addressKeys)}`,
        inArray(mails.template, [...TO_BUYERS]),
        lte(mails.createdAt, progress.requestedAt),
        sql`facts <> '{}'`,
      ),
    )
    .limit(ROWS_MAX);

/** Lists those of these emails that are about a payment or subscription of the customer. */
async function listOwnMails(erasing: Erasing, addressKeys: readonly string[]): Promise<MailId[]> {
  const found = await listBuyersMails(erasing, addressKeys);
  if (found.length === 0) return [];
  const named = found.map(({ id, facts }) => ({ id, ...(facts as { receipt_id?: ReceiptId; authorization_id?: AuthorizationId }) }));
  const { ctx, customer } = erasing;
  const isSubscriber = sql`(${subscriptionAuthorizations.customerRef} IN ${setOf([...customer.refs.values()])}
    OR customer_ref IS NULL AND ${subscriptionAuthorizations.subscriberWallet} IN ${setOf([...customer.wallets])})`;
  const receiptIdsOf = named.flatMap(({ receipt_id }) => receipt_id ?? []);
  const authorizationIds = named.flatMap(({ authorization_id }) => authorization_id ?? []);
  const [receipts, subscriptions] = await ctx.db.batch([
    ctx.db
      .select({ id: payments.receiptId })
      .from(payments)
      .where(and(rowsOf(payments, ctx), amongIds(payments.receiptId, receiptIdsOf), isOwnPayment(erasing, payments))),
    ctx.db
      .select({ id: subscriptionAuthorizations.id })
      .from(subscriptionAuthorizations)
      .where(and(rowsOf(subscriptionAuthorizations, ctx), amongIds(subscriptionAuthorizations.id, authorizationIds), isSubscriber)),
  ]);
  const own = new Set<string | null>([...receipts, ...subscriptions].map(({ id }) => id));
  return named.flatMap(({ id, receipt_id, authorization_id }) =>
    own.has(receipt_id ?? null) || own.has(authorization_id ?? null) ? [id] : [],
  );
}

/** Plans the erasure of the customer's details for invoices, and of emails: those to the buyer are not sent, and none names the buyer. */
export async function planEmails(erasing: Erasing, buyerKeys: readonly Uint8Array[], addressKeys: readonly string[]): Promise<Write[]> {
  const { ctx, customer, until } = erasing;
  const { db, wallNow } = ctx;
  const own = await listOwnMails(erasing, addressKeys);
  return [
    db
      .delete(buyerDetails)
      .where(and(rowsOf(buyerDetails, ctx), inArray(buyerDetails.buyerKey, [...buyerKeys]), lte(buyerDetails.updatedAt, until))),
    db
      .update(mails)
      .set({
        ...{ status: sql`iif(status = 'waiting', 'dropped', status)`, endedAt: sql`coalesce(ended_at, ${wallNow})` },
        ...{ nextAttemptAt: null, address: null, facts: {} },
      })
      .where(amongIds(mails.id, own)),
    db
      .update(mails)
      .set({ facts: sql`json_set(facts, '$.buyer', '')` })
      .where(
        and(
          eq(mails.accountId, ctx.merchantId),
          eq(mails.template, 'buyer_erasure'),
          sql`facts ->> '$.customer_id' IN ${setOf([...customer.ids])} AND facts ->> '$.buyer' <> ''`,
        ),
      ),
  ];
}
