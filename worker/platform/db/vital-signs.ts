import { type SQL, sql } from 'drizzle-orm';
import { HOUR, MINUTE, SECOND } from '#core/time.ts';
import type { Ctx, Db } from '#platform/context.ts';
import { sweeps } from './tables/operations.ts';

/** What waits longest, each read from the end of the index that its sweep reads. Epoch ms; null: nothing waits. */
interface WaitingWork {
  /** Since when the event that is due longest is due to be fanned out. */
  outbox: number | null;
  /** When the payment was confirmed that waits longest to be final. */
  unfinal: number | null;
  /** When the attempt of a webhook that is due longest was due. What a broken endpoint holds back is not due. */
  webhook: number | null;
  /** When the look at an agent's payment under way that is due longest was due. */
  settlement: number | null;
  /** When the letter that is due longest was due. What the operator switched off is not due. */
  mail: number | null;
  /** The end of the unpaid session that is over longest and not given up. */
  session: number | null;
  /** When the look was due that is due longest: at a payment that the chain showed, at one that the service sent, at what a caller named. */
  found: number | null;
  sent: number | null;
  named: number | null;
  /** When the period of a subscription that is due longest fell due. */
  collection: number | null;
  /** When the look at a subscription's checkout that is due longest was due, and at any other subscription. */
  subscription_checkout: number | null;
  subscription: number | null;
  /** Since when the channel that waits longest should be sealed, and when the look at an open channel was due that is due longest. */
  closing_channel: number | null;
  open_channel: number | null;
  /** When the look was due that is due longest: at vouchers that end soon, at openings, at unopened sessions, and at what has ended. */
  expiring_voucher: number | null;
  channel_opening: number | null;
  unopened_session: number | null;
  ended_channel: number | null;
}

/**
 * How long work of a class may have been due before the operator is told: so much less, the sooner it loses money. The others have no time at
 * which they are late, or a sweep that tells of itself.
 */
const LATE_AFTER_MS: Partial<Record<keyof WaitingWork, number>> = {
  // The shortest grace period is 5 minutes: what is not sealed in it is lost.
  closing_channel: 2 * MINUTE,
  expiring_voucher: 2 * MINUTE,
  found: 5 * MINUTE,
  sent: 10 * MINUTE,
  collection: 10 * MINUTE,
  settlement: 10 * MINUTE,
  subscription_checkout: 30 * MINUTE,
  open_channel: 15 * MINUTE,
  channel_opening: 15 * MINUTE,
  outbox: 30 * MINUTE,
  webhook: 30 * MINUTE,
  named: HOUR,
  subscription: 6 * HOUR,
  unopened_session: 6 * HOUR,
  ended_channel: 6 * HOUR,
};

/** How long what waits longest of each class has been due, ms. Attempts of webhooks and letters are due by wall time, all else by business time. */
export const waitingMs = (
  { now, wallNow }: Pick<Ctx, 'now' | 'wallNow'>,
  waiting: WaitingWork,
): { name: string; ms: number; isLate: boolean }[] =>
  (Object.entries(waiting) as [keyof WaitingWork, number | null][]).map(([name, at]) => {
    const ms = at === null ? 0 : Math.max(0, (name === 'webhook' || name === 'mail' ? wallNow : now) - at);
    return { name, ms, isLate: ms > (LATE_AFTER_MS[name] ?? Number.POSITIVE_INFINITY) };
  });

export interface VitalSigns {
  waiting: WaitingWork;
  sweeps: (typeof sweeps.$inferSelect)[];
  /** Up to one more than `PARKED_MAX`. */
  parked: { unknown_kind: number; failed: number };
  /** When the oldest event that is not in the archive was stored; null: there is none. */
  oldestEventAt: number | null;
  /** From a payment's block to the answer of a merchant's server, ms, of the newest deliveries. */
  chainToWebhookMs: number[];
  databaseBytes: number;
}

const PARKED_MAX = 10_000;
/** Of the newest deliveries, those of confirmations. */
const DELIVERIES_MAX = 1000;

const parked = (reason: string) =>
  sql`(SELECT count(*) FROM (SELECT 1 FROM parked_messages WHERE reason = ${reason} LIMIT ${PARKED_MAX + 1}))`;

