import type { Session } from '../parts/session.ts';
import type { AccountTextKey, Problem, ShownProvider } from './facts.ts';

type Outcome =
  | { kind: 'signedIn'; session: Session }
  | { kind: 'factorRequired'; ticket: string }
  | { kind: 'passwordRequired'; ticket: string }
  | { kind: 'linked'; provider: string }
  | { kind: 'refused'; error: string };

export interface Returned {
  outcome: Outcome;
  /** Provider that this tab started a flow with. Null if none. */
  from: string | null;
}

/** Builds a session from a token. Its expiry is the token's `exp` claim (RFC 7519, section 4.1.4). */
function sessionWith(token: string): Session | null {
  try {
    const { exp } = JSON.parse(atob(token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/'))) as { exp: number };
    return { token, expires_at: new Date(exp * 1000).toISOString() };
  } catch {
    return null;
  }
}

const TICKET = /^#error=(factor|password)_required&ticket=([\w.-]{1,2000})$/;

export function readOutcome(fragment: string): Outcome | null {
  const [, required, ticket] = TICKET.exec(fragment) ?? [];
  if (ticket !== undefined) return { kind: required === 'factor' ? 'factorRequired' : 'passwordRequired', ticket };
  const [, kind, value = ''] = /^#(token|linked|error)=([\w.-]{1,4096})$/.exec(fragment) ?? [];
  if (kind === 'linked') return { kind, provider: value };
  if (kind === 'error') return { kind: 'refused', error: value };
  const session = kind === 'token' ? sessionWith(value) : null;
  return session && { kind: 'signedIn', session };
}

const TEXT_KEYS: Record<string, AccountTextKey> = {
  access_denied: 'oDenied',
  account_not_found: 'oUnknown',
  account_suspended: 'pSuspended',
  account_deleted: 'pDeleted',
  email_unverified: 'oUnverified',
  identity_in_use: 'oInUse',
  provider_unavailable: 'oAway',
};

export const titleOf = (providers: ShownProvider[], name: string): string => providers.find((one) => one.name === name)?.title ?? name;

/**
 * Maps an OAuth return without a session to a problem. A token that this tab did not request may belong to an attacker, who linked it to
 * sign the victim in to a foreign account (login CSRF), so it is refused.
 */
export function problemOfReturn({ providers }: { providers: ShownProvider[] }, { outcome, from }: Returned): Problem {
  if (outcome.kind !== 'refused' || from === null) return { key: 'oNotBegun' };
  const key = Object.hasOwn(TEXT_KEYS, outcome.error) ? TEXT_KEYS[outcome.error]! : 'pUnknown';
  return { key, values: { provider: titleOf(providers, from), code: outcome.error } };
}
