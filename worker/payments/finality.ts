import type { Ctx } from '../context.ts';
import { MINUTE, SECOND } from '../core/time.ts';
import { commit, forEach, transact, unchanged } from '../db/commit.ts';
import { planRevocation } from '../memberships/membership.ts';
import type { Finality } from '../solana/rpc.ts';
import { listUnfinalized, suspectOrphan } from './chain.store.ts';
import { notePayment } from './payment.ts';
import { getPayment, type Payment } from './store.ts';

/** A node answers so many statuses in one call. */
const SWEEP_MAX = 200;
/** One node's forgetfulness is not a fork: the transaction has to be unknown again this much later. */
const DOUBT_MS = 30 * SECOND;

/**
 * A minute after confirming, the cluster has usually made it final; that is noted. A transaction the cluster dropped instead
 * (confirmed, then on a fork that lost) keeps its payment's status, but takes back the access it bought. (contract section 3)
 */
export async function sweepFinality(ctx: Ctx): Promise<number> {
  const due = await listUnfinalized(ctx.db, ctx.now - MINUTE, SWEEP_MAX);
  if (due.length === 0) return 0;
  const answer = await ctx.chain.finalityOf(due.map(({ txSignature, slot }) => ({ signature: txSignature!, slot: slot! })));
  if (answer.kind === 'unavailable') {
    ctx.note(`rpc: ${answer.reason}`);
    return 0;
  }
  return forEach(ctx, [...due.entries()], ([index, payment]) => noteFinality(ctx, payment, answer.finality[index] ?? 'pending'));
}

async function noteFinality(ctx: Ctx, payment: Payment, finality: Finality): Promise<void> {
  if (finality === 'pending') {
    // Doubts must follow each other: one that was answered is gone.
    if (payment.orphanSuspectedAt !== null) await commit(ctx, { events: [], writes: suspectOrphan(ctx, payment, null), result: null });
    return;
  }
  if (finality === 'finalized') {
    await transact(ctx, async () => {
      const current = await getPayment(ctx.db, payment.id);
      return current.finalizedAt ? unchanged(current) : notePayment(ctx, current, 'payment.finalized', { finalizedAt: ctx.now });
    });
  } else if (payment.orphanSuspectedAt === null) {
    await commit(ctx, { events: [], writes: suspectOrphan(ctx, payment, ctx.now), result: null });
  } else if (ctx.now >= payment.orphanSuspectedAt + DOUBT_MS) {
    await orphanPayment(ctx, payment);
  }
}

const orphanPayment = (ctx: Ctx, payment: Payment) =>
  transact(ctx, async () => {
    const current = await getPayment(ctx.db, payment.id);
    if (current.orphanedAt) return unchanged(current);
    const orphaned = notePayment(ctx, current, 'payment.orphaned', { orphanedAt: ctx.now });
    const revoked = await planRevocation(ctx, current);
    return { events: [...orphaned.events, ...revoked.events], writes: [...orphaned.writes, ...revoked.writes], result: orphaned.result };
  });
