import {
  type Address,
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
  getAddressDecoder,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
  getTransactionEncoder,
  type ReadonlyUint8Array,
  type Transaction,
} from '@solana/kit';
import { describeTransactionError, invalidParams } from './errors.ts';
import { LOOKUP_TABLE_PROGRAM, TRANSACTION_BYTES_MAX } from './network.ts';

type CompiledMessage = Exclude<CompiledTransactionMessage, { version: 1 }> & CompiledTransactionMessageWithLifetime;

export interface CompiledInstruction {
  programIdIndex: number;
  accounts: readonly number[];
  data: ReadonlyUint8Array;
}

export interface LoadedAddresses {
  writable: Address[];
  readonly: Address[];
}

/** Decoded transaction. `keys`: static accounts, then writable and then read-only ones from lookup tables. */
export interface DecodedTransaction {
  bytes: ReadonlyUint8Array;
  transaction: Transaction;
  message: CompiledMessage;
  instructions: CompiledInstruction[];
  signatures: string[];
  loaded: LoadedAddresses;
  keys: Address[];
}

type AccountReader = (address: Address) => { programAddress: Address; data: ReadonlyUint8Array } | null;

const LOOKUP_TABLE_HEADER_BYTES = 56;

/** Decodes wire bytes and resolves address lookup tables first, like a node. */
export function decodeTransaction(bytes: ReadonlyUint8Array, readAccount: AccountReader): DecodedTransaction {
  if (bytes.length > TRANSACTION_BYTES_MAX) {
    throw invalidParams(`decoded VersionedTransaction too large: ${bytes.length} bytes (max: encoded/raw 1644/${TRANSACTION_BYTES_MAX})`);
  }
  const { transaction, message } = decodeWire(bytes);
  const loaded = resolveLookups(message, readAccount);
  return assemble(bytes, transaction, message, loaded);
}

/** Decodes wire bytes accepted before, with the lookup table addresses of that time. */
export function redecodeTransaction(bytes: ReadonlyUint8Array, loaded: LoadedAddresses): DecodedTransaction {
  const { transaction, message } = decodeWire(bytes);
  return assemble(bytes, transaction, message, loaded);
}

export function replaceBlockhash(decoded: DecodedTransaction, blockhash: string): DecodedTransaction {
  const message = { ...decoded.message, lifetimeToken: blockhash } as CompiledMessage;
  const messageBytes = getCompiledTransactionMessageEncoder().encode(message) as Transaction['messageBytes'];
  const transaction: Transaction = { ...decoded.transaction, messageBytes };
  return assemble(getTransactionEncoder().encode(transaction), transaction, message, decoded.loaded);
}

export function decodeMessage(bytes: ReadonlyUint8Array): { message: CompiledMessage; instructions: CompiledInstruction[] } {
  const message = parseMessage(bytes);
  return { message, instructions: listInstructions(message) };
}

export function accountRole(decoded: DecodedTransaction, index: number): { isSigner: boolean; isWritable: boolean } {
  const { header, staticAccounts } = decoded.message;
  const signers = header.numSignerAccounts;
  const isSigner = index < signers;
  if (index >= staticAccounts.length) return { isSigner, isWritable: index < staticAccounts.length + decoded.loaded.writable.length };
  const writableEnd = isSigner ? signers - header.numReadonlySignerAccounts : staticAccounts.length - header.numReadonlyNonSignerAccounts;
  return { isSigner, isWritable: index < writableEnd };
}

function decodeWire(bytes: ReadonlyUint8Array): { transaction: Transaction; message: CompiledMessage } {
  let transaction: Transaction;
  try {
    transaction = getTransactionDecoder().decode(bytes);
  } catch {
    throw invalidParams('failed to deserialize VersionedTransaction');
  }
  return { transaction, message: parseMessage(transaction.messageBytes) };
}

function parseMessage(bytes: ReadonlyUint8Array): CompiledMessage {
  let message: CompiledTransactionMessage & CompiledTransactionMessageWithLifetime;
  try {
    message = getCompiledTransactionMessageDecoder().decode(bytes);
  } catch {
    throw invalidParams('failed to deserialize VersionedMessage');
  }
  if (message.version === 1) throw invalidParams('failed to deserialize: expected a legacy or version 0 message');
  return message;
}

function assemble(
  bytes: ReadonlyUint8Array,
  transaction: Transaction,
  message: CompiledMessage,
  loaded: LoadedAddresses,
): DecodedTransaction {
  const base58 = getBase58Decoder();
  const signatures = Object.values(transaction.signatures).map((signature) => base58.decode(signature ?? new Uint8Array(64)));
  const keys = [...message.staticAccounts, ...loaded.writable, ...loaded.readonly];
  const instructions = listInstructions(message);
  for (const instruction of instructions) {
    const isInRange = [instruction.programIdIndex, ...instruction.accounts].every((index) => index < keys.length);
    if (!isInRange || signatures.length === 0)
      throw invalidParams('invalid transaction: Transaction failed to sanitize accounts offsets correctly');
  }
  return { bytes, transaction, message, instructions, signatures, loaded, keys };
}

function listInstructions(message: CompiledMessage): CompiledInstruction[] {
  return message.instructions.map((instruction) => ({
    programIdIndex: instruction.programAddressIndex,
    accounts: instruction.accountIndices ?? [],
    data: instruction.data ?? new Uint8Array(),
  }));
}

function resolveLookups(message: CompiledMessage, readAccount: AccountReader): LoadedAddresses {
  const loaded: LoadedAddresses = { writable: [], readonly: [] };
  if (message.version === 'legacy') return loaded;
  for (const lookup of message.addressTableLookups ?? []) {
    const table = readAccount(lookup.lookupTableAddress);
    if (table === null) throw refuseLookup('AddressLookupTableNotFound');
    if (table.programAddress !== LOOKUP_TABLE_PROGRAM) throw refuseLookup('InvalidAddressLookupTableOwner');
    if (table.data.length < LOOKUP_TABLE_HEADER_BYTES) throw refuseLookup('InvalidAddressLookupTableData');
    loaded.writable.push(...lookup.writableIndexes.map((index) => addressAt(table.data, index)));
    loaded.readonly.push(...lookup.readonlyIndexes.map((index) => addressAt(table.data, index)));
  }
  return loaded;
}

function addressAt(data: ReadonlyUint8Array, index: number): Address {
  const offset = LOOKUP_TABLE_HEADER_BYTES + 32 * index;
  if (offset + 32 > data.length) throw refuseLookup('InvalidAddressLookupTableIndex');
  return getAddressDecoder().decode(data.slice(offset, offset + 32));
}

function refuseLookup(name: string): Error {
  return invalidParams(`invalid transaction: ${describeTransactionError(name)}`);
}
