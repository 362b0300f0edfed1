import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/kit';
import { sha256, verifyEd25519 } from '#core/crypto.ts';
import { base58, base58Bytes, utf8 } from '#core/encoding.ts';
import type { InnerInstructions } from '#platform/db/tables/sandbox.ts';
import { NATIVE_MINT } from '#solana/assets.ts';
import {
  type Instruction,
  parseLamportTransfer,
  parseMemo,
  parseTokenTransfer,
  type RpcTokenBalance,
  type RpcTransaction,
  type TokenTransfer,
} from '#solana/transaction.ts';
import type { SandboxPlace } from './simulated.store.ts';

const SLOT_MS = 400;
const SLOT_BYTES = 6;
const FEE_LAMPORTS = 5000;
/** Held by every account before a transaction: more than any payment, and exact as a JSON number. */
const BALANCE = 2 ** 52;

/** The slot of a moment, and its height: a simulated chain skips none. */
export const slotAt = (now: number): number => Math.floor(now / SLOT_MS);

/**
 * The blockhash of a slot: the slot itself, then a hash that only this sandbox and session have of it. It is 32 bytes as any, and no
 * cluster has a block of that name.
 */
export function blockhashAt({ merchantId, sessionId }: SandboxPlace, slot: number): string {
  const bytes = sha256(utf8(`sandbox block ${merchantId} ${sessionId ?? ''} ${slot}`));
  new DataView(bytes.buffer, bytes.byteOffset).setUint16(0, Math.floor(slot / 2 ** 32));
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(2, slot % 2 ** 32);
  return base58.encode(bytes);
}

/** The slot that a blockhash of this sandbox and session names; null where it is none. */
export function slotOfBlockhash(place: SandboxPlace, blockhash: string): number | null {
  const bytes = base58Bytes(blockhash, 32);
  if (!bytes) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, SLOT_BYTES);
  const slot = view.getUint16(0) * 2 ** 32 + view.getUint32(2);
  return blockhashAt(place, slot) === blockhash ? slot : null;
}

export interface SignedTransaction {
  /** Of the fee payer: the name of the transaction. */
  signature: string;
  /** Whether every signature that the message asks for is there, and true. */
  isSigned: boolean;
  messageBytes: Uint8Array;
  blockhash: string;
  /** Of its accounts, those that sign, and those that it may change. */
  signers: string[];
  writable: string[];
  message: RpcTransaction['transaction']['message'];
}

/** A transaction as it comes over the wire; null for what is none, or names accounts of lookup tables, of which there are none here. */
export function decodeSigned(wire: Uint8Array): SignedTransaction | null {
  try {
    const transaction = getTransactionDecoder().decode(wire);
    const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
    if (message.version !== 0 && message.version !== 'legacy') return null;
    if (message.version === 0 && (message.addressTableLookups?.length ?? 0) > 0) return null;
    const messageBytes = Uint8Array.from(transaction.messageBytes);
    const signatures = Object.entries(transaction.signatures).map(([signer, bytes]) => [signer, bytes && Uint8Array.from(bytes)] as const);
    const first = signatures[0]?.[1];
    const accountKeys = message.staticAccounts as string[];
    const { numSignerAccounts: signerCount, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = message.header;
    return {
      signers: accountKeys.slice(0, signerCount),
      writable: accountKeys.filter((_, index) =>
        index < signerCount ? index < signerCount - numReadonlySignerAccounts : index < accountKeys.length - numReadonlyNonSignerAccounts,
      ),
      signature: first ? base58.encode(first) : '',
      isSigned: signatures.every(([signer, bytes]) => bytes && verifyEd25519(bytes, messageBytes, base58.decode(signer))),
      messageBytes,
      blockhash: message.lifetimeToken as string,
      message: {
        accountKeys,
        header: { numRequiredSignatures: signerCount },
        instructions: message.instructions.map(({ programAddressIndex, accountIndices, data }) => ({
          programIdIndex: programAddressIndex,
          accounts: accountIndices ?? [],
          data: base58.encode(Uint8Array.from(data ?? [])),
        })),
      },
    };
  } catch {
    return null;
  }
}

/** Its instructions, their accounts by address. */
export const instructionsOf = ({ accountKeys: keys, instructions }: SignedTransaction['message']): Instruction[] =>
  instructions.map(({ programIdIndex, accounts, data }) => ({
    programId: keys[programIdIndex]!,
    accounts: accounts.map((index) => keys[index]!),
    data: base58.decode(data),
  }));

/** True where the authority of each transfer is among the signers, as the programs that move the money demand. */
export const hasAuthorities = ({ message, signers }: SignedTransaction): boolean =>
  instructionsOf(message).every((instruction) => {
    const transfer = parseTokenTransfer(instruction) ?? parseLamportTransfer(instruction);
    return transfer === null || signers.includes(transfer.authority);
  });

/** The memos of a transaction, signed or not; none of what is no transaction. */
export function memosOf(wire: Uint8Array): string[] {
  const decoded = decodeSigned(wire);
  return decoded
    ? instructionsOf(decoded.message)
        .map(parseMemo)
        .filter((memo) => memo !== null)
    : [];
}

/**
 * The transaction as a node shows it once it landed: its transfers moved what they say, and its fee payer paid the fee, which a failure
 * takes too.
 */
export function landedTransaction(
  { message, signature }: SignedTransaction,
  { slot, blockTime, hasFailed, inner = [] }: { slot: number; blockTime: number; hasFailed: boolean; inner?: InnerInstructions },
): RpcTransaction {
  const { accountKeys: keys } = message;
  const called = inner.flatMap(({ instructions }) => instructions);
  const resolved = [...instructionsOf(message), ...instructionsOf({ ...message, instructions: called })];
  const moved = (parse: typeof parseTokenTransfer | typeof parseLamportTransfer): TokenTransfer[] =>
    hasFailed ? [] : resolved.map(parse).filter((transfer) => transfer !== null);
  const gain = (transfers: TokenTransfer[], account: string): bigint =>
    transfers.reduce(
      (sum, { source, destination, units }) => sum + (destination === account ? units : 0n) - (source === account ? units : 0n),
      0n,
    );
  const tokens = moved(parseTokenTransfer);
  const lamports = moved(parseLamportTransfer);
  const fee = FEE_LAMPORTS * message.header.numRequiredSignatures;
  const mintOf = (account: string) => tokens.find(({ source, destination }) => source === account || destination === account)?.mint ?? null;
  const balances = (factor: bigint): RpcTokenBalance[] =>
    keys.flatMap((account, accountIndex) => {
      const mint = mintOf(account);
      if (mint === null || mint === NATIVE_MINT) return [];
      return [
        {
          accountIndex,
          mint,
          uiTokenAmount: { amount: (BigInt(Number.MAX_SAFE_INTEGER) ** 2n + factor * gain(tokens, account)).toString() },
        },
      ];
    });
  return {
    slot,
    blockTime,
    transaction: { signatures: [signature], message },
    meta: {
      err: hasFailed ? { InstructionError: [0, 'Custom'] } : null,
      preBalances: keys.map(() => BALANCE),
      postBalances: keys.map((account, i) => BALANCE + Number(gain(lamports, account)) - (i === 0 ? fee : 0)),
      preTokenBalances: balances(0n),
      postTokenBalances: balances(1n),
      innerInstructions: hasFailed ? [] : inner,
    },
  };
}
