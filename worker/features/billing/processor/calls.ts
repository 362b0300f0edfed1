/**
 * Billing calls to the payment processor, loaded lazily because a deployment without cards never needs them.
 * @module
 */

import type { Scope } from '#platform/context.ts';
import { requireProcessor } from './stripe.ts';
import { syncAccount } from './sync.ts';

export { beginCheckout, openPortal } from './checkout.ts';
export { verifyEvent } from './stripe.ts';
export { takeEvent } from './sync.ts';

/**
 * Syncs the account's subscription from the processor. Without a customer there is none. Throws 503 billing_not_configured or
 * temporarily_unavailable.
 */
export async function refreshAccount(scope: Scope): Promise<void> {
  requireProcessor(scope);
  await syncAccount(scope, scope.merchantId, null);
}
