import type { Session } from '../parts/session.ts';

/** Gives the session to the pages of the dashboard, which the server renders. They lead to the sign-in page without it. */
export async function shareSession({ token }: Session): Promise<void> {
  const body = new URLSearchParams({ token });
  await fetch('/login', { method: 'POST', body, credentials: 'same-origin', redirect: 'manual' }).catch(() => {});
}
