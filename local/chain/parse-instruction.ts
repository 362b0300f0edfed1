import { type Address, getAddressDecoder, getBase58Decoder } from '@solana/kit';
import type { CompiledInstruction } from './decode-transaction.ts';
import { decodeText, isMemoProgram } from './memos.ts';
import { ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM } from './network.ts';
import { parseTokenInstruction } from './parse-token-instruction.ts';
import { isTokenProgram } from './tokens.ts';

/** What an instruction says, in a node's words. */
export interface ParsedInstruction {
  type: string;
  info: Record<string, unknown>;
}

/** An instruction as `jsonParsed` shows it: parsed for the known programs, its raw parts for the others. */
export function parseInstruction(instruction: CompiledInstruction, stackHeight: number, keys: readonly Address[]): Record<string, unknown> {
  const programId = keys[instruction.programIdIndex]!;
  const accounts = instruction.accounts.map((index) => keys[index]!);
  const data = Uint8Array.from(instruction.data);
  const recognised = parseKnown(programId, accounts, data);
  if (recognised !== null) return { ...recognised, programId, stackHeight };
  return { accounts, data: getBase58Decoder().decode(data), programId, stackHeight };
}

function parseKnown(programId: Address, accounts: Address[], data: Uint8Array): { program: string; parsed: unknown } | null {
  if (isMemoProgram(programId)) {
    const parsed = decodeText(data);
    return parsed === null ? null : { program: 'spl-memo', parsed };
  }
  if (isTokenProgram(programId)) {
    const parsed = parseTokenInstruction(accounts, data);
    // Both token programs share one parser, and nodes name it after the older.
    return parsed === null ? null : { program: 'spl-token', parsed };
  }
  if (programId === ASSOCIATED_TOKEN_PROGRAM) {
    const parsed = parseAssociatedTokenInstruction(accounts, data);
    return parsed === null ? null : { program: 'spl-associated-token-account', parsed };
  }
  if (programId === SYSTEM_PROGRAM) {
    const parsed = parseSystemInstruction(accounts, data);
    return parsed === null ? null : { program: 'system', parsed };
  }
  return null;
}

function parseAssociatedTokenInstruction(accounts: Address[], data: Uint8Array): ParsedInstruction | null {
  const type = data.length === 0 || data[0] === 0 ? 'create' : data[0] === 1 ? 'createIdempotent' : null;
  const [source, account, wallet, mint, systemProgram, tokenProgram] = accounts;
  if (type === null || tokenProgram === undefined) return null;
  return { type, info: { source, account, wallet, mint, systemProgram, tokenProgram } };
}

function parseSystemInstruction(accounts: Address[], data: Uint8Array): ParsedInstruction | null {
  if (data.length < 4) return null;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const [first, second] = accounts;
  const tag = view.getUint32(0, true);
  if (tag === 0 && data.length >= 52 && second !== undefined) {
    const owner = getAddressDecoder().decode(data, 20);
    const info = { source: first, newAccount: second, lamports: view.getBigUint64(4, true), space: view.getBigUint64(12, true), owner };
    return { type: 'createAccount', info };
  }
  if (tag === 1 && data.length >= 36 && first !== undefined) {
    return { type: 'assign', info: { account: first, owner: getAddressDecoder().decode(data, 4) } };
  }
  if (tag === 2 && data.length >= 12 && second !== undefined) {
    return { type: 'transfer', info: { source: first, destination: second, lamports: view.getBigUint64(4, true) } };
  }
  if (tag === 8 && data.length >= 12 && first !== undefined) {
    return { type: 'allocate', info: { account: first, space: view.getBigUint64(4, true) } };
  }
  return null;
}
