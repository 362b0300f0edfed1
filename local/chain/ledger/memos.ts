import type { CompiledInstruction } from './decode-transaction.ts';
import { MEMO_PROGRAM, MEMO_V1_PROGRAM } from './network.ts';

export function isMemoProgram(program: string | undefined): boolean {
  return program === MEMO_PROGRAM || program === MEMO_V1_PROGRAM;
}

/** Formats the memos of top-level instructions like a node: `[<bytes>] <text>`, separated by semicolons. */
export function formatMemos(keys: readonly string[], instructions: readonly CompiledInstruction[]): string | null {
  const memos = instructions
    .filter((instruction) => isMemoProgram(keys[instruction.programIdIndex]))
    .map(({ data }) => `[${data.length}] ${decodeText(data as Uint8Array) ?? '(unparseable)'}`);
  return memos.length === 0 ? null : memos.join('; ');
}

export function decodeText(data: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return null;
  }
}
