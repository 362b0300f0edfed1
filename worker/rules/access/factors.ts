import type { Factor } from './sessions.ts';

/** Factors of a person, counted. */
export interface CountedFactors {
  passkeys: number;
  totp: boolean;
  recoveryCodes: number;
}

export const PASSKEYS_MAX = 10;

export const NO_FACTORS: CountedFactors = { passkeys: 0, totp: false, recoveryCodes: 0 };

/** Factors after a change. Null without a passkey and an authenticator app, because codes only replace them. */
export function changedFactors(before: CountedFactors | null, change: Partial<CountedFactors>): CountedFactors | null {
  const after = { ...(before ?? NO_FACTORS), ...change };
  return after.passkeys > 0 || after.totp ? after : null;
}

/** Ways in which a person can prove a factor. Empty without one. */
export const methodsOf = (factors: CountedFactors | null): Factor[] =>
  factors === null
    ? []
    : [
        ...(factors.passkeys > 0 ? (['passkey'] as const) : []),
        ...(factors.totp ? (['totp'] as const) : []),
        ...(factors.recoveryCodes > 0 ? (['recovery_code'] as const) : []),
      ];

/** True if a password signs the person in, which needs an address to name the person. */
export const hasPassword = ({ email, passwordHash }: { email: string | null; passwordHash: string | null }): boolean =>
  email !== null && passwordHash !== null;
