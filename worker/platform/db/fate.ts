import { and, eq, type SQL, sql } from 'drizzle-orm';
import { MINUTE } from '#core/time.ts';
import type { Db, Shard } from '#platform/context.ts';
import { transact, unchanged, type Write } from './commit.ts';
import { type ClaimKind, txClaims } from './tables/tx-claims.ts';

/** A transaction that was confirmed, and is looked for until it is final: what it paid, or money that pays nothing yet. */
export interface Watched {
  kind: ClaimKind | 'unmatched';
  /** Of the payment, settlement or unmatched payment. */
  subjectId: string;
  txSignature: string;
  /** null: it is not known where it landed, so that no block can prove it absent. */
  slot: number | null;
  doubtedAt: number | null;
  droppedAt: number | null;
}

/** A step in the fate of watched transactions, to be stored together with what follows from it. */
export interface FateStep {
  /** Note the step on what is watched, and fail the batch where another look was faster. */
  writes: Write[];
  /** Whether nothing waits for this step any more: it was stored with its answer lost, or another look was faster. */
  isOver(): Promise<boolean>;
}

/** What follows for one kind of things when the chain has spoken. Each stores its effects and the step in one batch, or nothing. */
export interface FateFollower {
  /** The cluster made them final, as almost always: many at once. */
  onFinal(ctx: Shard, subjectIds: readonly string[], step: FateStep): Promise<unknown>;
  /** The finalized chain is proven to be without it: what it brought is taken back. */
  onDropped(ctx: Shard, subjectId: string, step: FateStep): Promise<unknown>;
  /** It was taken for dropped and is final after all: what was taken back is given again. */
  onReturned(ctx: Shard, subjectId: string, step: FateStep): Promise<unknown>;
}

/** The cluster needs some thirteen seconds to make a transaction final; the first look comes after that. */
export const FINAL_AFTER_MS = MINUTE;

type NewClaim = Pick<typeof txClaims.$inferInsert, 'txSignature' | 'messageHash' | 'subjectId' | 'createdAt'> & {
  kind: ClaimKind;
  livemode: boolean;
};

/**
 * Claim of what other parties had a channel pay out, in place of the signature and of the message's hash. The newest of their transactions
 * names it, which may pay something else as well.
 */
export const channelClaim = (txSignature: string, channelId: string): string => `${txSignature}:${channelId}`;
/** The transaction that a claim is of. */
export const claimedTransaction = (claim: string): string => claim.split(':')[0]!;
export const CLAIMED_TRANSACTION = sql.raw("substr(tx_signature, 1, instr(tx_signature || ':', ':') - 1)");
/** Reads `subject_id` and `kind` of all that a transaction paid in these modes. */
export const subjectsOfTransaction = (txSignature: string, modes: readonly boolean[]): SQL => {
  const isIn = sql`livemode IN (${sql.raw(modes.map(Number).join(', '))}) AND tx_signature = ${txSignature} AND tx_signature IS NOT NULL`;
  return sql`SELECT subject_id, kind FROM tx_claims WHERE ${isIn} UNION ALL SELECT payment_id, 'metered' FROM channel_payouts WHERE ${isIn}`;
};

/** Seen confirmed and acted upon: from now on it is watched. */
const watchedFrom = (now: number, slot: number) => ({ slot, confirmedAt: now, nextLookAt: now + FINAL_AFTER_MS });

/**
 * Fails where the transaction pays something already. `slot`: where it was seen on the chain; null where
 * it was not yet, and is watched only once it was.
 */
export const insertClaim = (db: Db, claim: NewClaim, slot: number | null): Write =>
  db.insert(txClaims).values({ ...claim, ...(slot === null ? { nextLookAt: null } : watchedFrom(claim.createdAt, slot)) });

/** A claimed transaction was seen confirmed. */
export const watchClaim = ({ db, now }: Shard, claim: Pick<NewClaim, 'txSignature' | 'livemode'>, slot: number): Write =>
  db
    .update(txClaims)
    .set(watchedFrom(now, slot))
    .where(and(eq(txClaims.txSignature, claim.txSignature), eq(txClaims.livemode, claim.livemode)));

/** A step that nothing else follows from. */
export const storeStep = (ctx: Shard, step: FateStep): Promise<unknown> =>
  transact(ctx, { reload: () => step.isOver() }, (isOver) =>
    isOver ? unchanged(null) : { events: [], writes: step.writes, result: null },
  );
