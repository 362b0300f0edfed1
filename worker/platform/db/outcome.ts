import { and, eq, isNotNull, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { sha256 } from '#core/crypto.ts';
import { base64url, utf8 } from '#core/encoding.ts';
import { MINUTE } from '#core/time.ts';
import type { Db, Shard } from '#platform/context.ts';
import { boundId, digitsOf, jsonRows } from './among.ts';
import { transact, unchanged, type Write } from './commit.ts';
import { archivedSales } from './tables/archives.ts';
import { type ClaimKind, txClaims } from './tables/tx-claims.ts';

/** Confirmed transaction that is watched until final: whatever a claim names, or unmatched money. */
export interface Watched {
  kind: ClaimKind | 'unmatched';
  subjectId: string;
  /** Unique among those of its table and mode. */
  key: string;
  txSignature: string;
  /** null: the slot is unknown, so no block can prove that the transaction is absent. */
  slot: number | null;
  doubtedAt: number | null;
  droppedAt: number | null;
}

export interface OutcomeStep {
  /** Store the step, and abort the batch if another reading was faster. */
  writes: Write[];
  /** True if the step is done: stored with its answer lost, or another reading was faster. */
  isOver(): Promise<boolean>;
}

/** Effects of an outcome for one kind of subject. Each method stores its effects and the step in one batch, or nothing. */
export interface OutcomeHandler {
  onFinal(ctx: Shard, subjectIds: readonly string[], step: OutcomeStep): Promise<unknown>;
  /** The finalized chain provably lacks the transaction, so its effects are reversed. */
  onDropped(ctx: Shard, subjectId: string, step: OutcomeStep): Promise<unknown>;
  /** A transaction recorded as dropped is final, so its effects are restored. */
  onReturned(ctx: Shard, subjectId: string, step: OutcomeStep): Promise<unknown>;
}

/** Delay of the first check. The cluster finalizes a transaction in about thirteen seconds. */
export const FINAL_AFTER_MS = MINUTE;

type NewClaim = Pick<typeof txClaims.$inferInsert, 'subjectId' | 'identifier'> & {
  txSignature: string;
  kind: ClaimKind;
  livemode: boolean;
};

/**
 * Claim on a payout that other parties triggered on a channel, instead of the signature. The key is their newest transaction, which may pay
 * something else too.
 */
export const channelClaim = (txSignature: string, channelId: string): string => `${txSignature}:${channelId}`;
export const claimedTransaction = (claim: string): string => claim.split(':')[0]!;

/** Characters of the ends of a signature in the key of its claim. A search takes the first, and a subject finds its claim by both. */
export const KEY_START_LENGTH = 6;
const KEY_END_LENGTH = 8;
/** Bytes of the signature's hash in the key, by which no text but the signature itself names the transaction. */
const KEY_HASH_BYTES = 8;

const endsOf = (txSignature: string): string => txSignature.slice(0, KEY_START_LENGTH) + txSignature.slice(-KEY_END_LENGTH);

/** Key of a claim, a fourth of the signature's length: its ends and hash, for a channel's payout followed by the channel. */
export function claimKeyOf(claim: string): string {
  const txSignature = claimedTransaction(claim);
  const hash = base64url.encode(sha256(utf8(txSignature)).slice(0, KEY_HASH_BYTES));
  return endsOf(txSignature) + hash + claim.slice(txSignature.length);
}

/** SQL condition: the key in `column` may be that of this transaction. SQL has no hash, so the subject is compared as well. */
const hasEndsOf = (column: string, txSignature: SQLWrapper | string): SQL => {
  const [from, to] = [sql.raw(String(KEY_START_LENGTH)), sql.raw(String(-KEY_END_LENGTH))];
  const ends =
    typeof txSignature === 'string'
      ? sql`${endsOf(txSignature)}`
      : sql`substr(${txSignature}, 1, ${from}) || substr(${txSignature}, ${to})`;
  return sql`${sql.raw(column)} >= ${ends} AND ${sql.raw(column)} < ${ends} || '~'`;
};

/** SQL of the keys of the claims of subjects, which a statement selects as `signature` and `id`. */
export const claimKeysOf = (subjects: SQL): SQL =>
  sql`SELECT c.tx_key FROM (${subjects}) s CROSS JOIN tx_claims c ON ${hasEndsOf('c.tx_key', sql`s.signature`)} AND c.subject_id = s.id`;

/** Transactions that a node lists as table `j`, with `key` of their claims and `memo`, the nonce as the archive has it. */
export const transactionRows = (listed: readonly { signature: string; nonce: string | null }[]): SQL =>
  jsonRows(
    listed.map(({ signature, nonce }) => {
      const memo = nonce === null ? null : digitsOf(archivedSales.nonce, nonce);
      return { signature, nonce, key: claimKeyOf(signature), memo };
    }),
  );

export const CLAIMED_TRANSACTION = sql.raw("substr(tx_signature, 1, instr(tx_signature || ':', ':') - 1)");

/** SQL condition for the claim on what paid a subject, also for that on a channel's payout. */
export const isClaimOf = (subject: { id: SQLWrapper | string; livemode: SQLWrapper | boolean; txSignature: SQLWrapper | string }): SQL => {
  const livemode = typeof subject.livemode === 'boolean' ? sql.raw(`${Number(subject.livemode)}`) : subject.livemode;
  return sql`${hasEndsOf('tx_claims.tx_key', subject.txSignature)} AND tx_claims.livemode = ${livemode} AND tx_claims.subject_id = ${typeof subject.id === 'string' ? boundId(subject.id) : subject.id}`;
};

export const subjectsOfTransaction = (txSignature: string, modes: readonly boolean[]): SQL => {
  const isIn = sql`livemode IN (${sql.raw(modes.map(Number).join(', '))})`;
  const isPayout = sql`${isIn} AND tx_signature = ${txSignature} AND tx_signature IS NOT NULL`;
  return sql`SELECT subject_id, kind FROM tx_claims WHERE ${isIn} AND tx_key = ${claimKeyOf(txSignature)} UNION ALL SELECT payment_id, 'metered' FROM channel_payouts WHERE ${isPayout}`;
};

/** Beginning of the keys under which a merchant's claims hold an identifier. */
export const identifierPrefix = (merchantId: string, identifier: string): string => `${merchantId}:${identifier}:`;

/** Key under which a claim holds the name that a client gave its payment. `within`: what the payment is for. */
export const identifierKey = (merchantId: string, identifier: string, within: string): string =>
  identifierPrefix(merchantId, identifier) + within;

/** Condition for the claim of a transaction that the chain dropped before any request was answered with its success. */
const isLost = sql`dropped_at IS NOT NULL AND answered_by IS NULL`;

/** Frees an identifier of a payment that the chain dropped, for the batch that claims the next payment under it. */
export const freeLostIdentifier = (db: Db, identifier: string, livemode: boolean): Write =>
  db
    .update(txClaims)
    .set({ identifier: null })
    .where(and(eq(txClaims.identifier, identifier), eq(txClaims.livemode, livemode), isNotNull(txClaims.identifier), isLost));

/** True if a claim of another transaction has this identifier. */
export async function hasOtherClaim(
  db: Db,
  { identifier, livemode, txSignature }: { identifier: string; livemode: boolean; txSignature: string },
): Promise<boolean> {
  const isIts = and(
    eq(txClaims.identifier, identifier),
    eq(txClaims.livemode, livemode),
    isNotNull(txClaims.identifier),
    sql`NOT (${isLost})`,
  );
  const [claim] = await db.select({ key: txClaims.txKey }).from(txClaims).where(isIts);
  return claim !== undefined && claim.key !== claimKeyOf(txSignature);
}

/** Frees the identifier of a failed payment. */
export const freeIdentifier = (db: Db, claim: Pick<NewClaim, 'txSignature' | 'livemode'>): Write =>
  db
    .update(txClaims)
    .set({ identifier: null })
    .where(and(eq(txClaims.txKey, claimKeyOf(claim.txSignature)), eq(txClaims.livemode, claim.livemode)));

/** Binds the identifier again of a payment that failed and is on the chain after all, unless another payment took it meanwhile. */
export const takeBackIdentifier = (db: Db, claim: Pick<NewClaim, 'txSignature' | 'livemode'>, identifier: string): Write =>
  db
    .update(txClaims)
    .set({ identifier })
    .where(
      and(
        eq(txClaims.txKey, claimKeyOf(claim.txSignature)),
        eq(txClaims.livemode, claim.livemode),
        sql`NOT EXISTS (SELECT 1 FROM tx_claims other WHERE other.identifier = ${identifier} AND other.livemode = ${claim.livemode ? 1 : 0} AND other.identifier IS NOT NULL)`,
      ),
    );

const watchedFrom = (now: number, slot: number) => ({ slot, confirmedAt: now, nextCheckAt: now + FINAL_AFTER_MS });

/** Fails if the transaction already pays something. `seen`: null if not yet on the chain, in which case the watch starts later. */
export const insertClaim = (db: Db, claim: NewClaim, seen: { now: number; slot: number } | null): Write =>
  db.insert(txClaims).values({
    ...claim,
    txKey: claimKeyOf(claim.txSignature),
    ...(seen === null ? { nextCheckAt: null } : watchedFrom(seen.now, seen.slot)),
  });

export const watchClaim = ({ db, now }: Shard, claim: Pick<NewClaim, 'txSignature' | 'livemode'>, slot: number): Write =>
  db
    .update(txClaims)
    .set(watchedFrom(now, slot))
    .where(and(eq(txClaims.txKey, claimKeyOf(claim.txSignature)), eq(txClaims.livemode, claim.livemode)));

export const storeStep = (ctx: Shard, step: OutcomeStep): Promise<unknown> =>
  transact(ctx, { reload: () => step.isOver() }, (isOver) =>
    isOver ? unchanged(null) : { events: [], writes: step.writes, result: null },
  );
