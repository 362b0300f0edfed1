import { raise } from '#core/errors.ts';
import { type AccountId, admissionIdOf, madeAt, newId, type PasskeyId, type SessionId } from '#core/ids.ts';
import type { Ctx } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { admissionObject } from '#platform/objects.ts';
import { type EndedSessions, type Factor, type Origin, SESSION_MS, type Session, type SessionMethod } from '#rules/access/sessions.ts';
import type { SignIn, SignInMethod } from '#rules/admission.ts';
import { recordSignIn } from '../entries/sign-ins.ts';
import { factorRequired } from '../factors/ticket.ts';
import { findActing } from '../members/acting.ts';
import { learnSignIn } from '../passwords/known-callers.ts';
import { planSecurityAlert } from './owner-emails.ts';

export const personObject = (ctx: Ctx, personId: string) => admissionObject(ctx, `account:${admissionIdOf(personId)}`);

const METHODS: Record<SessionMethod, SignInMethod> = {
  password: 'pwd',
  email_link: 'pwd',
  siws: 'siws',
  nonce: 'nonce',
  google: 'oauth',
  github: 'oauth',
  passkey: 'passkey',
};

const signInBy = (sessionId: SessionId, method: SessionMethod, at: number): SignIn => ({
  sessionId,
  authTime: at,
  firstIat: at,
  factorTime: null,
  method: METHODS[method],
});

type Person = Pick<Account, 'id' | 'tokenVersion'>;

/** Factor that a person proved at the sign-in. */
export interface ProvenFactor {
  factor: Factor;
  passkeyId: PasskeyId | null;
}

const newSession = (origin: Origin, { id, tokenVersion }: Person, { sessionId, method, at, proven, accountId = id }: Started): Session => ({
  ...{ sessionId, method, factor: proven?.factor ?? null, passkeyId: proven?.passkeyId ?? null, ...origin, accountId, tokenVersion },
  ...{ createdAt: at, lastSeenAt: at, expiresAt: at + SESSION_MS },
});

interface Started {
  sessionId: SessionId;
  method: SessionMethod;
  at: number;
  proven?: ProvenFactor | undefined;
  /** Account that the session acts on, if not the own one. */
  accountId?: AccountId;
}

/**
 * Begins a session of a person who has just proved who they are, and with a factor, that too: every way to sign in ends here. Its
 * entry of the audit log follows, so a crash leaves either nothing or a session without a token, which expires. Throws 401 factor_required, 503
 * temporarily_unavailable if the person's object does not answer.
 */
export async function startSession(
  ctx: Ctx,
  person: Account,
  method: SessionMethod,
  origin: Origin,
  proven?: ProvenFactor,
): Promise<SignIn> {
  if (person.factors !== null && !proven) throw factorRequired(ctx, person, method);
  const { account } = await findActing(ctx, person);
  const started = { sessionId: newId<SessionId>(ctx.wallNow, person.id), method, at: ctx.wallNow, proven, accountId: account.id };
  const session = newSession(origin, person, started);
  const object = personObject(ctx, person.id);
  const [isNewDevice] = await Promise.all([object.beginSession(session), learnSignIn(ctx, person.email, session)]);
  const alert = { change: 'new_sign_in', session_id: session.sessionId } as const;
  await recordSignIn(ctx, person.id, session, { writes: isNewDevice ? planSecurityAlert(homeOf(ctx, person.id), person, alert) : [] });
  // Last, so that a failed sign-in that is repeated causes the alert. A crash here causes a second one.
  if (isNewDevice) await object.learnDevice(session);
  return { ...signInBy(started.sessionId, method, started.at), factorTime: proven ? ctx.wallNow : null };
}

/** Sign-in of a new account. `startFirstSession` stores the session once the account is stored. */
export const draftFirstSession = (ctx: Ctx, { id }: Person): SignIn => signInBy(newId<SessionId>(ctx.wallNow, id), 'password', ctx.wallNow);

/** Stores the session that a registration named in its answer. An answer that is repeated begins no session again. */
export async function startFirstSession(
  ctx: Ctx,
  person: Person & Pick<Account, 'email'>,
  sessionId: SessionId,
  origin: Origin,
): Promise<void> {
  const session = newSession(origin, person, { sessionId, method: 'password', at: madeAt(sessionId) });
  await Promise.all([personObject(ctx, person.id).beginSession(session, true), learnSignIn(ctx, person.email, session)]);
  await recordSignIn(ctx, person.id, session, { isFirst: true });
}

/** Lists the open sessions of a person, newest use first. */
export const listSessions = (ctx: Ctx, personId: AccountId): Promise<Session[]> => personObject(ctx, personId).listSessions(ctx.wallNow);

/** Ends a session from the next request on. False if it had ended. Throws 404 not_found for a session of another person. */
export async function endPersonSession(ctx: Ctx, personId: AccountId, sessionId: string): Promise<boolean> {
  return (await personObject(ctx, personId).endSession(sessionId, ctx.wallNow)) ?? raise('not_found');
}

/** Ends sessions from the next request on. Returns the number of those that were open. */
export const endPersonSessions = (ctx: Ctx, personId: AccountId, ended: EndedSessions): Promise<number> =>
  personObject(ctx, personId).endSessions(ended, ctx.wallNow);
