import { sha256Hex } from '#core/crypto.ts';
import { base58, base64 } from '#core/encoding.ts';
import { newId, type PaymentId } from '#core/ids.ts';
import { SECOND } from '#core/time.ts';

/** The sweep leaves a new claim alone while its call may still be at work. */
const CLAIM_LEASE_MS = 30 * SECOND;

/**
 * The columns in which every settlement begins alike: of a payment to come, whose transaction is on its way. `leaseMs`: when the sweep looks
 * for it first.
 */
export const newSettlementColumns = (now: number, lastValidBlockHeight: number, leaseMs = CLAIM_LEASE_MS) => ({
  paymentId: newId<PaymentId>(now),
  asset: 'USDC' as const,
  lastValidBlockHeight,
  status: 'pending' as const,
  failureReason: null,
  doubtedAt: null,
  answeredBy: null,
  nextCheckAt: now + leaseMs,
  createdAt: now,
});

/** One signature stands before the message. */
const SIGNED_FROM = 65;

/** The signature, in base58, of a transaction that this service alone has signed. */
export const ownSignatureOf = (wire: Uint8Array): string => base58.encode(wire.slice(1, SIGNED_FROM));

/** Such a transaction, as its settlement names it. */
export const ownTransactionColumns = (wire: Uint8Array) => ({
  messageHash: sha256Hex(wire.slice(SIGNED_FROM)),
  txSignature: ownSignatureOf(wire),
  wire: base64.encode(wire),
});
