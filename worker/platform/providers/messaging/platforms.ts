import { equalBytes, sha256 } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import { Memory } from '#core/isolate/memory.ts';
import type { Config, Ctx } from '#platform/context.ts';
import { IDENTITY_PROVIDERS, type IdentityProvider } from '#rules/payment-terms.ts';
import { Pace } from './pace.ts';
import type { PlatformDesk } from './platform.ts';
import { PLATFORMS } from './registry.ts';

export const isPlatform = (name: string): name is IdentityProvider => (IDENTITY_PROVIDERS as readonly string[]).includes(name);

export const missingForDelivery = (config: Config, provider: IdentityProvider): string[] =>
  PLATFORMS[provider].needs.filter((name) => config[name] === undefined);

const paces = new Memory<IdentityProvider, Pace>(IDENTITY_PROVIDERS.length);
export function paceOf(provider: IdentityProvider): Pace {
  const known = paces.get(provider) ?? new Pace();
  paces.set(provider, known);
  return known;
}

export const deskOf = (ctx: Ctx, pace: Pace): PlatformDesk => ({
  config: ctx.config,
  now: () => ctx.wallNow + ctx.elapsedMs(),
  leftMs: () => ctx.leftMs(),
  pace,
});

/**
 * Authenticates a platform's connector. Throws 401 connector_secret_invalid for a missing or wrong secret, 403 handoff_secret_mismatch for
 * another platform's secret, 503 handoff_not_configured if none is configured.
 */
export function requireConnector({ config }: Pick<Ctx, 'config'>, provider: IdentityProvider, shown: string | undefined): void {
  if (!PLATFORMS[provider].identity.secrets(config)) throw new ApiError('handoff_not_configured', { meta: { provider } });
  if (!shown) throw new ApiError('connector_secret_invalid');
  const isSecretOf = (platform: IdentityProvider): boolean =>
    (PLATFORMS[platform].identity.secrets(config)?.split(',') ?? [])
      // Hashed first, so that lengths are equal and the comparison leaks nothing.
      .map((secret) => equalBytes(sha256(utf8(secret)), sha256(utf8(shown))))
      .includes(true);
  if (isSecretOf(provider)) return;
  if (IDENTITY_PROVIDERS.some(isSecretOf)) throw new ApiError('handoff_secret_mismatch', { meta: { provider } });
  throw new ApiError('connector_secret_invalid');
}
