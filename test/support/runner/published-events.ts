import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { events } from '#platform/db/tables/events.ts';

/** Most events of a file that are checked: larger files multiply equal rows. */
const CHECKED_MAX = 2_000;

/** Checks every stored event against the schema of its type. */
export async function expectStoredEvents(db: D1Database): Promise<void> {
  // Rows that a test wrote itself may be incomplete.
  const stored = await drizzle(db).select().from(events).where(sql`request_id <> 'req' AND json_valid(data)`).limit(CHECKED_MAX);
  if (stored.length === 0) return;
  const { toEventResource } = await import('#features/webhooks/resource.ts');
  const { expectPublishedEvent } = await import('../clients/call.ts');
  for (const event of stored) expectPublishedEvent(JSON.stringify(toEventResource(event)));
}
