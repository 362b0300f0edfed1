/**
 * Ends of sessions. A session is a row of the person's object, so its entry precedes the end. After a crash between them the repeated call finds the
 * entry and writes no second one.
 * @module
 */

import type { AccountId } from '#core/ids.ts';
import type { Actor, Ctx } from '#platform/context.ts';
import { type NewAuditEntry, recordAction } from '#platform/db/audit/record-action.ts';
import { hasEntry } from '#platform/db/audit/recorded.ts';
import { commit } from '#platform/db/commit.ts';
import { homeOf } from '#platform/db/directory.ts';
import { isEnded, type Session } from '#rules/access/sessions.ts';
import { endPersonSession, endPersonSessions, listSessions } from '../auth/sessions.ts';

const ACTION = 'session.ended';

/** Ends a session of the caller and records it, unless it had ended. Throws 404 not_found for a session of another person. */
export async function endOwnSession(ctx: Ctx, { accountId }: Actor, sessionId: string): Promise<void> {
  const open = await listSessions(ctx, accountId);
  if (open.some((session) => session.sessionId === sessionId)) {
    const isKnown = hasEntry({ merchantId: accountId, action: ACTION }, sessionId);
    await recordEnd(ctx, accountId, { subject: { type: 'session', id: sessionId } }, isKnown);
  }
  await endPersonSession(ctx, accountId, sessionId);
}

/** Ends the sessions of the caller but one and records it. Returns the number of those that were open. */
export async function endOwnSessions(ctx: Ctx, { accountId, signIn }: Actor, except: string | null): Promise<number> {
  const open = (await listSessions(ctx, accountId)).filter((session) => isEnded(session, { except }));
  if (open.length > 0) {
    // Without `except`, an end of all sessions right after one of the others would count as its repetition.
    const after = { sessions: open.length, ...(except !== null && { except }) };
    const details = { session_id: signIn?.sessionId ?? '', after: JSON.stringify(after) };
    const isKnown = hasEntry({ merchantId: accountId, action: ACTION }, accountId, { after: newestOf(open), details });
    await recordEnd(ctx, accountId, { subject: { type: 'person', id: accountId }, after }, isKnown);
  }
  return endPersonSessions(ctx, accountId, { except });
}

/** Sign-in after which an entry is about each of these sessions. */
const newestOf = (open: readonly Session[]): number => Math.max(...open.map(({ createdAt }) => createdAt));

type Condition = ReturnType<typeof hasEntry>;

async function recordEnd(
  ctx: Ctx,
  personId: AccountId,
  entry: Pick<NewAuditEntry, 'subject' | 'after'>,
  isKnown: Condition,
): Promise<void> {
  const home = homeOf(ctx, personId);
  const write = recordAction(home, { merchantId: personId, livemode: true }, { action: ACTION, ...entry }, isKnown);
  await commit(home, { events: [], writes: [write], result: null });
}
