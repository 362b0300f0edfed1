import { z } from '@hono/zod-openapi';

/** What a caller is told while the chain has not decided: the same for a sale and for a plan. */
export const RETRY_AFTER_SECONDS = 2;

export const SettlePending = z
  .object({ success: z.literal(false), error_reason: z.literal('settlement_pending'), tx_signature: z.string(), retry_after: z.int() })
  .openapi('SettlePending');
