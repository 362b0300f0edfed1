import { toBase58 } from './bytes.ts';

/** Instruction with the addresses it names. `''` for an address in a lookup table. */
interface Instruction {
  program: string;
  accounts: string[];
  data: Uint8Array;
}

interface Message {
  /** Required signers, the fee payer first. */
  signers: string[];
  unsigned: string[];
  instructions: Instruction[];
  hasLookupTables: boolean;
}

const [SIGNATURE_BYTES, KEY_BYTES] = [64, 32];
const VERSION_BIT = 0x80;

/** Reads bytes from front to back. Throws if too few are left. */
class Cursor {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  take(count: number): Uint8Array {
    if (this.#at + count > this.#bytes.length) throw new Error('The transaction ends too early.');
    this.#at += count;
    return this.#bytes.slice(this.#at - count, this.#at);
  }

  address = (): string => toBase58(this.take(KEY_BYTES));
  u32 = (): number => new DataView(this.take(4).buffer).getUint32(0, true);
  u64 = (): bigint => new DataView(this.take(8).buffer).getBigUint64(0, true);

  /** Version of the message. Null for a legacy message, which begins with its header. */
  version(): number | null {
    const byte = this.#bytes[this.#at] ?? 0;
    return byte & VERSION_BIT ? this.take(1)[0]! & ~VERSION_BIT : null;
  }

  /** Compact-u16: at most three bytes, seven bits each. */
  count(): number {
    let count = 0;
    for (let shift = 0; shift < 21; shift += 7) {
      const byte = this.take(1)[0]!;
      count |= (byte & 0x7f) << shift;
      if (byte < 0x80) return count;
    }
    throw new Error('A count is too long.');
  }

