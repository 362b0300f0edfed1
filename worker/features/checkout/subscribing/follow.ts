import { raise } from '#core/errors.ts';
import type { Subscribing } from '#features/authorizations/steps.ts';
import { findAuthorizationOf } from '#features/authorizations/store.ts';
import { type Confirmation, confirmPayment } from '#features/payments/confirm/confirm.ts';
import { failureOf } from '#features/payments/confirm/verdict.ts';
import { grantAccess } from '#features/payments/purchase.ts';
import { collectFirst } from '#features/subscriptions/collect-first.ts';
import { askForLook } from '#features/subscriptions/reconcile.ts';
import type { Scope } from '#platform/context.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { PAYMENT } from '#rules/states.ts';
import { viewSubscribing } from './agree.ts';

/** True of a checkout that begins a subscription, and is confirmed by its first collection. */
export const isSubscribing = ({ terms, reference }: Pick<Payment, 'terms' | 'reference'>): boolean =>
  terms.authorizationId !== undefined && reference !== '';

/**
 * Looks whether the buyer's wallet is subscribed by now, and collects the first period where it is: whatever transaction the buyer names, the
 * account tells. Nothing is refused for a look that came too early. 404, and as a checkout that failed.
 */
export async function followSubscription(ctx: Scope, payment: Payment): Promise<Confirmation> {
  if (payment.status === 'CONFIRMED') {
    await grantAccess(ctx, payment);
    return { scope: ctx, payment, alreadyConfirmed: true };
  }
  if (payment.status === 'FAILED') throw failureOf(payment);
  const authorization = (await findAuthorizationOf(ctx.db, payment.id)) ?? raise('not_found');
  const { kind, payment: followed } = await collectFirst(ctx, payment, authorization);
  // On its way since an earlier call: it may have landed by now.
  if (kind !== 'sent' || followed.txSignature === null) return { scope: ctx, payment: followed, alreadyConfirmed: false };
  return confirmPayment(ctx, { paymentId: followed.id, txSignature: followed.txSignature, viewer: null });
}

/** What a checkout's buyer has left to sign; null where it is no subscription's, or over. Stores nothing. */
export async function subscribingOf(ctx: Scope, payment: Payment): Promise<Subscribing | null> {
  if (!isSubscribing(payment) || PAYMENT.isTerminal(payment.status) || ctx.now > payment.expiresAt) return null;
  const authorization = await findAuthorizationOf(ctx.db, payment.id);
  return authorization && viewSubscribing(ctx, payment, authorization, (holder) => askForLook(ctx, holder));
}
