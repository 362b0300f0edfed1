/**
 * Extension `payment-identifier` of x402: a client names its payment, so that it never pays twice for one purchase. Pure.
 * (x402-foundation/x402, specs/extensions/payment_identifier.md)
 * @module
 */

import { err, ok, type Result } from '#core/errors.ts';
import type { PaymentPayload } from './wire.ts';

export const PAYMENT_IDENTIFIER = 'payment-identifier';
export const PAYMENT_IDENTIFIER_CHARS = { min: 16, max: 128 };
const IDENTIFIER = /^[A-Za-z0-9_-]{16,128}$/;

/** Declaration in a challenge. An identifier is never required. */
export const DECLARED_PAYMENT_IDENTIFIER = {
  info: { required: false },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: {
        type: 'string',
        minLength: PAYMENT_IDENTIFIER_CHARS.min,
        maxLength: PAYMENT_IDENTIFIER_CHARS.max,
        pattern: '^[a-zA-Z0-9_-]+$',
      },
    },
    required: ['required'],
  },
};

/** Returns the identifier of a payload. Null if it names none. */
export function readPaymentIdentifier({ extensions }: PaymentPayload): Result<string | null, 'invalid_payment_identifier'> {
  const extension = extensions?.[PAYMENT_IDENTIFIER] as { info?: { id?: unknown } | null } | null | undefined;
  const id = extension?.info?.id;
  if (id === undefined || id === null) return ok(null);
  return typeof id === 'string' && IDENTIFIER.test(id) ? ok(id) : err('invalid_payment_identifier');
}
