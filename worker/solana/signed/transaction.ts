import { getCompiledTransactionMessageDecoder, getCompiledTransactionMessageEncoder } from '@solana/kit';
import { equalBytes, verifyEd25519 } from '#core/crypto.ts';
import { base58, base64 } from '#core/encoding.ts';
import { assert } from '#core/errors.ts';
import type { Instruction } from '../transaction.ts';

/** What fits into a packet of the network. */
const WIRE_BYTES_MAX = 1232;
const SIGNATURE_BYTES = 64;

/** A transaction that we are to sign as its fee payer, taken apart. */
export interface PartlySigned {
  wire: Uint8Array;
  messageBytes: Uint8Array;
  signatures: Uint8Array[];
  accounts: readonly string[];
  /** Of the accounts, those that it may change. */
  writable: readonly string[];
  signerCount: number;
  usesLookupTables: boolean;
  instructions: Instruction[];
  blockhash: string;
}

/** Legacy or v0, in the one encoding the chain would write: what we hash, verify and sign can be read in no second way. */
export function decodeSignedTransaction(text: unknown): PartlySigned | null {
  if (typeof text !== 'string') return null;
  try {
    const wire = base64.decode(text);
    if (wire.length > WIRE_BYTES_MAX) return null;
    const slots = wire[0] ?? 0;
    const messageBytes = wire.slice(1 + slots * SIGNATURE_BYTES);
    const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
    if (message.version !== 0 && message.version !== 'legacy') return null;
    if (!equalBytes(Uint8Array.from(getCompiledTransactionMessageEncoder().encode(message)), messageBytes)) return null;
    const accounts: readonly string[] = message.staticAccounts;
    const usesLookupTables = message.version === 0 && (message.addressTableLookups?.length ?? 0) > 0;
    const keyAt = (index: number): string => {
      // Beyond the static accounts lie those of lookup tables, which step 8 refuses.
      assert(index < accounts.length || usesLookupTables, 'an instruction names an account that is not there');
      return accounts[index] ?? '';
    };
    const instructions = message.instructions.map((ix) => ({
      programId: keyAt(ix.programAddressIndex),
      accounts: (ix.accountIndices ?? []).map(keyAt),
      data: Uint8Array.from(ix.data ?? []),
    }));
    const { numSignerAccounts: signerCount, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = message.header;
    const writable = accounts.filter((_, index) =>
      index < signerCount ? index < signerCount - numReadonlySignerAccounts : index < accounts.length - numReadonlyNonSignerAccounts,
    );
    if (slots !== signerCount || slots > accounts.length || new Set(accounts).size !== accounts.length) return null;
    const signatures = Array.from({ length: slots }, (_, slot) => wire.slice(1 + slot * SIGNATURE_BYTES, 1 + (slot + 1) * SIGNATURE_BYTES));
    return {
      wire,
      messageBytes,
      signatures,
      accounts,
      writable,
      signerCount,
      usesLookupTables,
      instructions,
      blockhash: message.lifetimeToken,
    };
  } catch {
    return null;
  }
}

/** Every required signature but the first, which is ours, is there and valid over these very bytes. */
export const othersSigned = ({ signatures, messageBytes, accounts }: PartlySigned): boolean =>
  signatures.every((signature, slot) => slot === 0 || verifyEd25519(signature, messageBytes, base58.decode(accounts[slot]!)));
