import { z } from '@hono/zod-openapi';
import { base64Bytes } from '#core/encoding.ts';

/** A transaction in its wire form, base64, as a request brings it. What the bytes are, the verb finds out. */
export const WireTransaction = z
  .base64()
  .min(1)
  .max(4096)
  .refine((text) => base64Bytes(text) !== null, 'Expected base64 without unused bits in the last character');
