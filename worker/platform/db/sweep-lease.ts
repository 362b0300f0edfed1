import { and, eq, lte, sql } from 'drizzle-orm';
import { SECOND } from '#core/time.ts';
import type { Db } from '#platform/context.ts';
import { newFence } from './idempotency-record.ts';
import { sweeps } from './tables/operations.ts';

/** A run renews its lease at a third of it; the lease of a run that crashed is over by the next cron. */
const LEASE_MS = 45 * SECOND;
export const RENEW_MS = LEASE_MS / 3;
/** A message that has not come by then is sent again. */
const RESEND_MS = 50 * SECOND;

/**
 * Marks as sent what is due, waits for no message and is not running, in one statement, so that of two crons at once one sends it.
 * `patienceMs`: how long after it is due another sender may send it first. Answers the names.
 */
export async function takeDueSweeps(db: Db, known: { name: string; patienceMs: number }[], now: number): Promise<string[]> {
  const rows = await db.all<{ name: string }>(sql`INSERT INTO sweeps (name, due_at, sent_at, lease_until, fence, failures)
    SELECT value ->> 'name', ${now}, ${now}, 0, 0, 0 FROM json_each(${JSON.stringify(known)}) WHERE true
    ON CONFLICT (name) DO UPDATE SET sent_at = ${now}
      WHERE lease_until <= ${now} AND sent_at <= ${now - RESEND_MS} AND due_at <= ${now} - (
        SELECT value ->> 'patienceMs' FROM json_each(${JSON.stringify(known)}) WHERE value ->> 'name' = sweeps.name)
    RETURNING name`);
  return rows.map(({ name }) => name);
}

/** Takes the lease of a sweep: null where it is running, or not due because another message was faster. */
export async function leaseSweep(db: Db, name: string, now: number): Promise<{ fence: number } | null> {
  const fence = newFence();
  const taken = { leaseUntil: now + LEASE_MS, fence, sentAt: 0 };
  const isFree = and(lte(sweeps.leaseUntil, now), lte(sweeps.dueAt, now));
  const rows = await db
    .insert(sweeps)
    .values({ name, dueAt: now, failures: 0, ...taken })
    .onConflictDoUpdate({ target: sweeps.name, set: taken, setWhere: isFree })
    .returning({ fence: sweeps.fence });
  return rows[0] ?? null;
}

const held = (name: string, fence: number) => and(eq(sweeps.name, name), eq(sweeps.fence, fence));

export const renewSweep = (db: Db, name: string, fence: number, now: number) =>
  db
    .update(sweeps)
    .set({ leaseUntil: now + LEASE_MS })
    .where(held(name, fence));

/** Ends the lease. Nothing changes where it has been taken over. */
export const endSweep = (db: Db, name: string, fence: number, { dueAt, succeededAt }: { dueAt: number; succeededAt: number | null }) =>
  db
    .update(sweeps)
    .set({
      dueAt,
      leaseUntil: 0,
      fence: 0,
      ...(succeededAt === null ? { failures: sql`failures + 1` } : { succeededAt, failures: 0 }),
    })
    .where(held(name, fence));
