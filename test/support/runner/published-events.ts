import type { StoredEvent } from '#platform/db/tables/events.ts';
import { readAllEvents } from '../fixtures/acts.ts';

/** Most events of a file that are checked: larger files multiply equal rows. */
const CHECKED_MAX = 2_000;
/** Events of subjects that the service made. A test that writes rows itself may leave out fields. */
const isMade = ({ requestId, subjectId }: StoredEvent): boolean =>
  requestId !== 'req' && /^(?:[^-]{8}-[^-]{4}-[1-8][^-]{3}-[89ab][^-]{3}-[^-]{12}$|ms_)/.test(subjectId);

type Check = (event: StoredEvent) => void;
let check: Check | null = null;

/** Set by the module that knows the published schemas, so that files without the service do not load it. */
export const checkEventsBy = (one: Check): void => {
  check = one;
};

/** Checks every stored event against the schema of its type. */
export async function expectStoredEvents(db: D1Database): Promise<void> {
  if (check === null) return;
  for (const event of (await readAllEvents(db)).filter(isMade).slice(0, CHECKED_MAX)) check(event);
}
