import { z } from '@hono/zod-openapi';
import { base64Bytes } from '#core/encoding.ts';

/** Wire transaction in base64. The verb decodes it. */
export const WireTransaction = z
  .base64()
  .min(1)
  .max(4096)
  .refine((text) => base64Bytes(text) !== null, 'Expected base64 without unused bits in the last character');
