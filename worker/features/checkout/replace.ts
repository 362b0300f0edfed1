import { ApiError } from '#core/errors.ts';
import type { PaymentId } from '#core/ids.ts';
import { failureOf } from '#features/payments/confirm/verdict.ts';
import { planFail } from '#features/payments/payment.ts';
import { missingIdentity } from '#features/payments/required-identity.ts';
import { findPayment, getPayment } from '#features/payments/store.ts';
import { abortIfInFlight, requireNothingCanLand } from '#features/payments/watch/candidates.ts';
import { getActiveListing, type Listing } from '#features/products/product.ts';
import { inMode } from '#platform/chain/scope.ts';
import type { Scope, Shard } from '#platform/context.ts';
import { type Change, transact, unchanged, type Write } from '#platform/db/commit.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { loadNamedIdentity } from './buyer-identity/identity.ts';
import type { BuyerTerms } from './buyer-terms.ts';
import { type Checkout, type Connect, sessionExpiry } from './connect.ts';
import { planPayment, requireBuyer, requirePayee, requireSpendablePayee } from './plan-payment.ts';
import { prepareTransaction } from './prepare-transaction.ts';
import { endOfNext } from './sessions/session.ts';
import { findPaymentSession, moveHandoff, moveSession } from './sessions/store.ts';

interface Replaced {
  payment: Payment;
  listing: Listing;
}

/**
 * Replaces an unsigned payment, in another asset or with new time. The old one becomes FAILED (`replaced`) in the same batch, and the new
 * one retains price, terms, identity, session and hand-off. Throws 404 for another product, 409 state_conflict (in_flight or paid), 409
 * payment_failed, 410 session_expired, 422 for an asset that is not accepted.
 */
export async function replacePayment(
  shard: Shard,
  {
    slug,
    asset,
    walletAddress,
    locale,
    identitySessionId,
  }: Pick<Connect, 'slug' | 'asset' | 'walletAddress' | 'locale' | 'identitySessionId'>,
  replacedId: PaymentId,
  storeAnswer: StoreAnswer<Checkout>,
): Promise<Checkout> {
  const reload = () => loadReplaced(shard, replacedId, slug);
  const known = await reload();
  const { scope: ctx } = known;
  await loadNamedIdentity(ctx, known.listing.product.id, identitySessionId);
  let begun: Checkout | null = null;
  return transact(ctx, { known, reload }, async ({ payment, listing }): Promise<Change<Checkout>> => {
    // An earlier try of this call was stored and its answer was lost.
    if (begun && payment.failureCode === 'replaced' && (await findPayment(ctx, begun.payment.id))) return unchanged(begun);
    requireReplaceable({ payment, listing });
    await requireNothingCanLand(ctx, payment.id);
    const sold = soldBefore({ payment, listing });
    const payee = requirePayee(ctx.config, sold, asset ?? payment.asset);
    await requireSpendablePayee(ctx, payee);
    const expectedWallet = walletAddress ?? payment.expectedWallet;
    if (expectedWallet !== null) requireBuyer(expectedWallet, payee.recipient);
    const { customerRef, email, paymentSessionId } = payment;
    const expiresAt = (await endInSession(ctx, payment)) ?? sessionExpiry(ctx, listing.product);
    const terms = { ...buyersPart(payment), ...(locale === undefined ? {} : { locale }) };
    const change = await planPayment(ctx, sold.product, payee, { customerRef, email, paymentSessionId, expectedWallet, terms, expiresAt });
    const prepared = expectedWallet === null ? null : await prepareTransaction(ctx, change.result, expectedWallet);
    const ended = planFail(ctx, payment, { failureCode: 'replaced' });
    begun = { payment: change.result, now: ctx.now, prepared, subscribing: null };
    const events = [...ended.events, ...change.events];
    const writes = [abortIfInFlight(ctx, payment.id), ...ended.writes, ...change.writes, ...followersOf(ctx, payment, change.result)];
    return withAnswer({ events, writes, result: begun }, storeAnswer(begun));
  });
}

async function loadReplaced(shard: Shard, paymentId: PaymentId, slug: string): Promise<Replaced & { scope: Scope }> {
  const payment = await getPayment(shard, paymentId);
  const listing = await getActiveListing(shard.db, slug);
  if (payment.productId !== listing.product.id) throw new ApiError('not_found');
  return { scope: await inMode(shard, payment), payment, listing };
}

function requireReplaceable({ payment, listing: { product } }: Replaced): void {
  if (payment.terms.authorizationId !== undefined) {
    const detail = 'A subscription cannot be replaced. Connect again once this session has ended.';
    throw new ApiError('state_conflict', { detail, meta: { reason: 'subscription' } });
  }
  if (payment.status === 'FAILED') throw failureOf(payment);
  if (payment.status === 'CONFIRMED')
    throw new ApiError('state_conflict', { detail: 'The payment is already confirmed.', meta: { reason: 'confirmed' } });
  if (payment.status === 'PENDING_CONFIRMATION') {
    const detail = 'A transaction of this payment is on the chain. Wait, and do not pay again.';
    throw new ApiError('state_conflict', { detail, meta: { reason: 'in_flight' }, retryable: true, retryAfterSeconds: 10 });
  }
  const unidentified = missingIdentity({ payment, requiresIdentity: product.requiresIdentity });
  if (unidentified) throw unidentified;
}

/** Restores the listing that the buyer was promised, regardless of later product changes, in the price's asset before any rate. */
function soldBefore({ payment, listing: { product, ...seller } }: Replaced): Listing {
  const { productName: name, accessPeriodDays, usageUnits, delivery = null, quote, graceHours = product.graceHours } = payment.terms;
  const ownPrice = { asset: payment.asset, priceAmount: payment.priceAmount };
  const price = quote ? { asset: quote.price.asset, priceAmount: BigInt(quote.price.base_units) } : ownPrice;
  return { ...seller, product: { ...product, name, accessPeriodDays, usageUnits, graceHours, delivery, ...price } };
}

function buyersPart({ terms }: Payment): BuyerTerms {
  const { successUrl, locale, isRefTrusted, identity, identitySessionId, handoffId, metadata } = terms;
  const known = { locale, isRefTrusted, identity, identitySessionId, handoffId, metadata };
  return { successUrl, ...Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)) } as BuyerTerms;
}

async function endInSession(ctx: Shard, { paymentSessionId }: Payment): Promise<number | null> {
  const held = paymentSessionId && (await findPaymentSession(ctx.db, paymentSessionId));
  if (held && ctx.now > held.session.expiresAt) throw new ApiError('session_expired');
  return held ? endOfNext(ctx, held.session) : null;
}

const followersOf = ({ db }: Shard, before: Payment, after: Payment): Write[] => [
  ...moveSession(db, before, after.id),
  ...(before.terms.handoffId ? [moveHandoff(db, before.terms.handoffId, before.id, after.id)] : []),
];
