import { canonicalJson } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import { type CustomerId, customerIdOf, type PaymentId } from '#core/ids.ts';
import { DAY, SECOND } from '#core/time.ts';
import type { Party } from '#pdf/facts.ts';
import type { Db, Scope } from '#platform/context.ts';
import { transact, unchanged, type Write } from '#platform/db/commit.ts';
import { loadNextIds } from '#platform/db/search/customer-ids.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import { type BuyerSubject, buyerKeyOf } from '#rules/access/buyers.ts';
import {
  type BuyerDetails,
  billReceipts,
  findDetails,
  listBuyersOf,
  listDetailed,
  listDetails,
  storeDetails,
} from './buyer-details.store.ts';
import { findMetadata, isBilledBy, type Receipt, storeMetadata } from './store.ts';

/** Billed party that a buyer wants on the invoices of a seller. Empty: none. */
export const readBillTo = async (scope: Scope, subject: BuyerSubject): Promise<Party> =>
  (await findDetails(scope, buyerKeyOf(subject)))?.billTo ?? {};

/** Stores the billed party of a buyer, which new receipts of this seller get within a minute. An empty one ends that. */
export async function saveBillTo(scope: Scope, subject: BuyerSubject, billTo: Party): Promise<Party> {
  const buyerKey = buyerKeyOf(subject);
  return transact(scope, { reload: () => findDetails(scope, buyerKey) }, (known) => {
    if (canonicalJson(known?.billTo ?? {}) === canonicalJson(billTo)) return unchanged(billTo);
    const stored = Object.keys(billTo).length > 0 ? billTo : null;
    return { events: [], writes: storeDetails(scope, buyerKey, known, { billTo: stored }), result: billTo };
  });
}

/** Puts the stored billed party on a receipt of before. Throws 409 state_conflict if none is stored, or the merchant wrote one. */
export async function billReceipt(scope: Scope, subject: BuyerSubject, receipt: Receipt): Promise<Party> {
  const buyerKey = buyerKeyOf(subject);
  const billTo = await readBillTo(scope, subject);
  if (Object.keys(billTo).length === 0)
    throw new ApiError('state_conflict', {
      detail: 'No invoice details are saved for this seller. Save them first.',
      meta: { reason: 'no_details' },
    });
  return transact(scope, { reload: () => findMetadata(scope.db, receipt.id) }, (known) => {
    const before = known?.metadata.bill_to;
    if (known && before && known.billedBy === null)
      throw new ApiError('state_conflict', { detail: 'The seller wrote the billed party of this receipt. Ask the seller to change it.' });
    const isSame = before && canonicalJson(before) === canonicalJson(billTo);
    if (known && isSame && isBilledBy(known, buyerKey)) return unchanged(billTo);
    const metadata = { ...known?.metadata, bill_to: billTo };
    const writes = storeMetadata(scope, receipt, metadata, { version: (known?.version ?? 0) + 1, billedBy: buyerKey });
    return { events: [], writes, result: billTo };
  });
}

/** A buyer asks one seller for erasure at most once in this time. */
const ASKED_EVERY_MS = DAY;

/** Plans the erasure of a buyer's details, and notes the request. Throws 429 rate_limited within a day of the last one. */
export function planAskedErasure(scope: Scope, subject: BuyerSubject, known: BuyerDetails | null): Write[] {
  const { wallNow } = scope;
  const next = (known?.erasureAskedAt ?? Number.NEGATIVE_INFINITY) + ASKED_EVERY_MS;
  if (wallNow < next) throw new ApiError('rate_limited', { retryAfterSeconds: (next - wallNow) / SECOND });
  return storeDetails(scope, buyerKeyOf(subject), known, { billTo: null, erasureAskedAt: wallNow });
}

export const findAsked = (scope: Scope, subject: BuyerSubject): Promise<BuyerDetails | null> => findDetails(scope, buyerKeyOf(subject));

type Bought = Awaited<ReturnType<typeof listBuyersOf>>[number];

type Named = Bought & { customerId: CustomerId | null };

/** Adds the customers of payments. */
async function withCustomers(db: Db, bought: readonly Bought[]): Promise<Named[]> {
  const named = bought.map((one): Named => {
    const wallet = one.customerWallet ?? one.payerWallet;
    const customer = one.customerRef !== null ? { customerRef: one.customerRef } : wallet !== null ? { walletAddress: wallet } : null;
    return { ...one, customerId: customer && customerIdOf(one.merchantId, one.livemode, customer) };
  });
  const next = await loadNextIds(
    db,
    named.flatMap(({ customerId }) => customerId ?? []),
  );
  return named.map((one) => ({ ...one, customerId: next.get(one.customerId!) ?? one.customerId }));
}

/** Subjects that may have details for a receipt: the payer, the address, and the customer. */
function subjectsOf({ merchantId, livemode, payerWallet, email, customerId }: Named): BuyerSubject[] {
  const named: BuyerSubject[] = customerId ? [{ kind: 'customer', account_id: merchantId, customer_id: customerId, livemode }] : [];
  // Test sales open by a portal link alone.
  if (!livemode) return named;
  return [
    ...named,
    ...(payerWallet !== null ? [{ kind: 'wallet', wallet_address: payerWallet } as const] : []),
    ...(email !== null ? [{ kind: 'email', email } as const] : []),
  ];
}

/**
 * Plans the billed party of new receipts, from the newest details of their buyers, as further writes of the batch that steps the cursor of
 * a fold. The merchant's own entry stays.
 */
export async function planBilledReceipts(db: Db, events: readonly StoredEvent[], at: number): Promise<Write[]> {
  const confirmed = events.filter(({ type }) => type === 'payment.confirmed');
  const owners = new Map(confirmed.map(({ merchantId, livemode }) => [`${merchantId}${livemode}`, { merchantId, livemode }]));
  const detailed = new Set((await listDetailed(db, [...owners.values()])).map(({ merchantId, livemode }) => `${merchantId}${livemode}`));
  const theirs = confirmed.filter(({ merchantId, livemode }) => detailed.has(`${merchantId}${livemode}`));
  if (theirs.length === 0) return [];
  const bought = await withCustomers(
    db,
    await listBuyersOf(
      db,
      theirs.map(({ subjectId }) => subjectId as PaymentId),
    ),
  );
  const found = await listDetails(
    db,
    [...new Set(bought.map(({ merchantId }) => merchantId))],
    bought.flatMap((one) => subjectsOf(one).map(buyerKeyOf)),
  );
  const keyOf = (row: { merchantId: string; livemode: boolean }, key: Uint8Array): string =>
    `${row.merchantId}${row.livemode}${key.join()}`;
  const newest = new Map(found.map((row) => [keyOf(row, row.buyerKey), row]));
  const billed = bought.flatMap((one) => {
    const rows = subjectsOf(one).flatMap((subject) => newest.get(keyOf(one, buyerKeyOf(subject))) ?? []);
    const [last] = rows.toSorted((a, b) => b.updatedAt - a.updatedAt);
    return one.receiptId && last ? [{ receiptId: one.receiptId, buyerKey: last.buyerKey }] : [];
  });
  return billed.length === 0 ? [] : [billReceipts(db, billed, at)];
}
