/**
 * What the routes of billing call at the payment processor. Loaded with the first of these calls, because a deployment without cards
 * never needs it.
 * @module
 */

import type { Scope } from '#platform/context.ts';
import { requireProcessor } from './stripe.ts';
import { syncAccount } from './sync.ts';

export { beginCheckout, openPortal } from './checkout.ts';
export { verifyEvent } from './stripe.ts';
export { takeEvent } from './sync.ts';

/** Reads the account's subscription afresh. Without a customer there is none. 503 billing_not_configured, or temporarily_unavailable. */
export async function refreshAccount(scope: Scope): Promise<void> {
  requireProcessor(scope);
  await syncAccount(scope, scope.merchantId, null);
}
