/**
 * Sessions of a person. The person's object lists the open ones, and a token of any other session is refused. Pure.
 * @module
 */

import type { AccountId, PasskeyId, SessionId } from '#core/ids.ts';
import { DAY, MINUTE } from '#core/time.ts';

/** Ways to begin a session. Removing one ends the sessions that it began. */
export const SESSION_METHODS = ['password', 'siws', 'nonce', 'google', 'github', 'passkey', 'email_link'] as const;
export type SessionMethod = (typeof SESSION_METHODS)[number];

export const FACTORS = ['passkey', 'totp', 'recovery_code'] as const;
export type Factor = (typeof FACTORS)[number];

/** Time after sign-in at which a session ends, however often its token was renewed. */
export const SESSION_MS = 30 * DAY;
/** Sessions of a person. The next one ends the one unused longest. Also the ended ones that are known as such. */
export const SESSIONS_MAX = 50;
/** Accuracy of the time of use: of the uses within it, one is stored. */
export const SEEN_MS = 5 * MINUTE;
export const USER_AGENT_MAX = 200;

/** Caller that signed in. */
export interface Origin {
  ip: string;
  country: string | null;
  userAgent: string;
}

export interface Session extends Origin {
  sessionId: SessionId;
  method: SessionMethod;
  factor: Factor | null;
  /** Passkey that began the session or completed its sign-in. Removing it ends the session. */
  passkeyId: PasskeyId | null;
  /** Account that the session acts on. */
  accountId: AccountId;
  /** Token version of the person at the sign-in. A later one ends the session. */
  tokenVersion: number;
  createdAt: number;
  lastSeenAt: number;
  expiresAt: number;
}

/** Session that a token names. */
export interface UsedSession {
  sessionId: string;
  tokenVersion: number;
}

/** Sessions to end: all but one, those that these methods began, or those of a passkey. */
export type EndedSessions = { except: string | null } | { methods: readonly SessionMethod[] } | { passkeyId: string };

export const isEnded = ({ sessionId, method, passkeyId }: Session, ended: EndedSessions): boolean =>
  'passkeyId' in ended ? passkeyId === ended.passkeyId : 'methods' in ended ? ended.methods.includes(method) : sessionId !== ended.except;
