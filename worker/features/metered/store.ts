import { and, eq, sql } from 'drizzle-orm';
import type { MeteredSessionId, PaymentId } from '#core/ids.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import { inReach } from '#platform/chain/reach.store.ts';
import type { Db, Shard } from '#platform/context.ts';
import { vetoUnlessChanged, type Write } from '#platform/db/commit.ts';
import { type MeteredSessionRow, meteredSessions } from '#platform/db/tables/settlements.ts';
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
  usedAt: snapshot.usedAt,
  endedAt: snapshot.endedAt,
  version: snapshot.version,
  updatedAt: snapshot.updatedAt,
});

/** The window in which a channel of the current program could be opened at its address, 1,500 slots, and some more. */
const RENT_KEPT_MS = 15 * MINUTE;

/**
 * What was opened is looked at from now on, and not only when the time to open it is up. In the sandbox, where no payer closes behind our
 * back, it is looked at once it is idle. What is over on the chain is looked at once more, when the seal is final and the program gives the
 * rent back.
 */
const nextLook = ({ endedAt, stage, livemode, usedAt, idleSeconds }: MeteredSnapshot, now: number) => {
  if (endedAt !== null) return livemode && stage === 'closed' ? endedAt + RENT_KEPT_MS : null;
  if (!livemode && stage === 'open') return usedAt + idleSeconds * SECOND;
  return stage === 'created' ? sql`next_look_at` : sql`min(coalesce(next_look_at, ${now + LOOK_MS}), ${now + LOOK_MS})`;
};

/** Once the chain shows more settled than before, and not when a settlement is only begun. */
const whenSettled = ({ settled }: MeteredSnapshot, now: number) => sql`CASE WHEN settled <> ${settled} THEN ${now} ELSE settled_at END`;

/**
 * An older copy never overwrites a newer one. The claim of its address decides whose a channel is, so a session that it was only noted for
 * loses it.
 */
export const updateSessionCopy = ({ db, now }: Shard, snapshot: MeteredSnapshot): Write[] => [
  ...(snapshot.bound === null ? [] : [db.update(meteredSessions).set(UNBOUND).where(isNotedElsewhere(snapshot, snapshot.bound))]),
  db
    .update(meteredSessions)
    .set({ ...countedColumns(snapshot), nextLookAt: nextLook(snapshot, now), settledAt: whenSettled(snapshot, now) })
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

/** A row as its object would say it: of a session that was not begun there yet. */
export const sessionSnapshotOf = (session: MeteredSessionRow): MeteredSnapshot => ({
  ...sessionTermsOf(session),
  stage: session.status,
  bound:
    session.channelId === null || session.authorizedSigner === null
      ? null
      : { channelId: session.channelId, payer: session.payerWallet, authorizedSigner: session.authorizedSigner },
  deposit: session.deposit.toString(),
  cumulative: session.cumulative.toString(),
  reserved: session.reserved.toString(),
  settled: session.settled.toString(),
  voucherEndsAt: null,
  usedAt: session.usedAt,
  closingAt: null,
  endedAt: session.endedAt,
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

/**
 * Statements, not effects: the second fails the batch where another opening was noted for the session, but for one that is too old to land.
 * A channel is noted for one session in the whole service.
 */
export const noteOpening = (
  ctx: Shard,
  { sessionId }: Pick<MeteredSnapshot, 'sessionId'>,
  { channelId, payer, authorizedSigner }: { channelId: string; payer: string; authorizedSigner: string },
): Write[] => [
  ctx.db
    .update(meteredSessions)
    .set({ channelId, payerWallet: payer, authorizedSigner, updatedAt: ctx.now, nextLookAt: ctx.now + OPENING_DEAD_MS })
    .where(
      and(
        eq(meteredSessions.id, sessionId as MeteredSessionId),
        eq(meteredSessions.status, 'created'),
        sql`(channel_id IS NULL OR updated_at <= ${ctx.now - OPENING_DEAD_MS})`,
      ),
    ),
  vetoUnlessChanged(ctx),
];

/** The settlement that was begun last for a session, and up to what; null: none. */
export async function findSettling(
  db: Db,
  { sessionId }: Pick<MeteredSnapshot, 'sessionId'>,
): Promise<{ paymentId: PaymentId; cumulative: bigint } | null> {
  const session = await findMeteredSession(db, sessionId as MeteredSessionId);
  if (!session || session.settlingPaymentId === null) return null;
  return { paymentId: session.settlingPaymentId, cumulative: session.settlingCumulative ?? 0n };
}

/** The channel that was noted for a session turned out to be another one's, so it stands in that session's way no more. */
export async function forgetOpening({ db }: Shard, { id, channelId }: Pick<MeteredSessionRow, 'id' | 'channelId'>): Promise<void> {
  await db
    .update(meteredSessions)
    .set(UNBOUND)
    .where(and(eq(meteredSessions.id, id), eq(meteredSessions.status, 'created'), sql`channel_id IS ${channelId}`));
}

/** Nothing of it is left on the chain: it is never looked at again. */
export async function noteFreed({ db }: Shard, { sessionId }: Pick<MeteredSnapshot, 'sessionId'>): Promise<void> {
  await db
    .update(meteredSessions)
    .set({ nextLookAt: null })
    .where(and(eq(meteredSessions.id, sessionId as MeteredSessionId), sql`ended_at IS NOT NULL`));
}

/** Statements, not effects: the second fails the batch where another settlement was begun after `before`. */
export const beginSettlement = (
  ctx: Shard,
  { sessionId }: Pick<MeteredSnapshot, 'sessionId'>,
  { before, paymentId, cumulative }: { before: PaymentId | null; paymentId: PaymentId; cumulative: bigint },
): Write[] => [
  ctx.db
    .update(meteredSessions)
    .set({ settlingPaymentId: paymentId, settlingCumulative: cumulative })
    .where(and(eq(meteredSessions.id, sessionId as MeteredSessionId), sql`settling_payment_id IS ${before}`)),
  vetoUnlessChanged(ctx),
];

/** A channel is looked at so often: a payer who closes behind our back leaves us the grace period, of which this is a small part. */
const LOOK_MS = 30 * SECOND;

/**
 * Takes sessions whose time to look at has come, and says when it comes again, in one statement: a crash costs one look, and two sweeps at
 * once take different ones.
 */
export const takeDueSessions = (ctx: Shard, max: number): Promise<MeteredSessionRow[]> => {
  const { db, now } = ctx;
  return db
    .update(meteredSessions)
    .set({ nextLookAt: sql`max(${now + LOOK_MS}, CASE WHEN livemode = 0 THEN used_at + idle_seconds * ${SECOND} ELSE 0 END)` })
    .where(
      sql`id IN (SELECT id FROM metered_sessions WHERE next_look_at IS NOT NULL AND next_look_at <= ${now}
        AND ${inReach(ctx)} ORDER BY next_look_at LIMIT ${max})`,
    )
    .returning();
};
