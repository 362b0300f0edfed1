import { toBase58 } from '../bytes.ts';

/** Money that a transaction moves, as a wallet reads it before its person signs. */
export interface TransferAsked {
  /** What moves: lamports, or a token by its mint. */
  mint: string | null;
  decimals: number;
  units: bigint;
  /** A wallet where lamports move, a token account where a token does. */
  destination: string;
  /** Whose token account that is, where the transaction says so because it opens it. */
  owner: string | null;
  /** Of a subscription: so many hours later as much again may be charged. Null where it moves once. */
  periodHours: bigint | null;
}

const SYSTEM_PROGRAM = '11111111111111111111111111111111';
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const ATA_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
const SUBSCRIPTIONS_PROGRAM = 'De1egAFMkMWZSN5rYXRj9CAdheBamobVNubTsi9avR44';
/** `subscribe`, with where its mint, amount and period begin. */
const SUBSCRIBE = { discriminator: 11, mint: 10, amount: 42, period: 50, end: 58 };
/** Plans are in USDC, whose decimals the instruction does not name. */
const PLAN_DECIMALS = 6;
const LAMPORT_DECIMALS = 9;
const [SIGNATURE_BYTES, KEY_BYTES, HEADER_BYTES] = [64, 32, 3];
/** `TransferChecked` of the token program, `Transfer` of the system program. */
const [TOKEN_TRANSFER, LAMPORT_TRANSFER] = [12, 2];

interface Step {
  program: string;
  accounts: string[];
  data: Uint8Array;
}

/** Takes bytes off the front, one piece after the other; throws where there are too few. */
class Cursor {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  take(count: number): Uint8Array {
    if (this.#at + count > this.#bytes.length) throw new Error('The transaction ends too early.');
    this.#at += count;
    return this.#bytes.slice(this.#at - count, this.#at);
  }

  /** Whether a version stands before the message; if so, it is passed. */
  skipVersion(): void {
    if ((this.#bytes[this.#at] ?? 0) & 0x80) this.#at++;
  }

  /** A count of at most three bytes, seven bits of it in each. */
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

function readSteps(transaction: Uint8Array): Step[] {
  const cursor = new Cursor(transaction);
  cursor.take(cursor.count() * SIGNATURE_BYTES);
  cursor.skipVersion();
  cursor.take(HEADER_BYTES);
  const keys = Array.from({ length: cursor.count() }, () => toBase58(cursor.take(KEY_BYTES)));
  cursor.take(KEY_BYTES);
  // A key that stands in a lookup table has no name in here.
  const nameOf = (index: number) => keys[index] ?? '';
  return Array.from({ length: cursor.count() }, () => {
    const program = nameOf(cursor.take(1)[0]!);
    const accounts = [...cursor.list()].map(nameOf);
    return { program, accounts, data: cursor.list() };
  });
}

const u64At = (data: Uint8Array, offset: number): bigint =>
  new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(offset, true);

function readSubscription({ program, accounts, data }: Step): TransferAsked | null {
  const [, owner] = accounts;
  if (program !== SUBSCRIPTIONS_PROGRAM || data[0] !== SUBSCRIBE.discriminator || data.length < SUBSCRIBE.end || !owner) return null;
  const mint = toBase58(data.slice(SUBSCRIBE.mint, SUBSCRIBE.amount));
  const units = u64At(data, SUBSCRIBE.amount);
  return { mint, decimals: PLAN_DECIMALS, units, destination: owner, owner, periodHours: u64At(data, SUBSCRIBE.period) };
}

function readTransfer({ program, accounts, data }: Step): Omit<TransferAsked, 'owner' | 'periodHours'> | null {
  const [source, second, third] = accounts;
  if (program === TOKEN_PROGRAM && data[0] === TOKEN_TRANSFER && data.length >= 10 && second && third)
    return { mint: second, decimals: data[9]!, units: u64At(data, 1), destination: third };
  if (program === SYSTEM_PROGRAM && data[0] === LAMPORT_TRANSFER && data.length >= 12 && source && second)
    return { mint: null, decimals: LAMPORT_DECIMALS, units: u64At(data, 4), destination: second };
  return null;
}

/** What a transaction of the wire form pays to whom, in its order. Throws where it cannot be read. */
export function readTransfers(transaction: Uint8Array): TransferAsked[] {
  const steps = readSteps(transaction);
  const opened = new Map(steps.filter(({ program }) => program === ATA_PROGRAM).map(({ accounts }) => [accounts[1], accounts[2]]));
  return steps.flatMap((step) => {
    const subscription = readSubscription(step);
    if (subscription) return [subscription];
    const transfer = readTransfer(step);
    return transfer ? [{ ...transfer, owner: opened.get(transfer.destination) ?? null, periodHours: null }] : [];
  });
}

/** The decimal that so many units are. */
export function decimalOf(units: bigint, decimals: number): string {
  const digits = String(units).padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  return `${digits.slice(0, point)}.${digits.slice(point)}`.replace(/\.?0*$/, '');
}
