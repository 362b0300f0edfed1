import { ApiError } from '#core/errors.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { IdentityProvider } from '#rules/payment-terms.ts';

export interface IdentityRequirement {
  payment: Payment;
  requiresIdentity: IdentityProvider | null;
}

/**
 * Returns the error of a missing identity, or null. Checked at connect, before money moves and before anything is sold, because the
 * merchant may have changed the requirement.
 */
export function missingIdentity({ payment, requiresIdentity }: IdentityRequirement): ApiError | null {
  if (!requiresIdentity || payment.terms.identity?.provider === requiresIdentity) return null;
  const detail =
    'The merchant now requires the buyer’s identity, which this payment lacks. Do not pay it; start another once it has ended.';
  return new ApiError('identity_verification_required', { detail, meta: { provider: requiresIdentity } });
}
