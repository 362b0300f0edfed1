interface Timer {
  id: number;
  dueAt: number;
  /** True if nothing ends with it: the patience of a call that was answered, a cron. */
  isIdle: boolean;
  run: () => void;
}

/** Virtual time of a history in epoch milliseconds, and what waits for it. Timers due at one moment run in the order they were set. */
export class Clock {
  now: number;
  #lastId = 0;
  readonly #heap: Timer[] = [];
  readonly #live = new Map<number, Timer>();
  #busy = 0;

  constructor(startAt: number) {
    this.now = startAt;
  }

  /** Timers that something waits for. */
  get busy(): number {
    return this.#busy;
  }

  set(dueAt: number, run: () => void, { isIdle = false } = {}): number {
    const timer = { id: ++this.#lastId, dueAt: Math.max(dueAt, this.now), isIdle, run };
    this.#live.set(timer.id, timer);
    if (!isIdle) this.#busy++;
    this.#heap.push(timer);
    this.#rise(this.#heap.length - 1);
    return timer.id;
  }

  clear(id: number): void {
    const timer = this.#live.get(id);
    if (!timer) return;
    this.#live.delete(id);
    if (!timer.isIdle) this.#busy--;
  }

  nextAt(): number | null {
    while (this.#heap.length > 0 && !this.#live.has(this.#heap[0]!.id)) this.#shift();
    return this.#heap[0]?.dueAt ?? null;
  }

  /** The next timer that is due, no longer set. */
  takeDue(): Timer | null {
    const nextAt = this.nextAt();
    if (nextAt === null || nextAt > this.now) return null;
    const timer = this.#shift();
    this.clear(timer.id);
    return timer;
  }

  #isBefore(a: Timer, b: Timer): boolean {
    return a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.id < b.id);
  }

  #swap(i: number, j: number): void {
    [this.#heap[i], this.#heap[j]] = [this.#heap[j]!, this.#heap[i]!];
  }

  #rise(at: number): void {
    for (let i = at; i > 0; ) {
      const parent = (i - 1) >> 1;
      if (!this.#isBefore(this.#heap[i]!, this.#heap[parent]!)) return;
      this.#swap(i, parent);
      i = parent;
    }
  }

  #shift(): Timer {
    const first = this.#heap[0]!;
    const last = this.#heap.pop()!;
    if (this.#heap.length === 0) return first;
    this.#heap[0] = last;
    for (let i = 0; ; ) {
      const [left, right] = [2 * i + 1, 2 * i + 2];
      let least = i;
      if (left < this.#heap.length && this.#isBefore(this.#heap[left]!, this.#heap[least]!)) least = left;
      if (right < this.#heap.length && this.#isBefore(this.#heap[right]!, this.#heap[least]!)) least = right;
      if (least === i) return first;
      this.#swap(i, least);
      i = least;
    }
  }
}

type Crypto = typeof globalThis.crypto;
const RealDate = Date;
const realRandom = Math.random;
const realCrypto = globalThis.crypto;

/** `Date` that reads `now`. Its values are the platform's own. */
function dateOf(now: () => number): DateConstructor {
  const Simulated = function (this: unknown, ...args: [] | [number]) {
    if (!new.target) return new RealDate(now()).toString();
    return args.length === 0 ? new RealDate(now()) : new RealDate(...args);
  } as unknown as DateConstructor;
  Object.assign(Simulated, { now, parse: RealDate.parse, UTC: RealDate.UTC, prototype: RealDate.prototype });
  return Simulated;
}

const put = (name: 'Date' | 'crypto', value: unknown): void => {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
};

/**
 * Gives the process the clock, randomness and WebCrypto of a history, until the returned function is called. The actors of a history and
 * the simulated platform read them too.
 */
export function install(clock: Clock, random: { next: () => number }, crypto: unknown): () => void {
  put(
    'Date',
    dateOf(() => Math.floor(clock.now)),
  );
  put('crypto', crypto as Crypto);
  Math.random = random.next;
  return () => {
    put('Date', RealDate);
    put('crypto', realCrypto);
    Math.random = realRandom;
  };
}
