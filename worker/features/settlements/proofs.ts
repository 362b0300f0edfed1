import { keyRing } from '#core/crypto.ts';
import { Memory } from '#core/isolate/memory.ts';
import { SECOND, unixSeconds } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { didOf, type Issuer, OFFER_RECEIPT, signOffer, toOffersExtension, toReceiptExtension } from '#protocols/x402/offer-receipt.ts';
import { encodeHeader, type PaymentRequirements } from '#protocols/x402/wire.ts';

type Signing = Pick<Ctx, 'config' | 'baseUrl' | 'now'>;

const issuerOf = ({ config, baseUrl }: Signing): Issuer => ({ did: didOf(baseUrl), key: keyRing(config.RECEIPT_KEYS)[0]! });

/** Lifetime of an offer, and how long other challenges reuse it. The rest of it is at least four minutes. */
const OFFER_SECONDS = 300;
const REUSED_MS = 60 * SECOND;
const OFFERS_MAX = 1000;
const offers = new Memory<string, { signature: string; until: number }>(OFFERS_MAX);

/** Returns the extension with one signed offer per entry of `accepts`. */
export function makeOffers(ctx: Signing, resourceUrl: string, accepts: readonly PaymentRequirements[]) {
  const issuer = issuerOf(ctx);
  const signatures = accepts.map((accepted) => {
    const { scheme, network, asset, payTo, amount } = accepted;
    const name = JSON.stringify([issuer.did, issuer.key.keyId, resourceUrl, scheme, network, asset, payTo, amount]);
    const known = offers.get(name);
    // A test clock may go back.
    if (known && ctx.now < known.until && known.until - ctx.now <= REUSED_MS) return known.signature;
    const signature = signOffer(issuer, resourceUrl, accepted, unixSeconds(ctx.now) + OFFER_SECONDS);
    offers.set(name, { signature, until: ctx.now + REUSED_MS });
    return signature;
  });
  return toOffersExtension(signatures);
}

/**
 * Returns the PAYMENT-RESPONSE of a settled payment. With a proof, it carries a signed receipt for the resource, made from facts that never
 * change, so that a repeated answer is equal to the last byte. `settledAt`: when the payment was confirmed.
 */
export function paymentResponse(ctx: Signing, settlement: Settlement, proof: { resourceUrl: string; settledAt: number } | null): string {
  const { txSignature: transaction, payerWallet: payer, amount } = settlement;
  const network = ctx.config.network.caip2;
  const settled = { success: true, payer, transaction, network, amount: amount.toString() };
  if (!proof) return encodeHeader(settled);
  const facts = { network, resourceUrl: proof.resourceUrl, payer, transaction, issuedAt: unixSeconds(proof.settledAt) };
  return encodeHeader({ ...settled, extensions: { [OFFER_RECEIPT]: toReceiptExtension(issuerOf(ctx), facts) } });
}
