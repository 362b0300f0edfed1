import type { Address } from '@solana/kit';
import { base58 } from '#core/encoding.ts';
import { newId, type PaymentId } from '#core/ids.ts';
import { SECOND } from '#core/time.ts';
import { periodOf } from '#features/payments/confirm/collected.ts';
import { planRenewal } from '#features/payments/renewal.ts';
import type { Shard } from '#platform/context.ts';
import { commit, isConstraint } from '#platform/db/commit.ts';
import { insertClaim } from '#platform/db/fate.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import type { PeriodTimes } from '#rules/subscriptions/schedule.ts';
import { findCollection } from './find-collection.ts';

/**
 * The plan's owner has collected a period without us: that transfer is the period's payment, with a receipt and all that follows, once. False
 * where no node shows it yet, or where it was stored meanwhile.
 */
export async function takeOwnersCollection(ctx: Shard, row: AuthorizationRow, { startsAt }: PeriodTimes): Promise<boolean> {
  const found = await findCollection(ctx, row.subscriptionAddress as Address, BigInt(startsAt / SECOND));
  if (found.kind !== 'found' || found.collected.receiverTokenAccount !== row.recipientAta) return false;
  const { signature: txSignature, slot, blockTimeSeconds } = found.transaction;
  const { amount: paidUnits, subscriber: payer } = found.collected;
  const paymentId = newId<PaymentId>(ctx.now);
  const renewed = await planRenewal(ctx, row.id, {
    paymentId,
    nonce: base58.encode(crypto.getRandomValues(new Uint8Array(16))),
    period: periodOf(found.collected),
    proof: { txSignature, slot, blockTime: blockTimeSeconds! * SECOND, payer, paidUnits, feePaidUnits: 0n },
    isOwners: true,
  });
  const claim = insertClaim(
    ctx.db,
    { txSignature, livemode: row.livemode, kind: 'subscription', subjectId: paymentId, createdAt: ctx.now },
    slot,
  );
  try {
    await commit(ctx, { ...renewed, writes: [claim, ...renewed.writes] });
    return true;
  } catch (error) {
    // It pays something else, or another sweep was faster.
    if (!isConstraint(error)) throw error;
    return false;
  }
}
