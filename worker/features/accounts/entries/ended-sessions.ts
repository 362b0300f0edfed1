import type { AccountId } from '#core/ids.ts';
import type { Actor, Ctx } from '#platform/context.ts';
import { type NewAuditEntry, recordAction } from '#platform/db/audit/record-action.ts';
import { commit } from '#platform/db/commit.ts';
import { homeOf } from '#platform/db/directory.ts';
import { endPersonSession, endPersonSessions } from '../auth/sessions.ts';

/** Ends a session of the caller and records it, unless it had ended. Throws 404 not_found for a session of another person. */
export async function endOwnSession(ctx: Ctx, { accountId }: Actor, sessionId: string): Promise<void> {
  if (!(await endPersonSession(ctx, accountId, sessionId))) return;
  await recordEnd(ctx, accountId, { subject: { type: 'session', id: sessionId } });
}

/** Ends the sessions of the caller but one and records it. Returns the number of those that were open. */
export async function endOwnSessions(ctx: Ctx, { accountId }: Actor, except: string | null): Promise<number> {
  const sessions = await endPersonSessions(ctx, accountId, { except });
  if (sessions > 0) await recordEnd(ctx, accountId, { subject: { type: 'person', id: accountId }, after: { sessions } });
  return sessions;
}

async function recordEnd(ctx: Ctx, personId: AccountId, entry: Pick<NewAuditEntry, 'subject' | 'after'>): Promise<void> {
  const home = homeOf(ctx, personId);
  const write = recordAction(home, { merchantId: personId, livemode: true }, { action: 'session.ended', ...entry });
  await commit(home, { events: [], writes: [write], result: null });
}
