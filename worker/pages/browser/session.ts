import type { Session } from '../parts/session.ts';

/**
 * The session of this tab: it ends with the tab, and no other site and no other tab can read it. Tabs tell one another of a sign-out, which
 * ends all of them.
 */
const KEY = 'svc:session';
const SIGNED_OUT = 'signed out';

/** One channel for both, so that a tab does not hear itself. */
const others = 'BroadcastChannel' in globalThis ? new BroadcastChannel(KEY) : null;

/** False where the browser lets this site store nothing. */
export function keepSession({ token, expires_at }: Session): boolean {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ token, expires_at }));
    return true;
  } catch {
    return false;
  }
}

/** Null where this tab holds no session. One that has expired is given too: it may still be renewed. */
export function readSession(): Session | null {
  try {
    const session = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Partial<Session> | null;
    return typeof session?.token === 'string' && typeof session.expires_at === 'string' ? (session as Session) : null;
  } catch {
    return null;
  }
}

export function forgetSession(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Nothing could be stored either.
  }
}

/** Ends the sessions of all tabs. */
export function signOutEverywhere(): void {
  forgetSession();
  others?.postMessage(SIGNED_OUT);
}

export function onSignedOutElsewhere(listener: () => void): void {
  others?.addEventListener('message', ({ data }) => {
    if (data !== SIGNED_OUT) return;
    forgetSession();
    listener();
  });
}
