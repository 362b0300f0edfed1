import type { Address, ReadonlyUint8Array } from '@solana/kit';
import type { Balances } from './balances.ts';
import type { LoadedAddresses } from './decode-transaction.ts';
import type { Execution } from './machine.ts';

export interface TransactionRecord extends LandedTransaction {
  sequence: number;
}

interface LandedTransaction {
  signature: string;
  messageHash: string;
  slot: number;
  blockTime: number;
  bytes: ReadonlyUint8Array;
  keys: readonly Address[];
  loaded: LoadedAddresses;
  execution: Execution;
  fee: bigint;
  before: Balances;
  after: Balances;
  memo: string | null;
}

interface SignatureRange {
  before?: string;
  until?: string;
  limit: number;
}

/** Transactions of one chain. Beyond `capacity` the oldest are dropped. */
export class History {
  readonly #capacity: number;
  readonly #bySignature = new Map<string, TransactionRecord>();
  readonly #byAddress = new Map<Address, TransactionRecord[]>();
  readonly #bySlot = new Map<number, TransactionRecord[]>();
  readonly #messageHashes = new Set<string>();
  readonly #vanished = new Set<string>();
  #count = 0;

  constructor(capacity = 100_000) {
    this.#capacity = capacity;
  }

  get count(): number {
    return this.#count;
  }

  /** True if this message has landed, even if it vanished since: its effects remain. */
  hasProcessed(messageHash: string): boolean {
    return this.#messageHashes.has(messageHash);
  }

  add(landed: LandedTransaction): void {
    const record: TransactionRecord = { ...landed, sequence: this.#count };
    this.#bySignature.set(record.signature, record);
    this.#messageHashes.add(record.messageHash);
    for (const address of new Set(record.keys)) append(this.#byAddress, address, record);
    append(this.#bySlot, record.slot, record);
    this.#count += 1;
    if (this.#bySignature.size > this.#capacity) this.#forgetOldest();
  }

  find(signature: string): TransactionRecord | null {
    return this.#vanished.has(signature) ? null : (this.#bySignature.get(signature) ?? null);
  }

  vanish(signature: string): void {
    this.#vanished.add(signature);
  }

  vanishSlot(slot: number): void {
    for (const { signature } of this.#bySlot.get(slot) ?? []) this.vanish(signature);
  }

  findVanished(signature: string): TransactionRecord | null {
    return this.#vanished.has(signature) ? (this.#bySignature.get(signature) ?? null) : null;
  }

  landAgain(vanished: TransactionRecord, landing: Pick<LandedTransaction, 'slot' | 'blockTime'> & Partial<LandedTransaction>): void {
    this.#forget(vanished);
    this.add({ ...vanished, ...landing });
  }

  listBySlot(slot: number): TransactionRecord[] {
    return (this.#bySlot.get(slot) ?? []).filter(({ signature }) => !this.#vanished.has(signature));
  }

  /**
   * Transactions that name an address, newest first, older than `before` and newer than `until`.
   * An unknown `before` yields nothing, an unknown `until` bounds nothing, as on a node.
   */
  listByAddress(address: Address, range: SignatureRange, accepts: (record: TransactionRecord) => boolean): TransactionRecord[] {
    const records = this.#byAddress.get(address) ?? [];
    const page: TransactionRecord[] = [];
    const before = range.before === undefined ? Number.POSITIVE_INFINITY : (this.find(range.before)?.sequence ?? -1);
    const until = range.until === undefined ? -1 : (this.find(range.until)?.sequence ?? -1);
    for (let index = records.length - 1; index >= 0 && page.length < range.limit; index -= 1) {
      const record = records[index]!;
      if (record.sequence <= until) break;
      if (record.sequence < before && !this.#vanished.has(record.signature) && accepts(record)) page.push(record);
    }
    return page;
  }

  #forgetOldest(): void {
    const [oldest] = this.#bySignature.values();
    if (oldest !== undefined) this.#forget(oldest);
  }

  #forget(record: TransactionRecord): void {
    this.#bySignature.delete(record.signature);
    this.#messageHashes.delete(record.messageHash);
    this.#vanished.delete(record.signature);
    for (const address of new Set(record.keys)) remove(this.#byAddress, address, record);
    remove(this.#bySlot, record.slot, record);
  }
}

function append<Key>(index: Map<Key, TransactionRecord[]>, key: Key, record: TransactionRecord): void {
  const records = index.get(key);
  if (records === undefined) index.set(key, [record]);
  else records.push(record);
}

function remove<Key>(index: Map<Key, TransactionRecord[]>, key: Key, record: TransactionRecord): void {
  const records = index.get(key) ?? [];
  const at = records.indexOf(record);
  if (at >= 0) records.splice(at, 1);
  if (records.length === 0) index.delete(key);
}
