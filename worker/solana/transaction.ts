import { base58 } from '#core/encoding.ts';
import { ATA_PROGRAM, MEMO_PROGRAMS, NATIVE_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM } from './assets.ts';
import { findChannelProgram } from './programs/payment-channels/channel.ts';
import { DISTRIBUTE } from './programs/payment-channels/layouts.ts';

export interface RpcInstruction {
  programIdIndex: number;
  accounts: number[];
  data: string;
}
export interface RpcTokenBalance {
  accountIndex: number;
  mint: string;
  owner?: string;
  uiTokenAmount: { amount: string };
}
export interface RpcTransaction {
  slot: number;
  blockTime: number | null;
  transaction: {
    signatures: string[];
    message: { accountKeys: string[]; header: { numRequiredSignatures: number }; instructions: RpcInstruction[] };
  };
  meta: {
    err: unknown;
    preBalances?: number[] | null;
    postBalances?: number[] | null;
    preTokenBalances?: RpcTokenBalance[] | null;
    postTokenBalances?: RpcTokenBalance[] | null;
    innerInstructions?: { index: number; instructions: RpcInstruction[] }[] | null;
    loadedAddresses?: { writable: string[]; readonly: string[] } | null;
  } | null;
}

export interface Instruction {
  programId: string;
  accounts: string[];
  data: Uint8Array;
}

export interface TokenTransfer {
  source: string;
  /** Null if the instruction does not name a mint. NATIVE_MINT for lamports. */
  mint: string | null;
  destination: string;
  authority: string;
  units: bigint;
}

export interface ChainTransaction {
  signature: string;
  slot: number;
  /** Seconds. Null if the node does not know the block time yet. */
  blockTimeSeconds: number | null;
  failed: boolean;
  feePayer: string;
  /** Memos of top-level instructions only: a memo from an inner call is not signed by the sender. */
  memos: string[];
  transfers: TokenTransfer[];
  /** Transfers of lamports, separate from tokens, so that accounts of the two kinds are never confused. */
  lamportTransfers: TokenTransfer[];
  /** Change of every touched token account: address -> mint and units gained (negative: lost). */
  tokenDeltas: Map<string, { mint: string; delta: bigint }>;
  /** Lamports gained by every account (negative: lost), including the network fee. */
  lamportDeltas: Map<string, bigint>;
  events: ProgramEvent[];
  /** Channels that pay out in this transaction, with their payers. That money was owed by vouchers and pays nothing else. */
  channels: ReadonlyMap<string, string>;
}

/** Event of a program, carried by a self-call that no other program can make. (Anchor, `emit_cpi`) */
interface ProgramEvent {
  programId: string;
  data: Uint8Array;
}

export const transfersOf = ({ transfers, lamportTransfers }: ChainTransaction, mint: string): TokenTransfer[] =>
  mint === NATIVE_MINT ? lamportTransfers : transfers;

const u64 = (data: Uint8Array, offset: number): bigint =>
  new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(offset, true);

/** Parses SPL Token `Transfer` (3) and `TransferChecked` (12). Null otherwise. */
export function parseTokenTransfer({ programId, accounts, data }: Instruction): TokenTransfer | null {
  if (programId !== TOKEN_PROGRAM) return null;
  const [a, b, c, d] = accounts;
  if (data[0] === 3 && data.length >= 9 && a && b && c) return { source: a, mint: null, destination: b, authority: c, units: u64(data, 1) };
  if (data[0] === 12 && data.length >= 10 && a && b && c && d)
    return { source: a, mint: b, destination: c, authority: d, units: u64(data, 1) };
  return null;
}

/** Parses System `Transfer` (2). The source is the signer. Null otherwise, also for transfers with a seed. */
export function parseLamportTransfer({ programId, accounts, data }: Instruction): TokenTransfer | null {
  const [source, destination] = accounts;
  const isTransfer = programId === SYSTEM_PROGRAM && data.length >= 12 && data[0] === 2 && data[1] === 0 && data[2] === 0 && data[3] === 0;
  return isTransfer && source && destination ? { source, mint: NATIVE_MINT, destination, authority: source, units: u64(data, 4) } : null;
}

/** Text of a memo instruction, or null. Invalid UTF-8 is still a memo, but never one of the service. */
export const parseMemo = ({ programId, data }: Instruction): string | null =>
  MEMO_PROGRAMS.includes(programId) ? new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(data) : null;

