import { hmacSha256 } from '#core/crypto.ts';
import { base64url, utf8 } from '#core/encoding.ts';
import type { Config } from '#platform/context.ts';
import { SIMULATED_PRICE_URL } from '#platform/providers/price.ts';
import { NETWORKS } from '#solana/assets.ts';

/** A seed of the sandbox, for one purpose. It signs nothing that is worth anything, and no live key is made of the same secret. */
export const sandboxSeed = ({ SANDBOX_SEED }: Pick<Config, 'SANDBOX_SEED'>, ...purpose: string[]): Uint8Array =>
  hmacSha256(base64url.decode(SANDBOX_SEED), utf8(JSON.stringify(['sandbox', ...purpose])));

/**
 * The configuration as a sandbox sees it. The chain presents itself as devnet, and signs with keys that hold nothing and are no live
 * key of the service: what they sign can pay no fee of ours anywhere. No server outside is asked, not even what SOL is worth.
 */
export function simulatedConfig(config: Config): Config {
  const seed = (purpose: string) => base64url.encode(sandboxSeed(config, purpose));
  return {
    ...config,
    NETWORK: 'devnet',
    network: NETWORKS.devnet,
    FEE_PAYER_KEYS: seed('fee payer'),
    CHALLENGE_KEYS: seed('challenge'),
    CHANNEL_KEYS: seed('channel operator'),
    SUBSCRIPTION_KEYS: seed('subscription puller'),
    PRICE_URL: SIMULATED_PRICE_URL,
    FEE_WALLET: config.FEE_WALLET ?? SANDBOX_WALLET,
    TREASURY_WALLET: config.TREASURY_WALLET ?? SANDBOX_WALLET,
    SETTLE_PATIENCE_MS: 0,
  };
}

/** Where a sandbox product is paid that names no wallet: a valid address of which no key is known. */
export const SANDBOX_WALLET = 'JBCFBPmjUn9CSjHe2AxwUgQYF5zWP3nmckucfAaa97K';
