import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { MeteredSessionId, PaymentId } from '#core/ids.ts';
import { DAY, MINUTE, SECOND } from '#core/time.ts';
import { clockFilter } from '#platform/chain/clock-filter.store.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import { amongIds, boundId, jsonRows } from '#platform/db/among.ts';
import { abortUnlessChanged, type Write } from '#platform/db/commit.ts';
import { claimKeyOf } from '#platform/db/outcome.ts';
import { channelPayouts, type MeteredSessionRow, meteredSessions } from '#platform/db/tables/settlements.ts';
import type { MeteredSnapshot } from '#rules/metered/rpc.ts';

export const findMeteredSession = async (db: Db, sessionId: MeteredSessionId): Promise<MeteredSessionRow | null> =>
  (await db.select().from(meteredSessions).where(eq(meteredSessions.id, sessionId)).get()) ?? null;

type Named = Pick<MeteredSnapshot, 'sessionId'>;

const updateRow = ({ db }: Shard, { sessionId }: Named, patch: Partial<MeteredSessionRow>, condition?: SQL) =>
  db
    .update(meteredSessions)
    .set(patch)
    .where(and(eq(meteredSessions.id, sessionId as MeteredSessionId), condition));

export const insertMeteredSession = (db: Db, session: MeteredSessionRow): Write => db.insert(meteredSessions).values(session);

const countedColumns = (snapshot: MeteredSnapshot) => ({
  status: snapshot.stage,
  channelId: snapshot.bound?.channelId ?? null,
  payerWallet: snapshot.bound?.payer ?? null,
  authorizedSigner: snapshot.bound?.authorizedSigner ?? null,
  deposit: BigInt(snapshot.deposit),
  cumulative: BigInt(snapshot.cumulative),
  reserved: BigInt(snapshot.reserved),
  settled: BigInt(snapshot.settled),
  voucherEndsAt: snapshot.voucherEndsAt,
  usedAt: snapshot.usedAt,
  endedAt: snapshot.endedAt,
  version: snapshot.version,
  updatedAt: snapshot.updatedAt,
});

/** Time during which the current program holds a channel's rent: 1,500 slots in which its address could be opened again, and a margin. */
const RENT_CACHE_MS = 15 * MINUTE;

/**
 * Time at which a sweep takes a session after a failed alarm of its object: three intervals between reads. Sandbox sessions have no alarm and are
 * taken when idle. Ended sessions are taken at growing intervals.
 */
export const backstopAt = (now: number): SQL => sql`CASE
  WHEN ended_at IS NOT NULL THEN ${now} + min(${DAY}, max(${RENT_CACHE_MS}, ${now} - ended_at))
  WHEN livemode = 0 AND status = 'open' THEN max(${now + MINUTE}, used_at + idle_seconds * ${SECOND})
  ELSE ${now} + 3 * min(${MINUTE}, grace_period_seconds * ${SECOND / 10}) END`;

const nextCheck = ({ endedAt, stage, livemode, usedAt, idleSeconds }: MeteredSnapshot, now: number) => {
  if (endedAt !== null) return livemode && stage === 'closed' ? endedAt + RENT_CACHE_MS : null;
  if (!livemode && stage === 'open') return usedAt + idleSeconds * SECOND;
  return sql`min(coalesce(next_check_at, ${now + DAY}), ${backstopAt(now)})`;
};

/** Changes only when the chain shows more settled, not when a settlement begins. */
const settledAt = ({ settled }: MeteredSnapshot, now: number) => sql`CASE WHEN settled <> ${settled} THEN ${now} ELSE settled_at END`;

const sealDueAt = ({ stage, closingAt }: MeteredSnapshot, now: number) =>
  stage === 'closing' ? sql`max(coalesce(seal_due_at, 0), ${closingAt ?? now})` : null;

/** Never overwrites a newer copy. Another session that merely noted the same channel loses it: the claim decides. */
export const updateSessionCopy = ({ db, now }: Shard, snapshot: MeteredSnapshot): Write[] => [
  ...(snapshot.bound === null ? [] : [db.update(meteredSessions).set(UNBOUND).where(isNotedElsewhere(snapshot, snapshot.bound))]),
  db
    .update(meteredSessions)
    .set({
      ...countedColumns(snapshot),
      nextCheckAt: nextCheck(snapshot, now),
      sealDueAt: sealDueAt(snapshot, now),
      settledAt: settledAt(snapshot, now),
    })
    .where(and(eq(meteredSessions.id, snapshot.sessionId as MeteredSessionId), sql`${meteredSessions.version} < ${snapshot.version}`)),
];

