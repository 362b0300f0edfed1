import type { Chain } from '../chain.ts';
import { encodeTransaction, TRANSACTION_ENCODINGS } from '../encode-transaction.ts';
import { RPC_CODE, RpcError } from '../ledger/errors.ts';
import { type Config, readChoice, readConfig, readCount, readFlag, readHistoryCommitment } from '../params.ts';
import type { Method } from './methods-cluster.ts';
import { assertVersionSupported } from './methods-transactions.ts';

const RANGE_MAX = 500_000;

export const blockMethods: Readonly<Record<string, Method>> = {
  getBlock(chain, [first, second]) {
    const config = typeof second === 'string' ? { encoding: second } : readConfig(second);
    const slot = readCount(first);
    assertBlock(chain, slot, chain.slotAt(readHistoryCommitment(config)));
    const parentSlot = findParent(chain, slot);
    return {
      blockHeight: slot,
      blockTime: chain.clock.slotTimestamp(slot),
      blockhash: chain.blockhashes.at(slot),
      parentSlot,
      previousBlockhash: chain.blockhashes.at(parentSlot),
      ...(readFlag(config.rewards, true) ? { rewards: [] } : {}),
      ...encodeTransactions(chain, slot, config),
    };
  },
  getBlocks(chain, [start, second, third]) {
    const isBounded = typeof second === 'number';
    const newest = chain.slotAt(readHistoryCommitment(readConfig(isBounded ? third : (second ?? third))));
    const first = readCount(start);
    return listBlocks(chain, first, Math.min(isBounded ? readCount(second) : newest, newest, first + RANGE_MAX), RANGE_MAX);
  },
  getBlocksWithLimit(chain, [start, limit, config]) {
    const newest = chain.slotAt(readHistoryCommitment(readConfig(config)));
    return listBlocks(chain, readCount(start), newest, readCount(limit, RANGE_MAX));
  },
  getBlockTime(chain, [first]) {
    const slot = readCount(first);
    assertBlock(chain, slot, chain.clock.slot);
    return chain.clock.slotTimestamp(slot);
  },
};

/** Error of a node for a block before its history. */
export const cleanedUp = (slot: number, firstSlot: number): RpcError =>
  new RpcError(RPC_CODE.blockCleanedUp, `Block ${slot} cleaned up, does not exist on node. First available block: ${firstSlot}`);

function assertBlock(chain: Chain, slot: number, newest: number): void {
  const { startSlot } = chain.clock;
  if (slot < startSlot) throw cleanedUp(slot, startSlot);
  if (slot > newest) throw new RpcError(RPC_CODE.blockNotAvailable, `Block not available for slot ${slot}`);
  if (!chain.skippedSlots.has(slot)) return;
  // A node cannot distinguish the two cases either.
  throw new RpcError(RPC_CODE.slotSkipped, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`);
}

function findParent(chain: Chain, slot: number): number {
  let parent = slot - 1;
  while (chain.skippedSlots.has(parent)) parent -= 1;
  return parent;
}

function listBlocks(chain: Chain, first: number, last: number, limit: number): number[] {
  const slots: number[] = [];
  for (let slot = Math.max(first, chain.clock.startSlot); slot <= last && slots.length < limit; slot += 1) {
    if (!chain.skippedSlots.has(slot)) slots.push(slot);
  }
  return slots;
}

function encodeTransactions(chain: Chain, slot: number, config: Config): Record<string, unknown> {
  const records = chain.history.listBySlot(slot);
  switch (readChoice(config.transactionDetails, ['full', 'signatures', 'none'], 'full')) {
    case 'none':
      return {};
    case 'signatures':
      return { signatures: records.map(({ signature }) => signature) };
    default:
      return { transactions: encodeFull(records, config) };
  }
}

function encodeFull(records: ReturnType<Chain['history']['listBySlot']>, config: Config): unknown[] {
  const encoding = readChoice(config.encoding, TRANSACTION_ENCODINGS, 'json');
  const newest = config.maxSupportedTransactionVersion;
  const hasNewest = newest !== undefined && newest !== null;
  return records.map((record) => {
    assertVersionSupported(record, hasNewest ? readCount(newest, 255) : null);
    // The block contains slot and time once.
    const { slot: _slot, blockTime: _blockTime, ...transaction } = encodeTransaction(record, encoding, hasNewest);
    return transaction;
  });
}
