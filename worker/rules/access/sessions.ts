/**
 * Sessions of a person. The person's object lists the open ones, and a token of any other session is refused. Pure.
 * @module
 */

import type { AccountId, PasskeyId, SessionId } from '#core/ids.ts';
import { DAY, MINUTE, SECOND } from '#core/time.ts';
import { sharedNetworkOf } from './networks.ts';

/** Ways to begin a session. Removing one ends the sessions that it began. */
export const SESSION_METHODS = ['password', 'siws', 'nonce', 'google', 'github', 'passkey', 'email_link'] as const;
export type SessionMethod = (typeof SESSION_METHODS)[number];

export const FACTORS = ['passkey', 'totp', 'recovery_code'] as const;
export type Factor = (typeof FACTORS)[number];

/** Cookie of our pages. Its token is what an API client sends as a bearer token. */
export const SESSION_COOKIE = '__Host-svc_session';
const COOKIE_MS = 7 * DAY;
export const sessionCookieOf = (token: string): string =>
  `${SESSION_COOKIE}=${token}; Max-Age=${COOKIE_MS / SECOND}; Path=/; HttpOnly; Secure; SameSite=Lax`;

/** Time after sign-in at which a session ends, however often its token was renewed. */
export const SESSION_MS = 30 * DAY;
/** Sessions of a person. The next one ends the one unused longest. Also the ended ones that are known as such. */
export const SESSIONS_MAX = 50;
/** Accuracy of the time of use: of the uses within it, one is stored. */
export const SEEN_MS = 5 * MINUTE;
export const USER_AGENT_MAX = 200;
/** Time after a sign-in in which its device is known. */
export const DEVICE_MS = 90 * DAY;
/** Devices of a person. The next one replaces the one that was used least recently. */
export const DEVICES_MAX = 100;

/** Caller that signed in. */
export interface Origin {
  ip: string;
  country: string | null;
  userAgent: string;
}

/** Families of browsers, in the order in which a user agent is tested: later ones name earlier ones. */
const BROWSERS: readonly (readonly [string, RegExp])[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS)\//],
  ['Safari', /\bSafari\//],
];

/** Family of a browser, or the product that a user agent of another program names first. */
export const browserFamily = (userAgent: string): string =>
  BROWSERS.find(([, pattern]) => pattern.test(userAgent))?.[0] ?? (/^[\w.-]{1,40}/.exec(userAgent)?.[0] || 'unknown');

/** Network and browser of a sign-in, by which a later one is recognised. */
export const deviceOf = ({ ip, userAgent }: Origin): string => `${sharedNetworkOf(ip)} ${browserFamily(userAgent)}`;

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
