import type { Ctx } from '../context.ts';
import { base58 } from '../core/encoding.ts';
import { ApiError } from '../core/errors.ts';
import { type IdentitySessionId, newId, type PaymentId } from '../core/ids.ts';
import { type Asset, basisPoints, type Money } from '../core/money.ts';
import { SECOND } from '../core/time.ts';
import { commitNew } from '../db/commit.ts';
import type { IdentityProvider } from '../db/terms.ts';
import { getOffer, type Product } from '../products/product.ts';
import { checkoutRailOf, payoutWalletOf } from '../rails.ts';
import { NATIVE_MINT, parseWallet } from '../solana/assets.ts';
import { accountOf } from '../solana/checkout-transaction.ts';
import { useHandoff } from './handoff.store.ts';
import { getHandoff, requireUnused } from './handoff.ts';
import { identityFor } from './identity.ts';
import { planCreate } from './payment.ts';
import { type Prepared, prepareTransaction } from './prepare.ts';
import { type Due, quotePrice, requireReceivable } from './quote.ts';
import { introduced, recognise, requireAsset } from './recognise.ts';
import { findPayment, type Payment } from './store.ts';

export interface Connect {
  slug: string;
  asset?: Asset;
  walletAddress?: string;
  email?: string;
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
 * unknown or archived product, 409 setup_not_ready, 422 invalid_wallet_address, 503 fee_wallet_missing or rpc_unavailable;
 * what a hand-off, an identity or a price in another asset may refuse besides is said there.
 */
export async function connectBuyer(ctx: Ctx, given: Connect): Promise<Checkout | IdentityNeeded> {
  const { product, merchant, setting } = await getOffer(ctx.db, given.slug, given.asset);
  if (!product.livemode) {
    const next = 'Sandbox products never touch the chain. Use a live product, or simulate a payment with POST /v1/testing/sessions.';
    throw new ApiError('setup_not_ready', { detail: next, meta: { reason: 'sandbox', next: 'POST /v1/testing/sessions' } });
  }
  const asset = requireAsset(product, given.asset);
  const isOffered = setting?.enabled !== false && (product.allowedRails?.includes(checkoutRailOf(asset)) ?? true);
  if (!isOffered) {
    throw new ApiError('setup_not_ready', { detail: 'The merchant does not sell this by checkout.', meta: { reason: 'rail_disabled' } });
  }
  const recipient = payoutWalletOf(product, setting, merchant.walletAddress);
  if (!recipient) {
    throw new ApiError('setup_not_ready', {
      detail: 'The merchant has not set a payout wallet yet.',
      meta: { reason: 'payout_wallet_missing' },
    });
  }
  const handoff = given.handoffToken === undefined ? null : await getHandoff(ctx, product.id, given.handoffToken);
  const input = handoff ? introduced(given, handoff) : given;
  if (input.walletAddress !== undefined) requireBuyer(input.walletAddress, recipient);
  const identity = await identityFor(ctx, product, input.identitySessionId);
  if (identity === 'missing') return { provider: product.requiresIdentity! };

  const life = (product.sessionSeconds ?? ctx.config.SESSION_SECONDS) * SECOND;
  const due = await quotePrice(ctx, { asset: product.asset, units: product.priceAmount }, asset, ctx.now + life);
  const payment = await newPayment(ctx, product, recipient, input, due);
  const successUrl = product.successUrl ?? merchant.merchantSettings.default_redirect_url ?? null;
  payment.terms = recognise({ ...payment.terms, successUrl }, product, handoff, identity);
  // The node is asked before anything is stored: a session nobody can pay is not worth keeping.
  const prepared = input.walletAddress === undefined ? null : await prepareTransaction(ctx, payment, input.walletAddress);
  await requireReceivable(ctx, payment);
  const created = planCreate(ctx, payment);
  const change = handoff ? { ...created, writes: [...created.writes, ...useHandoff(ctx, handoff, payment.id)] } : created;
  try {
    await commitNew(ctx, change, () => findPayment(ctx.db, payment.id));
  } catch (error) {
    if (handoff) await requireUnused(ctx, handoff);
    throw error;
  }
  return { payment, prepared };
}

export function requireBuyer(walletAddress: string, recipient: string): void {
  if (!parseWallet(walletAddress).ok) throw new ApiError('invalid_wallet_address');
  if (walletAddress === recipient) throw new ApiError('invalid_wallet_address', { detail: 'The payout wallet cannot buy from itself.' });
}

async function newPayment(ctx: Ctx, product: Product, recipient: string, input: Connect, due: Due): Promise<Payment> {
  const mint = due.price.asset === 'SOL' ? NATIVE_MINT : ctx.config.network.usdcMint;
  const fee = feeOf(ctx, due.price, recipient);
  return {
    id: newId<PaymentId>(ctx.now),
    merchantId: product.merchantId,
    livemode: product.livemode,
    productId: product.id,
    slug: product.slug,
    status: 'PENDING_SIGNATURE',
    failureCode: null,
    nonce: base58.encode(crypto.getRandomValues(new Uint8Array(16))),
    reference: base58.encode(crypto.getRandomValues(new Uint8Array(32))),
    asset: due.price.asset,
    mint,
    priceAmount: due.price.units,
    recipientWallet: recipient,
    recipientAta: await accountOf(recipient, mint),
    feeAmount: fee?.amount.units ?? null,
    feeWallet: fee?.wallet ?? null,
    feeAta: fee ? await accountOf(fee.wallet, mint) : null,
    feeOwedAmount: null,
    overpaidAmount: null,
    terms: {
      productName: product.name,
      accessPeriodDays: product.accessPeriodDays,
      usageUnits: product.usageUnits,
      successUrl: product.successUrl,
      ...(due.quote ? { quote: due.quote } : {}),
    },
    expectedWallet: input.walletAddress ?? null,
    customerRef: input.customerRef ?? null,
    customerWallet: null,
    email: input.email?.trim().toLowerCase() ?? null,
    payerWallet: null,
    txSignature: null,
    slot: null,
    blockTime: null,
    membershipId: null,
    receiptId: null,
    recoversPaymentId: null,
    expiresAt: due.expiresAt,
    confirmedAt: null,
    finalizedAt: null,
    orphanSuspectedAt: null,
    orphanedAt: null,
    createdAt: ctx.now,
    updatedAt: ctx.now,
    version: 1,
  };
}

/** The service's share of a price, if one is configured and comes to anything. */
function feeOf({ config }: Ctx, price: Money, recipient: string): { wallet: string; amount: Money } | null {
  if (config.FEE_BPS === 0) return null;
  if (!config.FEE_WALLET) throw new ApiError('fee_wallet_missing');
  const amount = basisPoints(price, config.FEE_BPS);
  // The service selling for itself: one account cannot be told apart into two legs, and nobody owes himself a fee.
  return amount.units > 0n && config.FEE_WALLET !== recipient ? { wallet: config.FEE_WALLET, amount } : null;
}
