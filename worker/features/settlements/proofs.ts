import { keyRing } from '#core/crypto.ts';
import { Memory } from '#core/isolate/memory.ts';
import { SECOND, unixSeconds } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { didOf, type Issuer, OFFER_RECEIPT, signOffer, toOffersExtension, toReceiptExtension } from '#protocols/x402/offer-receipt.ts';
import { encodeHeader, type PaymentRequirements } from '#protocols/x402/wire.ts';

type Signing = Pick<Ctx, 'config' | 'now'>;

/** Null without `BASE_URL`, because the header Host of a request must not decide who signs. */
const issuerOf = ({ config: { BASE_URL, RECEIPT_KEYS } }: Signing): Issuer | null =>
  BASE_URL === undefined ? null : { did: didOf(BASE_URL), key: keyRing(RECEIPT_KEYS)[0]! };

/** Lifetime of an offer, and how long other challenges reuse it. The rest of it is at least four minutes. */
const OFFER_SECONDS = 300;
const REUSED_MS = 60 * SECOND;
const OFFERS_MAX = 1000;
const offers = new Memory<string, { signature: string; until: number }>(OFFERS_MAX);

/** Returns the extension with one signed offer per entry of `accepts`. Null without an issuer. */
export function makeOffers(ctx: Signing, resourceUrl: string, accepts: readonly PaymentRequirements[]) {
  const issuer = issuerOf(ctx);
  if (!issuer) return null;
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

/** Facts of a receipt that the payment does not contain. Stored instead of the signed receipt, which is many times as long. */
export interface ReceiptProof {
  resourceUrl: string;
  /** When the payment was confirmed, epoch seconds. */
  issuedAt: number;
  keyId: string;
}

export const receiptKeyIdOf = ({ config }: Signing): string => keyRing(config.RECEIPT_KEYS)[0]!.keyId;

export const newProof = (ctx: Signing, resourceUrl: string, settledAt: number): ReceiptProof => ({
  resourceUrl,
  issuedAt: unixSeconds(settledAt),
  keyId: receiptKeyIdOf(ctx),
});

interface Settled {
  network: string;
  payer: string;
  transaction: string;
  /** Base units. */
  amount: string;
}

/**
 * Returns the PAYMENT-RESPONSE of a settled payment. With a proof it carries a signed receipt, which is the same to the last byte each time,
 * because Ed25519 is deterministic.
 */
export function paymentResponse(ctx: Signing, settled: Settled, proof: ReceiptProof | null): string {
  const { network, payer, transaction } = settled;
  const response = { success: true, ...settled };
  const issuer = issuerOf(ctx);
  if (!proof || !issuer) return encodeHeader(response);
  const { keyId, ...said } = proof;
  const key = keyRing(ctx.config.RECEIPT_KEYS).find((one) => one.keyId === keyId);
  const receipt = toReceiptExtension(key ? { ...issuer, key } : issuer, { network, payer, transaction, ...said });
  return encodeHeader({ ...response, extensions: { [OFFER_RECEIPT]: receipt } });
}

export const settledBy = ({ config }: Signing, { txSignature, payerWallet, amount }: Settlement): Settled => ({
  network: config.network.caip2,
  payer: payerWallet,
  transaction: txSignature,
  amount: amount.toString(),
});
