import { base58 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import { newId, newNonce, type PaymentId } from '#core/ids.ts';
import type { Asset } from '#core/money.ts';
import { newPayment, planCreate } from '#features/payments/payment.ts';
import { type Listing, saleOn } from '#features/products/product.ts';
import { firstCheckoutRail } from '#features/products/selling/checkout-rails.ts';
import { newObstacleError } from '#features/products/selling/fixes.ts';
import { type Obstacle, obstaclesOf, type Prospect, payoutOf, prospectOf } from '#features/products/selling/obstacles.ts';
import { planFee, requireReceivable } from '#features/rails/outlook.ts';
import { type Due, quotePrice } from '#features/rails/quote.ts';
import { payeeOfToday } from '#platform/chain/payees.ts';
import type { Config, Ctx, Shard } from '#platform/context.ts';
import type { Change } from '#platform/db/commit.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { Product } from '#platform/db/tables/products.ts';
import type { PaymentTerms } from '#rules/payment-terms.ts';
import { CHECKOUT_RAILS } from '#rules/product-rails.ts';
import { RAILS, type RailId } from '#rules/rails.ts';
import { mintOf } from '#solana/assets.ts';
import { deriveAccount } from '#solana/checkout-transaction.ts';
import { type BuyerTerms, requireRail } from './buyer-terms.ts';

type Buyer = Pick<Payment, 'expectedWallet' | 'customerRef' | 'email' | 'paymentSessionId'> & { terms: BuyerTerms; expiresAt: number };

interface Payee {
  asset: Asset;
  recipient: string;
  prospect: Prospect;
  railId: RailId;
}

/** Throws 409 setup_not_ready if the node reports that the wallet cannot be spent from. */
export async function requireSpendablePayee(ctx: Ctx, { recipient, railId, prospect }: Payee): Promise<void> {
  if (await payeeOfToday(ctx, recipient)) throw newObstacleError('payout_wallet_unspendable', railId, prospect);
}

/** Plans a payment without storing it, with a quote if the price is in another asset. Throws the errors of price and payee checks. */
export async function planPayment(ctx: Shard, product: Product, payee: Payee, { expiresAt, ...buyer }: Buyer): Promise<Change<Payment>> {
  const due = await quotePrice(ctx, { asset: product.asset, units: product.priceAmount }, payee.asset, expiresAt);
  const terms: PaymentTerms = {
    productName: product.name,
    accessPeriodDays: product.accessPeriodDays,
    usageUnits: product.usageUnits,
    graceHours: product.graceHours,
    ...(due.quote ? { quote: due.quote } : {}),
    ...pickReferenceKey(ctx.config),
    ...(product.delivery ? { delivery: product.delivery } : {}),
    ...buyer.terms,
  };
  const payment = newPayment(ctx.now, {
    ...buyer,
    ...(await payableTo(ctx.config, payee.recipient, due, payee.railId)),
    id: newId<PaymentId>(ctx.now, product.merchantId),
    merchantId: product.merchantId,
    livemode: product.livemode,
    productId: product.id,
    slug: product.slug,
    status: 'PENDING_SIGNATURE',
    nonce: newNonce(product.merchantId),
    reference: base58.encode(crypto.getRandomValues(new Uint8Array(32))),
    terms,
    lateGraceSeconds: ctx.config.LATE_GRACE_SECONDS,
  });
  await requireReceivable(ctx, payment, payee.prospect);
  return planCreate(ctx, payment);
}

/** Columns of a payment that say what is due, until when, to whom, and the fee out of it. */
async function payableTo(config: Config, recipientWallet: string, { price, expiresAt }: Due, railId: RailId) {
  const mint = mintOf(config.network, price.asset);
  const fee = RAILS[railId].takesFee ? planFee(config, price, recipientWallet) : null;
  return {
    asset: price.asset,
    mint,
    priceAmount: price.units,
    recipientWallet,
    recipientAta: await deriveAccount(recipientWallet, mint),
    feeAmount: fee?.amount.units ?? null,
    feeWallet: fee?.wallet ?? null,
    feeAta: fee ? await deriveAccount(fee.wallet, mint) : null,
    expiresAt,
  };
}

/** Picks one of the service's reference keys at random, and for good: what was signed must match after a key was added. */
function pickReferenceKey({ SERVICE_REFERENCE: keys }: Config): Pick<PaymentTerms, 'referenceKey'> {
  const referenceKey = crypto.getRandomValues(new Uint32Array(1))[0]! % keys.length;
  return referenceKey === 0 ? {} : { referenceKey };
}

const NOT_FOR_BUYERS: Obstacle[] = ['fee_wallet_configured', 'rail_unavailable'];

/** Returns rail and payee of a checkout. Throws 409 setup_not_ready, 422 for an asset that is not accepted. */
export function requirePayee(config: Config, listing: Listing, wanted: Asset | undefined): Payee {
  const first = firstCheckoutRail(config, listing);
  const railId = wanted === undefined ? first : requireRail(listing.product, wanted);
  const prospect = prospectOf(saleOn(listing, railId));
  const isOff = prospect.switchedOff === 'rail';
  const isReportedLater = (one: Obstacle) => (CHECKOUT_RAILS as readonly RailId[]).includes(railId) && NOT_FOR_BUYERS.includes(one);
  const [obstacle] = obstaclesOf(config, prospect, railId).filter((one) => !isReportedLater(one) || (isOff && one === 'rail_unavailable'));
  if (obstacle) throw newObstacleError(obstacle, railId, prospect);
  return { asset: RAILS[railId].asset, recipient: payoutOf(prospect)!, prospect, railId };
}

export function requireBuyer(walletAddress: string, recipient: string): void {
  if (walletAddress === recipient)
    throw new ApiError('invalid_wallet_address', { detail: 'The payout wallet cannot buy from itself. Pay with another wallet.' });
}