const UNBOUND = { channelId: null, payerWallet: null, authorizedSigner: null };

const isNotedElsewhere = ({ livemode, sessionId }: MeteredSnapshot, { channelId }: { channelId: string }) =>
  sql`livemode = ${livemode} AND channel_id = ${channelId} AND id <> ${sessionId} AND status = 'created'`;

export const sessionTermsOf = (session: MeteredSessionRow) => ({
  sessionId: session.id,
  merchantId: session.merchantId,
  livemode: session.livemode,
  productId: session.productId,
  customer:
    session.customerRef !== null
      ? { customerRef: session.customerRef }
      : session.customerWallet !== null
        ? { walletAddress: session.customerWallet }
        : null,
  cap: session.capAmount.toString(),
  minVoucherDelta: session.minVoucherDelta.toString(),
  unitPrice: session.unitPriceAmount?.toString() ?? null,
  idleSeconds: session.idleSeconds,
  gracePeriodSeconds: session.gracePeriodSeconds,
  generation: session.generation,
  operator: session.operator,
  merchantWallet: session.merchantWallet,
  mint: session.mint,
  expiresAt: session.expiresAt,
  createdAt: session.createdAt,
});

/** Snapshot of a session that was never opened and so has no object. */
export const sessionSnapshotOf = (session: MeteredSessionRow): MeteredSnapshot => ({
  ...sessionTermsOf(session),
  stage: session.status,
  bound: null,
  deposit: session.deposit.toString(),
  cumulative: session.cumulative.toString(),
  reserved: session.reserved.toString(),
  settled: session.settled.toString(),
  voucherEndsAt: session.voucherEndsAt,
  usedAt: session.usedAt,
  closingAt: null,
  endedAt: session.endedAt,
  absentSince: null,
  version: session.version,
  updatedAt: session.updatedAt,
});

export const holdsChannel = async (db: Db, { sessionId }: Named, channelId: string): Promise<boolean> =>
  (await findMeteredSession(db, sessionId as MeteredSessionId))?.channelId === channelId;

export type NotedSession = MeteredSessionRow & { channelId: string; authorizedSigner: string };
export const hasNotedChannel = (row: MeteredSessionRow): row is NotedSession => row.channelId !== null && row.authorizedSigner !== null;

/** Age of a blockhash at which its transaction can no longer land. */
export const OPENING_DEAD_MS = 5 * MINUTE;

type Opening = { channelId: string; payer: string | null; authorizedSigner: string };

const noteChannel = (ctx: Shard, session: Named, { channelId, payer, authorizedSigner }: Opening, isFree: SQL) => {
  const noted = { channelId, payerWallet: payer, authorizedSigner, updatedAt: ctx.now, nextCheckAt: ctx.now + OPENING_DEAD_MS };
  return updateRow(ctx, session, noted, sql`status = 'created' AND ${isFree}`);
};

/** Aborts if the session has another opening that may still land. A unique index allows one session for a channel. */
export const noteOpening = (ctx: Shard, session: Named, opening: Opening): Write[] => [
  noteChannel(ctx, session, opening, sql`expires_at > ${ctx.now} AND (channel_id IS NULL OR updated_at <= ${ctx.now - OPENING_DEAD_MS})`),
  abortUnlessChanged(ctx),
];

/**
 * Takes a session's row for a channel on the chain, so that nothing expires it as unopened. Displaces an opening that was only noted. The
 * session's object accepts the first of two channels. Returns null if the session is over or open.
 */
export async function takeSession(ctx: Shard, sessionId: string, opening: Opening): Promise<MeteredSessionRow | null> {
  const isInTime = sql`(channel_id IS NOT NULL OR expires_at > ${ctx.now})`;
  const [row = null] = await noteChannel(ctx, { sessionId }, opening, isInTime).returning();
  return row;
}

