import { MINUTE, SECOND } from '#core/time.ts';
import type { Projected } from '#rules/entitlement-rpc.ts';
import type { Tables } from './tables.ts';

/** Changes are told to the database together, this long after the first of them. */
const FLUSH_MS = 2 * SECOND;
/** What was sent and is not acknowledged is sent again after these pauses; the last one repeats for ever. */
const REPEAT_MS = [5 * SECOND, MINUTE, 10 * MINUTE];
/** Events in one message, which holds 128 KB. */
const EVENTS_MAX = 50;
/** Messages at once; what is left over follows in the next alarm. */
const MESSAGES_MAX = 20;

/** What an object's page keeps of the telling. An event leaves the outbox when the database has it, not when a queue took it. */
export interface OutboxPage {
  /** The newest version of the state that the database acknowledged. */
  publishedVersion: number;
  /** Everything up to this version was sent at least once since the last repetition began. */
  sentVersion: number;
  /** Of the first change that was not sent; null: all were. */
  changedAt: number | null;
  /** The oldest sending that is not acknowledged whole: up to which version it told, and how often that was sent. */
  awaited: { version: number; sentAt: number; times: number } | null;
}

export const EMPTY_OUTBOX: OutboxPage = { publishedVersion: 0, sentVersion: 0, changedAt: null, awaited: null };
export const OUTBOX_TABLE = { outbox: 'version INTEGER PRIMARY KEY, event TEXT NOT NULL' };

const repeatAt = ({ sentAt, times }: { sentAt: number; times: number }): number =>
  sentAt + REPEAT_MS[Math.min(times, REPEAT_MS.length) - 1]!;

/** When something is to be sent; null: everything is told, or was never there. */
export function sendAt({ changedAt, awaited }: OutboxPage): number | null {
  const moments = [changedAt === null ? null : changedAt + FLUSH_MS, awaited && repeatAt(awaited)].filter((at) => at !== null);
  return moments.length > 0 ? Math.min(...moments) : null;
}

/** Notes that the state has reached a version which was not sent. */
export const noteChange = <Page extends OutboxPage>(page: Page, version: number, now: number): Page =>
  version > page.sentVersion && page.changedAt === null ? { ...page, changedAt: now } : page;

/**
 * The events of each message that is to be sent now, and the page as it is once they are. New changes go out whenever this is
 * asked; what waits for its acknowledgement only when its pause is over, and then all of it.
 */
export function takeMessages<Page extends OutboxPage, Event>(
  page: Page,
  version: number,
  now: number,
  tables: Tables,
): { page: Page; messages: Event[][] } {
  const repeated = page.awaited && now >= repeatAt(page.awaited) ? page.awaited : null;
  if (!repeated && page.changedAt === null) return { page, messages: [] };
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
  return { page: { ...page, sentVersion, changedAt: sentVersion < version ? 0 : null, awaited }, messages };
}

/** Forgets what the database has. Messages may arrive in any order, so an acknowledgement speaks of its own events alone. */
export function acknowledge<Page extends OutboxPage>(page: Page, { version, eventVersions }: Projected, now: number, tables: Tables): Page {
  if (!page.awaited) return page;
  const [first, last] = [eventVersions[0], eventVersions.at(-1)];
  if (first !== undefined) tables.write('DELETE FROM outbox WHERE version BETWEEN ? AND ?', first, last!);
  const publishedVersion = Math.max(page.publishedVersion, version);
  const oldest =
    tables.rows<{ version: number | null }>('SELECT min(version) AS version FROM outbox')[0]?.version ?? Number.POSITIVE_INFINITY;
  const isTold = (through: number): boolean => through <= publishedVersion && through < oldest;
  const next = isTold(page.sentVersion) ? null : { version: page.sentVersion, sentAt: now, times: 1 };
  return { ...page, publishedVersion, awaited: isTold(page.awaited.version) ? next : page.awaited };
}