/** Parses the creation of an associated token account (0 or empty: create, 1: idempotent). Null otherwise. */
export function parseAtaCreation({
  programId,
  accounts,
  data,
}: Instruction): { payer: string; ata: string; owner: string; mint: string } | null {
  if (programId !== ATA_PROGRAM || data.length > 1 || (data[0] ?? 0) > 1) return null;
  const [payer, ata, owner, mint] = accounts;
  return payer && ata && owner && mint ? { payer, ata, owner, mint } : null;
}

/** System `AdvanceNonceAccount` (4): a transaction that starts with it never expires. */
export const isNonceAdvance = ({ programId, data }: Instruction): boolean => programId === SYSTEM_PROGRAM && data[0] === 4 && data[1] === 0;

/** `svc:` memos of a transaction: a correlation, never a proof. */
export const svcMemos = (memos: readonly string[]): string[] => memos.filter((memo) => memo.startsWith('svc:'));

/**
 * Parses an RPC transaction. Account keys are static, loaded writable, loaded readonly, in this order. Token balances index that list, and
 * a missing balance counts as zero.
 */
export function parseTransaction(signature: string, raw: RpcTransaction): ChainTransaction {
  const { message } = raw.transaction;
  const keys = [...message.accountKeys, ...(raw.meta?.loadedAddresses?.writable ?? []), ...(raw.meta?.loadedAddresses?.readonly ?? [])];
  const resolve = ({ programIdIndex, accounts, data }: RpcInstruction): Instruction => ({
    programId: keys[programIdIndex] ?? '',
    accounts: accounts.map((index) => keys[index] ?? ''),
    data: base58.decode(data),
  });
  const topLevel = message.instructions.map(resolve);
  const inner = (raw.meta?.innerInstructions ?? []).flatMap(({ instructions }) => instructions.map(resolve));
  const present = <T>(value: T | null): value is T => value !== null;
  return {
    signature,
    slot: raw.slot,
    blockTimeSeconds: raw.blockTime,
    // Without meta the outcome is unknown. Treated as failed, which can only refuse.
    failed: raw.meta === null || raw.meta.err !== null,
    feePayer: keys[0] ?? '',
    memos: topLevel.map(parseMemo).filter(present),
    transfers: [...topLevel, ...inner].map(parseTokenTransfer).filter(present),
    lamportTransfers: [...topLevel, ...inner].map(parseLamportTransfer).filter(present),
    tokenDeltas: tokenDeltas(keys, raw.meta?.preTokenBalances ?? [], raw.meta?.postTokenBalances ?? []),
    lamportDeltas: lamportDeltas(keys, raw.meta?.preBalances ?? [], raw.meta?.postBalances ?? []),
    events: inner.map(parseEvent).filter(present),
    channels: new Map([...topLevel, ...inner].map(parsePayout).filter(present)),
  };
}

function parsePayout({ programId, accounts: [channel, payer], data }: Instruction): [string, string] | null {
  const isPayout = data[0] === DISTRIBUTE.discriminator && findChannelProgram(programId) !== null;
  return isPayout && channel && payer ? [channel, payer] : null;
}

export const EVENT_TAG: readonly number[] = [0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d];

/** Parses the event of an inner call. Null otherwise. Only the program itself can make this call, because it verifies its own signature. */
const parseEvent = ({ programId, data }: Instruction): ProgramEvent | null =>
  EVENT_TAG.every((byte, index) => data[index] === byte) ? { programId, data: data.slice(EVENT_TAG.length) } : null;

function tokenDeltas(keys: string[], before: RpcTokenBalance[], after: RpcTokenBalance[]): ChainTransaction['tokenDeltas'] {
  const deltas: ChainTransaction['tokenDeltas'] = new Map();
  const add = (balance: RpcTokenBalance, sign: bigint) => {
    const account = keys[balance.accountIndex];
    if (account === undefined) return;
    const known = deltas.get(account)?.delta ?? 0n;
    deltas.set(account, { mint: balance.mint, delta: known + sign * BigInt(balance.uiTokenAmount.amount) });
  };
  for (const balance of before) add(balance, -1n);
  for (const balance of after) add(balance, 1n);
  return deltas;
}

/** A balance beyond 2^53 lamports (9 million SOL) was rounded by JSON, so the account is left out. */
function lamportDeltas(keys: string[], before: number[], after: number[]): ChainTransaction['lamportDeltas'] {
  const isExact = (lamports: number | undefined): lamports is number => Number.isSafeInteger(lamports);
  const changes = keys.flatMap((account, index): [string, bigint][] => {
    const [from, to] = [before[index], after[index]];
    return isExact(from) && isExact(to) ? [[account, BigInt(to) - BigInt(from)]] : [];
  });
  return new Map(changes);
}
