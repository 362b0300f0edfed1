import type { AccountTextKey, Problem, ShownProvider } from './facts.ts';

type Outcome =
  | { kind: 'factorRequired'; ticket: string }
  | { kind: 'passwordRequired'; ticket: string }
  | { kind: 'refused'; error: string };

export interface Returned {
  outcome: Outcome;
  /** Provider that this tab started a flow with. Null if none. */
  from: string | null;
}

const TICKET = /^#error=(factor|password)_required&ticket=([\w.-]{1,2000})$/;

export function readOutcome(fragment: string): Outcome | null {
  const [, required, ticket] = TICKET.exec(fragment) ?? [];
  if (ticket !== undefined) return { kind: required === 'factor' ? 'factorRequired' : 'passwordRequired', ticket };
  const [, error] = /^#error=(\w{1,100})$/.exec(fragment) ?? [];
  return error === undefined ? null : { kind: 'refused', error };
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

/** Maps a refused OAuth return to a problem. One that this tab did not request is said as such. */
export function problemOfReturn({ providers }: { providers: ShownProvider[] }, { outcome, from }: Returned): Problem {
  if (outcome.kind !== 'refused' || from === null) return { key: 'oNotBegun' };
  const key = Object.hasOwn(TEXT_KEYS, outcome.error) ? TEXT_KEYS[outcome.error]! : 'pUnknown';
  return { key, values: { provider: titleOf(providers, from), code: outcome.error } };
}
