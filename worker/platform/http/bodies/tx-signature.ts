import { z } from '@hono/zod-openapi';
import { isSignature } from '#solana/assets.ts';

export const TxSignature = z
  .string()
  .refine(isSignature, { message: 'Expected a transaction signature: 64 bytes of base58', params: { type: 'invalid_signature' } })
  .openapi({ example: '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW' });
