import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { MeteredSessionId, PaymentId } from '#core/ids.ts';
import { DAY, MINUTE, SECOND } from '#core/time.ts';
import { inReach } from '#platform/chain/reach.store.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import { amongIds, jsonRows } from '#platform/db/among.ts';
import { abortUnlessChanged, type Write } from '#platform/db/commit.ts';
import { channelPayouts, type MeteredSessionRow, meteredSessions } from '#platform/db/tables/settlements.ts';
import type { MeteredSnapshot } from '#rules/metered/rpc.ts';

export const findMeteredSession = async (db: Db, sessionId: MeteredSessionId): Promise<MeteredSessionRow | null> =>
  (await db.select().from(meteredSessions).where(eq(meteredSessions.id, sessionId)).get()) ?? null;

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

/** The window in which a channel of the current program could be opened at its address, 1,500 slots, and some more. */
const RENT_KEPT_MS = 15 * MINUTE;

/**
 * When a sweep takes a session, long after its object's alarm should have looked at it: three times as long as between two looks. In the
 * sandbox, where no payer closes behind our back and no alarm looks, once the session is idle. What has ended is taken ever less often.
 */
export const backstopAt = (now: number): SQL => sql`CASE
  WHEN ended_at IS NOT NULL THEN ${now} + min(${DAY}, max(${RENT_KEPT_MS}, ${now} - ended_at))
  WHEN livemode = 0 AND status = 'open' THEN max(${now + MINUTE}, used_at + idle_seconds * ${SECOND})
  ELSE ${now} + 3 * min(${MINUTE}, grace_period_seconds * ${SECOND / 10}) END`;

/** Has the opened session watched from now on, and not only when the time to open it is up. */
const nextLook = ({ endedAt, stage, livemode, usedAt, idleSeconds }: MeteredSnapshot, now: number) => {
  if (endedAt !== null) return livemode && stage === 'closed' ? endedAt + RENT_KEPT_MS : null;
  if (!livemode && stage === 'open') return usedAt + idleSeconds * SECOND;
  return sql`min(coalesce(next_look_at, ${now + DAY}), ${backstopAt(now)})`;
};

/** Once the chain shows more settled than before, and not when a settlement is only begun. */
const whenSettled = ({ settled }: MeteredSnapshot, now: number) => sql`CASE WHEN settled <> ${settled} THEN ${now} ELSE settled_at END`;

const sealDueAt = ({ stage, closingAt }: MeteredSnapshot, now: number) =>
  stage === 'closing' ? sql`max(coalesce(seal_due_at, 0), ${closingAt ?? now})` : null;

/**
 * An older copy never overwrites a newer one. The claim of its address decides whose a channel is, so a session that it was only noted for
 * loses it.
 */
export const updateSessionCopy = ({ db, now }: Shard, snapshot: MeteredSnapshot): Write[] => [
  ...(snapshot.bound === null ? [] : [db.update(meteredSessions).set(UNBOUND).where(isNotedElsewhere(snapshot, snapshot.bound))]),
  db
    .update(meteredSessions)
    .set({
      ...countedColumns(snapshot),
      nextLookAt: nextLook(snapshot, now),
      sealDueAt: sealDueAt(snapshot, now),
      settledAt: whenSettled(snapshot, now),
    })
    .where(and(eq(meteredSessions.id, snapshot.sessionId as MeteredSessionId), sql`${meteredSessions.version} < ${snapshot.version}`)),
];

const UNBOUND = { channelId: null, payerWallet: null, authorizedSigner: null };

const isNotedElsewhere = ({ livemode, sessionId }: MeteredSnapshot, { channelId }: { channelId: string }) =>
  sql`livemode = ${livemode} AND channel_id = ${channelId} AND id <> ${sessionId} AND status = 'created'`;

/** The agreed terms of a row, as its object holds them. */
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

/** A row as its object would say it: of a session that was never opened, which has none. */
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

/** Is this channel noted as the session's? */
export const holdsChannel = async (db: Db, { sessionId }: Pick<MeteredSnapshot, 'sessionId'>, channelId: string): Promise<boolean> =>
  (await findMeteredSession(db, sessionId as MeteredSessionId))?.channelId === channelId;

/** A session for which a channel is noted, by its signer's key too. */
export type NotedSession = MeteredSessionRow & { channelId: string; authorizedSigner: string };
export const isNoted = (row: MeteredSessionRow): row is NotedSession => row.channelId !== null && row.authorizedSigner !== null;

/** A transaction whose blockhash was taken this long ago never lands any more. */
export const OPENING_DEAD_MS = 5 * MINUTE;

type Opening = { channelId: string; payer: string | null; authorizedSigner: string };

const takenFor = (ctx: Shard, sessionId: string, { channelId, payer, authorizedSigner }: Opening, isFree: SQL) =>
  ctx.db
    .update(meteredSessions)
    .set({ channelId, payerWallet: payer, authorizedSigner, updatedAt: ctx.now, nextLookAt: ctx.now + OPENING_DEAD_MS })
    .where(and(eq(meteredSessions.id, sessionId as MeteredSessionId), eq(meteredSessions.status, 'created'), isFree));

/**
 * The second statement fails the batch where another opening was noted for the session, but for one that is too old to land.
 * A channel is noted for one session in the whole service.
 */
export const noteOpening = (ctx: Shard, { sessionId }: Pick<MeteredSnapshot, 'sessionId'>, opening: Opening): Write[] => [
  takenFor(ctx, sessionId, opening, sql`expires_at > ${ctx.now} AND (channel_id IS NULL OR updated_at <= ${ctx.now - OPENING_DEAD_MS})`),
  abortUnlessChanged(ctx),
];

