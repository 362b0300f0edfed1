import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../bundle.ts';
import { SimulatedQueue } from '../platform/queue.ts';
import type { Pass } from '../platform/way.ts';
import type { Delivery } from './dispatch.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

interface Consumer {
  queue: string;
  max_batch_size?: number;
  max_batch_timeout?: number;
  max_retries?: number;
  max_concurrency?: number;
  dead_letter_queue?: string;
}

/** Batches of one queue at a time where wrangler.toml sets no limit. */
const CONCURRENCY = 3;
/** Part of the batches that arrive in another order than they were sent. */
const SHUFFLED = 0.3;

/** Tables of one kind in wrangler.toml. */
function tablesOf(name: string): Record<string, string | number>[] {
  const text = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8');
  const tables = text.split(/^(?=\[)/m).filter((table) => table.startsWith(`[[${name}]]`));
  return tables.map((table) =>
    Object.fromEntries([...table.matchAll(/^(\w+) = (.+)$/gm)].map(([, key, value]) => [key, JSON.parse(value!)])),
  );
}

const PRODUCERS = tablesOf('queues.producers') as unknown as { binding: string; queue: string }[];
const CONSUMERS = tablesOf('queues.consumers') as unknown as Consumer[];

interface Line {
  queue: SimulatedQueue;
  concurrencyMax: number;
  batchMax: number;
  running: number;
  /** Faults of waiting messages: held until a time, or delivered twice. */
  faults: Map<string, { heldUntil: number; isDoubled: boolean }>;
}

/** The queues of wrangler.toml, and who brings their messages to the service. */
export class Queues {
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #deliver: (delivery: Delivery) => Promise<unknown>;
  readonly #lines = new Map<string, Line>();

  constructor(options: { scheduler: Scheduler; random: Random; deliver: (delivery: Delivery) => Promise<unknown> }) {
    this.#scheduler = options.scheduler;
    this.#random = options.random;
    this.#deliver = options.deliver;
    // A queue comes after the one that takes its dead letters.
    const ordered = CONSUMERS.toSorted((a, b) => Number(b.dead_letter_queue === undefined) - Number(a.dead_letter_queue === undefined));
    for (const consumer of ordered) this.#lines.set(consumer.queue, this.#line(consumer));
  }

  get pending(): number {
    let pending = 0;
    for (const { queue } of this.#lines.values()) pending += queue.size;
    return pending;
  }

  bindings(pass: Pass): Record<string, object> {
    return Object.fromEntries(PRODUCERS.map(({ binding, queue }) => [binding, this.#lines.get(queue)!.queue.binding(globalThis, pass)]));
  }

  nextAt(): number {
    let nextAt = Number.POSITIVE_INFINITY;
    for (const line of this.#lines.values()) {
      if (line.queue.size === 0 || line.running >= line.concurrencyMax) continue;
      for (const { id, at } of line.queue.waiting) nextAt = Math.min(nextAt, this.#dueAt(line, id, at));
    }
    return nextAt;
  }

  /** Begins the batches that are due. */
  bring(): void {
    for (const line of this.#lines.values()) {
      while (line.queue.size > 0 && line.running < line.concurrencyMax) {
        const due = line.queue.waiting.filter(({ id, at }) => this.#dueAt(line, id, at) <= this.#scheduler.clock.now);
        if (due.length === 0) break;
        if (this.#random.chance(SHUFFLED)) due.reverse();
        const ids = due.slice(0, 1 + this.#random.below(line.batchMax)).map(({ id }) => id);
        void this.#bringBatch(line, ids);
        if (ids.some((id) => line.faults.get(id)?.isDoubled)) void this.#bringBatch(line, ids);
      }
    }
  }

  #line({ queue: name, max_batch_size, max_retries, max_concurrency, dead_letter_queue }: Consumer): Line {
    const batchMax = max_batch_size ?? 10;
    const queue = new SimulatedQueue({
      name,
      batchMax,
      pass: this.#scheduler.pass,
      now: () => Math.floor(this.#scheduler.clock.now),
      ...(max_retries === undefined ? {} : { retriesMax: max_retries }),
      ...(dead_letter_queue === undefined ? {} : { deadLetters: this.#lines.get(dead_letter_queue)!.queue }),
    });
    return { queue, batchMax, concurrencyMax: max_concurrency ?? CONCURRENCY, running: 0, faults: new Map() };
  }

  #dueAt(line: Line, id: string, at: number): number {
    const known = line.faults.get(id);
    if (known) return Math.max(at, known.heldUntil);
    const { isDoubled, lateMs } = this.#scheduler.faults.ofDelivery(line.queue.name);
    const fault = { isDoubled, heldUntil: at + lateMs };
    if (lateMs > 0 || isDoubled)
      this.#scheduler.note(`FAULT: a message of ${line.queue.name} comes ${isDoubled ? 'twice' : `${lateMs} ms late`}`);
    line.faults.set(id, fault);
    return fault.heldUntil;
  }

  async #bringBatch(line: Line, ids: readonly string[]): Promise<void> {
    line.running++;
    await line.queue.deliver((batch) => this.#deliver({ queue: line.queue.name, batch }), ids);
    line.running--;
  }
}
