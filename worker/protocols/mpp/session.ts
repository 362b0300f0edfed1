/**
 * Intent `session` of the method `solana`: challenge and credentials as in the public clients (`@solana/mpp` 0.6 and the version after it).
 * Pure. (worker/protocols/README.md#mpp-sessions)
 * @module
 */

import { z } from '@hono/zod-openapi';
import { base58Bytes } from '#core/encoding.ts';
import type { ChannelProgram } from '#solana/programs/payment-channels/channel.ts';

const decimal = z.string().regex(/^[0-9]{1,20}$/);
const address = z.string().refine((text) => base58Bytes(text, 32) !== null, 'Not a Solana address');
const signature = z.string().refine((text) => base58Bytes(text, 64) !== null, 'Not a signature');

export const SignedVoucher = z.looseObject({
  data: z.looseObject({
    channelId: address,
    cumulativeAmount: decimal.describe('Cumulative amount in base units.'),
    expiresAt: z.int().min(0).describe('Time of expiry of the voucher in Unix seconds; 0: no expiry.'),
    nonce: z.number().optional(),
  }),
  signature: signature.describe('Ed25519 signature over the bytes of the voucher, in base58.'),
});
export type SignedVoucher = z.infer<typeof SignedVoucher>;

/** Actions of a credential. Fields of modes that are not offered are ignored. */
export const SessionAction = z.discriminatedUnion('action', [
  z.object({
    action: z.literal('open'),
    mode: z.enum(['push', 'pull']),
    authorizedSigner: address,
    channelId: address,
    deposit: decimal,
    /** Signature of the opening transaction. Sixty-four ones if the server has to sign and send. */
    signature: z.string().max(128),
    /** Base64. In mode `pull`, signed by the payer alone. */
    transaction: z.string().max(4096).optional(),
    payer: address.optional(),
    payee: address.optional(),
    mint: address.optional(),
    salt: z.union([decimal, z.int()]).optional(),
    gracePeriod: z.int().optional(),
    recentSlot: z.union([decimal, z.int()]).optional(),
  }),
  z.object({ action: z.literal('voucher'), voucher: SignedVoucher }),
  z.object({ action: z.literal('commit'), deliveryId: z.string().min(1).max(256), voucher: SignedVoucher }),
  z.object({ action: z.literal('topUp'), channelId: address, newDeposit: decimal, signature: z.string().max(128) }),
  z.object({ action: z.literal('close'), channelId: address, voucher: SignedVoucher.optional() }),
]);
export type SessionAction = z.infer<typeof SessionAction>;
export type OpenAction = Extract<SessionAction, { action: 'open' }>;

/** Terms that a challenge offers the buyer. Amounts are base units of `mint`. */
interface SessionAsked {
  sessionId: string;
  program: ChannelProgram;
  network: 'mainnet' | 'devnet';
  mint: string;
  decimals: number;
  cap: bigint;
  minVoucherDelta: bigint;
  /** Pays the fee and is the payee, so that it can seal the channel. The full settled amount goes to the merchant's wallet. */
  operator: string;
  merchantWallet: string;
}

/**
 * Builds the request of a challenge. For the older program, only fields of the 0.6 client are allowed: that client rebuilds its echo from
 * known fields, and the challenge id covers the bytes.
 */
export const sessionRequest = (asked: SessionAsked, fresh: { blockhash: string; slot: number | null }) => ({
  cap: asked.cap.toString(),
  currency: asked.mint,
  decimals: asked.decimals,
  externalId: asked.sessionId,
  minVoucherDelta: asked.minVoucherDelta.toString(),
  modes: ['pull', 'push'],
  network: asked.network,
  operator: asked.operator,
  programId: asked.program.address as string,
  pullVoucherStrategy: 'clientVoucher',
  recentBlockhash: fresh.blockhash,
  recipient: asked.operator,
  splits: [{ bps: 10_000, recipient: asked.merchantWallet }],
  ...(asked.program.generation === 'current' && fresh.slot !== null ? { recentSlot: fresh.slot } : {}),
});
