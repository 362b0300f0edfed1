/**
 * Log of operations as lines of text, ordered by tick. The newest lines are the tail, stored in the object's page row, so a single
 * operation writes one row. A full tail becomes a block of one database page.
 * Every INDEX_BLOCKS blocks, the hashes of their keys become an index in memory: a new key is recognized without a read.
 * @module
 */

import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import type { Tables } from './tables.ts';

export const BLOCK_TABLES = {
  // Keyed by the tick of the block's last line.
  blocks: 'tick INTEGER PRIMARY KEY, content TEXT NOT NULL',
  // Covers the blocks after the previous index up to this tick: 32 bits of each key's hash, sorted.
  indexes: 'tick INTEGER PRIMARY KEY, hashes BLOB NOT NULL',
};

/** Characters of a block. With the row's overhead, a block fills a database page of 4,096 bytes. */
const BLOCK_CHARS = 3950;
const INDEX_BLOCKS = 64;

const [HASH_CHARS, CHECK_CHARS] = [20, 16];

export interface Line {
  tick: number;
  check: string;
  content: string;
}

export const hashOf = (key: string): string => sha256Hex(utf8(key)).slice(0, HASH_CHARS);

/** Stored part of a fingerprint. A fingerprint that is a hash already is not hashed again. */
export const checkOf = (fingerprint: string): string =>
  (/^[0-9a-f]{64}$/.test(fingerprint) ? fingerprint : sha256Hex(utf8(fingerprint))).slice(0, CHECK_CHARS);

/** Every line begins with its line break, so that a search for a key matches only at the start of a line. */
const lineOf = (hash: string, { tick, check, content }: Line): string => `\n${hash}${check}${tick.toString(36)}.${content}`;

function readLine(text: string): Line {
  const end = text.indexOf('.');
  const from = HASH_CHARS + CHECK_CHARS;
  return { check: text.slice(HASH_CHARS, from), tick: Number.parseInt(text.slice(from, end), 36), content: text.slice(end + 1) };
}
const linesOf = (text: string): string[] => text.split('\n').slice(1);
const lastTickOf = (text: string): number => readLine(text.slice(text.lastIndexOf('\n') + 1)).tick;

function lineIn(text: string, hash: string): Line | null {
  const from = text.lastIndexOf(`\n${hash}`);
  if (from < 0) return null;
  const end = text.indexOf('\n', from + 1);
  return readLine(text.slice(from + 1, end < 0 ? undefined : end));
}

const shortOf = (hash: string): number => Number.parseInt(hash.slice(0, 8), 16);

function isIn(hashes: Uint32Array, short: number): boolean {
  let [low, high] = [0, hashes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (hashes[middle]! < short) low = middle + 1;
    else high = middle;
  }
  return hashes[low] === short;
}

type BlockRow = { tick: number; content: string };
interface Index {
  after: number;
  through: number;
  hashes: Uint32Array;
}

/** Used only inside operations of a ledger, which stores the tail and the dirty flag. */
export class Blocks {
  readonly #tables: Tables;
  tail = '';
  #indexes: Index[] = [];
  readonly #unindexed = new Map<string, number>();
  #blocksUnindexed = 0;
  /** Last hash that a lookup computed. An unknown key is appended next, and a second hash would cost as much as the rest of the append. */
  #hashed: { key: string; hash: string } | null = null;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  load(tail: string): void {
    this.tail = tail;
    this.#unindexed.clear();
    this.#blocksUnindexed = 0;
    const rows = this.#tables.rows<{ tick: number; hashes: ArrayBuffer }>('SELECT tick, hashes FROM indexes ORDER BY tick');
    this.#indexes = rows.map(({ tick, hashes }, i) => ({ after: rows[i - 1]?.tick ?? 0, through: tick, hashes: new Uint32Array(hashes) }));
    for (const block of this.#rowsAfter(this.#indexes.at(-1)?.through ?? 0)) this.#remember(block);
  }

  get indexed(): number {
    return this.#indexes.reduce((sum, { hashes }) => sum + hashes.length, 0);
  }

