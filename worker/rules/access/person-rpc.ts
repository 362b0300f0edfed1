/**
 * Calls of the object that knows how a person signs in: sessions by person, failed passwords by email address. Pure.
 * @module
 */

import type { AccountId } from '#core/ids.ts';
import type { Notice, PasswordTry, TriedPassword } from './password-tries.ts';
import type { EndedSessions, Factor, Session, UsedSession } from './sessions.ts';

/** `factors`: ways in which the person can prove a factor. */
export type PersonAnswer = { ok: true; factors?: readonly Factor[] } | { ok: false; reason: 'stale_token' | 'session_ended' | 'unknown' };

export interface PersonRpc {
  /** Stores a session of the person. `isFirst`: only if the person never had one. True if its device is new to the person. */
  beginSession(session: Session, isFirst?: boolean): Promise<boolean>;
  /** Knows the device of a session, so that the next sign-in from it causes no alert. */
  learnDevice(session: Session): Promise<void>;
  /** Accepts a token of the person for another account. Notes the session's use. */
  admitPerson(session: UsedSession, now: number): Promise<PersonAnswer>;
  /** Notes the account that the session acts on. */
  moveSession(sessionId: string, accountId: AccountId): Promise<void>;
  /** True if the session is open. Notes its use. */
  useSession(session: UsedSession, now: number): Promise<boolean>;
  listSessions(now: number): Promise<Session[]>;
  /** Ends a session. False if it had ended. Null if the person never had it. */
  endSession(sessionId: string, now: number): Promise<boolean | null>;
  /** Ends sessions, and returns the number of those that were open. */
  endSessions(ended: EndedSessions, now: number): Promise<number>;
  /** Deletes all sessions, with their addresses, of a person who was deleted. */
  forgetSessions(): Promise<void>;
  /** Counts a password as failed until it is withdrawn. */
  tryPassword(tried: TriedPassword, now: number): Promise<PasswordTry>;
  withdrawPassword(tryId: number): Promise<void>;
  learnNetworks(networks: string[], now: number): Promise<void>;
  knownNetworks(now: number): Promise<string[]>;
  /** Forgets the networks of a person who had the address before its reader. */
  forgetNetworks(): Promise<void>;
  /** True for the first caller within the time of the notice. */
  claimNotice(notice: Notice, now: number): Promise<boolean>;
}
