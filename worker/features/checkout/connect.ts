import { base58 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import { type IdentitySessionId, newId, type PaymentId } from '#core/ids.ts';
import type { Asset } from '#core/money.ts';
import { SECOND } from '#core/time.ts';
import { newPayment, planCreate } from '#features/payments/payment.ts';
import { findPayment } from '#features/payments/store.ts';
import { getActiveListing, type Listing, saleOn } from '#features/products/product.ts';
import { firstCheckoutRail } from '#features/products/selling/checkout-rails.ts';
import { newObstacleError } from '#features/products/selling/fixes.ts';
import { type Obstacle, obstaclesOf, type Prospect, payoutOf, prospectOf } from '#features/products/selling/obstacles.ts';
import { planFee, requireReceivable } from '#features/rails/outlook.ts';
import { type Due, quotePrice } from '#features/rails/quote.ts';
import { payeeOfToday } from '#platform/chain/payees.ts';
import { inMode } from '#platform/chain/scope.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { type Change, commitNew, isVeto } from '#platform/db/commit.ts';
import { type Keep, withAnswer } from '#platform/db/once.ts';
import type { Handoff, PaymentSession } from '#platform/db/tables/checkout.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { IdentityProvider, PaymentTerms } from '#rules/payment-terms.ts';
import { RAILS, type RailId } from '#rules/rails.ts';
import { mintOf, parseWallet } from '#solana/assets.ts';
import { accountOf } from '#solana/checkout-transaction.ts';
import { requireProvenIdentity } from './buyer-identity/identity.ts';
import { buyerTerms, requireRail, requireTrusted, withHandoff } from './buyer-terms.ts';
import { requireRoom, vetoCrowd } from './crowd.store.ts';
import { getHandedListing, getHandoff, hintOf, requireUnused, verifyHandoff } from './handoffs/handoff.ts';
import { useHandoff } from './handoffs/store.ts';
import { type Prepared, prepareTransaction } from './prepare-transaction.ts';

export interface Connect {
  slug: string;
  asset?: Asset;
  walletAddress?: string;
  email?: string;
  /** A language tag in its canonical form. (BCP 47) */
  locale?: string | undefined;
  customerRef?: string;
  handoffToken?: string;
  identitySessionId?: IdentitySessionId;
}

export interface Checkout {
  payment: Payment;
  /** Only where the buyer's wallet is known. */
  prepared: Prepared | null;
}

/** The buyer has to show who they are there first; until then there is nothing to pay. */
export interface IdentityNeeded {
  provider: IdentityProvider;
}

/**
 * Opens a checkout session: a payment with its own nonce and reference key, and what the buyer needs to pay it. 404 for an
 * unknown or archived product, 429 rate_limited where strangers hold too many sessions of it open, 503 rpc_unavailable, and what a
 * hand-off and `beginPayment` refuse.
 */
export async function connectBuyer(shard: Shard, input: Connect, keep: Keep<Checkout>): Promise<Checkout | IdentityNeeded> {
  const { handoffToken } = input;
  const listing = await (handoffToken === undefined
    ? getActiveListing(shard.db, input.slug)
    : getHandedListing(shard, input.slug, handoffToken));
  const ctx = await inMode(shard, listing.product);
  const life = (listing.product.sessionSeconds ?? ctx.config.SESSION_SECONDS) * SECOND;
  const handoff = handoffToken === undefined ? null : await getHandoff(ctx, verifyHandoff(ctx, listing.product.id, handoffToken));
  const change = await beginPayment(ctx, listing, input, { session: null, handoff, expiresAt: ctx.now + life });
  if ('provider' in change) return change;
  const { result: payment } = change;
  // The node is asked before anything is stored: a payment that cannot be received is not stored.
  const prepared = payment.expectedWallet === null ? null : await prepareTransaction(ctx, payment, payment.expectedWallet);
  const checkout = { payment, prepared };
  try {
    const { events } = change;
    // A buyer whom the merchant's server sent is not limited by how many sessions strangers hold.
    const writes = handoff ? change.writes : [vetoCrowd(ctx, payment.productId), ...change.writes];
    await commitNew(ctx, await withAnswer({ events, writes, result: checkout }, keep(checkout)), () => findPayment(ctx, payment.id));
  } catch (error) {
    if (handoff) await requireUnused(ctx, handoff);
    else if (isVeto(error)) await requireRoom(ctx.db, payment.productId);
    throw error;
  }
  return checkout;
}

/** What is fixed before a payment begins, by the product or by the merchant's server: its session, its hand-off. */
export interface Promised {
  session: PaymentSession | null;
  handoff: Handoff | null;
  expiresAt: number;
}

/**
 * A payment of what is sold, planned and not yet stored. 409 setup_not_ready, 422 invalid_wallet_address or for an asset that is
 * not accepted, 503 fee_wallet_missing; what an identity or a price in another asset may refuse is said there.
 */
export async function beginPayment(
  ctx: Shard,
  listing: Listing,
  given: Connect,
  { session, handoff, expiresAt }: Promised,
): Promise<Change<Payment> | IdentityNeeded> {
  const { product, merchant } = listing;
  const { asset, recipient, prospect, railId } = requireCheckout(ctx, listing, given.asset);
  requireTrusted(product, given.customerRef, [handoff, session]);
  if (await payeeOfToday(ctx, recipient)) throw newObstacleError('payout_wallet_unspendable', railId, prospect);
  const input = handoff ? withHandoff(given, { ...handoff, walletAddress: hintOf(handoff, recipient) }) : given;
  if (input.walletAddress !== undefined) requireBuyer(input.walletAddress, recipient);
  const identity = await requireProvenIdentity(ctx, product, input.identitySessionId);
  if (identity === 'missing') return { provider: product.requiresIdentity! };

  const due = await quotePrice(ctx, { asset: product.asset, units: product.priceAmount }, asset, expiresAt);
  const terms: PaymentTerms = {
    productName: product.name,
    accessPeriodDays: product.accessPeriodDays,
    usageUnits: product.usageUnits,
    successUrl: product.successUrl ?? merchant.merchantSettings.default_redirect_url ?? null,
    ...(due.quote ? { quote: due.quote } : {}),
    ...(input.locale === undefined ? {} : { locale: input.locale }),
  };
  const payment = newPayment(ctx, {
    ...(await payableTo(ctx, recipient, due)),
    id: newId<PaymentId>(ctx.now),
    merchantId: product.merchantId,
    livemode: product.livemode,
    productId: product.id,
    slug: product.slug,
    status: 'PENDING_SIGNATURE',
    nonce: base58.encode(crypto.getRandomValues(new Uint8Array(16))),
    reference: base58.encode(crypto.getRandomValues(new Uint8Array(32))),
    terms: buyerTerms(terms, { identity, handoff, session }),
    expectedWallet: input.walletAddress ?? null,
    customerRef: session?.customerRef ?? input.customerRef ?? null,
    email: input.email?.trim().toLowerCase() ?? null,
    paymentSessionId: session?.id ?? null,
    lateGraceSeconds: ctx.config.LATE_GRACE_SECONDS,
  });
  await requireReceivable(ctx, payment, prospect);
  const created = planCreate(ctx, payment);
  const used = handoff ? useHandoff(ctx, handoff, payment.id) : [];
  return { ...created, writes: [...created.writes, ...used] };
}

/** These have codes of their own. */
const NOT_FOR_BUYERS: Obstacle[] = ['fee_wallet_configured', 'rail_unavailable'];

/** The rail and the payee of a checkout. 409 setup_not_ready, 422 for an asset that is not accepted. */
function requireCheckout(
  { config }: Ctx,
  listing: Listing,
  wanted: Asset | undefined,
): { asset: Asset; recipient: string; prospect: Prospect; railId: RailId } {
  const first = firstCheckoutRail(config, listing);
  const railId = wanted === undefined ? first : requireRail(listing.product, wanted);
  const prospect = prospectOf(saleOn(listing, railId));
  const isOff = prospect.switchedOff === 'rail';
  const [obstacle] = obstaclesOf(config, prospect, railId).filter(
    (one) => !NOT_FOR_BUYERS.includes(one) || (isOff && one === 'rail_unavailable'),
  );
  if (obstacle) throw newObstacleError(obstacle, railId, prospect);
  return { asset: RAILS[railId].asset, recipient: payoutOf(prospect)!, prospect, railId };
}

export function requireBuyer(walletAddress: string, recipient: string): void {
  if (!parseWallet(walletAddress).ok) throw new ApiError('invalid_wallet_address');
  if (walletAddress === recipient) throw new ApiError('invalid_wallet_address', { detail: 'The payout wallet cannot buy from itself.' });
}

/** What is to be paid until when, where it goes, and the fee out of it. */
async function payableTo(ctx: Ctx, recipientWallet: string, { price, expiresAt }: Due) {
  const mint = mintOf(ctx.config.network, price.asset);
  const fee = planFee(ctx, price, recipientWallet);
  return {
    asset: price.asset,
    mint,
    priceAmount: price.units,
    recipientWallet,
    recipientAta: await accountOf(recipientWallet, mint),
    feeAmount: fee?.amount.units ?? null,
    feeWallet: fee?.wallet ?? null,
    feeAta: fee ? await accountOf(fee.wallet, mint) : null,
    expiresAt,
  };
}
