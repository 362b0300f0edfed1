import { LIFE } from '#core/limits.ts';
import { HOUR } from '#core/time.ts';
import { BLOCK_TABLES, Blocks, checkOf, type Line } from './blocks.ts';
import type { Tables } from './tables.ts';

/** Operations are remembered for a day, and then dropped an hour's worth at a time. */
const KEEP_MS = LIFE.refundHours * HOUR;
const PURGE_SLACK_MS = HOUR;
const PURGE_MAX = 1000;

/** What an object may fill of the 10 GB it has: the rest is for what was paid, which is never refused. */
const BYTES_MAX = 9_000_000_000;
/** Operations of a day whose keys fit into the memory an object has. */
const REMEMBERED_MAX = 10_000_000;

/**
 * How operations and the page are stored. 1: a row each. 2: lines of text, with their tail in the page. (durable-objects/README.md#stored-forms)
 */
export const FORMS = [1, 2] as const;
export type Form = (typeof FORMS)[number];

/** The page as it is stored since form 2: a release that does not know the form finds nothing in it that it could take for one. */
interface StoredRow<Page> {
  form: Form;
  page: Page;
  /** The newest operations. */
  tail: string;
}

export function rowText<Page>(form: Form, page: Page, tail: string): string {
  const row: StoredRow<Page> = { form, page, tail };
  return JSON.stringify(form === 1 ? page : row);
}

/** Throws for a form that a later release wrote: better no answer than a wrong one. */
export function readRow<Page extends object>(text: string | undefined): StoredRow<Page> | null {
  if (text === undefined) return null;
  const row: StoredRow<Page> | Page = JSON.parse(text);
  if (!('form' in row)) return { form: 1, page: row, tail: '' };
  if (!FORMS.includes(row.form)) throw new Error(`stored in form ${row.form}, which this release does not know`);
  return row;
}

export const OPERATIONS_TABLES = {
  operations: 'tick INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, fingerprint TEXT NOT NULL, content TEXT NOT NULL',
  ...BLOCK_TABLES,
};
export interface Recorded<Content> {
  tick: number;
  content: Content;
  /** Whether one of these is what it was recorded under: another request with its key has another one. */
  isOf(...fingerprints: (string | undefined)[]): boolean;
}
type Row = { tick: number; fingerprint: string; content: string };

/** How an object writes contents in form 2: one line of text. */
export interface Packing<Content> {
  pack(content: Content): string;
  unpack(text: string): Content;
}

/** What an object did, once per key, for as long as the key may come again. Used inside operations of its ledger. */
export class Operations<Content> {
  readonly #tables: Tables;
  readonly #packing: Packing<Content>;
  readonly #blocks: Blocks;
  #form: Form = 1;
  #isFull = false;
  #oldestRow: number | null = null;
  #oldestTick: number | null = null;

  constructor(tables: Tables, packing: Packing<Content>) {
    this.#tables = tables;
    this.#packing = packing;
    this.#blocks = new Blocks(tables);
  }

  /** `form`: what is written from now on; both are read. */
  load(form: Form, tail: string): void {
    this.#form = form;
    this.#blocks.load(tail);
    this.#oldestRow = this.#tables.rows<{ tick: number | null }>('SELECT min(tick) AS tick FROM operations')[0]?.tick ?? null;
    this.#oldestTick = this.#oldestRow ?? this.#blocks.oldestTick;
    this.#lookForRoom();
  }

  #lookForRoom(): void {
    this.#isFull = this.#tables.bytes >= BYTES_MAX || this.#blocks.indexed >= REMEMBERED_MAX;
  }

  /** In what form the object writes: this release's, or a newer one that it holds. */
  get form(): Form {
    return this.#form;
  }

  /** What the page has to keep: the newest operations. */
  get tail(): string {
    return this.#blocks.tail;
  }

  /** What was done under a key, for a day by the wall clock's `now`; from then on null, whether it was dropped yet or not. */
  find(key: string, now: number): Recorded<Content> | null {
    const found = this.#ofLine(this.#blocks.find(key)) ?? this.#ofRow('key', key);
    return found && found.tick >= now - KEEP_MS ? found : null;
  }

  /** The same by its tick. */
  at(tick: number, now: number): Recorded<Content> | null {
    return tick < now - KEEP_MS ? null : (this.#ofLine(this.#blocks.at(tick)) ?? this.#ofRow('tick', tick));
  }

  record(tick: number, key: string, fingerprint: string, content: Content): void {
    if (this.#form === 1) {
      const sql = 'INSERT OR REPLACE INTO operations VALUES (?, ?, ?, ?)';
      this.#tables.write(sql, tick, key, fingerprint, JSON.stringify(content));
      this.#oldestRow ??= tick;
    } else {
      const isSealed = this.#blocks.append(key, { tick, check: checkOf(fingerprint), content: this.#packing.pack(content) });
      if (isSealed) this.#lookForRoom();
      this.#tables.isDirty = true;
    }
    this.#oldestTick ??= tick;
  }

  amend(tick: number, content: Content): void {
    if (this.#ofRow('tick', tick)) this.#tables.write('UPDATE operations SET content = ? WHERE tick = ?', JSON.stringify(content), tick);
    else this.#blocks.amend(tick, this.#packing.pack(content));
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
    this.#tables.write(
      `DELETE FROM operations WHERE tick IN (SELECT tick FROM operations WHERE tick < ? ORDER BY tick LIMIT ${PURGE_MAX})`,
      before,
    );
    this.#blocks.dropBefore(before, PURGE_MAX);
    this.load(this.#form, this.tail);
  }

  #ofLine(line: Line | null): Recorded<Content> | null {
    if (!line) return null;
    const isOf = (...fingerprints: (string | undefined)[]) => fingerprints.some((one) => one !== undefined && checkOf(one) === line.check);
    return { tick: line.tick, content: this.#packing.unpack(line.content), isOf };
  }

  #ofRow(column: 'key' | 'tick', value: string | number): Recorded<Content> | null {
    if (this.#oldestRow === null) return null;
    const [row] = this.#tables.rows<Row>(`SELECT tick, fingerprint, content FROM operations WHERE ${column} = ?`, value);
    return row
      ? { tick: row.tick, content: JSON.parse(row.content), isOf: (...fingerprints) => fingerprints.includes(row.fingerprint) }
      : null;
  }
}
