import { assert } from './errors.ts';
import { PARTITIONS, type Partition } from './ids.ts';

/** Partitions of each database without `PARTITIONS`. A database is moved and restored by the partition, so it begins with some. */
const DEFAULT_COUNT = 8;

type Range = readonly [first: number, last: number, database: string];

/** Which database holds which partitions of the ids. */
export class PartitionMap {
  readonly #ranges: readonly Range[];

  constructor(ranges: readonly Range[]) {
    this.#ranges = ranges;
  }

  /** Name of the partition's database. Null: an id of a partition that no database holds is no id of the service. */
  databaseAt(partition: Partition): string | null {
    return this.#ranges.find(([first, last]) => first <= partition && partition <= last)?.[2] ?? null;
  }

  /** Random partition of a database, for a new account. */
  drawOf(database: string): Partition {
    const all = this.#ranges.flatMap(([first, last, name]) =>
      name === database ? Array.from({ length: last - first + 1 }, (_, i) => (first + i) as Partition) : [],
    );
    assert(all.length > 0, `PARTITIONS names partitions of ${database}`);
    return all[crypto.getRandomValues(new Uint32Array(1))[0]! % all.length]!;
  }
}

/** Parses `000-007:DB 008-00f:DB_2`. Null if the text has another form, or two databases share a partition. */
export function parsePartitions(text: string): Range[] | null {
  const ranges: Range[] = [];
  for (const part of text.trim().split(/\s+/)) {
    const [, first = '', last = first, database] = /^([0-9a-f]{3})(?:-([0-9a-f]{3}))?:(DB(?:_\d+)?)$/.exec(part) ?? [];
    if (database === undefined) return null;
    ranges.push([Number.parseInt(first, 16), Number.parseInt(last, 16), database]);
  }
  const sorted = ranges.toSorted(([a], [b]) => a - b);
  const isOrdered = sorted.every(([first, last], i) => first <= last && first > (sorted[i - 1]?.[1] ?? -1));
  return isOrdered ? sorted : null;
}

/** Eight partitions for each bound database, in the order of their numbers. */
export const defaultPartitions = (databases: readonly string[]): Range[] =>
  databases.map((name, i) => [i * DEFAULT_COUNT, Math.min((i + 1) * DEFAULT_COUNT, PARTITIONS) - 1, name]);
