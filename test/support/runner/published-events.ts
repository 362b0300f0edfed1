import { drizzle } from 'drizzle-orm/d1';
import { sql } from 'drizzle-orm/sql';
import { events, type StoredEvent } from '#platform/db/tables/events.ts';

/** Most events of a file that are checked: larger files multiply equal rows. */
const CHECKED_MAX = 2_000;
/** Events of subjects that the service made. A test that writes rows itself may leave out fields. */
const isMade = sql`request_id <> 'req' AND json_valid(data) AND (subject_id GLOB '????????-????-[1-8]???-[89ab]???-????????????' OR subject_id LIKE 'ms~_%' ESCAPE '~')`;

type Check = (event: StoredEvent) => void;
let check: Check | null = null;

/** Set by the module that knows the published schemas, so that files without the service do not load it. */
export const checkEventsBy = (one: Check): void => {
  check = one;
};

/** Checks every stored event against the schema of its type. */
export async function expectStoredEvents(db: D1Database): Promise<void> {
  if (check === null) return;
  for (const event of await drizzle(db).select().from(events).where(isMade).limit(CHECKED_MAX)) check(event);
}
