import type { Session } from '../parts/session.ts';

/** Session of this tab. It ends with the tab, and no other site or tab can read it. */
const KEY = 'svc:session';

export function storeSession({ token, expires_at }: Session): boolean {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ token, expires_at }));
    return true;
  } catch {
    return false;
  }
}

/** Gives the session to the pages of the dashboard, which the server renders. They lead to the sign-in page without it. */
export async function shareSession({ token }: Session): Promise<void> {
  const body = new URLSearchParams({ token });
  await fetch('/login', { method: 'POST', body, credentials: 'same-origin', redirect: 'manual' }).catch(() => {});
}

/** Returns null if this tab has no session. An expired session is returned too, because it may be renewable. */
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
    // No storage: nothing to delete.
  }
}
