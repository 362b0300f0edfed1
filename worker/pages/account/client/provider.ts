import { callApi } from '../../browser/call-api.ts';
import type { Failure } from '../../parts/answer.ts';
import { type Returned, readOutcome } from '../provider-return.ts';

/** Provider that this tab started an OAuth flow with. A return without this entry was not requested and opens nothing. */
const KEY = 'svc:provider';

interface Journey {
  provider: string;
  next: string;
  mode: 'login' | 'register';
}

/** Starts the OAuth flow and leaves the page. Returns a failure only if the flow did not start. */
export async function goToProvider({ provider, next, mode }: Journey): Promise<Failure | null> {
  const path = `/v1/auth/oauth/${provider}/start?${new URLSearchParams({ mode, next, surface: 'page' })}`;
  const started = await callApi<{ authorization_url: string }>('GET', path, { setsCookie: true });
  if (!started.ok) return started;
  try {
    sessionStorage.setItem(KEY, provider);
  } catch {
    // No storage: the return page reports the problem.
  }
  location.assign(started.value.authorization_url);
  return null;
}

export const isReturn = (): boolean => /^#error=/.test(location.hash);

/** Reads the outcome of an OAuth return once and removes it from address and history. */
export function takeReturn(): Returned | null {
  if (!isReturn()) return null;
  const outcome = readOutcome(location.hash);
  history.replaceState(null, '', `${location.pathname}${location.search}`);
  const from = takeSent();
  return outcome && { outcome, from };
}

function takeSent(): string | null {
  try {
    const provider = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    return provider;
  } catch {
    return null;
  }
}
