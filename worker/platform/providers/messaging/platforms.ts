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

/** Variables without which a platform delivers nothing, by their names; none where all are there. */
export const missingForDelivery = (config: Config, provider: IdentityProvider): string[] =>
  PLATFORMS[provider].needs.filter((name) => config[name] === undefined);

const paces = new Memory<IdentityProvider, Pace>(IDENTITY_PROVIDERS.length);
/** The one pace of this isolate for a platform. */
export function paceOf(provider: IdentityProvider): Pace {
  const known = paces.get(provider) ?? new Pace();
  paces.set(provider, known);
  return known;
}

/** What a call of a platform may use, in this invocation. */
export const deskOf = (ctx: Ctx, pace: Pace): PlatformDesk => ({
  config: ctx.config,
  now: () => ctx.wallNow + ctx.elapsedMs(),
  leftMs: () => ctx.leftMs(),
  pace,
});

/**
 * Is this the connector of that platform? 401 connector_secret_invalid for none or a wrong secret, 403
 * handoff_secret_mismatch for the secret of another platform, 503 handoff_not_configured where there is nothing to compare.
 */
export function requireConnector({ config }: Pick<Ctx, 'config'>, provider: IdentityProvider, shown: string | undefined): void {
  if (!PLATFORMS[provider].identity.secrets(config)) throw new ApiError('handoff_not_configured', { meta: { provider } });
  if (!shown) throw new ApiError('connector_secret_invalid');
  const isSecretOf = (platform: IdentityProvider): boolean =>
    (PLATFORMS[platform].identity.secrets(config)?.split(',') ?? [])
      // Hashed first: equal lengths, so that the comparison tells nothing about the secret.
      .map((secret) => equalBytes(sha256(utf8(secret)), sha256(utf8(shown))))
      .includes(true);
  if (isSecretOf(provider)) return;
  if (IDENTITY_PROVIDERS.some(isSecretOf)) throw new ApiError('handoff_secret_mismatch', { meta: { provider } });
  throw new ApiError('connector_secret_invalid');
}
