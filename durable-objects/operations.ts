import { LIFE } from '#core/limits.ts';
import { HOUR } from '#core/time.ts';
import { Blocks, checkOf, type Line } from './blocks.ts';
import type { Tables } from './tables.ts';

const RETENTION_MS = LIFE.refundHours * HOUR;
const PURGE_SLACK_MS = HOUR;
const PURGE_MAX = 1000;

/** Storage that operations may fill, of the 10 GB per object. The rest is reserved for payments, which are never refused. */
const BYTES_MAX = 9_000_000_000;
/** Operations per day that fit into an object's memory as hashes. */
const REMEMBERED_MAX = 10_000_000;

/** Version of the stored form of the page and its operations. (durable-objects/README.md#stored-form) */
const FORM = 1;

interface StoredRow<Page> {
  form: typeof FORM;
  page: Page;
  tail: string;
}

export function rowText<Page>(page: Page, tail: string): string {
  const row: StoredRow<Page> = { form: FORM, page, tail };
  return JSON.stringify(row);
}

/** Throws if this release does not know the stored form: no answer is better than a wrong one. */
export function readRow<Page>(text: string | undefined): StoredRow<Page> | null {
  if (text === undefined) return null;
  const row: StoredRow<Page> = JSON.parse(text);
  if (row.form !== FORM) throw new Error(`stored in form ${row.form}, which this release does not know`);
  return row;
}

export interface Recorded<Content> {
  tick: number;
  content: Content;
  /** True if the fingerprint matches the recorded request. False means key reuse with another request. */
  isOf(fingerprint: string): boolean;
}

export interface Packing<Content> {
  pack(content: Content): string;
  unpack(text: string): Content;
}

/** Idempotency records of an object, one per key, for as long as the key may be repeated. Used only inside operations of its ledger. */
export class Operations<Content> {
  readonly #tables: Tables;
  readonly #packing: Packing<Content>;
  readonly #blocks: Blocks;
  #isFull = false;
  #oldestTick: number | null = null;

  constructor(tables: Tables, packing: Packing<Content>) {
    this.#tables = tables;
    this.#packing = packing;
    this.#blocks = new Blocks(tables);
  }

  load(tail: string): void {
    this.#blocks.load(tail);
    this.#oldestTick = this.#blocks.oldestTick;
    this.#checkRoom();
  }

  #checkRoom(): void {
    this.#isFull = this.#tables.bytes >= BYTES_MAX || this.#blocks.indexed >= REMEMBERED_MAX;
  }

  get tail(): string {
    return this.#blocks.tail;
  }

  /** Returns the operation under a key if younger than a day by `now` (wall clock). Expired records read as null, purged or not. */
  find(key: string, now: number): Recorded<Content> | null {
    const found = this.#ofLine(this.#blocks.find(key));
    return found && found.tick >= now - RETENTION_MS ? found : null;
  }

  at(tick: number, now: number): Recorded<Content> | null {
    return tick < now - RETENTION_MS ? null : this.#ofLine(this.#blocks.at(tick));
  }

  record(tick: number, key: string, fingerprint: string, content: Content): void {
    const line = { tick, check: checkOf(fingerprint), content: this.#packing.pack(content) };
    const isSealed = this.#blocks.append(key, line, Date.now() - RETENTION_MS);
    this.#tables.isDirty = true;
    if (!isSealed) return;
    this.#checkRoom();
    this.#oldestTick ??= this.#blocks.oldestTick;
  }

  amend(tick: number, content: Content): void {
    this.#blocks.amend(tick, this.#packing.pack(content));
    this.#tables.isDirty = true;
  }

  /**
   * Time at which capacity returns. Null if there is room. Measured per sealed block, because a measurement costs as much as an operation.
   */
  get fullUntil(): number | null {
    return this.#isFull ? (this.purgeAt ?? Date.now() + RETENTION_MS + PURGE_SLACK_MS) : null;
  }

  /** Null if the newest operations are all there is. They take a block's size at most. */
  get purgeAt(): number | null {
    return this.#oldestTick === null ? null : this.#oldestTick + RETENTION_MS + PURGE_SLACK_MS;
  }

  purge(now: number): void {
    const before = now - RETENTION_MS;
    if (this.#oldestTick === null || this.#oldestTick >= before) return;
    this.#blocks.dropBefore(before, PURGE_MAX);
    this.load(this.tail);
  }

  #ofLine(line: Line | null): Recorded<Content> | null {
    if (!line) return null;
    const isOf = (fingerprint: string) => checkOf(fingerprint) === line.check;
    return { tick: line.tick, content: this.#packing.unpack(line.content), isOf };
  }
}
