import type { Way } from '../platform/way.ts';
import type { Invocation } from './invocation.ts';

/** Kinds of faults, at calls of the service and at events that it handles. */
export const FAULTS = ['refused', 'lost', 'died', 'died_after', 'paused', 'evicted', 'full', 'doubled', 'late', 'spent'] as const;
export type FaultKind = (typeof FAULTS)[number];

export interface Fault {
  kind: FaultKind;
  /** Number of the decision in its history, by which a fault is left out of a shorter one. */
  ordinal: number;
}

/** Faults of a history: their kinds, how often they strike, and which of them are left out. */
export interface FaultPlan {
  kinds: readonly FaultKind[];
  rate: number;
  /** Ordinals that strike. Absent: each one that the seed names. */
  only?: ReadonlySet<number>;
}

export const NO_FAULTS: FaultPlan = { kinds: [], rate: 0 };

const PAUSES_MS = [5, 50, 500, 3_000, 12_000, 40_000] as const;
/** Calls that an invocation has spent before it begins, of a thousand. */
const SPENT_CALLS = [600, 800, 830, 845] as const;
const LATE_MS = [2_000, 30_000, 600_000] as const;
const FULL_MS = 60_000;

const FITTING: Record<Way['kind'] | 'start' | 'answer' | 'delivery', readonly FaultKind[]> = {
  d1: ['refused', 'lost', 'died', 'died_after', 'paused', 'full'],
  object: ['refused', 'lost', 'died', 'died_after', 'paused', 'evicted'],
  queue: ['refused', 'lost', 'died', 'died_after', 'paused'],
  r2: ['refused', 'lost', 'died', 'died_after', 'paused'],
  fetch: ['refused', 'lost', 'died', 'died_after', 'paused'],
  alarm: ['late', 'paused'],
  timer: [],
  start: ['spent'],
  answer: ['lost'],
  delivery: ['doubled', 'late'],
};

/** A number in [0, 1) of a seed and two counts: a decision that is left out does not move the next. (murmur3 finalizer) */
function fraction(seed: number, ordinal: number, part: number): number {
  let mixed = (seed ^ Math.imul(ordinal + 1, 0x9e3779b1) ^ Math.imul(part + 1, 0x85ebca6b)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
}

export class Faults {
  readonly #seed: number;
  readonly #plan: FaultPlan;
  #count = 0;
  #isOver = false;
  #fullUntil = 0;
  /** Grows when a fault strikes, and again when it has an effect: a pause, or an isolate's death, may do harm much later. */
  disturbances = 0;
  /** Faults that struck, in order. */
  readonly struck: (Fault & { way: string; invocation: string })[] = [];

  constructor(seed: number, plan: FaultPlan) {
    this.#seed = Math.floor(seed % 2 ** 32);
    this.#plan = plan;
  }

  /** From now on nothing strikes. */
  end(): void {
    this.#isOver = true;
    this.#fullUntil = 0;
  }

  #draw<T>(ordinal: number, values: readonly T[]): T {
    return values[Math.floor(fraction(this.#seed, ordinal, 2) * values.length)]!;
  }

  #decide(at: keyof typeof FITTING, way: string, invocation: Invocation | null): Fault | null {
    const ordinal = this.#count++;
    const { kinds, rate, only } = this.#plan;
    if (this.#isOver || rate === 0 || fraction(this.#seed, ordinal, 0) >= rate) return null;
    if (only && !only.has(ordinal)) return null;
    const fitting = FITTING[at].filter((kind) => kinds.includes(kind));
    if (fitting.length === 0) return null;
    const kind = fitting[Math.floor(fraction(this.#seed, ordinal, 1) * fitting.length)]!;
    const fault = { kind, ordinal };
    this.struck.push({ ...fault, way, invocation: invocation?.name ?? '' });
    this.disturbances++;
    invocation?.strike();
    return fault;
  }

  /** The fault of a call. Only calls of the service fail: what the people of a history do arrives. */
  ofCall(way: Way, invocation: Invocation | null): Fault | null {
    return invocation ? this.#decide(way.kind, `${way.kind}.${way.verb}`, invocation) : null;
  }

  pauseMs({ ordinal }: Fault): number {
    return this.#draw(ordinal, PAUSES_MS);
  }

  /** Calls that are spent when an invocation begins. 0: none. */
  spentCalls(invocation: Invocation): number {
    const fault = this.#decide('start', 'start', invocation);
    return fault ? this.#draw(fault.ordinal, SPENT_CALLS) : 0;
  }

  /** True if the caller of a request does not get its answer. */
  isAnswerLost(invocation: Invocation): boolean {
    return this.#decide('answer', 'answer', invocation) !== null;
  }

  /** How a queue delivers one message. */
  ofDelivery(queue: string): { isDoubled: boolean; lateMs: number } {
    const fault = this.#decide('delivery', `queue.${queue}`, null);
    return { isDoubled: fault?.kind === 'doubled', lateMs: fault?.kind === 'late' ? this.#draw(fault.ordinal, LATE_MS) : 0 };
  }

  /** From now on the database refuses writes, for a minute. */
  fill(now: number): void {
    this.#fullUntil = now + FULL_MS;
  }

  isFull(way: Way, now: number): boolean {
    return way.kind === 'd1' && now < this.#fullUntil && (way.verb === 'batch' || way.verb === 'run');
  }
}

/** The error that a caller sees, as the platform words it. */
export function failureOf({ kind, target }: Way, { kind: fault }: Pick<Fault, 'kind'>): Error {
  if (kind === 'd1' && fault === 'full') return new Error('D1_ERROR: Exceeded maximum DB size: SQLITE_FULL');
  if (kind === 'd1') return new Error('D1_ERROR: Network connection lost.');
  if (kind === 'object') return Object.assign(new Error('Network connection lost.'), { retryable: true, remote: true });
  if (kind === 'fetch') return new TypeError(`fetch failed: ${target}`);
  return new Error(`${kind === 'r2' ? 'put: ' : ''}Network connection lost.`);
}