/** As the index has it, word for word. */
export const eventDueAt = sql`CASE WHEN next_try_at IS NULL THEN created_at ELSE next_try_at END`;

const candidateDueAt = (origin: string) =>
  sql`(SELECT min(next_check_at) FROM payment_candidates WHERE origin = ${origin} AND livemode = 1)`;

/** The same words as in the indexes. */
const authorizationDueAt = (column: string, is: string) =>
  sql.raw(`(SELECT min(${column}) FROM subscription_authorizations WHERE ${column} IS NOT NULL AND livemode = 1${is})`);

const channelDueAt = (is: string, column = 'next_look_at') =>
  sql.raw(`(SELECT min(${column}) FROM metered_sessions WHERE ${is} AND ${column} IS NOT NULL AND livemode = 1)`);

/** Of vouchers that end within the hour, those that end first. */
const EXPIRING_MAX = 100;
const expiringDueAt = (now: number) => sql`(SELECT min(at) FROM (SELECT next_look_at AS at FROM metered_sessions
  INDEXED BY metered_sessions_expiring WHERE status = 'open' AND voucher_ends_at IS NOT NULL AND cumulative <> settled AND livemode = 1
  AND voucher_ends_at > ${now} AND voucher_ends_at <= ${now + HOUR} ORDER BY voucher_ends_at LIMIT ${EXPIRING_MAX}))`;

const mailDueAt = sql`(SELECT min(next_attempt_at) FROM mails WHERE next_attempt_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM switched_off WHERE subject = 'mail'))`;

/** One round trip that reads the ends of indexes, and some thousand rows for the times of deliveries. */
export async function readVitalSigns(db: Db, now: number): Promise<VitalSigns> {
  const waiting = sql`SELECT
    (SELECT ${eventDueAt} FROM events WHERE fanned_out_at IS NULL AND livemode = 1 ORDER BY ${eventDueAt} LIMIT 1) AS outbox,
    (SELECT min(confirmed_at) FROM payments WHERE status = 'CONFIRMED' AND finalized_at IS NULL AND orphaned_at IS NULL AND livemode = 1) AS unfinal,
    (SELECT min(next_attempt_at) FROM webhook_deliveries WHERE status IN ('pending', 'retrying')) AS webhook,
    (SELECT min(next_check_at) FROM settlements WHERE status <> 'settled' AND next_check_at IS NOT NULL AND livemode = 1) AS settlement,
    ${mailDueAt} AS mail,
    (SELECT min(expires_at) FROM payments WHERE status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') AND livemode = 1) AS session,
    ${candidateDueAt('found')} AS found, ${candidateDueAt('sent')} AS sent, ${candidateDueAt('named')} AS named,
    ${authorizationDueAt('next_attempt_at', '')} AS collection,
    ${authorizationDueAt('next_look_at', " AND status = 'pending'")} AS subscription_checkout,
    ${authorizationDueAt('next_look_at', " AND status <> 'pending'")} AS subscription,
    ${channelDueAt("status = 'closing'", 'seal_due_at')} AS closing_channel, ${channelDueAt("status = 'open'")} AS open_channel,
    ${expiringDueAt(now)} AS expiring_voucher, ${channelDueAt("status = 'created' AND channel_id IS NOT NULL")} AS channel_opening,
    ${channelDueAt("status = 'created' AND channel_id IS NULL")} AS unopened_session, ${channelDueAt('ended_at IS NOT NULL')} AS ended_channel,
    (SELECT created_at FROM events ORDER BY seq LIMIT 1) AS oldestEventAt,
    ${parked('unknown_kind')} AS unknown_kind, ${parked('failed')} AS failed`;
  const served = sql`SELECT d.completed_at - p.block_time AS ms FROM webhook_deliveries d
    CROSS JOIN events e ON e.id = d.event_id CROSS JOIN payments p ON p.id = e.payment_id
    WHERE d.id > (SELECT max(id) FROM webhook_deliveries) - ${DELIVERIES_MAX} AND d.event_type = 'payment.confirmed'
      AND d.status = 'succeeded' AND d.replay_of IS NULL`;
  const [first, times, runs] = await Promise.all([
    db.run(waiting),
    db.all<{ ms: number }>(served),
    db.select().from(sweeps).orderBy(sweeps.name),
  ]);
  const { unknown_kind, failed, oldestEventAt, ...ends } = first.results[0] as WaitingWork &
    VitalSigns['parked'] &
    Pick<VitalSigns, 'oldestEventAt'>;
  return {
    waiting: ends,
    sweeps: runs,
    parked: { unknown_kind, failed },
    oldestEventAt,
    // The chain's clock may be a moment ahead of ours.
    chainToWebhookMs: times.map(({ ms }) => Math.max(0, ms)).sort((a, b) => a - b),
    databaseBytes: first.meta.size_after,
  };
}

