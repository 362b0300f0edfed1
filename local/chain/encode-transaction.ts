import { getBase58Decoder } from '@solana/kit';
import { accountRole, type CompiledInstruction, type DecodedTransaction, redecodeTransaction } from './ledger/decode-transaction.ts';
import type { TransactionRecord } from './ledger/history.ts';
import type { Execution, InnerInstruction } from './ledger/machine.ts';
import { parseInstruction } from './parse-instruction.ts';

export const TRANSACTION_ENCODINGS = ['json', 'jsonParsed', 'base64', 'base58'] as const;
type TransactionEncoding = (typeof TRANSACTION_ENCODINGS)[number];

export function versionOf(record: TransactionRecord): 'legacy' | number {
  return redecodeTransaction(record.bytes, record.loaded).message.version;
}

/** Encodes a transaction for `getTransaction`. `version` appears only for clients that name a supported version. */
export function encodeTransaction(record: TransactionRecord, encoding: TransactionEncoding, showVersion: boolean): Record<string, unknown> {
  const decoded = redecodeTransaction(record.bytes, record.loaded);
  return {
    blockTime: record.blockTime,
    meta: encodeMeta(record, decoded, encoding),
    slot: record.slot,
    transaction: encodeBody(decoded, encoding),
    ...(showVersion ? { version: decoded.message.version } : {}),
  };
}

interface Form {
  isParsed: boolean;
}

export function encodeInnerInstructions(groups: InnerInstruction[][], decoded: DecodedTransaction, form: Form): unknown[] {
  return groups
    .map((group, index) => ({
      index,
      instructions: group.map((instruction) => encodeInstruction(instruction, instruction.stackHeight, decoded, form)),
    }))
    .filter((group) => group.instructions.length > 0);
}

export function encodeReturnData(returnData: Execution['returnData']): unknown {
  return returnData === null
    ? null
    : { programId: returnData.programId, data: [Buffer.from(returnData.data).toString('base64'), 'base64'] };
}

function encodeMeta(record: TransactionRecord, decoded: DecodedTransaction, encoding: TransactionEncoding): Record<string, unknown> {
  const { execution, before, after } = record;
  const isParsed = encoding === 'jsonParsed';
  return {
    computeUnitsConsumed: execution.unitsConsumed,
    err: execution.err,
    fee: record.fee,
    innerInstructions: encodeInnerInstructions(execution.innerInstructions, decoded, { isParsed }),
    // A node omits the field if parsed, because the account list contains the source of each account.
    ...(isParsed ? {} : { loadedAddresses: record.loaded }),
    logMessages: execution.logs,
    postBalances: after.lamports,
    postTokenBalances: after.tokens,
    preBalances: before.lamports,
    preTokenBalances: before.tokens,
    ...(execution.returnData === null ? {} : { returnData: encodeReturnData(execution.returnData) }),
    rewards: [],
    status: execution.err === null ? { Ok: null } : { Err: execution.err },
  };
}

function encodeBody(decoded: DecodedTransaction, encoding: TransactionEncoding): unknown {
  if (encoding === 'base64') return [Buffer.from(decoded.bytes).toString('base64'), 'base64'];
  if (encoding === 'base58') return [getBase58Decoder().decode(decoded.bytes), 'base58'];
  return { message: encodeMessage(decoded, { isParsed: encoding === 'jsonParsed' }), signatures: decoded.signatures };
}

function encodeMessage(decoded: DecodedTransaction, form: Form): Record<string, unknown> {
  const { message } = decoded;
  const { header } = message;
  return {
    ...(form.isParsed
      ? { accountKeys: encodeAccountKeys(decoded) }
      : {
          accountKeys: message.staticAccounts,
          header: {
            numReadonlySignedAccounts: header.numReadonlySignerAccounts,
            numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
            numRequiredSignatures: header.numSignerAccounts,
          },
        }),
    ...(message.version === 'legacy' ? {} : { addressTableLookups: (message.addressTableLookups ?? []).map(encodeLookup) }),
    instructions: decoded.instructions.map((instruction) => encodeInstruction(instruction, 1, decoded, form)),
    recentBlockhash: message.lifetimeToken,
  };
}

function encodeAccountKeys(decoded: DecodedTransaction): unknown[] {
  const staticCount = decoded.message.staticAccounts.length;
  return decoded.keys.map((pubkey, index) => {
    const { isSigner, isWritable } = accountRole(decoded, index);
    return { pubkey, signer: isSigner, source: index < staticCount ? 'transaction' : 'lookupTable', writable: isWritable };
  });
}

function encodeLookup(lookup: {
  lookupTableAddress: string;
  writableIndexes: readonly number[];
  readonlyIndexes: readonly number[];
}): Record<string, unknown> {
  return { accountKey: lookup.lookupTableAddress, readonlyIndexes: lookup.readonlyIndexes, writableIndexes: lookup.writableIndexes };
}

function encodeInstruction(instruction: CompiledInstruction, stackHeight: number, decoded: DecodedTransaction, form: Form): unknown {
  if (form.isParsed) return parseInstruction(instruction, stackHeight, decoded.keys);
  const { accounts, data, programIdIndex } = instruction;
  return { accounts, data: getBase58Decoder().decode(data), programIdIndex, stackHeight };
}
