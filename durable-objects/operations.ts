import { LIFE } from '#core/limits.ts';
import { HOUR } from '#core/time.ts';
import { Blocks, checkOf, type Line } from './blocks.ts';
import type { Tables } from './tables.ts';

/** Operations are remembered for a day, and then dropped an hour's worth at a time. */
const KEEP_MS = LIFE.refundHours * HOUR;
const PURGE_SLACK_MS = HOUR;
const PURGE_MAX = 1000;

/** What an object may fill of the 10 GB it has: the rest is for what was paid, which is never refused. */
const BYTES_MAX = 9_000_000_000;
/** Operations of a day whose keys fit into the memory an object has. */
const REMEMBERED_MAX = 10_000_000;

/** The number of the form in which the page and its operations are stored. (durable-objects/README.md#stored-form) */
const FORM = 1;

interface StoredRow<Page> {
  form: typeof FORM;
  page: Page;
  /** The newest operations. */
  tail: string;
}

export function rowText<Page>(page: Page, tail: string): string {
  const row: StoredRow<Page> = { form: FORM, page, tail };
  return JSON.stringify(row);
}

/** Throws for a form this release does not know: no answer is better than a wrong one. */
export function readRow<Page>(text: string | undefined): StoredRow<Page> | null {
  if (text === undefined) return null;
  const row: StoredRow<Page> = JSON.parse(text);
  if (row.form !== FORM) throw new Error(`stored in form ${row.form}, which this release does not know`);
  return row;
}

export interface Recorded<Content> {
  tick: number;
  content: Content;
  /** True for the fingerprint that it was recorded under: another request with its key has another one. */
  isOf(fingerprint: string): boolean;
}

/** Writes contents as one line of text each. */
export interface Packing<Content> {
  pack(content: Content): string;
  unpack(text: string): Content;
}

/** What an object did, once per key, for as long as the key may come again. Used inside operations of its ledger. */
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
    this.#lookForRoom();
  }

  #lookForRoom(): void {
    this.#isFull = this.#tables.bytes >= BYTES_MAX || this.#blocks.indexed >= REMEMBERED_MAX;
  }

  /** What the page has to keep: the newest operations. */
  get tail(): string {
    return this.#blocks.tail;
  }

  /** What was done under a key, for a day by the wall clock's `now`; from then on null, whether it was dropped yet or not. */
  find(key: string, now: number): Recorded<Content> | null {
    const found = this.#ofLine(this.#blocks.find(key));
    return found && found.tick >= now - KEEP_MS ? found : null;
  }

  /** The same by its tick. */
  at(tick: number, now: number): Recorded<Content> | null {
    return tick < now - KEEP_MS ? null : this.#ofLine(this.#blocks.at(tick));
  }

  record(tick: number, key: string, fingerprint: string, content: Content): void {
    const isSealed = this.#blocks.append(key, { tick, check: checkOf(fingerprint), content: this.#packing.pack(content) });
    if (isSealed) this.#lookForRoom();
    this.#tables.isDirty = true;
    this.#oldestTick ??= tick;
  }

  amend(tick: number, content: Content): void {
    this.#blocks.amend(tick, this.#packing.pack(content));
    this.#tables.isDirty = true;
  }

  /** When there will be room again; null: there is. Looked at with each block, because looking costs as much as an operation. */
  get fullUntil(): number | null {
    return this.#isFull ? this.purgeAt : null;
  }

  /** When there will be something to drop; null: nothing is remembered. */
  get purgeAt(): number | null {
    return this.#oldestTick === null ? null : this.#oldestTick + KEEP_MS + PURGE_SLACK_MS;
  }

  purge(now: number): void {
    const before = now - KEEP_MS;
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
