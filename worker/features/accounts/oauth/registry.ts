import { ApiError, raise } from '#core/errors.ts';
import type { Ctx } from '#platform/context.ts';
import type { SignInProvider } from '#rules/admission.ts';
import { github } from './github.ts';
import { google } from './google.ts';
import type { OAuthProvider } from './provider.ts';

const PROVIDERS: Record<SignInProvider, OAuthProvider> = { google, github };

interface ProviderStatus {
  provider: SignInProvider;
  configured: boolean;
  callback_url: string;
  missing: string[];
}

export const titleOf = (name: SignInProvider): string => PROVIDERS[name].title;

export const callbackUrlOf = ({ baseUrl }: Ctx, name: SignInProvider): string => `${baseUrl}/v1/auth/oauth/${name}/callback`;

export const listProviders = (ctx: Ctx): ProviderStatus[] =>
  Object.values(PROVIDERS).map(({ name, listMissing }) => {
    const missing = listMissing(ctx.config);
    return { provider: name, configured: missing.length === 0, callback_url: callbackUrlOf(ctx, name), missing };
  });

export const listConfigured = ({ config }: Ctx): { name: SignInProvider; title: string }[] =>
  Object.values(PROVIDERS)
    .filter(({ listMissing }) => listMissing(config).length === 0)
    .map(({ name, title }) => ({ name, title }));

/** Throws 404 for an unknown provider, 503 oauth_not_configured for one with missing settings. */
export function requireProvider({ config }: Ctx, name: string): OAuthProvider {
  const provider = Object.values(PROVIDERS).find((one) => one.name === name) ?? raise('not_found');
  const missing = provider.listMissing(config);
  if (missing.length > 0) throw new ApiError('oauth_not_configured', { meta: { missing } });
  return provider;
}
