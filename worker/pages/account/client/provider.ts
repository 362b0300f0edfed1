import { callApi } from '../../browser/call-api.ts';
import type { Failure } from '../../parts/answer.ts';
import { type Returned, readOutcome } from '../provider-return.ts';

/** The provider that this tab sent its person to; what comes back unasked opens nothing. */
const KEY = 'svc:provider';

interface Journey {
  provider: string;
  /** The page that the way back leads to. */
  next: string;
  mode?: 'login' | 'register';
  /** Of the account to which the provider is linked. */
  token?: string;
}

/** Leaves for a provider; answers only what kept the person here. */
export async function goToProvider({ provider, next, mode = 'login', token }: Journey): Promise<Failure | null> {
  const path = `/v1/auth/oauth/${provider}/start?${new URLSearchParams({ mode, next })}`;
  const started = await callApi<{ authorization_url: string }>('GET', path, {
    keepsCookie: true,
    ...(token === undefined ? {} : { token }),
  });
  if (!started.ok) return started;
  try {
    sessionStorage.setItem(KEY, provider);
  } catch {
    // The way back says that nothing can be stored.
  }
  location.assign(started.value.authorization_url);
  return null;
}

export const isReturn = (): boolean => /^#(?:token|linked|error)=/.test(location.hash);

/** What a provider's way back says, once: from then on neither the address nor the history shows it. */
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
