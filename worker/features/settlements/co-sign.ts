import { base64 } from '#core/encoding.ts';
import { ApiError, assert } from '#core/errors.ts';
import type { Sale } from '#features/products/product.ts';
import { feePayersOf, heldKey } from '#platform/chain/fee-payer.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { coSign, type VerifiedTransaction, verifyExact } from '#protocols/x402/exact.ts';
import { readPaymentIdentifier } from '#protocols/x402/payment-identifier.ts';
import { type PaymentPayload, type PaymentRequirements, parsePaymentSignature } from '#protocols/x402/wire.ts';
import type { Customer } from '#rules/balance.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { readChallenge } from './challenge.ts';
import { isOfAnotherPartition } from './message-claim.ts';
import { newSettlementColumns } from './new-settlement.ts';
import { findSettlement } from './store.ts';

export type PaymentReading =
  | {
      ok: true;
      verified: VerifiedTransaction;
      signed: ReturnType<typeof coSign>;
      accepted: PaymentRequirements;
      /** Name that the client gave its payment. */
      identifier: string | null;
      /** URL of the resource, as the client echoes it. */
      resourceUrl: string | null;
    }
  | { ok: false; reason: string; payer?: string };

/** Decodes the payload, checks that it is well formed and that co-signing its transaction cannot drain the fee payer, and co-signs. */
export async function readPayment(ctx: Ctx, paymentSignature: string): Promise<PaymentReading> {
  const parsed = parsePaymentSignature(paymentSignature);
  // The challenge's MAC covers its terms, so price and payee come from the echo.
  return parsed.ok ? readPayload(ctx, parsed.value, parsed.value.accepted) : parsed;
}

/**
 * Decodes like `readPayment`, but takes a decoded payload and checks against `requirements`. Network and scheme come from the
 * configuration.
 */
export async function readPayload(ctx: Ctx, payload: PaymentPayload, requirements: PaymentRequirements): Promise<PaymentReading> {
  const { network } = ctx.config;
  const asked = { ...requirements, scheme: 'exact', network: network.caip2 };
  const identifier = readPaymentIdentifier(payload);
  if (!identifier.ok) return identifier;
  const verdict = await verifyExact(payload, asked, { feePayers: feePayersOf(ctx.config).addresses, mints: [network.usdcMint] });
  if (!verdict.ok) return verdict;
  const feePayer = heldKey(ctx.config, 'FEE_PAYER_KEYS', verdict.value.feePayer);
  assert(feePayer !== null, 'only what names a key of ours is verified');
  return {
    ok: true,
    verified: verdict.value,
    signed: coSign(verdict.value, feePayer),
    accepted: payload.accepted,
    identifier: identifier.value,
    resourceUrl: payload.resource?.url ?? null,
  };
}

/** Returns the customer columns: the payer if no customer was named. */
export const customerColumns = (customer: Customer | null, payer: string) =>
  customer !== null && 'customerRef' in customer
    ? { customerRef: customer.customerRef, customerWallet: null }
    : { customerRef: null, customerWallet: customer?.walletAddress ?? payer };

export type SettlementDraft = { ok: true; settlement: Settlement } | { ok: false; reason: string };

/**
 * Drafts a settlement if this service made the challenge, the challenge has not expired and a simulation succeeds. Sends and stores
 * nothing.
 */
export async function draftSettlement(
  ctx: Shard,
  { product, merchant }: Sale,
  read: PaymentReading & { ok: true },
  customer: Customer | null,
): Promise<SettlementDraft> {
  const { livemode, merchantId, id: productId } = product;
  const at = { keys: ctx.config.CHALLENGE_KEYS!, now: ctx.now };
  const challenge = readChallenge(at, read.accepted, { livemode, merchantId, productId });
  if (!challenge.ok) {
    ctx.note(challenge.note);
    return challenge;
  }
  // Terms come from the challenge, not from the current product: price and quantity belong together.
  const { payTo, quantity, units, days, nonce } = challenge;
  return draftPayment(ctx, read, {
    merchantId,
    livemode,
    purpose: 'access',
    productId,
    setupIntentId: null,
    ...customerColumns(customer, read.verified.payer),
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

/** Purpose of a payment: settlement columns that the transaction does not contain. */
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

/**
 * Drafts a co-signed, unclaimed settlement if the simulation succeeds. Throws 409 duplicate_settlement if it fails and another partition has
 * claimed the message, 503 if the node does not answer.
 */
export async function draftPayment(
  ctx: Shard,
  { verified, signed, identifier }: PaymentReading & { ok: true },
  cause: SettlementPurposeFacts,
): Promise<SettlementDraft> {
  const { wire, txSignature } = signed;
  const simulated = await ctx.chain.simulate(wire);
  if (simulated.kind === 'unavailable') {
    ctx.note(`rpc: ${simulated.reason}`);
    throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
  }
  if (simulated.kind === 'failed') {
    ctx.note(`simulation: ${simulated.reason}`);
    // A concurrent request with the same payment may have made it land. Its claim exists then, and the failed simulation is no refusal.
    const isClaimed = (await findSettlement(ctx, txSignature)) !== null;
    if (!isClaimed && (await isOfAnotherPartition(ctx, { ...cause, txSignature }))) throw new ApiError('duplicate_settlement');
    if (!isClaimed) return { ok: false, reason: 'invalid_exact_svm_transaction_simulation_failed' };
  }
  const settlement: Settlement = {
    ...newSettlementColumns(ctx.now, cause.merchantId, simulated.kind === 'passed' ? simulated.lastValidBlockHeight : 0),
    ...cause,
    terms: { ...cause.terms, ...(identifier === null ? {} : { paymentIdentifier: identifier }) },
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