/** Finds the last settlement that was begun for a session. */
export async function findSettling(db: Db, { sessionId }: Named): Promise<{ paymentId: PaymentId; cumulative: bigint } | null> {
  const session = await findMeteredSession(db, sessionId as MeteredSessionId);
  if (!session || session.settlingPaymentId === null) return null;
  return { paymentId: session.settlingPaymentId, cumulative: session.settlingCumulative ?? 0n };
}

/** Stops all reads of a channel of which nothing is left. */
export async function stopReads(ctx: Shard, session: Named): Promise<void> {
  await updateRow(ctx, session, { nextCheckAt: null }, sql`ended_at IS NOT NULL`);
}

/** Hides the session from sweeps and the overdue check until the object's own read, which comes after `afterMs`. */
export async function postponeSessionRead(ctx: Shard, session: Named, afterMs: number): Promise<void> {
  const at = ctx.now + 2 * afterMs;
  await updateRow(ctx, session, { nextCheckAt: at, sealDueAt: at });
}

/** Aborts if another settlement was begun after `before`. */
export const beginSettlement = (
  ctx: Shard,
  session: Named,
  { before, paymentId, cumulative }: { before: PaymentId | null; paymentId: PaymentId; cumulative: bigint },
): Write[] => [
  updateRow(ctx, session, { settlingPaymentId: paymentId, settlingCumulative: cumulative }, sql`settling_payment_id IS ${boundId(before)}`),
  abortUnlessChanged(ctx),
];

/** Lists the transactions that are recorded already, as a payout or as our own settlement. */
export async function listBooked(db: Db, channelId: string, signatures: readonly string[]): Promise<Set<string>> {
  const rows = await db.all<{
    signature: string;
  }>(sql`SELECT j.value ->> 'signature' AS signature
    FROM ${jsonRows(signatures.map((signature) => ({ signature, key: claimKeyOf(signature) })))}
    WHERE EXISTS (SELECT 1 FROM channel_payouts p WHERE p.livemode = 1 AND p.tx_signature = j.value ->> 'signature' AND p.channel_id = ${channelId})
      OR EXISTS (SELECT 1 FROM tx_claims c WHERE c.livemode = 1 AND c.tx_key = j.value ->> 'key' AND c.kind = 'metered')`);
  return new Set(rows.map(({ signature }) => signature));
}

type Booked = Pick<typeof channelPayouts.$inferSelect, 'livemode' | 'channelId' | 'paymentId'>;

/** Fails if one of these transactions is already recorded for the channel. */
export const insertPayouts = (
  db: Db,
  { livemode, channelId, paymentId }: Booked,
  payouts: readonly { signature: string; paid: bigint }[],
): Write =>
  db.insert(channelPayouts).select(
    sql`SELECT ${boundId(paymentId)}, ${livemode}, j.value ->> 0, ${channelId}, j.value ->> 1
      FROM ${jsonRows(payouts.map(({ signature, paid }) => [signature, `${paid}`]))}`,
  );

type Progress = Partial<Pick<MeteredSessionRow, 'payoutSeen' | 'payoutSeenTx' | 'payoutReadTx'>>;

/** Stores how far the transactions of a session's channel were read. */
export async function noteProgress(ctx: Shard, session: Named, progress: Progress): Promise<void> {
  await updateRow(ctx, session, progress);
}

export type ErasedSession = Pick<MeteredSessionRow, 'id' | 'livemode' | 'channelId'>;
const ERASED = { id: meteredSessions.id, livemode: meteredSessions.livemode, channelId: meteredSessions.channelId };

/** Lists the sessions on a scope's clock. */
export const listMeteredOfSession = (scope: Scope): Promise<ErasedSession[]> =>
  scope.db.select(ERASED).from(meteredSessions).where(clockFilter(scope));

/** Lists sessions that ended by `before`, oldest first. */
export const listEndedSessions = (db: Db, before: number, limit: number): Promise<ErasedSession[]> =>
  db
    .select(ERASED)
    .from(meteredSessions)
    .where(sql`ended_at IS NOT NULL AND ended_at <= ${before}`)
    .orderBy(meteredSessions.endedAt)
    .limit(limit);

export const deleteMeteredSessions = (db: Db, ids: MeteredSessionId[]) =>
  db.delete(meteredSessions).where(amongIds(meteredSessions.id, ids));
