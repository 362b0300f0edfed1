import { getCompiledTransactionMessageDecoder, getCompiledTransactionMessageEncoder } from '@solana/kit';
import { equalBytes, verifyEd25519 } from '#core/crypto.ts';
import { base58, base64 } from '#core/encoding.ts';
import { assert } from '#core/errors.ts';
import type { Instruction } from '../transaction.ts';

const WIRE_BYTES_MAX = 1232;
const SIGNATURE_BYTES = 64;

export interface PartlySigned {
  wire: Uint8Array;
  messageBytes: Uint8Array;
  signatures: Uint8Array[];
  accounts: readonly string[];
  writable: readonly string[];
  signerCount: number;
  usesLookupTables: boolean;
  instructions: Instruction[];
  blockhash: string;
}

/** Decodes a legacy or v0 transaction in canonical encoding only, so that the hashed, verified and signed bytes have one interpretation. */
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
      // Indexes beyond the static accounts refer to lookup tables, which step 8 refuses.
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

/** True if every required signature except slot 0 (the service's) is valid over the exact bytes. */
export const othersSigned = ({ signatures, messageBytes, accounts }: PartlySigned): boolean =>
  signatures.every((signature, slot) => slot === 0 || verifyEd25519(signature, messageBytes, base58.decode(accounts[slot]!)));
