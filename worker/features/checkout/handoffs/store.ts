import { and, eq, isNull } from 'drizzle-orm';
import type { HandoffId, PaymentId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { vetoUnlessChanged, type Write } from '#platform/db/commit.ts';
import { type Handoff, handoffs } from '#platform/db/tables/checkout.ts';

/** Of any merchant: the caller has shown a token that names it. */
export const findHandoff = (db: Db, handoffId: HandoffId) => db.select().from(handoffs).where(eq(handoffs.id, handoffId)).get();

export const insertHandoff = (db: Db, handoff: Handoff): Write => db.insert(handoffs).values(handoff);

/** The purchase of a hand-off goes on with the payment that takes the place of another. */
export const moveHandoff = (db: Db, handoffId: HandoffId, from: PaymentId, to: PaymentId): Write =>
  db
    .update(handoffs)
    .set({ paymentId: to })
    .where(and(eq(handoffs.id, handoffId), eq(handoffs.paymentId, from)));

/** The hand-off begins this payment; the second fails the batch where another was begun with it first. */
export const useHandoff = (ctx: Shard, { id }: Handoff, paymentId: PaymentId): Write[] => [
  ctx.db
    .update(handoffs)
    .set({ paymentId })
    .where(and(eq(handoffs.id, id), isNull(handoffs.paymentId))),
  vetoUnlessChanged(ctx),
];
