import { getBase58Encoder, type ReadonlyUint8Array } from '@solana/kit';
import type { Chain } from '../chain.ts';
import { encodeAccount, readAccountEncoding } from '../encode-account.ts';
import { encodeInnerInstructions, encodeReturnData, encodeTransaction, TRANSACTION_ENCODINGS, versionOf } from '../encode-transaction.ts';
import { invalidParams, RPC_CODE, RpcError } from '../ledger/errors.ts';
import { feeOfMessage } from '../ledger/fees.ts';
import type { TransactionRecord } from '../ledger/history.ts';
import type { Simulation } from '../ledger/machine.ts';
import { BLOCKHASH_VALID_SLOTS } from '../ledger/network.ts';
import {
  type Config,
  readAddress,
  readAddresses,
  readChoice,
  readConfig,
  readCount,
  readFlag,
  readHistoryCommitment,
  readList,
  readSignature,
  readU64,
} from '../params.ts';
import { requestAirdrop } from './faucet.ts';
import { type Method, withContext } from './methods-cluster.ts';

const SIGNATURES_MAX = 256;
const PAGE_MAX = 1_000;
const SIMULATED_ACCOUNTS_MAX = 64;

export const transactionMethods: Readonly<Record<string, Method>> = {
  sendTransaction(chain, [wire, second]) {
    const config = readConfig(second);
    return chain.send(readWire(wire, config), { skipPreflight: readFlag(config.skipPreflight) });
  },
  simulateTransaction(chain, [wire, second]) {
    return simulate(chain, wire, readConfig(second));
  },
  requestAirdrop(chain, [recipient, lamports]) {
    return requestAirdrop(chain, readAddress(recipient), readU64(lamports));
  },
  getFeeForMessage(chain, [message, config]) {
    return withContext(chain, readConfig(config), feeOfMessage(chain, readBase64(message)));
  },
  getSignatureStatuses(chain, [first, second]) {
    const config = readConfig(second);
    const searchesHistory = readFlag(config.searchTransactionHistory);
    const signatures = readList(first, SIGNATURES_MAX).map(readSignature);
    const statuses = signatures.map((signature) => encodeStatus(chain, chain.history.find(signature), searchesHistory));
    return withContext(chain, config, statuses);
  },
  getSignaturesForAddress(chain, [first, second]) {
    const config = readConfig(second);
    const newestSlot = chain.slotAt(readHistoryCommitment(config));
    const range = {
      ...(config.before === undefined || config.before === null ? {} : { before: readSignature(config.before) }),
      ...(config.until === undefined || config.until === null ? {} : { until: readSignature(config.until) }),
      limit: config.limit === undefined || config.limit === null ? PAGE_MAX : readCount(config.limit),
    };
    if (range.limit < 1 || range.limit > PAGE_MAX) throw invalidParams(`Invalid limit; max ${PAGE_MAX}`);
    const records = chain.history.listByAddress(readAddress(first), range, (record) => record.slot <= newestSlot);
    return records.map((record) => ({
      blockTime: record.blockTime,
      confirmationStatus: chain.commitmentOf(record.slot),
      err: record.execution.err,
      memo: record.memo,
      signature: record.signature,
      slot: record.slot,
    }));
  },
  getTransaction(chain, [first, second]) {
    const config = typeof second === 'string' ? { encoding: second } : readConfig(second);
    const encoding = readChoice(config.encoding, TRANSACTION_ENCODINGS, 'json');
    const newestSlot = chain.slotAt(readHistoryCommitment(config));
    const record = chain.history.find(readSignature(first));
    if (record === null || record.slot > newestSlot) return null;
    const newest = config.maxSupportedTransactionVersion;
    const hasNewest = newest !== undefined && newest !== null;
    assertVersionSupported(record, hasNewest ? readCount(newest, 255) : null);
    return encodeTransaction(record, encoding, hasNewest);
  },
};

/** Decodes transaction bytes, base58 by default. */
export function readWire(wire: unknown, config: Config): ReadonlyUint8Array {
  const encoding = readChoice(config.encoding, ['base58', 'base64'], 'base58');
  if (encoding === 'base64') return readBase64(wire);
  try {
    return getBase58Encoder().encode(wire as string);
  } catch {
    throw invalidParams('invalid base58 encoding');
  }
}

function readBase64(value: unknown): Uint8Array {
  const isBase64 = typeof value === 'string' && /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value);
  if (!isBase64) throw invalidParams('invalid base64 encoding');
  return Uint8Array.from(Buffer.from(value, 'base64'));
}

function simulate(chain: Chain, wire: unknown, config: Config): unknown {
  const sigVerify = readFlag(config.sigVerify);
  const replaces = readFlag(config.replaceRecentBlockhash);
  if (sigVerify && replaces) throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
  const slot = chain.clock.slot;
  const replacement = { blockhash: chain.blockhashes.at(slot), lastValidBlockHeight: slot + BLOCKHASH_VALID_SLOTS };
  const decoded = chain.decode(readWire(wire, config));
  const simulation = chain.simulate(decoded, { sigVerify, ...(replaces ? { replacementBlockhash: replacement.blockhash } : {}) });
  const inner = readFlag(config.innerInstructions)
    ? encodeInnerInstructions(simulation.innerInstructions, decoded, { isParsed: true })
    : null;
  return withContext(chain, config, {
    accounts: encodeSimulatedAccounts(chain, simulation, config),
    err: simulation.err,
    innerInstructions: inner,
    logs: simulation.logs,
    replacementBlockhash: replaces ? replacement : null,
    returnData: encodeReturnData(simulation.returnData),
    unitsConsumed: simulation.unitsConsumed,
  });
}

function encodeSimulatedAccounts(chain: Chain, simulation: Simulation, config: Config): unknown[] | null {
  if (config.accounts === undefined || config.accounts === null) return null;
  const wanted = readConfig(config.accounts);
  const encoding = readAccountEncoding(wanted, 'base64');
  if (encoding.encoding === 'binary' || encoding.encoding === 'base58') throw invalidParams('base58 encoding not supported');
  return readAddresses(wanted.addresses, SIMULATED_ACCOUNTS_MAX).map((address) => {
    if (simulation.err !== null) return null;
    const account = simulation.postAccounts.get(address) ?? chain.machine.findAccount(address);
    return account === null || account.lamports === 0n ? null : encodeAccount(chain.machine, account, encoding);
  });
}

function encodeStatus(chain: Chain, record: TransactionRecord | null, searchesHistory: boolean): unknown {
  if (record === null) return null;
  const depth = chain.clock.slot - record.slot;
  if (!searchesHistory && depth > BLOCKHASH_VALID_SLOTS) return null;
  const confirmationStatus = chain.commitmentOf(record.slot);
  const { err } = record.execution;
  return {
    confirmationStatus,
    confirmations: confirmationStatus === 'finalized' ? null : depth,
    err,
    slot: record.slot,
    status: err === null ? { Ok: null } : { Err: err },
  };
}

export function assertVersionSupported(record: TransactionRecord, newest: number | null): void {
  const version = versionOf(record);
  if (version === 'legacy' || (newest !== null && version <= newest)) return;
  const advice = 'Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 0';
  throw new RpcError(
    RPC_CODE.unsupportedTransactionVersion,
    `Transaction version (${version}) is not supported by the requesting client. ${advice}`,
  );
}
