/**
 * Outcome of facilitated sales: the merchant's server does the accounting, so the service only reports a payment that the chain dropped
 * after a success, and one that is on the chain after all.
 * @module
 */

import { FACILITATED_PRODUCT_ID, type PaymentId } from '#core/ids.ts';
import { toMoneyResource } from '#core/money.ts';
import { iso } from '#core/time.ts';
import type { PaymentResource } from '#features/payments/resource.ts';
import { getSettlement } from '#features/settlements/store.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { transact, unchanged } from '#platform/db/commit.ts';
import { type OutcomeHandler, type OutcomeStep, storeStep } from '#platform/db/outcome.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import type { NewEvent } from '#rules/events.ts';
import { X402_RAIL } from '#rules/rails.ts';

export const facilitatedOutcome: OutcomeHandler = {
  onFinal: (ctx, _paymentIds, step) => storeStep(ctx, step),
  onDropped: (ctx, paymentId, step) => publishOutcome(ctx, paymentId, step, 'payment.orphaned'),
  onReturned: (ctx, paymentId, step) => publishOutcome(ctx, paymentId, step, 'payment.finalized'),
};

/** A transaction is dropped at most once and returns only as final, so each event has a fixed version. */
const VERSION_OF = { 'payment.orphaned': 1, 'payment.finalized': 2 } as const;

const publishOutcome = (ctx: Shard, paymentId: string, step: OutcomeStep, type: keyof typeof VERSION_OF) =>
  transact(ctx, { reload: () => step.isOver() }, async (isOver) => {
    if (isOver) return unchanged(null);
    const settlement = await getSettlement(ctx.db, paymentId as PaymentId);
    return { events: [eventOf(ctx, settlement, type)], writes: step.writes, result: null };
  });

function eventOf(ctx: Ctx, settlement: Settlement, type: keyof typeof VERSION_OF): NewEvent {
  const { merchantId, livemode, paymentId } = settlement;
  const version = VERSION_OF[type];
  const outcome = type === 'payment.orphaned' ? { orphaned_at: iso(ctx.now) } : { finalized_at: iso(ctx.now) };
  const subject = { type: 'payment', id: paymentId, version } as const;
  const object = { ...toFacilitatedResource(settlement), ...outcome, updated_at: iso(ctx.now), version };
  return { merchantId, livemode, type, subject, object, paymentId };
}

/** Formats a settlement like a payment. `tx_signature` identifies it to the merchant's server. It has no product. */
const toFacilitatedResource = (settlement: Settlement): PaymentResource => ({
  payment_id: settlement.paymentId,
  kind: 'x402',
  rail_id: X402_RAIL,
  product_id: FACILITATED_PRODUCT_ID,
  slug: '',
  status: 'CONFIRMED',
  price: toMoneyResource({ asset: settlement.asset, units: settlement.amount }),
  payer_wallet: settlement.payerWallet,
  recipient_wallet: settlement.recipientWallet,
  memo: '',
  references: [],
  tx_signature: settlement.txSignature,
  expires_at: iso(settlement.createdAt),
  livemode: settlement.livemode,
  created_at: iso(settlement.createdAt),
  updated_at: iso(settlement.createdAt),
  version: 1,
  poll_after_ms: null,
});
