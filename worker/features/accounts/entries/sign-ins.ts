/**
 * Entries of sign-ins. A session is a row of the person's object, so its entry follows it, and precedes the answer with the token.
 * @module
 */

import { ApiError, formatErrorChain } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import { DAY, HOUR } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { type NewAuditEntry, personIn, recordAction } from '#platform/db/audit/record-action.ts';
import { hasEarlyEntry, isRefusedTo } from '#platform/db/audit/recorded.ts';
import { commit, type Write } from '#platform/db/commit.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { announceEntries } from '#platform/queues/send-jobs.ts';
import { sharedNetworkOf } from '#rules/access/networks.ts';
import { personStatusOf } from '#rules/access/roles.ts';
import type { Session, SessionMethod } from '#rules/access/sessions.ts';

const ownLog = (personId: AccountId) => ({ merchantId: personId, livemode: true });

const store = (home: Shard, ...writes: Write[]): Promise<null> => commit(home, { events: [], writes, result: null });

/** Stores the entry of a session that began, with `writes`. `isFirst`: unless it is stored already. */
export async function recordSignIn(
  ctx: Ctx,
  personId: AccountId,
  { sessionId, method, factor }: Pick<Session, 'sessionId' | 'method' | 'factor'>,
  { isFirst = false, writes = [] }: { isFirst?: boolean; writes?: Write[] } = {},
): Promise<void> {
  const home = homeOf(ctx, personId);
  const action = 'session.started';
  const after = { method, ...(factor && { factor }) };
  const entry = { action, subject: { type: 'session', id: sessionId }, after, by: personIn(personId) } as const;
  const known = isFirst ? hasEarlyEntry({ merchantId: personId, action }, sessionId) : undefined;
  await store(home, recordAction(home, ownLog(personId), entry, known), ...writes);
}

/** Refused sign-ins of one account that the log has in a day. */
const REFUSED_A_DAY = 100;

interface RefusedSignIn {
  method: SessionMethod | 'factor';
  reason: string;
}

/**
 * Notes a refused sign-in of a person, the first of an hour and network. Deferred, so that the time of the answer says nothing about the
 * person.
 */
export function noteRefusedSignIn(ctx: Ctx, find: () => Promise<Account | undefined>, refused: RefusedSignIn): void {
  const note = async () => {
    const person = await find();
    if (person && personStatusOf(person) !== 'deleted') await recordRefusedSignIn(ctx, person.id, refused);
  };
  ctx.defer(note().catch((error: unknown) => ctx.note(`sign-in not recorded: ${formatErrorChain(error)}`)));
}

async function recordRefusedSignIn(ctx: Ctx, personId: AccountId, { method, reason }: RefusedSignIn): Promise<void> {
  const home = homeOf(ctx, personId);
  const network = sharedNetworkOf(ctx.acting.origin?.ip ?? '127.0.0.1');
  const known = { merchantId: personId, action: 'session.started', since: ctx.wallNow - DAY } as const;
  const entry: NewAuditEntry = {
    action: known.action,
    subject: { type: 'person', id: personId },
    outcome: 'refused',
    reason,
    after: { method, network },
    by: { kind: 'person', id: null },
  };
  const isKnown = isRefusedTo(known, { network, recently: ctx.wallNow - HOUR, max: REFUSED_A_DAY });
  await store(home, recordAction(home, ownLog(personId), entry, isKnown));
  announceEntries(ctx);
}

/** Reason of a refused sign-in, as the caller learns it. */
export const refusalReasonOf = (error: unknown): string =>
  error instanceof ApiError ? String(error.options.meta?.reason ?? error.code) : 'invalid_credentials';
