import { ApiError, raise } from '#core/errors.ts';
import { type AccountId, type CustomerId, type MailId, newId, partitionOf, type ReceiptId } from '#core/ids.ts';
import { PER_PAGE } from '#core/limits.ts';
import { iso } from '#core/time.ts';
import type { BuyerSession } from '#features/buyer-sign-in/token.ts';
import type { ErasureRequest } from '#features/customers/resource.ts';
import { findCustomerRow, listKeysOfEmail, loadSurvivors } from '#features/customers/store.ts';
import { planEmail } from '#features/email/outbox.ts';
import { findAsked, planAskedErasure } from '#features/receipts/buyer-details.ts';
import { getReceiptWithOutcome } from '#features/receipts/receipt.ts';
import type { Ctx, Scope } from '#platform/context.ts';
import { transact } from '#platform/db/commit.ts';
import { findShardAt } from '#platform/db/directory.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import { pageRequest } from '#platform/db/page.ts';
import { loadCustomerIds } from '#platform/db/search/customer-ids.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { BuyerSubject } from '#rules/access/buyers.ts';
import type { Customer } from '#rules/balance.ts';
import { listPurchases } from './purchases.ts';
import { listSellers, type Seller } from './sellers.ts';

/**
 * Finds the seller that a call is about, from whom the buyer bought. Throws 404, and 422 at `account_id` if the session opens several
 * sellers and the call names none. `at`: part of the request that names it.
 */
export async function requireSeller(
  ctx: Ctx,
  session: BuyerSession,
  accountId: AccountId | undefined,
  at: 'query' | 'body',
): Promise<Seller> {
  const [seller, other] = await listSellers(ctx, session.subject, accountId);
  if (other) {
    const problem = { loc: [at, 'account_id'], msg: 'Name one of the sellers of the session', type: 'missing' };
    throw new ApiError('validation_error', { problems: [problem] });
  }
  if (!seller || (session.subject.kind !== 'customer' && (await countPurchases(session, seller)) === 0)) return raise('not_found');
  return seller;
}

const countPurchases = async (session: BuyerSession, seller: Seller): Promise<number> =>
  (await listPurchases(session, [seller], pageRequest({ page: 1, per_page: 1 }))).total;

/** Loads a receipt of a purchase that the session shows, with its seller. Throws 404. */
export async function loadOwnReceipt(ctx: Ctx, session: BuyerSession, receiptId: ReceiptId) {
  const home = findShardAt(ctx, partitionOf(receiptId)) ?? raise('not_found');
  const found = await getReceiptWithOutcome(home, receiptId);
  const [seller] = await listSellers(ctx, session.subject, found.receipt.merchantId);
  const isShown = seller && found.receipt.livemode === seller.scope.livemode && !found.receipt.isPaidByOwner;
  const { paymentId } = found.receipt;
  const shown = isShown ? await listPurchases(session, [seller], pageRequest({ page: 1, per_page: 1 }), { paymentId }) : null;
  return shown?.items.length ? { scope: seller!.scope, ...found } : raise('not_found');
}

/** Customers that a request names. */
const ASKED_MAX = 20;

const keyOf = ({ customerRef, customerWallet, payerWallet }: Payment): Customer | null => {
  const walletAddress = customerWallet ?? payerWallet;
  return customerRef !== null ? { customerRef } : walletAddress === null ? null : { walletAddress };
};

async function listOwnCustomers(session: BuyerSession, { scope, shown }: Seller): Promise<CustomerId[]> {
  const { subject } = session;
  if (subject.kind === 'customer') return [(await findCustomerRow(scope, subject.customer_id))?.id ?? subject.customer_id];
  const { items } = await listPurchases(session, [{ scope, shown }], pageRequest({ page: 1, per_page: PER_PAGE.max }));
  const keys = items.flatMap(({ payment }) => keyOf(payment) ?? []);
  const ids = await loadCustomerIds(scope.db, scope, keys);
  const bought = keys.map((key, i) => [ids[i]!, key] as const);
  const noted = subject.kind === 'email' ? await listKeysOfEmail(scope, subject.email) : [];
  return [...(await loadSurvivors(scope, new Map([...bought, ...noted]))).keys()].slice(0, ASKED_MAX);
}

/** Name of the buyer in the email: what the session proved. */
async function findName(scope: Scope, subject: BuyerSubject): Promise<string> {
  if (subject.kind !== 'customer') return subject.kind === 'wallet' ? subject.wallet_address : subject.email;
  const row = await findCustomerRow(scope, subject.customer_id);
  return row?.customerRef ?? row?.walletAddress ?? subject.customer_id;
}

/**
 * Asks a seller to erase the buyer's data, by an event and an email, and erases the buyer's invoice details. Throws 404, 429 rate_limited
 * within a day of the last request.
 */
export async function askErasure(ctx: Ctx, session: BuyerSession, accountId: AccountId, storeAnswer: StoreAnswer<null>): Promise<null> {
  const seller = await requireSeller(ctx, session, accountId, 'body');
  const { scope } = seller;
  const { subject } = session;
  const customers = await listOwnCustomers(session, seller);
  const [buyer, at] = [await findName(scope, subject), iso(ctx.wallNow)];
  const named: Omit<ErasureRequest, 'erasure_id'> = {
    customer_ids: customers,
    ...(subject.kind === 'wallet' && { wallet_address: subject.wallet_address }),
    ...(subject.kind === 'email' && { email: subject.email }),
    requested_at: at,
  };
  return transact(scope, { reload: () => findAsked(scope, subject) }, (known) => {
    const id = newId<MailId>(scope.now, scope.merchantId);
    const event = {
      ...{ merchantId: scope.merchantId, livemode: scope.livemode, type: 'customer.erasure_requested' as const },
      subject: { type: 'erasure_request' as const, id, version: 1 },
      object: { erasure_id: id, ...named } satisfies ErasureRequest,
    };
    const facts = { buyer, customer_id: customers[0] ?? '', at };
    const email = planEmail(scope, { template: 'buyer_erasure', facts, accountId: scope.merchantId });
    const writes = [...planAskedErasure(scope, subject, known), ...email.writes];
    return withAnswer({ events: [event], writes, result: null }, storeAnswer(null));
  });
}
