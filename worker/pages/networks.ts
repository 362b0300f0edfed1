import { NETWORKS } from '#solana/assets.ts';

/** Our name of a network by its CAIP-2 id. */
export const NETWORK_OF: Record<string, 'mainnet' | 'devnet'> = {
  [NETWORKS.mainnet.caip2]: 'mainnet',
  [NETWORKS.devnet.caip2]: 'devnet',
};
