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
import type { SandboxKey } from './simulated.store.ts';

const SLOT_MS = 400;
const SLOT_BYTES = 6;
const FEE_LAMPORTS = 5000;
/** Initial balance of every account: above any payment and exact as a JSON number. */
const BALANCE = 2 ** 52;

/** Slot and block height at a moment, because a simulated chain skips no slot. */
export const slotAt = (now: number): number => Math.floor(now / SLOT_MS);

/** Blockhash of a slot: the slot, then a hash unique to this sandbox and session. No cluster has a block with this hash. */
export function blockhashAt({ merchantId, sessionId }: SandboxKey, slot: number): string {
  const bytes = sha256(utf8(`sandbox block ${merchantId} ${sessionId ?? ''} ${slot}`));
  new DataView(bytes.buffer, bytes.byteOffset).setUint16(0, Math.floor(slot / 2 ** 32));
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(2, slot % 2 ** 32);
  return base58.encode(bytes);
}

export function slotOfBlockhash(sandbox: SandboxKey, blockhash: string): number | null {
  const bytes = base58Bytes(blockhash, 32);
  if (!bytes) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, SLOT_BYTES);
  const slot = view.getUint16(0) * 2 ** 32 + view.getUint32(2);
  return blockhashAt(sandbox, slot) === blockhash ? slot : null;
}

export interface SignedTransaction {
  signature: string;
  isSigned: boolean;
  messageBytes: Uint8Array;
  blockhash: string;
  signers: string[];
  writable: string[];
  message: RpcTransaction['transaction']['message'];
}

/** Decodes a wire transaction. Returns null if the bytes are invalid or use lookup tables, which the simulated chain does not have. */
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

export const instructionsOf = ({ accountKeys: keys, instructions }: SignedTransaction['message']): Instruction[] =>
  instructions.map(({ programIdIndex, accounts, data }) => ({
    programId: keys[programIdIndex]!,
    accounts: accounts.map((index) => keys[index]!),
    data: base58.decode(data),
  }));

export const hasAuthorities = ({ message, signers }: SignedTransaction): boolean =>
  instructionsOf(message).every((instruction) => {
    const transfer = parseTokenTransfer(instruction) ?? parseLamportTransfer(instruction);
    return transfer === null || signers.includes(transfer.authority);
  });

export function memosOf(wire: Uint8Array): string[] {
  const decoded = decodeSigned(wire);
  return decoded
    ? instructionsOf(decoded.message)
        .map(parseMemo)
        .filter((memo) => memo !== null)
    : [];
}

/** Landed transaction in the form of a node's answer. The fee payer pays the fee even if the transaction failed. */
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
