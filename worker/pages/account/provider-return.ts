import type { Session } from '../parts/session.ts';
import type { AccountTextKey, Problem, ShownProvider } from './facts.ts';

/** What the address of the page says that a provider's way back led to. */
type Outcome = { kind: 'signedIn'; session: Session } | { kind: 'linked'; provider: string } | { kind: 'refused'; error: string };

export interface Returned {
  outcome: Outcome;
  /** The provider to which this tab sent the person; null where it sent them to none. */
  from: string | null;
}

/** Of a token, which carries the second of its end itself (RFC 7519, section 4.1.4). */
function sessionWith(token: string): Session | null {
  try {
    const { exp } = JSON.parse(atob(token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/'))) as { exp: number };
    return { token, expires_at: new Date(exp * 1000).toISOString() };
  } catch {
    return null;
  }
}

/** Null where a fragment says nothing of a provider. */
export function readOutcome(fragment: string): Outcome | null {
  const [, kind, value = ''] = /^#(token|linked|error)=([\w.-]{1,4096})$/.exec(fragment) ?? [];
  if (kind === 'linked') return { kind, provider: value };
  if (kind === 'error') return { kind: 'refused', error: value };
  const session = kind === 'token' ? sessionWith(value) : null;
  return session && { kind: 'signedIn', session };
}

/** By what the service says, word for word. */
const WORDS: Record<string, AccountTextKey> = {
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
 * What a way back that opened nothing means to a person. A token that this tab did not ask for may be another person's, put into a link to
 * have this one work in a strange account: it opens nothing either.
 */
export function problemOfReturn({ providers }: { providers: ShownProvider[] }, { outcome, from }: Returned): Problem {
  if (outcome.kind !== 'refused' || from === null) return { key: 'oNotBegun' };
  const key = Object.hasOwn(WORDS, outcome.error) ? WORDS[outcome.error]! : 'pUnknown';
  return { key, values: { provider: titleOf(providers, from), code: outcome.error } };
}
