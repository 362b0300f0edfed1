import type { Customer } from '../balance.ts';
import type { Ctx } from '../context.ts';
import { base64 } from '../core/encoding.ts';
import { ApiError } from '../core/errors.ts';
import { newId, type PaymentId } from '../core/ids.ts';
import { SECOND } from '../core/time.ts';
import type { Sale } from '../products/product.ts';
import { associatedTokenAccount } from '../solana/checkout-transaction.ts';
import { claimedChallenge, verifyChallenge } from '../x402/challenge.ts';
import { coSign, type VerifiedTransaction, verifyExact } from '../x402/exact.ts';
import { type PaymentRequirements, parsePaymentSignature } from '../x402/wire.ts';
import { feePayersOf } from './fee-payer.ts';
import type { Settlement } from './store.ts';

export type Read = { ok: true; verified: VerifiedTransaction; accepted: PaymentRequirements } | { ok: false; reason: string };

/** The payload as such: well formed, and a transaction we could co-sign without being drained. */
export async function readPayment(ctx: Ctx, paymentSignature: string): Promise<Read> {
  const parsed = parsePaymentSignature(paymentSignature);
  if (!parsed.ok) return parsed;
  const { accepted } = parsed.value;
  const { network } = ctx.config;
  // What counts is ours, what was offered is in the MAC: price and payee come from the echo, network and scheme do not.
  const asked = { ...accepted, scheme: 'exact', network: network.caip2 };
  const verdict = await verifyExact(parsed.value, asked, { feePayers: feePayersOf(ctx.config).addresses, mints: [network.usdcMint] });
  return verdict.ok ? { ok: true, verified: verdict.value, accepted } : verdict;
}

/** A customer as it is stored; the payer where nobody else was named. */
export const customerColumns = (customer: Customer | null, payer: string) =>
  customer !== null && 'customerRef' in customer
    ? { customerRef: customer.customerRef, customerWallet: null }
    : { customerRef: null, customerWallet: customer?.walletAddress ?? payer };

type Draft = { ok: true; settlement: Settlement } | { ok: false; reason: string };

/** Did we offer this, does the offer stand, would it succeed? Then it is co-signed, and still only on paper. */
export async function draftSettlement(
  ctx: Ctx,
  { product, merchant }: Sale,
  { verified, accepted }: Read & { ok: true },
  customer: Customer | null,
): Promise<Draft> {
  const claimed = claimedChallenge(accepted, { livemode: product.livemode, merchantId: product.merchantId, productId: product.id });
  const verdict = claimed && verifyChallenge(claimed.memo, claimed.facts, { keys: ctx.config.CHALLENGE_KEYS!, now: ctx.now });
  if (!claimed || !verdict?.ok) {
    ctx.note(`challenge: ${verdict?.ok === false ? verdict.reason : 'absent'}`);
    return {
      ok: false,
      reason: verdict?.ok === false && verdict.reason === 'expired' ? 'payment_expired' : 'invalid_payment_requirements',
    };
  }
  const { wire, txSignature } = coSign(verified, feePayersOf(ctx.config).signerOf(verified.feePayer));
  const simulated = await ctx.chain.simulate(wire);
  if (simulated.kind === 'unavailable') {
    ctx.note(`rpc: ${simulated.reason}`);
    throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
  }
  if (simulated.kind === 'failed') {
    ctx.note(`simulation: ${simulated.reason}`);
    return { ok: false, reason: 'invalid_exact_svm_transaction_simulation_failed' };
  }
  // What was offered, not what the product says by now: price and piece belong together.
  const { payTo, quantity, units, days } = claimed.facts;
  const settlement: Settlement = {
    paymentId: newId<PaymentId>(ctx.now),
    merchantId: product.merchantId,
    livemode: product.livemode,
    purpose: 'access',
    productId: product.id,
    ...customerColumns(customer, verified.payer),
    messageHash: verified.messageHash,
    txSignature,
    wire: base64.encode(wire),
    asset: 'USDC',
    mint: ctx.config.network.usdcMint,
    amount: verified.amount,
    payerWallet: verified.payer,
    recipientWallet: payTo,
    recipientAta: await associatedTokenAccount(payTo, ctx.config.network.usdcMint),
    nonce: claimed.memo.slice('svc:'.length),
    terms: {
      productName: product.name,
      slug: product.slug,
      merchantName: merchant.displayName,
      accessPeriodDays: days === null ? null : days * quantity,
      usageUnits: units === null ? null : units * quantity,
    },
    lastValidBlockHeight: simulated.lastValidBlockHeight,
    status: 'pending',
    failureReason: null,
    doubtedAt: null,
    // Nobody else touches it while this call is on it.
    nextCheckAt: ctx.now + 30 * SECOND,
    createdAt: ctx.now,
  };
  return { ok: true, settlement };
}