  find(key: string): Line | null {
    const hash = this.#hashOf(key);
    const block = this.#unindexed.get(hash);
    return (
      lineIn(this.tail, hash) ?? (block === undefined ? null : lineIn(this.#blockOf(block)?.content ?? '', hash)) ?? this.#findIndexed(hash)
    );
  }

  at(tick: number): Line | null {
    const text = this.#blockOf(tick)?.content ?? this.tail;
    return (
      linesOf(text)
        .map(readLine)
        .find((line) => line.tick === tick) ?? null
    );
  }

  /** Appends a line, and drops the lines of the tail that are older than `before`, which costs no row. Returns whether a block was sealed. */
  append(key: string, line: Line, before: number): boolean {
    const text = lineOf(this.#hashOf(key), line);
    if (this.tail !== '' && readLine(this.tail.slice(1)).tick < before) this.#trim(before);
    const isFull = this.tail !== '' && this.tail.length + text.length > BLOCK_CHARS;
    if (isFull) this.#seal();
    this.tail += text;
    return isFull;
  }

  amend(tick: number, content: string): void {
    const amended = (text: string): string =>
      linesOf(text)
        .map((line) => (readLine(line).tick === tick ? `\n${line.slice(0, line.indexOf('.') + 1)}${content}` : `\n${line}`))
        .join('');
    const block = this.#blockOf(tick);
    if (block) this.#tables.write('UPDATE blocks SET content = ? WHERE tick = ?', amended(block.content), block.tick);
    else this.tail = amended(this.tail);
  }

  /** Tick of the oldest block. */
  get oldestTick(): number | null {
    return this.#tables.rows<{ tick: number | null }>('SELECT min(tick) AS tick FROM blocks')[0]?.tick ?? null;
  }

  dropBefore(before: number, blocksMax: number): void {
    const old = 'SELECT tick FROM blocks WHERE tick < ? ORDER BY tick LIMIT ?';
    this.#tables.write(`DELETE FROM blocks WHERE tick IN (${old})`, before, blocksMax);
    this.#tables.write('DELETE FROM indexes WHERE tick < (SELECT coalesce(min(tick), ?) FROM blocks)', before);
    this.#trim(before);
    this.load(this.tail);
  }

  #trim(before: number): void {
    const retained = linesOf(this.tail).filter((line) => readLine(line).tick >= before);
    this.tail = retained.map((line) => `\n${line}`).join('');
  }

  #hashOf(key: string): string {
    if (this.#hashed?.key !== key) this.#hashed = { key, hash: hashOf(key) };
    return this.#hashed.hash;
  }

  #findIndexed(hash: string): Line | null {
    const short = shortOf(hash);
    for (const { after, through, hashes } of this.#indexes.toReversed()) {
      if (!isIn(hashes, short)) continue;
      const blocks = [...this.#rowsAfter(after)].filter(({ tick }) => tick <= through);
      const found = blocks
        .reverse()
        .map(({ content }) => lineIn(content, hash))
        .find((line) => line !== null);
      if (found) return found;
    }
    return null;
  }

  #blockOf(tick: number): BlockRow | undefined {
    return this.#tables.rows<BlockRow>('SELECT tick, content FROM blocks WHERE tick >= ? ORDER BY tick LIMIT 1', tick)[0];
  }

  #rowsAfter(tick: number): Iterable<BlockRow> {
    return this.#tables.each<BlockRow>(`SELECT tick, content FROM blocks WHERE tick > ? ORDER BY tick LIMIT ${INDEX_BLOCKS}`, tick);
  }

  #remember({ tick, content }: BlockRow): void {
    for (const line of linesOf(content)) this.#unindexed.set(line.slice(0, HASH_CHARS), tick);
    this.#blocksUnindexed++;
  }

  #seal(): void {
    const block = { tick: lastTickOf(this.tail), content: this.tail };
    this.#tables.write('INSERT INTO blocks VALUES (?, ?)', block.tick, block.content);
    this.#remember(block);
    this.tail = '';
    if (this.#blocksUnindexed < INDEX_BLOCKS) return;
    const hashes = Uint32Array.from(this.#unindexed.keys(), shortOf).sort();
    this.#tables.write('INSERT INTO indexes VALUES (?, ?)', block.tick, hashes.buffer as ArrayBuffer);
    this.#indexes.push({ after: this.#indexes.at(-1)?.through ?? 0, through: block.tick, hashes });
    this.#unindexed.clear();
    this.#blocksUnindexed = 0;
  }
}