/** Of several databases: what waits longest in any, the sweep of each name that is due longest, and the fullest. */
export function ofAll(each: VitalSigns[]): VitalSigns {
  const [first, ...others] = each as [VitalSigns, ...VitalSigns[]];
  const earliest = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.min(a, b));
  return others.reduce((all, one) => {
    const ends = Object.entries(all.waiting).map(([name, at]) => [name, earliest(at, one.waiting[name as keyof WaitingWork])]);
    const isLatest = (row: VitalSigns['sweeps'][number], i: number, rows: VitalSigns['sweeps']) =>
      rows.every((other, j) => other.name !== row.name || other.dueAt > row.dueAt || (other.dueAt === row.dueAt && j >= i));
    return {
      waiting: Object.fromEntries(ends) as unknown as WaitingWork,
      sweeps: [...all.sweeps, ...one.sweeps].filter(isLatest),
      parked: {
        unknown_kind: all.parked.unknown_kind + one.parked.unknown_kind,
        failed: all.parked.failed + one.parked.failed,
      },
      oldestEventAt: earliest(all.oldestEventAt, one.oldestEventAt),
      chainToWebhookMs: [...all.chainToWebhookMs, ...one.chainToWebhookMs].sort((a, b) => a - b),
      databaseBytes: Math.max(all.databaseBytes, one.databaseBytes),
    };
  }, first);
}

/**
 * True where something has been due since before these instants, which means that neither a queue nor the sweeps behind it run: a look at money,
 * a period to be collected, a channel that is closing, a voucher that ends soon, an event to be told, an attempt of a webhook. What strangers name and what a broken endpoint holds back does not count as late.
 */
export const isStalled = ({ now, wallNow }: Pick<Ctx, 'now' | 'wallNow'>): SQL => sql`(
  EXISTS (SELECT 1 FROM payment_candidates WHERE origin IN ('found', 'sent') AND livemode = 1 AND next_check_at < ${now})
  OR EXISTS (SELECT 1 FROM subscription_authorizations WHERE next_attempt_at IS NOT NULL AND livemode = 1 AND next_attempt_at < ${now})
  OR EXISTS (SELECT 1 FROM metered_sessions WHERE status = 'closing' AND seal_due_at IS NOT NULL AND livemode = 1 AND seal_due_at < ${now})
  OR coalesce(${expiringDueAt(now)} < ${now}, 0)
  OR EXISTS (SELECT 1 FROM events WHERE fanned_out_at IS NULL AND livemode = 1 AND ${eventDueAt} < ${now})
  OR EXISTS (SELECT 1 FROM webhook_deliveries WHERE status IN ('pending', 'retrying') AND next_attempt_at < ${wallNow}))`;

/** True where an e-mail has been due since before this instant of wall time: none goes out. */
export const isMailStalled = (wallNow: number): SQL => sql`coalesce(${mailDueAt} < ${wallNow}, 0)`;

/** The largest a database of the platform may grow; then no write succeeds any more. */
const DATABASE_BYTES_MAX = 10 * 1000 ** 3;
/** From here on there is still time to make room, or to move. */
const WARN_AT = 0.7;

/** How full the database is, from 0 to 1, and whether it is time to do something about it. */
export function fullness(bytes: number): { used: number; isWarning: boolean } {
  const used = bytes / DATABASE_BYTES_MAX;
  return { used: Math.round(used * 10_000) / 10_000, isWarning: used >= WARN_AT };
}

export const secondsSince = (at: number | null, now: number): number => (at === null ? 0 : Math.max(0, (now - at) / SECOND));
