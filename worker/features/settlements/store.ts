import { and, eq, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { PaymentId } from '#core/ids.ts';
import { DAY, HOUR, MINUTE, SECOND } from '#core/time.ts';
import { inReach } from '#platform/chain/reach.store.ts';
import type { Db, Shard } from '#platform/context.ts';
import { paymentOf, readLines, settlementOf, storyIdOf } from '#platform/db/archive.ts';
import { vetoUnlessChanged, type Write } from '#platform/db/commit.ts';
import { insertClaim, watchClaim } from '#platform/db/fate.ts';
import { archivedPayments } from '#platform/db/tables/archives.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { activations } from '#platform/db/tables/plans.ts';
import { type Settlement, settlements } from '#platform/db/tables/settlements.ts';
import { type ClaimKind, txClaims } from '#platform/db/tables/tx-claims.ts';
import { SETTLEMENT } from '#rules/states.ts';

const { archiveId, lineAt, lineLength } = archivedPayments;
const PLACE = { archiveId, lineAt, lineLength };

/** Of any merchant: a message is claimed once in each mode of the whole service. One that was paid long ago is read from the archive. */
export async function findSettlement(ctx: Shard, messageHash: string): Promise<Settlement | null> {
  const found = await ctx.db
    .select({ settlement: settlements, place: PLACE })
    .from(txClaims)
    .leftJoin(settlements, eq(settlements.paymentId, txClaims.subjectId))
    .leftJoin(archivedPayments, sql`${archivedPayments.id} = ${storyIdOf(sql`${txClaims.subjectId}`)}`)
    .where(and(eq(txClaims.messageHash, messageHash), eq(txClaims.livemode, ctx.sandbox === null)))
    .get();
  if (!found?.place || found.settlement) return found?.settlement ?? null;
  const [line] = await readLines(ctx, [found.place]);
  return settlementOf(line!);
}

export async function getSettlement(db: Db, paymentId: PaymentId): Promise<Settlement> {
  return (await db.select().from(settlements).where(eq(settlements.paymentId, paymentId)).get()) ?? raise('not_found');
}

/**
 * A settlement as it stands now, with the receipt of its payment or activation once there is one. `isLost`: the chain dropped its
 * transaction before any request was told of its success.
 */
export async function loadSettlement(ctx: Shard, paymentId: PaymentId) {
  const { droppedAt, answeredBy } = txClaims;
  const found = await ctx.db
    .select({ settlement: settlements, sold: payments.receiptId, activated: activations.receiptId, droppedAt, answeredBy })
    .from(settlements)
    .leftJoin(txClaims, eq(txClaims.subjectId, settlements.paymentId))
    .leftJoin(payments, eq(payments.id, settlements.paymentId))
    .leftJoin(activations, eq(activations.paymentId, settlements.paymentId))
    .where(eq(settlements.paymentId, paymentId))
    .get();
  if (!found) return loadArchived(ctx, paymentId);
  return {
    settlement: found.settlement,
    receiptId: found.sold ?? found.activated,
    isLost: found.droppedAt !== null && found.answeredBy === null,
  };
}

/** Same as `loadSettlement`, but from the archive, which holds final settlements alone. */
async function loadArchived(ctx: Shard, paymentId: PaymentId) {
  const place = await ctx.db.select(PLACE).from(archivedPayments).where(eq(archivedPayments.id, paymentId)).get();
  const [line] = place ? await readLines(ctx, [place]) : [];
  const settlement = line === undefined ? null : settlementOf(line);
  return settlement && { settlement, receiptId: paymentOf(line!).receiptId, isLost: false };
}

const KIND_OF: Record<Settlement['purpose'], ClaimKind> = {
  access: 'x402',
  activation: 'activation',
  facilitator: 'facilitator',
  metered: 'metered',
  subscription: 'subscription',
};

/** A settlement that the chain has not decided yet. */
export const findPendingSettlement = async (db: Db, paymentId: PaymentId): Promise<Settlement | null> =>
  (await db
    .select()
    .from(settlements)
    .where(and(eq(settlements.paymentId, paymentId), sql`status = 'pending'`))
    .get()) ?? null;

/** Both fail where any merchant's request claimed this message or signature before. */
export const claimSettlement = (db: Db, settlement: Settlement): Write[] => {
  const { txSignature, livemode, messageHash, paymentId: subjectId, createdAt } = settlement;
  return [
    insertClaim(db, { txSignature, livemode, messageHash, kind: KIND_OF[settlement.purpose], subjectId, createdAt }, null),
    db.insert(settlements).values(settlement),
  ];
};

/** Its money was seen in this slot, so from now on its transaction is watched. Once, as any end. */
export const settleSettlement = (ctx: Shard, settlement: Settlement, slot: number): Write[] => [
  ...endSettlement(ctx, settlement, 'settle'),
  watchClaim(ctx, settlement, slot),
];

/** The second statement fails the batch where the settlement already has its end. */
export const endSettlement = (
  ctx: Shard,
  settlement: Settlement,
  transition: 'settle' | 'fail',
  failureReason: string | null = null,
  nextCheckAt: number | null = null,
): Write[] => [
  ctx.db
    .update(settlements)
    .set({ status: SETTLEMENT.next(settlement.status, transition), failureReason, nextCheckAt, wire: '' })
    .where(and(eq(settlements.paymentId, settlement.paymentId), eq(settlements.status, settlement.status))),
  vetoUnlessChanged(ctx),
];

/** What a look brought that ends nothing. */
export const noteLook = (db: Db, settlement: Settlement, seen: { doubtedAt: number | null } | { nextCheckAt: null }): Write =>
  db
    .update(settlements)
    .set(seen)
    .where(and(eq(settlements.paymentId, settlement.paymentId), eq(settlements.status, settlement.status)));

/**
 * Takes what is due and says when it is due again, in one statement, before the node is asked: a crash costs one look, and two sweeps
 * at once take different ones. What is pending is due every minute at first and at least hourly in the end, however long no node can
 * tell; what failed after two hours and after a day, and until a node could be asked.
 */
export const takeDueSettlements = (ctx: Shard, max: number): Promise<Settlement[]> => {
  const { db, now } = ctx;
  return db
    .update(settlements)
    .set({
      nextCheckAt: sql`CASE WHEN status = 'pending' THEN ${now}
          + max(min(${MINUTE}, max(${5 * SECOND}, ${now} - created_at)), min(${HOUR}, (${now} - created_at) / 8))
        WHEN created_at + ${2 * HOUR} > ${now} THEN created_at + ${2 * HOUR}
        WHEN created_at + ${DAY} > ${now} THEN created_at + ${DAY} ELSE ${now} + ${HOUR} END`,
    })
    .where(
      sql`payment_id IN (SELECT payment_id FROM settlements WHERE status <> 'settled' AND next_check_at IS NOT NULL
        AND next_check_at <= ${now} AND ${inReach(ctx)} ORDER BY next_check_at LIMIT ${max})`,
    )
    .returning();
};

/** The reason of settlements that the chain never showed, as far as any node could tell. */
export const EXPIRED = 'blockhash_expired';