/**
 * Takes a session for a channel that stands: from now on nothing ends it as one that was never opened. Another opening that was only noted
 * gives way, and of two channels that stand the session's object takes the first. null where the session is over, or open by now.
 */
export async function takeSession(ctx: Shard, sessionId: string, opening: Opening): Promise<MeteredSessionRow | null> {
  const isInTime = sql`(channel_id IS NOT NULL OR expires_at > ${ctx.now})`;
  const [row = null] = await takenFor(ctx, sessionId, opening, isInTime).returning();
  return row;
}

/** The settlement that was begun last for a session, and up to what; null: none. */
export async function findSettling(
  db: Db,
  { sessionId }: Pick<MeteredSnapshot, 'sessionId'>,
): Promise<{ paymentId: PaymentId; cumulative: bigint } | null> {
  const session = await findMeteredSession(db, sessionId as MeteredSessionId);
  if (!session || session.settlingPaymentId === null) return null;
  return { paymentId: session.settlingPaymentId, cumulative: session.settlingCumulative ?? 0n };
}

/** Nothing of it is left on the chain: it is never looked at again. */
export async function noteFreed({ db }: Shard, { sessionId }: Pick<MeteredSnapshot, 'sessionId'>): Promise<void> {
  await db
    .update(meteredSessions)
    .set({ nextLookAt: null })
    .where(and(eq(meteredSessions.id, sessionId as MeteredSessionId), sql`ended_at IS NOT NULL`));
}

/** No sweep takes it before its object's own look, which comes after so long, and it is not late before that. */
export async function putOff({ db, now }: Shard, { sessionId }: Pick<MeteredSnapshot, 'sessionId'>, afterMs: number): Promise<void> {
  await db
    .update(meteredSessions)
    .set({ nextLookAt: now + 2 * afterMs, sealDueAt: now + 2 * afterMs })
    .where(eq(meteredSessions.id, sessionId as MeteredSessionId));
}

/** The second statement fails the batch where another settlement was begun after `before`. */
export const beginSettlement = (
  ctx: Shard,
  { sessionId }: Pick<MeteredSnapshot, 'sessionId'>,
  { before, paymentId, cumulative }: { before: PaymentId | null; paymentId: PaymentId; cumulative: bigint },
): Write[] => [
  ctx.db
    .update(meteredSessions)
    .set({ settlingPaymentId: paymentId, settlingCumulative: cumulative })
    .where(and(eq(meteredSessions.id, sessionId as MeteredSessionId), sql`settling_payment_id IS ${before}`)),
  abortUnlessChanged(ctx),
];

/** Of these transactions those whose payout of a channel is written down, or will be: our own, which are claimed before they are sent. */
export async function listBooked(db: Db, channelId: string, signatures: readonly string[]): Promise<Set<string>> {
  const rows = await db.all<{
    signature: string;
  }>(sql`SELECT j.value AS signature FROM ${jsonRows(signatures)}
    WHERE EXISTS (SELECT 1 FROM channel_payouts p WHERE p.livemode = 1 AND p.tx_signature = j.value AND p.channel_id = ${channelId})
      OR EXISTS (SELECT 1 FROM tx_claims c WHERE c.livemode = 1 AND c.tx_signature = j.value AND c.kind = 'metered')`);
  return new Set(rows.map(({ signature }) => signature));
}

type Booked = Pick<typeof channelPayouts.$inferSelect, 'livemode' | 'channelId' | 'paymentId'>;

/** Fails where one of these transactions is written down already for the channel. */
export const insertPayouts = (
  db: Db,
  { livemode, channelId, paymentId }: Booked,
  payouts: readonly { signature: string; paid: bigint }[],
): Write =>
  db.insert(channelPayouts).select(
    sql`SELECT ${paymentId}, ${livemode}, j.value ->> 0, ${channelId}, j.value ->> 1
      FROM ${jsonRows(payouts.map(({ signature, paid }) => [signature, `${paid}`]))}`,
  );

type Place = Partial<Pick<MeteredSessionRow, 'payoutSeen' | 'payoutSeenTx' | 'payoutReadTx'>>;

/** How far the transactions of a session's channel were looked up. */
export async function notePlace({ db }: Shard, { sessionId }: { sessionId: string }, place: Place): Promise<void> {
  await db
    .update(meteredSessions)
    .set(place)
    .where(eq(meteredSessions.id, sessionId as MeteredSessionId));
}

/** What it takes to forget a session. */
export type ErasedSession = Pick<MeteredSessionRow, 'id' | 'livemode' | 'channelId'>;
const ERASED = { id: meteredSessions.id, livemode: meteredSessions.livemode, channelId: meteredSessions.channelId };

/** All sessions that the clock of a scope reaches. */
export const listMeteredInReach = (scope: Scope): Promise<ErasedSession[]> =>
  scope.db.select(ERASED).from(meteredSessions).where(inReach(scope));

/** Sessions that had ended by then, the longest ended first. */
export const listEndedSessions = (db: Db, before: number, limit: number): Promise<ErasedSession[]> =>
  db
    .select(ERASED)
    .from(meteredSessions)
    .where(sql`ended_at IS NOT NULL AND ended_at <= ${before}`)
    .orderBy(meteredSessions.endedAt)
    .limit(limit);

export const deleteMeteredSessions = (db: Db, ids: MeteredSessionId[]) => db.delete(meteredSessions).where(amongIds('id', ids));
