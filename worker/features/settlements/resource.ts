import { z } from '@hono/zod-openapi';
import { TransactionSignature } from '#platform/http/openapi.ts';

export const RETRY_AFTER_SECONDS = 2;

export const SettlePending = z
  .object({
    success: z.literal(false),
    error_reason: z.literal('settlement_pending').describe('Reason the payment is not settled yet.'),
    tx_signature: TransactionSignature,
    retry_after: z.int().describe('Seconds to wait before the same payment is sent again.'),
  })
  .openapi('SettlePending');
