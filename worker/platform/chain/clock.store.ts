import { and, eq } from 'drizzle-orm';
import type { AccountId, EndpointId, SandboxSessionId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import { type SandboxSession, sandboxSessions } from '#platform/db/tables/sandbox.ts';

const OF_SESSION = /^([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}):/;

export interface SandboxClock {
  sessionId: SandboxSessionId;
  endpointId: EndpointId | null;
  now: number;
}

export const clockOf = ({
  id,
  endpointId,
  createdAt,
  advancedMs,
}: Pick<SandboxSession, 'id' | 'endpointId' | 'createdAt' | 'advancedMs'>): SandboxClock => ({
  sessionId: id,
  endpointId,
  now: createdAt + advancedMs,
});

/** Returns the clock of the merchant's session that issued this customer reference, null if none. */
export async function findClock(db: Db, merchantId: AccountId, customerRef: string): Promise<SandboxClock | null> {
  const named = OF_SESSION.exec(customerRef)?.[1] as SandboxSessionId | undefined;
  if (named === undefined) return null;
  const { id, endpointId, createdAt, advancedMs } = sandboxSessions;
  const found = await db
    .select({ id, endpointId, createdAt, advancedMs })
    .from(sandboxSessions)
    .where(and(eq(id, named), eq(sandboxSessions.merchantId, merchantId)))
    .get();
  return found ? clockOf(found) : null;
}
