import type { Config, Ctx } from '#platform/context.ts';
import type { SignInProvider } from '#rules/admission.ts';

/** Why a sign-in by a provider came to nothing, as the address of the page that a person comes back to says it. */
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
/** Characters of the path that a person goes on to from a provider. */
export const NEXT_PATH_MAX = 512;

/** One sign-in on its way through a provider. */
export interface Attempt {
  redirectUri: string;
  state: string;
  /** Comes back in an id token, where the provider makes one. */
  nonce: string;
  /** Of PKCE (RFC 7636): the challenge goes out, the verifier proves it. */
  verifier: string;
  challenge: string;
}

/** Who a provider says came back. */
export interface Person {
  /** The provider's own name for the person, which never changes. */
  subject: string;
  email: string | null;
  /** Whether the provider itself has proof of the address. */
  isEmailVerified: boolean;
  displayName: string;
}

/** Who else may say who a person is: one file each, and a row of `registry.ts`. */
export interface OAuthProvider {
  name: SignInProvider;
  /** As people call it, in every language. */
  title: string;
  /** Names of what is not configured. */
  listMissing(config: Config): string[];
  /** Where the person is sent. Throws `ProviderAway`. */
  authorizationUrl(ctx: Ctx, attempt: Attempt): Promise<string>;
  /** Who came back with a code. Throws `ProviderAway` for whatever cannot be believed. */
  identify(ctx: Ctx, code: string, attempt: Attempt): Promise<Person>;
}