  list(): Uint8Array {
    return this.take(this.count());
  }
}

/** Throws if the bytes are no transaction or have an unknown version. */
function readMessage(transaction: Uint8Array): Message {
  const cursor = new Cursor(transaction);
  const signatures = Array.from({ length: cursor.count() }, () => cursor.take(SIGNATURE_BYTES));
  const version = cursor.version();
  if (version !== null && version !== 0) throw new Error('The version of the transaction is unknown.');
  const [signerCount = 0] = cursor.take(3);
  const keys = Array.from({ length: cursor.count() }, () => cursor.address());
  if (signatures.length !== signerCount || signerCount > keys.length) throw new Error('The transaction has another number of signatures.');
  // Skips the blockhash.
  cursor.take(KEY_BYTES);
  const nameOf = (index: number) => keys[index] ?? '';
  const instructions = Array.from({ length: cursor.count() }, () => {
    const program = nameOf(cursor.take(1)[0]!);
    const accounts = [...cursor.list()].map(nameOf);
    return { program, accounts, data: cursor.list() };
  });
  const hasLookupTables = version !== null && cursor.count() > 0;
  if (!hasLookupTables && cursor.left > 0) throw new Error('The transaction goes on after its end.');
  const signers = keys.slice(0, signerCount);
  const unsigned = signers.filter((_, index) => signatures[index]!.every((byte) => byte === 0));
  return { signers, unsigned, instructions, hasLookupTables };
}

/** Instruction as a person must see it before signing. Amounts are in base units. */
export type TransactionStep =
  | { kind: 'plan'; owner: string; terms: Charge; endsAt: bigint; destinations: string[]; collectors: string[]; page: string }
  | { kind: 'authority'; wallet: string; mint: string }
  | { kind: 'subscribe'; wallet: string; owner: string; terms: Charge }
  | { kind: 'transfer'; from: string; to: string; mint: string; decimals: number; units: bigint }
  | { kind: 'lamports'; from: string; to: string; units: bigint }
  | { kind: 'account'; payer: string; account: string; owner: string; mint: string }
  | { kind: 'memo'; text: string }
  | { kind: 'limit'; units: number }
  /** `price`: micro-lamports per compute unit. */
  | { kind: 'priority'; price: bigint }
  | { kind: 'unknown'; program: string };

export interface Charge {
  mint: string;
  units: bigint;
  hours: bigint;
}

export interface ReadTransaction {
  signers: string[];
  unsigned: string[];
  steps: TransactionStep[];
  /** Highest priority fee in lamports, without the fee per signature. */
  priorityFee: bigint;
}

/** Highest priority fee, in lamports, with which a page lets a transaction be signed: 0.01 SOL. */
export const PRIORITY_FEE_MAX = 10_000_000n;

const [UNITS_A_STEP, UNITS_MAX, MILLION] = [200_000, 1_400_000, 1_000_000n];

/** Computes the priority fee as the compute budget program does: units are capped, with a default per instruction if no limit is set. */
function priorityFeeOf(steps: readonly TransactionStep[]): bigint {
  const others = steps.filter(({ kind }) => kind !== 'limit' && kind !== 'priority');
  const limit = steps.find(({ kind }) => kind === 'limit') as Extract<TransactionStep, { kind: 'limit' }> | undefined;
  const units = Math.min(limit?.units ?? others.length * UNITS_A_STEP, UNITS_MAX);
  const price = steps.reduce((sum, step) => (step.kind === 'priority' ? sum + step.price : sum), 0n);
  return (BigInt(units) * price + MILLION - 1n) / MILLION;
}

const SYSTEM_PROGRAM = '11111111111111111111111111111111';
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const ATA_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
const BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';
const SUBSCRIPTIONS_PROGRAM = 'De1egAFMkMWZSN5rYXRj9CAdheBamobVNubTsi9avR44';
const MEMO_PROGRAMS = [
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'Memo4c2pN8afCj432Lb7RMVKi9PbQnnW7ewFFaV3oAH',
];
/** Addresses per list of a plan. An unused slot holds the system program. */
const LISTED = 4;
const METADATA_BYTES = 128;

const readCharge = (data: Cursor): Charge => ({ mint: data.address(), units: data.u64(), hours: data.u64() });
const readListed = (data: Cursor): string[] => Array.from({ length: LISTED }, data.address).filter((listed) => listed !== SYSTEM_PROGRAM);

function readSubscription(accounts: string[], data: Cursor): TransactionStep | null {
  const [first = '', second = '', third = ''] = accounts;
  switch (data.take(1)[0]) {
    case 0:
      return accounts.length < 6 ? null : { kind: 'authority', wallet: first, mint: third };
    case 7: {
      if (accounts.length !== 5 || data.left !== 456) return null;
      // Skips the plan's id.
      data.take(8);
      const terms = readCharge(data);
      // Skips the creation time, which the program sets itself.
      data.take(8);
      const endsAt = data.u64();
      const lists = { destinations: readListed(data), collectors: readListed(data) };
      const page = new TextDecoder().decode(data.take(METADATA_BYTES)).replace(/\0+$/, '');
      return { kind: 'plan', owner: first, terms, endsAt, ...lists, page };
    }
    case 11: {
      if (accounts.length < 8 || data.left !== 73) return null;
      // Skips the plan's id and bump.
      data.take(9);
      return { kind: 'subscribe', wallet: first, owner: second, terms: readCharge(data) };
    }
    default:
      return null;
  }
}

/** Only `TransferChecked`: a plain `Transfer` does not name its token. */
function readTokenTransfer([source, second, third, fourth]: string[], data: Cursor): TransactionStep | null {
  const kind = data.take(1)[0];
  if (kind === 12 && source && second && third && fourth) {
    const units = data.u64();
    return { kind: 'transfer', from: fourth, to: third, mint: second, decimals: data.take(1)[0]!, units };
  }
  return null;
}

function readBudget(data: Cursor): TransactionStep | null {
  const kind = data.take(1)[0];
  if (kind === 2 && data.left === 4) return { kind: 'limit', units: data.u32() };
  if (kind === 3 && data.left === 8) return { kind: 'priority', price: data.u64() };
  return null;
}

function readInstruction({ program, accounts, data: bytes }: Instruction): TransactionStep | null {
  if (MEMO_PROGRAMS.includes(program)) return { kind: 'memo', text: new TextDecoder().decode(bytes) };
  const [first, second, third, fourth] = accounts;
  const data = new Cursor(bytes);
  switch (program) {
    case BUDGET_PROGRAM:
      return readBudget(data);
    case SUBSCRIPTIONS_PROGRAM:
      return readSubscription(accounts, data);
    case TOKEN_PROGRAM:
      return readTokenTransfer(accounts, data);
    case SYSTEM_PROGRAM:
      return data.u32() === 2 && first && second ? { kind: 'lamports', from: first, to: second, units: data.u64() } : null;
    case ATA_PROGRAM: {
      const isCreation = bytes.length === 0 || (bytes.length === 1 && bytes[0]! <= 1);
      return isCreation && first && second && third && fourth
        ? { kind: 'account', payer: first, account: second, owner: third, mint: fourth }
        : null;
    }
    default:
      return null;
  }
}

function toStep(instruction: Instruction): TransactionStep {
  const unknown = { kind: 'unknown', program: instruction.program } as const;
  try {
    return readInstruction(instruction) ?? unknown;
  } catch {
    return unknown;
  }
}

/**
 * Decodes a transaction in wire form. Throws if the bytes are none, or if accounts come from a lookup table, which cannot be resolved here.
 */
export function readTransaction(transaction: Uint8Array): ReadTransaction {
  const { signers, unsigned, instructions, hasLookupTables } = readMessage(transaction);
  if (hasLookupTables) throw new Error('The transaction names accounts by a lookup table, which cannot be read here.');
  const steps = instructions.map(toStep);
  return { signers, unsigned, steps, priorityFee: priorityFeeOf(steps) };
}
