import { hmacSha256 } from '#core/crypto.ts';
import { base64url, utf8 } from '#core/encoding.ts';
import type { Config } from '#platform/context.ts';
import { SIMULATED_PRICE_URL } from '#platform/providers/price.ts';
import { NETWORKS } from '#solana/assets.ts';

/** Derives a sandbox seed for one purpose. No live key may derive from SANDBOX_SEED. */
export const sandboxSeed = ({ SANDBOX_SEED }: Pick<Config, 'SANDBOX_SEED'>, ...purpose: string[]): Uint8Array =>
  hmacSha256(base64url.decode(SANDBOX_SEED), utf8(JSON.stringify(['sandbox', ...purpose])));

/**
 * Configuration of a sandbox. The network is devnet, and the signing keys are derived, so no sandbox signature can spend real
 * SOL. No external server is called, not even for the SOL price.
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

/** Default payout, fee and treasury address in a sandbox: a valid address without a known key. */
export const SANDBOX_WALLET = 'JBCFBPmjUn9CSjHe2AxwUgQYF5zWP3nmckucfAaa97K';
