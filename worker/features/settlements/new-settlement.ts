import { sha256Hex } from '#core/crypto.ts';
import { base58, base64 } from '#core/encoding.ts';
import { newId, type PaymentId } from '#core/ids.ts';
import { SECOND } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';

/** The sweep leaves a new claim alone while its call may still be at work. */
const CLAIM_LEASE_MS = 30 * SECOND;

/** What every settlement begins with: the id of its payment, and nothing known of it yet. `leaseMs`: when the sweep looks for it first. */
export const newSettlement = ({ now }: Ctx, lastValidBlockHeight: number, leaseMs = CLAIM_LEASE_MS) => ({
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

/** A transaction that this service alone has signed, as its settlement names it. */
export const ownTransaction = (wire: Uint8Array) => ({
  messageHash: sha256Hex(wire.slice(SIGNED_FROM)),
  txSignature: base58.encode(wire.slice(1, SIGNED_FROM)),
  wire: base64.encode(wire),
});
