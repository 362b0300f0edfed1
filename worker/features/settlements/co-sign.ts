import { base64 } from '#core/encoding.ts';
import { ApiError, assert } from '#core/errors.ts';
import type { Sale } from '#features/products/product.ts';
import { feePayersOf, heldKey } from '#platform/chain/fee-payer.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { coSign, type VerifiedTransaction, verifyExact } from '#protocols/x402/exact.ts';
import { type PaymentPayload, type PaymentRequirements, parsePaymentSignature } from '#protocols/x402/wire.ts';
import type { Customer } from '#rules/balance.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { readChallenge } from './challenge.ts';
import { newSettlementColumns } from './new-settlement.ts';
import { findSettlement } from './store.ts';

export type PaymentReading =
  | { ok: true; verified: VerifiedTransaction; accepted: PaymentRequirements }
  | { ok: false; reason: string; payer?: string };

/** The payload as such: well formed, and a transaction we could co-sign without being drained. */
export async function readPayment(ctx: Ctx, paymentSignature: string): Promise<PaymentReading> {
  const parsed = parsePaymentSignature(paymentSignature);
  // The challenge's terms are in the MAC: price and payee come from the echo.
  return parsed.ok ? readPayload(ctx, parsed.value, parsed.value.accepted) : parsed;
}

/** Same as `readPayment`, but for a decoded payload, against what was asked for. Network and scheme are taken from the configuration. */
export async function readPayload(ctx: Ctx, payload: PaymentPayload, requirements: PaymentRequirements): Promise<PaymentReading> {
  const { network } = ctx.config;
  const asked = { ...requirements, scheme: 'exact', network: network.caip2 };
  const verdict = await verifyExact(payload, asked, { feePayers: feePayersOf(ctx.config).addresses, mints: [network.usdcMint] });
  return verdict.ok ? { ok: true, verified: verdict.value, accepted: payload.accepted } : verdict;
}

/** A customer as it is stored; the payer where no customer was named. */
export const customerColumns = (customer: Customer | null, payer: string) =>
  customer !== null && 'customerRef' in customer
    ? { customerRef: customer.customerRef, customerWallet: null }
    : { customerRef: null, customerWallet: customer?.walletAddress ?? payer };

export type SettlementDraft = { ok: true; settlement: Settlement } | { ok: false; reason: string };

/** Drafts a settlement: the challenge is ours and has not expired, and a simulation says that the payment would succeed. Co-signs; sends and stores nothing. */
export async function draftSettlement(
  ctx: Shard,
  { product, merchant }: Sale,
  { verified, accepted }: PaymentReading & { ok: true },
  customer: Customer | null,
): Promise<SettlementDraft> {
  const { livemode, merchantId, id: productId } = product;
  const at = { keys: ctx.config.CHALLENGE_KEYS!, now: ctx.now };
  const challenge = readChallenge(at, accepted, { livemode, merchantId, productId });
  if (!challenge.ok) {
    ctx.note(challenge.note);
    return challenge;
  }
  // The terms of the challenge, not what the product says by now: price and piece belong together.
  const { payTo, quantity, units, days, nonce } = challenge;
  return draftPayment(ctx, verified, {
    merchantId,
    livemode,
    purpose: 'access',
    productId,
    setupIntentId: null,
    ...customerColumns(customer, verified.payer),
    recipientWallet: payTo,
    nonce,
    terms: {
      productName: product.name,
      slug: product.slug,
      merchantName: merchant.displayName,
      accessPeriodDays: days === null ? null : days * quantity,
      usageUnits: units === null ? null : units * quantity,
    },
  });
}

/** What a payment is for: all of a settlement that its transaction does not tell. */
export type SettlementPurposeFacts = Pick<
  Settlement,
  | 'merchantId'
  | 'livemode'
  | 'purpose'
  | 'productId'
  | 'setupIntentId'
  | 'customerRef'
  | 'customerWallet'
  | 'recipientWallet'
  | 'nonce'
  | 'terms'
>;

/** A settlement that is co-signed and not yet claimed, where a simulation says that it would succeed. 503 where the node does not answer. */
export async function draftPayment(ctx: Shard, verified: VerifiedTransaction, cause: SettlementPurposeFacts): Promise<SettlementDraft> {
  const feePayer = heldKey(ctx.config, 'FEE_PAYER_KEYS', verified.feePayer);
  assert(feePayer !== null, 'only what names a key of ours is verified');
  const { wire, txSignature } = coSign(verified, feePayer);
  const simulated = await ctx.chain.simulate(wire);
  if (simulated.kind === 'unavailable') {
    ctx.note(`rpc: ${simulated.reason}`);
    throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
  }
  if (simulated.kind === 'failed') {
    ctx.note(`simulation: ${simulated.reason}`);
    // A request that brought the same payment a moment earlier may have made it land: then its claim is found, and it is no refusal.
    const isClaimed = (await findSettlement(ctx, verified.messageHash)) !== null;
    if (!isClaimed) return { ok: false, reason: 'invalid_exact_svm_transaction_simulation_failed' };
  }
  const settlement: Settlement = {
    ...newSettlementColumns(ctx.now, simulated.kind === 'passed' ? simulated.lastValidBlockHeight : 0),
    ...cause,
    messageHash: verified.messageHash,
    txSignature,
    wire: base64.encode(wire),
    mint: ctx.config.network.usdcMint,
    amount: verified.amount,
    payerWallet: verified.payer,
    feePayer: verified.feePayer,
    recipientAta: await associatedTokenAccount(cause.recipientWallet, ctx.config.network.usdcMint),
  };
  return { ok: true, settlement };
}
