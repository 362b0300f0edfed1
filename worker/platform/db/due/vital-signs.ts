import { type SQL, sql } from 'drizzle-orm';
import { newEventId } from '#core/ids.ts';
import { HOUR, MINUTE, SECOND } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { actEventAt } from '../acts/read.ts';
import { setOf } from '../among.ts';
import { sweeps } from '../tables/operations.ts';
import { type DueWork, lateSince, readDueWork } from './due-work.ts';

/** Oldest waiting work per class, each from the end of its sweep's index. Epoch ms, null: nothing waits. */
interface WaitingWork {
  outbox: number | null;
  unfinal: number | null;
  /** Due time of the webhook attempt. Deliveries held by a circuit breaker are not due. */
  webhook: number | null;
  settlement: number | null;
  /** Due time of the email. Emails that the operator switched off are not due. */
  mail: number | null;
  session: number | null;
  /** Due times of candidate checks: found on the chain, sent by the service, named by a caller. */
  found: number | null;
  sent: number | null;
  named: number | null;
  collection: number | null;
  subscription_checkout: number | null;
  subscription: number | null;
  closing_channel: number | null;
  open_channel: number | null;
  expiring_voucher: number | null;
  channel_opening: number | null;
  unopened_session: number | null;
  ended_channel: number | null;
}

/**
 * Delay after which the operator is notified, shorter the sooner work of the class loses money. Other classes have no deadline or a sweep
 * with its own alarm.
 */
