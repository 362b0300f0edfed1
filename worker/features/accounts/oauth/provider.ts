import type { Config, Ctx } from '#platform/context.ts';
import type { SignInProvider } from '#rules/admission.ts';

/** Reasons for a failed sign-in, as the return page's address carries them. */
export const PROVIDER_ERRORS = [
  'access_denied',
  'account_not_found',
  'account_suspended',
  'account_deleted',
  'email_unverified',
  'identity_in_use',
  'provider_unavailable',
] as const;
export type ProviderError = (typeof PROVIDER_ERRORS)[number];
export const NEXT_PATH_MAX = 512;

export interface Attempt {
  redirectUri: string;
  state: string;
  nonce: string;
  /** PKCE (RFC 7636): the authorization request carries the challenge, the token request proves it with the verifier. */
  verifier: string;
  challenge: string;
}

export interface Person {
  /** Provider's permanent id of the person. */
  subject: string;
  email: string | null;
  /** The provider has verified the address at some time. */
  isEmailVerified: boolean;
  /** The provider decides who reads the address now, or verified it itself. Only then an account can be joined or claimed by it. */
  isEmailBelieved: boolean;
  displayName: string;
}

export interface OAuthProvider {
  name: SignInProvider;
  title: string;
  listMissing(config: Config): string[];
  /** Returns the authorization page's URL. Throws `ProviderAway`. */
  authorizationUrl(ctx: Ctx, attempt: Attempt): Promise<string>;
  /** Exchanges a code for the person's identity. Throws `ProviderAway` for any answer that cannot be trusted. */
  identify(ctx: Ctx, code: string, attempt: Attempt): Promise<Person>;
}
