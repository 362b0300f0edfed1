import { z } from '@hono/zod-openapi';
import { iso } from '#core/time.ts';
import type { LoginNonce } from '#platform/db/tables/accounts.ts';
import { Timestamp } from '#platform/http/openapi.ts';

const WalletAddress = z
  .string()
  .max(64)
  .openapi({ example: '5pwBVW7LsqxeEMCBViQ7SX2wxfdswJrpZodhKbCAuzrJ' })
  .describe('Address of a Solana wallet, in base58.');

export const NonceRequest = z.object({ wallet_address: WalletAddress }).openapi('WalletNonceRequest');
export const NonceResponse = z
  .object({
    message_nonce: z.string(),
    message: z.string(),
    issued_at: Timestamp,
    expires_at: Timestamp,
  })
  .openapi('WalletNonce');
export const WalletLoginRequest = z
  .object({
    wallet_address: WalletAddress,
    signed_message: z
      .string()
      .max(128)
      .describe(
        'Ed25519 signature, in base58, of `message` or of the bare `message_nonce`. A session of the bare nonce is no recent sign-in.',
      ),
    message_nonce: z.string().max(64),
  })
  .openapi('WalletLoginRequest');

export const toNonceResource = ({ nonce, message, expiresAt }: LoginNonce, issuedAt: number) => ({
  message_nonce: nonce,
  message,
  issued_at: iso(issuedAt),
  expires_at: iso(expiresAt),
});