const LATE_AFTER_MS: Partial<Record<keyof WaitingWork, number>> = {
  // The shortest grace period is 5 minutes. Money not sealed within it is lost.
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

/** Delay of the oldest work per class, ms. Webhook attempts and emails are due by wall time, everything else by business time. */
export const waitingMs = (
  { now, wallNow }: Pick<Ctx, 'now' | 'wallNow'>,
  waiting: WaitingWork,
): { name: string; ms: number; isLate: boolean }[] =>
  (Object.entries(waiting) as [keyof WaitingWork, number | null][]).map(([name, at]) => {
    const ms = at === null ? 0 : Math.max(0, (name === 'webhook' || name === 'mail' ? wallNow : now) - at);
    return { name, ms, isLate: ms > (LATE_AFTER_MS[name] ?? Number.POSITIVE_INFINITY) };
  });

interface SweepSigns extends Pick<typeof sweeps.$inferSelect, 'name' | 'dueAt' | 'succeededAt' | 'failures'> {
  /** Age of the oldest due row, ms, if the sweep ended with rows left each of the last three times that its work was asked for. Else 0. */
  behindMs: number;
}

export interface VitalSigns {
  waiting: WaitingWork;
  /** `dueAt`: since when a run is late, Infinity if none is due. */
  sweeps: SweepSigns[];
  parked: { unknown_kind: number; failed: number };
  oldestEventAt: number | null;
  /** Time from a payment's block to the answer of the merchant's server, ms, for the newest deliveries. */
  chainToWebhookMs: number[];
  databaseBytes: number;
}

const PARKED_MAX = 10_000;
const DELIVERIES_MAX = 1000;

const parked = (reason: string) =>
  sql`(SELECT count(*) FROM (SELECT 1 FROM parked_messages WHERE reason = ${reason} LIMIT ${PARKED_MAX + 1}))`;

/** Must equal the expression of the index. */
export const eventDueAt = sql`CASE WHEN next_try_at IS NULL THEN created_at ELSE next_try_at END`;

const candidateDueAt = (origin: string) =>
  sql`(SELECT min(next_check_at) FROM payment_candidates WHERE origin = ${origin} AND livemode = 1)`;

/** Must equal the expressions of the indexes. */
const authorizationDueAt = (column: string, is: string) =>
  sql.raw(`(SELECT min(${column}) FROM subscription_authorizations WHERE ${column} IS NOT NULL AND livemode = 1${is})`);

const channelDueAt = (is: string, column = 'next_check_at') =>
  sql.raw(`(SELECT min(${column}) FROM metered_sessions WHERE ${is} AND ${column} IS NOT NULL AND livemode = 1)`);

const EXPIRING_MAX = 100;
const expiringDueAt = (now: number) => sql`(SELECT min(at) FROM (SELECT next_check_at AS at FROM metered_sessions
  INDEXED BY metered_sessions_expiring WHERE status = 'open' AND voucher_ends_at IS NOT NULL AND cumulative <> settled AND livemode = 1
  AND voucher_ends_at > ${now} AND voucher_ends_at <= ${now + HOUR} ORDER BY voucher_ends_at LIMIT ${EXPIRING_MAX}))`;

/** Limits the rows read of a long backlog to those that are checked next. */
const UNFINAL_MAX = 1000;
const unfinalSince = sql`(SELECT min(confirmed_at) FROM (SELECT confirmed_at FROM tx_claims
  WHERE next_check_at IS NOT NULL AND livemode = 1 AND dropped_at IS NULL ORDER BY next_check_at LIMIT ${UNFINAL_MAX}))`;

const mailDueAt = sql`(SELECT min(next_attempt_at) FROM mails WHERE next_attempt_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM switched_off WHERE subject = 'mail'))`;

/** Sweeps of another release count by their own due time. */
const toSweepSigns = (
  rows: (typeof sweeps.$inferSelect)[],
  works: Record<string, DueWork>,
  oldest: Map<string, number | null>,
  wallNow: number,
): SweepSigns[] =>
  rows.map((row) => {
    const work = works[row.name];
    const workAt = oldest.get(row.name) ?? null;
    // Work that fell due after the last run says nothing about it.
    const isBehind = row.behindAt !== null && row.behindAt <= wallNow && (workAt ?? Number.POSITIVE_INFINITY) <= (row.succeededAt ?? 0);
    return {
      ...row,
      dueAt: work ? lateSince(work, workAt, row) : row.dueAt,
      behindMs: isBehind && workAt !== null ? Math.max(0, wallNow - workAt) : 0,
    };
  });

/** Chain time of a payment, from its event `payment.confirmed`. */
const blockTimeOf = (row: Parameters<typeof actEventAt>[0]): number =>
  Date.parse((actEventAt(row).data.object as { block_time: string }).block_time);

export async function readVitalSigns(ctx: Shard, works: Record<string, DueWork>): Promise<VitalSigns> {
  const { db, now, wallNow } = ctx;
  const waiting = sql`SELECT
    (SELECT ${eventDueAt} FROM acts WHERE fanned_out_at IS NULL AND livemode = 1 ORDER BY ${eventDueAt} LIMIT 1) AS outbox,
    ${unfinalSince} AS unfinal,
    (SELECT min(next_attempt_at) FROM webhook_deliveries WHERE status IN ('pending', 'retrying')) AS webhook,
    (SELECT min(next_check_at) FROM settlements WHERE status <> 'settled' AND next_check_at IS NOT NULL AND livemode = 1) AS settlement,
    ${mailDueAt} AS mail,
    (SELECT min(expires_at) FROM payments WHERE status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') AND livemode = 1) AS session,
    ${candidateDueAt('found')} AS found, ${candidateDueAt('sent')} AS sent, ${candidateDueAt('named')} AS named,
    ${authorizationDueAt('next_attempt_at', '')} AS collection,
    ${authorizationDueAt('next_check_at', " AND status = 'pending'")} AS subscription_checkout,
    ${authorizationDueAt('next_check_at', " AND status <> 'pending'")} AS subscription,
    ${channelDueAt("status = 'closing'", 'seal_due_at')} AS closing_channel, ${channelDueAt("status = 'open'")} AS open_channel,
    ${expiringDueAt(now)} AS expiring_voucher, ${channelDueAt("status = 'created' AND channel_id IS NOT NULL")} AS channel_opening,
    ${channelDueAt("status = 'created' AND channel_id IS NULL")} AS unopened_session, ${channelDueAt('ended_at IS NOT NULL')} AS ended_channel,
    (SELECT created_at FROM acts ORDER BY seq LIMIT 1) AS oldestEventAt,
    ${parked('unknown_kind')} AS unknown_kind, ${parked('failed')} AS failed`;
  const served = sql`SELECT d.completed_at AS completedAt, e.seq, e.body FROM
      (SELECT * FROM webhook_deliveries WHERE event_id < ${newEventId(now + MINUTE, null)} ORDER BY event_id DESC LIMIT ${DELIVERIES_MAX}) d
    CROSS JOIN events e ON e.act_key = substr(d.event_id, 15, 15) AND e.id = d.event_id
    WHERE d.event_type = 'payment.confirmed' AND d.status = 'succeeded' AND d.replay_of IS NULL`;
  const [first, times, runs, oldest] = await Promise.all([
    db.run(waiting),
    db.all<{ completedAt: number; seq: number; body: string }>(served),
    db.select().from(sweeps).orderBy(sweeps.name),
    readDueWork(ctx, works),
  ]);
  const { unknown_kind, failed, oldestEventAt, ...ends } = first.results[0] as WaitingWork &
    VitalSigns['parked'] &
    Pick<VitalSigns, 'oldestEventAt'>;
  return {
    waiting: ends,
    sweeps: toSweepSigns(runs, works, oldest, wallNow),
    parked: { unknown_kind, failed },
    oldestEventAt,
    // Chain time may be slightly ahead of ours.
    chainToWebhookMs: times.map((row) => Math.max(0, row.completedAt - blockTimeOf(row))).sort((a, b) => a - b),
    databaseBytes: first.meta.size_after,
  };
}

/** Combines several databases: the oldest work, the most overdue run of each sweep, and the fullest database. */
export function ofAll(each: VitalSigns[]): VitalSigns {
  const [first, ...others] = each as [VitalSigns, ...VitalSigns[]];
  const earliest = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.min(a, b));
  return others.reduce((all, one) => {
    const ends = Object.entries(all.waiting).map(([name, at]) => [name, earliest(at, one.waiting[name as keyof WaitingWork])]);
    const rows = Map.groupBy([...all.sweeps, ...one.sweeps], ({ name }) => name);
    return {
      waiting: Object.fromEntries(ends) as unknown as WaitingWork,
      sweeps: [...rows.values()].map((same) => ({
        ...same.reduce((first, other) => (other.dueAt < first.dueAt ? other : first)),
        behindMs: Math.max(...same.map(({ behindMs }) => behindMs)),
      })),
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
 * True if work has been due since before these instants, so that neither its queue nor its sweep runs: checks of money, collections,
 * closing channels, expiring vouchers, fan-outs, webhook attempts. Candidates that callers named and deliveries held by a circuit breaker
 * do not count.
 */
export const isStalled = ({ now, wallNow }: Pick<Ctx, 'now' | 'wallNow'>): SQL => sql`(
  EXISTS (SELECT 1 FROM payment_candidates WHERE origin IN ('found', 'sent') AND livemode = 1 AND next_check_at < ${now})
  OR EXISTS (SELECT 1 FROM subscription_authorizations WHERE next_attempt_at IS NOT NULL AND livemode = 1 AND next_attempt_at < ${now})
  OR EXISTS (SELECT 1 FROM metered_sessions WHERE status = 'closing' AND seal_due_at IS NOT NULL AND livemode = 1 AND seal_due_at < ${now})
  OR coalesce(${expiringDueAt(now)} < ${now}, 0)
  OR EXISTS (SELECT 1 FROM acts WHERE fanned_out_at IS NULL AND livemode = 1 AND ${eventDueAt} < ${now})
  OR EXISTS (SELECT 1 FROM webhook_deliveries WHERE status IN ('pending', 'retrying') AND next_attempt_at < ${wallNow}))`;

/** A sweep that still runs counts, because the mark of one without work is old. */
const RECENT_MS = 15 * MINUTE;

/** True if a sweep other than `except` was behind at this wall time and still is. */
export const isBehind = (wallNow: number, except: readonly string[]): SQL =>
  sql`EXISTS (SELECT 1 FROM sweeps WHERE name NOT IN ${setOf(except)} AND behind_at <= ${wallNow} AND succeeded_at > ${wallNow + RECENT_MS})`;

/** True if an email has been due since before this wall time. */
export const isMailStalled = (wallNow: number): SQL => sql`coalesce(${mailDueAt} < ${wallNow}, 0)`;

/** Size limit of a D1 database. Writes fail above it. */
const DATABASE_BYTES_MAX = 10 * 1000 ** 3;
/** At this level there is still time to free space or to migrate. */
const WARN_AT = 0.7;

export function fullness(bytes: number): { used: number; isWarning: boolean } {
  const used = bytes / DATABASE_BYTES_MAX;
  return { used: Math.round(used * 10_000) / 10_000, isWarning: used >= WARN_AT };
}

export const secondsSince = (at: number | null, now: number): number => (at === null ? 0 : Math.max(0, (now - at) / SECOND));
