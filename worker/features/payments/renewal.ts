import { raise } from '#core/errors.ts';
import type { AuthorizationId, PaymentId } from '#core/ids.ts';
import { getAccount } from '#features/accounts/store.ts';
import { findAuthorization } from '#features/authorizations/store.ts';
import { findMembership } from '#features/memberships/store.ts';
import type { Shard } from '#platform/context.ts';
import type { Change } from '#platform/db/commit.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import type { PeriodTimes } from '#rules/subscriptions/schedule.ts';
import { planCollected, subscribedBy } from './confirm/collected.ts';
import { newPayment } from './new-payment.store.ts';
import { paymentEvent } from './payment.ts';
import { type Proof, planPurchase } from './purchase.ts';
import { insertPayment } from './store.ts';

/** One further period, as the chain shows that it was collected. */
interface CollectedRenewal {
  paymentId: PaymentId;
  nonce: string;
  period: PeriodTimes;
  proof: Proof;
  /** By the plan's owner, without us. */
  isOwners: boolean;
}

/**
 * A payment that is born confirmed, for a further period of a native subscription: the row, its receipt, the membership that it renews and
 * the authorization after it, in one batch. That batch fails where the period was collected before. What became of the authorization
 * meanwhile changes nothing of it: the money has arrived. 404 for one that is gone.
 */
export async function planRenewal(ctx: Shard, authorizationId: AuthorizationId, renewal: CollectedRenewal): Promise<Change<Payment>> {
  const authorization = (await findAuthorization(ctx.db, authorizationId)) ?? raise('not_found');
  const { membershipId } = authorization;
  const [merchant, held] = await Promise.all([
    getAccount(ctx.db, authorization.merchantId),
    membershipId === null ? undefined : findMembership(ctx.db, membershipId),
  ]);
  const payment = paymentOf(ctx, authorization, renewal);
  const bought = planPurchase(ctx, payment, merchant.displayName, held ? [held] : [], renewal.proof, subscribedBy(authorization));
  const row = { ...payment, membershipId: bought.result.membership.id, receiptId: bought.result.receipt.id };
  const collected = planCollected(ctx, authorization, { payment: row, period: renewal.period });
  return {
    events: [paymentEvent(ctx, 'payment.confirmed', row), ...bought.events, ...collected.events],
    writes: [insertPayment(ctx.db, row), ...bought.writes, ...collected.writes],
    result: row,
  };
}

const paymentOf = (ctx: Shard, authorization: AuthorizationRow, { paymentId, nonce, period, proof, isOwners }: CollectedRenewal): Payment =>
  newPayment(ctx.now, {
    id: paymentId,
    merchantId: authorization.merchantId,
    livemode: authorization.livemode,
    productId: authorization.productId,
    slug: authorization.slug,
    status: 'CONFIRMED',
    nonce,
    // The service collects it by itself, so no scan has to find it.
    reference: '',
    asset: 'USDC',
    mint: authorization.mint,
    priceAmount: proof.paidUnits,
    recipientWallet: authorization.recipientWallet,
    recipientAta: authorization.recipientAta,
    terms: {
      ...authorization.terms,
      authorizationId: authorization.id,
      periodEndsAt: period.endsAt,
      ...(isOwners ? { isOwnersCollection: true as const } : {}),
    },
    customerRef: authorization.customerRef,
    email: authorization.email,
    payerWallet: proof.payer,
    txSignature: proof.txSignature,
    slot: proof.slot,
    blockTime: proof.blockTime,
    expiresAt: period.endsAt,
    lateGraceSeconds: 0,
    confirmedAt: ctx.now,
  });
