import { base58, base64 } from '#core/encoding.ts';
import { type AccountId, newId, type PaymentId } from '#core/ids.ts';
import { SECOND } from '#core/time.ts';

/** Delay before the sweep checks a new claim, while its call may still be running. */
const CLAIM_LEASE_MS = 30 * SECOND;

/** Common columns of a new settlement in flight. `leaseMs`: delay before the sweep's first check. */
export const newSettlementColumns = (now: number, merchantId: AccountId, lastValidBlockHeight: number, leaseMs = CLAIM_LEASE_MS) => ({
  paymentId: newId<PaymentId>(now, merchantId),
  asset: 'USDC' as const,
  lastValidBlockHeight,
  status: 'pending' as const,
  failureReason: null,
  doubtedAt: null,
  answeredBy: null,
  nextCheckAt: now + leaseMs,
  createdAt: now,
});

const SIGNED_FROM = 65;

/** Returns the signature (base58) of a transaction that this service alone has signed. */
export const ownSignatureOf = (wire: Uint8Array): string => base58.encode(wire.slice(1, SIGNED_FROM));

export const ownTransactionColumns = (wire: Uint8Array) => ({
  txSignature: ownSignatureOf(wire),
  wire: base64.encode(wire),
});
