import { raise } from '#core/errors.ts';
import type { Subscribing } from '#features/authorizations/steps.ts';
import { findAuthorizationFor } from '#features/authorizations/store.ts';
import { type Confirmation, confirmPayment } from '#features/payments/confirm/confirm.ts';
import { failureOf } from '#features/payments/confirm/verdict.ts';
import { grantAccess } from '#features/payments/purchase.ts';
import { collectFirst } from '#features/subscriptions/collect-first.ts';
import { requestReading } from '#features/subscriptions/reconcile.ts';
import type { Scope } from '#platform/context.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { PAYMENT } from '#rules/states.ts';
import { viewSubscribing } from './agree.ts';

/** True for a checkout that begins a subscription and is confirmed by its first collection. */
export const isSubscribing = ({ terms, reference }: Pick<Payment, 'terms' | 'reference'>): boolean =>
  terms.authorizationId !== undefined && reference !== '';

/**
 * Reads whether the buyer's wallet is subscribed, and if so collects the first period. The on-chain account decides, not the transaction
 * that the buyer names. A reading before the account exists is no error. Throws 404, and the failure of a failed checkout.
 */
export async function followSubscription(ctx: Scope, payment: Payment): Promise<Confirmation> {
  if (payment.status === 'CONFIRMED') {
    await grantAccess(ctx, payment);
    return { scope: ctx, payment, alreadyConfirmed: true };
  }
  if (payment.status === 'FAILED') throw failureOf(payment);
  const authorization = (await findAuthorizationFor(ctx.db, payment.id)) ?? raise('not_found');
  const { kind, payment: followed } = await collectFirst(ctx, payment, authorization);
  if (kind !== 'sent' || followed.txSignature === null) return { scope: ctx, payment: followed, alreadyConfirmed: false };
  return confirmPayment(ctx, { paymentId: followed.id, txSignature: followed.txSignature, viewer: null });
}

export async function loadSubscribing(ctx: Scope, payment: Payment): Promise<Subscribing | null> {
  if (!isSubscribing(payment) || PAYMENT.isTerminal(payment.status) || ctx.now > payment.expiresAt) return null;
  const authorization = await findAuthorizationFor(ctx.db, payment.id);
  return authorization && viewSubscribing(ctx, payment, authorization, (holder) => requestReading(ctx, holder));
}
