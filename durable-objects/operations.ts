import { LIFE } from '#core/limits.ts';
import { HOUR } from '#core/time.ts';
import type { Tables } from './tables.ts';

/** Operations are remembered for a day, and then dropped an hour's worth at a time. */
const KEEP_MS = LIFE.refundHours * HOUR;
const PURGE_SLACK_MS = HOUR;
const PURGE_MAX = 1000;

export const OPERATIONS_TABLE = {
  operations: 'tick INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, fingerprint TEXT NOT NULL, content TEXT NOT NULL',
};
export type Recorded<Content> = { tick: number; fingerprint: string; content: Content };
type Row = { tick: number; fingerprint: string; content: string };

/** What an object did, once per key, for as long as the key may come again. Used inside operations of its ledger. */
export class Operations<Content> {
  readonly #tables: Tables;
  #oldestTick: number | null = null;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  load(): void {
    this.#oldestTick = this.#tables.rows<{ tick: number | null }>('SELECT min(tick) AS tick FROM operations')[0]?.tick ?? null;
  }

  find(key: string): Recorded<Content> | null {
    return operationOf(this.#tables.rows('SELECT tick, fingerprint, content FROM operations WHERE key = ?', key));
  }

  /** What was done at a tick, for a day; from then on null, whether it was dropped yet or not. */
  at(tick: number, now: number): Recorded<Content> | null {
    if (tick < now - KEEP_MS) return null;
    return operationOf(this.#tables.rows('SELECT tick, fingerprint, content FROM operations WHERE tick = ?', tick));
  }

  record(tick: number, key: string, fingerprint: string, content: Content): void {
    this.#tables.write('INSERT INTO operations VALUES (?, ?, ?, ?)', tick, key, fingerprint, JSON.stringify(content));
    this.#oldestTick ??= tick;
  }

  amend(tick: number, content: Content): void {
    this.#tables.write('UPDATE operations SET content = ? WHERE tick = ?', JSON.stringify(content), tick);
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
    this.load();
  }
}

const operationOf = <Content>([row]: Row[]): Recorded<Content> | null => (row ? { ...row, content: JSON.parse(row.content) } : null);
