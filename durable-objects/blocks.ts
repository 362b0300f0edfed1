/**
 * Operations as lines of text, in the order of their ticks: the newest are the tail, which is stored with the object's page, so that
 * what is done alone writes one row. A tail that is full becomes a block, a row that fills a page of the database. Every so many blocks
 * the hashes of their keys become an index, which is held in memory: a key that was not seen is known to be new without a look at a row.
 * @module
 */

import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import type { Tables } from './tables.ts';

export const BLOCK_TABLES = {
  // `tick` is that of the last line.
  blocks: 'tick INTEGER PRIMARY KEY, content TEXT NOT NULL',
  // Of the blocks up to this tick, and after that of the index before it: 32 bits of each key's hash, in order.
  indexes: 'tick INTEGER PRIMARY KEY, hashes BLOB NOT NULL',
};

/** Characters of a block: with its row it fills a page of 4,096 bytes. */
const BLOCK_CHARS = 3950;
/** Blocks of one index. The keys of blocks without one are held in memory whole. */
const INDEX_BLOCKS = 64;

/** Hex digits of a key's hash (80 bits) and of what tells two requests with it apart (64 bits). */
const [HASH_CHARS, CHECK_CHARS] = [20, 16];

export interface Line {
  tick: number;
  check: string;
  /** As the object packed it. */
  content: string;
}

/** 80 bits of a key's hash. */
export const hashOf = (key: string): string => sha256Hex(utf8(key)).slice(0, HASH_CHARS);

/** What is kept of a fingerprint. One that is a hash already is not hashed again. */
export const checkOf = (fingerprint: string): string =>
  (/^[0-9a-f]{64}$/.test(fingerprint) ? fingerprint : sha256Hex(utf8(fingerprint))).slice(0, CHECK_CHARS);

/** Every line begins with its break, so that a key is looked for at the beginnings of lines alone. */
const lineOf = (hash: string, { tick, check, content }: Line): string => `\n${hash}${check}${tick.toString(36)}.${content}`;

function readLine(text: string): Line {
  const end = text.indexOf('.');
  const from = HASH_CHARS + CHECK_CHARS;
  return { check: text.slice(HASH_CHARS, from), tick: Number.parseInt(text.slice(from, end), 36), content: text.slice(end + 1) };
}
const linesOf = (text: string): string[] => text.split('\n').slice(1);
const lastTickOf = (text: string): number => readLine(text.slice(text.lastIndexOf('\n') + 1)).tick;

/** The newest line of a key in a text. */
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

/** Used inside operations of a ledger, which stores the tail and marks what is dirty. */
export class Blocks {
  readonly #tables: Tables;
  tail = '';
  #indexes: Index[] = [];
  /** The keys of blocks that no index covers yet: by hash, the block. */
  readonly #unindexed = new Map<string, number>();
  #blocksUnindexed = 0;
  /** A key that is looked for and not there is appended next: hashing it again would cost as much as the rest of it. */
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

  /** How many lines the indexes hold, of which each takes four bytes of memory. */
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

  /** Answers whether a block was made of what was there before. */
  append(key: string, line: Line): boolean {
    const text = lineOf(this.#hashOf(key), line);
    const isFull = this.tail !== '' && this.tail.length + text.length > BLOCK_CHARS;
    if (isFull) this.#seal();
    this.tail += text;
    return isFull;
  }

  /** Another content for what was done at a tick. */
  amend(tick: number, content: string): void {
    const amended = (text: string): string =>
      linesOf(text)
        .map((line) => (readLine(line).tick === tick ? `\n${line.slice(0, line.indexOf('.') + 1)}${content}` : `\n${line}`))
        .join('');
    const block = this.#blockOf(tick);
    if (block) this.#tables.write('UPDATE blocks SET content = ? WHERE tick = ?', amended(block.content), block.tick);
    else this.tail = amended(this.tail);
  }

  /** When the oldest block, or where there is none the oldest line, was new; null: nothing is remembered. */
  get oldestTick(): number | null {
    const [row] = this.#tables.rows<{ tick: number | null }>('SELECT min(tick) AS tick FROM blocks');
    return row?.tick ?? (this.tail === '' ? null : readLine(this.tail.slice(1)).tick);
  }

  /** Drops whole blocks, at most so many, and what is old in the tail. */
  dropBefore(before: number, blocksMax: number): void {
    const old = 'SELECT tick FROM blocks WHERE tick < ? ORDER BY tick LIMIT ?';
    this.#tables.write(`DELETE FROM blocks WHERE tick IN (${old})`, before, blocksMax);
    this.#tables.write('DELETE FROM indexes WHERE tick < (SELECT coalesce(min(tick), ?) FROM blocks)', before);
    const kept = linesOf(this.tail).filter((line) => readLine(line).tick >= before);
    this.load(kept.map((line) => `\n${line}`).join(''));
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

  /** The block a tick is in; undefined where it is in the tail. */
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
