/**
 * Failed passwords of one person, over all addresses. Beyond a limit, a password alone signs in from known networks only, so that guesses
 * from many addresses end, and strangers cannot lock the owner out. Pure.
 * @module
 */

import { DAY, HOUR, MINUTE } from '#core/time.ts';

/** Failed passwords within FAILED_MS that need no link by email. Not raised by RATE_MULTIPLIER. */
export const FAILED_MAX = 100;
export const FAILED_MS = HOUR;
/** Time after a sign-in in which its network is known. */
export const KNOWN_MS = 90 * DAY;
/** Known networks of a person. The next one replaces the one that was used least recently. */
export const NETWORKS_MAX = 1000;

/** Emails about failed passwords, and the time within which one is sent. */
export const NOTICE_MS = { warning: DAY, link: 10 * MINUTE };
export type Notice = keyof typeof NOTICE_MS;

export interface PasswordTry {
  /** True if the person signed in from this network within KNOWN_MS. */
  isKnown: boolean;
  /** Failed passwords within FAILED_MS with this one, which counts until it proves right. FAILED_MAX + 1 at most. */
  failures: number;
}

/** Password of a person, tried from a network. */
export interface TriedPassword {
  tryId: number;
  network: string;
}
