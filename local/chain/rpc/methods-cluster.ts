import type { Chain, ChainNode } from '../chain.ts';
import { RPC_CODE, RpcError } from '../ledger/errors.ts';
import { BLOCKHASH_VALID_SLOTS, DEVNET_GENESIS_HASH, SLOTS_PER_EPOCH } from '../ledger/network.ts';
import { type Config, type Params, readCommitment, readConfig, readCount } from '../params.ts';

export type Method = (chain: Chain, params: Params, node: ChainNode) => unknown;

const VERSION = '3.0.0';

/** Wraps a value with the slot of its reading. Throws if the caller requires a later slot. */
export function withContext(chain: Chain, config: Config, value: unknown): unknown {
  const slot = chain.clock.slot;
  assertMinContextSlot(slot, config);
  return { context: { apiVersion: VERSION, slot }, value };
}

export const clusterMethods: Readonly<Record<string, Method>> = {
  getGenesisHash: () => DEVNET_GENESIS_HASH,
  getHealth: () => 'ok',
  getVersion: () => ({ 'feature-set': 0, 'solana-core': VERSION }),
  getSlot: readSlot,
  getBlockHeight: readSlot,
  getEpochInfo(chain, params) {
    const slot = readSlot(chain, params);
    return {
      absoluteSlot: slot,
      blockHeight: slot,
      epoch: Math.floor(slot / SLOTS_PER_EPOCH),
      slotIndex: slot % SLOTS_PER_EPOCH,
      slotsInEpoch: SLOTS_PER_EPOCH,
      transactionCount: chain.history.count,
    };
  },
  getLatestBlockhash(chain, [config]) {
    const slot = chain.clock.slot;
    return withContext(chain, readConfig(config), {
      blockhash: chain.blockhashes.at(slot),
      lastValidBlockHeight: slot + BLOCKHASH_VALID_SLOTS,
    });
  },
  isBlockhashValid(chain, [hash, config]) {
    return withContext(chain, readConfig(config), typeof hash === 'string' && chain.blockhashes.isValid(hash, chain.clock.slot));
  },
  getRecentPrioritizationFees(chain) {
    const newest = chain.clock.slot;
    const oldest = Math.max(chain.clock.startSlot, newest - BLOCKHASH_VALID_SLOTS + 1);
    return Array.from({ length: newest - oldest + 1 }, (_, index) => ({ prioritizationFee: 0, slot: oldest + index }));
  },
};

function readSlot(chain: Chain, [first]: Params): number {
  const config = readConfig(first);
  const slot = chain.slotAt(readCommitment(config));
  assertMinContextSlot(slot, config);
  return slot;
}

function assertMinContextSlot(slot: number, config: Config): void {
  const least = config.minContextSlot;
  if (least === undefined || least === null || readCount(least) <= slot) return;
  throw new RpcError(RPC_CODE.minContextSlot, 'Minimum context slot has not been reached', { contextSlot: slot });
}
