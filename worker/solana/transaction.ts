import { base58 } from '#core/encoding.ts';
import { ATA_PROGRAM, MEMO_PROGRAMS, NATIVE_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM } from './assets.ts';
import { findChannelProgram } from './programs/payment-channels/channel.ts';
import { DISTRIBUTE } from './programs/payment-channels/layouts.ts';

/** `getTransaction` with encoding `json`, as far as we read it. u64 values beyond 2^53 never matter here: token amounts are strings. */
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
    /** Lamports, in the order of the account keys. */
    preBalances?: number[] | null;
    postBalances?: number[] | null;
    preTokenBalances?: RpcTokenBalance[] | null;
    postTokenBalances?: RpcTokenBalance[] | null;
    innerInstructions?: { index: number; instructions: RpcInstruction[] }[] | null;
    loadedAddresses?: { writable: string[]; readonly: string[] } | null;
  } | null;
}

/** One instruction with its accounts resolved: what a prepared and a landed transaction have in common. */
export interface Instruction {
  programId: string;
  accounts: string[];
  data: Uint8Array;
}

export interface TokenTransfer {
  source: string;
  /** Null where the instruction does not name it; NATIVE_MINT for lamports. */
  mint: string | null;
  destination: string;
  authority: string;
  units: bigint;
}

/** A transaction as the chain tells it, in our words. */
export interface ChainTransaction {
  signature: string;
  slot: number;
  /** Seconds; null where the node does not know it yet. */
  blockTimeSeconds: number | null;
  failed: boolean;
  feePayer: string;
  /** Of top-level memo instructions only: a memo made by a program's inner call is not the signer's word. */
  memos: string[];
  transfers: TokenTransfer[];
  /** Transfers of lamports, kept apart from tokens: an account of one kind is never mistaken for one of the other. */
  lamportTransfers: TokenTransfer[];
  /** Change of every touched token account: address -> mint and units gained (negative: lost). */
  tokenDeltas: Map<string, { mint: string; delta: bigint }>;
  /** Lamports every account gained (negative: lost), the network's fee included. */
  lamportDeltas: Map<string, bigint>;
  /** What programs say they did, in their order. */
  events: ProgramEvent[];
  /** Payment channels that pay out what vouchers promised, each with its payer: that money was owed before, and is no other payment's. */
  channels: ReadonlyMap<string, string>;
}

/** What a program says it did, by a call to itself that no other program can make. (Anchor, `emit_cpi`) */
interface ProgramEvent {
  programId: string;
  /** Its discriminator and its fields. */
  data: Uint8Array;
}

/** The transfers that move an asset: those of lamports for NATIVE_MINT, of tokens for any other mint. */
export const transfersOf = ({ transfers, lamportTransfers }: ChainTransaction, mint: string): TokenTransfer[] =>
  mint === NATIVE_MINT ? lamportTransfers : transfers;

const u64 = (data: Uint8Array, offset: number): bigint =>
  new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(offset, true);

/** SPL Token `Transfer` (3) and `TransferChecked` (12); null for anything else. */
export function parseTokenTransfer({ programId, accounts, data }: Instruction): TokenTransfer | null {
  if (programId !== TOKEN_PROGRAM) return null;
  const [a, b, c, d] = accounts;
  if (data[0] === 3 && data.length >= 9 && a && b && c) return { source: a, mint: null, destination: b, authority: c, units: u64(data, 1) };
  if (data[0] === 12 && data.length >= 10 && a && b && c && d)
    return { source: a, mint: b, destination: c, authority: d, units: u64(data, 1) };
  return null;
}

/** System `Transfer` (2): its source is who signs for it. Null for anything else, transfers with a seed included. */
export function parseLamportTransfer({ programId, accounts, data }: Instruction): TokenTransfer | null {
  const [source, destination] = accounts;
  const isTransfer = programId === SYSTEM_PROGRAM && data.length >= 12 && data[0] === 2 && data[1] === 0 && data[2] === 0 && data[3] === 0;
  return isTransfer && source && destination ? { source, mint: NATIVE_MINT, destination, authority: source, units: u64(data, 4) } : null;
}

/** The text of a memo instruction, or null. Bytes that are not UTF-8 are a memo, only not one of ours. */
export const parseMemo = ({ programId, data }: Instruction): string | null =>
  MEMO_PROGRAMS.includes(programId) ? new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(data) : null;

/** Associated-token-account creation (0 or empty: create, 1: idempotent): whom and what it is for; null for anything else. */
export function parseAtaCreation({
  programId,
  accounts,
  data,
}: Instruction): { payer: string; ata: string; owner: string; mint: string } | null {
  if (programId !== ATA_PROGRAM || data.length > 1 || (data[0] ?? 0) > 1) return null;
  const [payer, ata, owner, mint] = accounts;
  return payer && ata && owner && mint ? { payer, ata, owner, mint } : null;
}

/** System-program `AdvanceNonceAccount` (4): a transaction that opens with it never expires. */
export const isNonceAdvance = ({ programId, data }: Instruction): boolean => programId === SYSTEM_PROGRAM && data[0] === 4 && data[1] === 0;

/** `svc:` memos of a transaction: our correlation, never proof of anything by itself. */
export const svcMemos = (memos: readonly string[]): string[] => memos.filter((memo) => memo.startsWith('svc:'));

/**
 * An RPC answer to a ChainTransaction. Account keys are static + loaded writable + loaded readonly, in this order; token
 * balances refer to that list, and an account missing before or after counts as zero there.
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
    // Without meta nothing is known about the outcome: treated as failed, which can only refuse.
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

/** The channel that an instruction distributes, and its payer; null for anything else. */
function parsePayout({ programId, accounts: [channel, payer], data }: Instruction): [string, string] | null {
  const isPayout = data[0] === DISTRIBUTE.discriminator && findChannelProgram(programId) !== null;
  return isPayout && channel && payer ? [channel, payer] : null;
}

/** What a program puts before the bytes of an event that it calls itself with. */
export const EVENT_TAG: readonly number[] = [0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d];

/** The event that an inner call carries; null for any other call. A program calls itself alone so: it checks its own signature for it. */
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

/** A balance beyond 2^53 lamports (9 million SOL) was rounded by JSON: of such an account nothing is claimed. */
function lamportDeltas(keys: string[], before: number[], after: number[]): ChainTransaction['lamportDeltas'] {
  const isExact = (lamports: number | undefined): lamports is number => Number.isSafeInteger(lamports);
  const changes = keys.flatMap((account, index): [string, bigint][] => {
    const [from, to] = [before[index], after[index]];
    return isExact(from) && isExact(to) ? [[account, BigInt(to) - BigInt(from)]] : [];
  });
  return new Map(changes);
}
