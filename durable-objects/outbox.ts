import { MINUTE, SECOND } from '#core/time.ts';
import type { Projected } from '#rules/entitlement-rpc.ts';
import type { Tables } from './tables.ts';

const FLUSH_MS = 2 * SECOND;
/** Longest delay of a projection of uses, and the pause after which uses count as the first again. */
const USE_FLUSH_MAX_MS = MINUTE;
/** Past time in ms, at which an alarm rings at once. */
const AT_ONCE = 1;
/** Pauses before unacknowledged messages are sent again. The last one repeats forever. */
const REPEAT_MS = [5 * SECOND, MINUTE, 10 * MINUTE];
/** Events per message. A queue message holds 128 KB. */
const EVENTS_MAX = 50;
const MESSAGES_MAX = 20;

/** Outbox state in an object's page. An event leaves the outbox when the database acknowledges it, not when the queue accepts it. */
export interface OutboxPage {
  publishedVersion: number;
  /** Everything up to this version was sent at least once since the last repetition began. */
  sentVersion: number;
  /** Time at which unsent changes go out. */
  flushAt: number | null;
  /** True if the unsent changes are uses alone, which go out later. */
  isUseOnly: boolean;
  flushedAt: number;
  useDelayMs: number;
  /** Oldest incompletely acknowledged message: version covered, time of the last attempt, and number of attempts. */
  awaited: { version: number; sentAt: number; times: number } | null;
}

export const EMPTY_OUTBOX: OutboxPage = {
  publishedVersion: 0,
  sentVersion: 0,
  flushAt: null,
  isUseOnly: true,
  flushedAt: 0,
  useDelayMs: 0,
  awaited: null,
};
export const OUTBOX_TABLE = { outbox: 'version INTEGER PRIMARY KEY, event TEXT NOT NULL' };

const repeatAt = ({ sentAt, times }: { sentAt: number; times: number }): number =>
  sentAt + REPEAT_MS[Math.min(times, REPEAT_MS.length) - 1]!;

export function sendAt({ flushAt, awaited }: OutboxPage): number | null {
  const moments = [flushAt, awaited && repeatAt(awaited)].filter((at) => at !== null);
  return moments.length > 0 ? Math.min(...moments) : null;
}

/** Plans the flush of a change: after two seconds, and for uses that go on after a delay that doubles up to a minute. */
export function noteChange<Page extends OutboxPage>(page: Page, { isUse, now }: { isUse: boolean; now: number }): Page {
  if (!isUse) return { ...page, flushAt: Math.min(page.flushAt ?? now + FLUSH_MS, now + FLUSH_MS), isUseOnly: false };
  if (page.flushAt !== null) return page;
  const goesOn = now - page.flushedAt <= USE_FLUSH_MAX_MS && page.useDelayMs > 0;
  const useDelayMs = goesOn ? Math.min(2 * page.useDelayMs, USE_FLUSH_MAX_MS) : FLUSH_MS;
  return { ...page, flushAt: now + useDelayMs, isUseOnly: true, useDelayMs };
}

/** True if the alarm of uses alone is due: it has rung, or it is about to. */
export const hasRung = ({ flushAt, isUseOnly }: OutboxPage, now: number): boolean => isUseOnly && flushAt !== null && flushAt <= now;

export const flushed = <Page extends OutboxPage>(page: Page, flushedAt: number): Page => ({ ...page, flushAt: null, flushedAt });

/**
 * Returns the messages to send now and the page after sending. New changes go out with every call, uses alone when due. Unacknowledged events go out again, all
 * together, once their pause has passed.
 */
export function takeMessages<Page extends OutboxPage, Event>(
  page: Page,
  version: number,
  now: number,
  tables: Tables,
): { page: Page; messages: Event[][] } {
  const repeated = page.awaited && now >= repeatAt(page.awaited) ? page.awaited : null;
  const isDue = page.flushAt !== null && !(page.isUseOnly && page.flushAt > now);
  if (!repeated && !isDue) return { page, messages: [] };
  const rows = tables.rows<{ version: number; event: string }>(
    'SELECT version, event FROM outbox WHERE version > ? ORDER BY version LIMIT ?',
    repeated ? 0 : page.sentVersion,
    EVENTS_MAX * MESSAGES_MAX,
  );
  const sentVersion = rows.length < EVENTS_MAX * MESSAGES_MAX ? version : rows.at(-1)!.version;
  const sent = { version: sentVersion, sentAt: now, times: (repeated?.times ?? 0) + 1 };
  const events = rows.map(({ event }) => JSON.parse(event) as Event);
  const messages = [events.splice(0, EVENTS_MAX)];
  while (events.length > 0) messages.push(events.splice(0, EVENTS_MAX));
  const awaited = repeated ? sent : (page.awaited ?? sent);
  const hasMore = sentVersion < version;
  return {
    page: { ...page, sentVersion, flushAt: hasMore ? AT_ONCE : null, isUseOnly: !hasMore, flushedAt: now, awaited },
    messages,
  };
}

/** Deletes acknowledged events. Acknowledgements arrive in any order, so each covers only its own events. */
export function acknowledge<Page extends OutboxPage>(page: Page, { version, eventVersions }: Projected, now: number, tables: Tables): Page {
  if (!page.awaited) return page;
  const [first, last] = [eventVersions[0], eventVersions.at(-1)];
  if (first !== undefined) tables.write('DELETE FROM outbox WHERE version BETWEEN ? AND ?', first, last!);
  const publishedVersion = Math.max(page.publishedVersion, version);
  const oldest =
    tables.rows<{ version: number | null }>('SELECT min(version) AS version FROM outbox')[0]?.version ?? Number.POSITIVE_INFINITY;
  const isAcknowledged = (through: number): boolean => through <= publishedVersion && through < oldest;
  const next = isAcknowledged(page.sentVersion) ? null : { version: page.sentVersion, sentAt: now, times: 1 };
  return { ...page, publishedVersion, awaited: isAcknowledged(page.awaited.version) ? next : page.awaited };
}
