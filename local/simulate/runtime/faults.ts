import type { Way } from '../platform/way.ts';
import type { Invocation } from './invocation.ts';

/** Kinds of faults, at calls of the service and at events that it handles. */
export const FAULTS = [
  'refused',
  'lost',
  'died',
  'died_after',
  'paused',
  'evicted',
  'full',
  'readonly',
  'slow',
  'doubled',
  'late',
  'spent',
] as const;
export type FaultKind = (typeof FAULTS)[number];

export interface Fault {
  kind: FaultKind;
  /** Number of the decision in its history, by which a fault is left out of a shorter one. */
  ordinal: number;
}

/** Fault and what it is aimed at: calls of a way, or those of an invocation. */
export interface Aim {
  kind: FaultKind;
  /** `d1.batch`, or the name of an invocation. */
  at: string;
}

/** Faults of a history: their kinds, how often they strike, and which of them are left out. */
export interface FaultPlan {
  kinds: readonly FaultKind[];
  rate: number;
  /** Strikes at its target far more often than at random. */
  aim?: Aim;
  /** Ordinals that strike. Absent: each one that the seed names. */
  only?: ReadonlySet<number>;
}

export const NO_FAULTS: FaultPlan = { kinds: [], rate: 0 };

const PAUSES_MS = [5, 50, 500, 3_000, 12_000, 40_000] as const;
/** Calls of one invocation that the platform allows. */
export const CALLS_MAX = 1000;
/** Calls that an invocation has spent before it begins. */
const SPENT_CALLS = [600, 800, 830, 845] as const;
/** Calls after which a sweep begins no further work, and calls that are left to it when it begins: each of its trips is cut. */
const SWEEP_CALLS = 850;
const LEFT_CALLS = Array.from({ length: 16 }, (_, left) => left);
/**
 * Calls that a sweep has when all others were spent before it began, and how often: enough to lease it, to take no row, and to end it. A
 * sweep that goes on without a budget needs more with any backlog, which in a deployment takes a flood.
 */
const ENDING_CALLS = 10;
const EMPTY_RATE = 0.4;
/** Sweeps over samples of a fixed size, which no backlog makes longer. */
const SAMPLES: readonly string[] = ['sweep analytics', 'sweep audit', 'sweep feePayer', 'sweep sandboxes'];
/** How often an aim strikes at a call of its target, and at the beginning of an invocation, which comes far more rarely. */
const AIM_RATES = { call: 0.3, start: 0.9 };
/** Strikes of an aim in one history. With more, nothing would work that could be harmed. */
const AIMED_MAX = 8;
const LATE_MS = [2_000, 30_000, 600_000] as const;
const TROUBLE_MS = 60_000;
/** Time that each call of a slow database takes. */
const SLOW_MS = [300, 2_000, 9_000] as const;
const REFUSALS = {
  full: 'Exceeded maximum DB size: SQLITE_FULL',
  readonly: 'attempt to write a readonly database: SQLITE_READONLY',
} as const;

export const FITTING: Record<Way['kind'] | 'start' | 'answer' | 'delivery', readonly FaultKind[]> = {
  d1: ['refused', 'lost', 'died', 'died_after', 'paused', 'full', 'readonly', 'slow'],
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
  #aimed = 0;
  /** State of the database after a fault, and its end. */
  #trouble: { kind: FaultKind; until: number; slowMs: number } = { kind: 'full', until: 0, slowMs: 0 };
  /** Grows when a fault strikes, and again when it has an effect: a pause, or an isolate's death, may do harm much later. */
  disturbances = 0;
  /** Faults that struck, in order. */
  readonly struck: (Fault & { way: string; invocation: string; trip: number })[] = [];

  constructor(seed: number, plan: FaultPlan) {
    this.#seed = Math.floor(seed % 2 ** 32);
    this.#plan = plan;
  }

  /** From now on nothing strikes. */
  end(): void {
    this.#isOver = true;
    this.#trouble.until = 0;
  }

  #draw<T>(ordinal: number, values: readonly T[]): T {
    return values[Math.floor(fraction(this.#seed, ordinal, 2) * values.length)]!;
  }

  #decide(at: keyof typeof FITTING, way: string, invocation: Invocation | null): Fault | null {
    const ordinal = this.#count++;
    const kind = this.#isOver ? null : (this.#aimedKind(ordinal, at, way, invocation) ?? this.#randomKind(ordinal, at));
    if (kind === null) return null;
    const fault = { kind, ordinal };
    this.struck.push({ ...fault, way, invocation: invocation?.name ?? '', trip: invocation?.calls ?? 0 });
    this.disturbances++;
    invocation?.strike();
    return fault;
  }

  #isLeftOut(ordinal: number): boolean {
    return this.#plan.only?.has(ordinal) === false;
  }

  #aimedKind(ordinal: number, at: keyof typeof FITTING, way: string, invocation: Invocation | null): FaultKind | null {
    const { aim } = this.#plan;
    if (!aim || this.#aimed >= AIMED_MAX || (aim.at !== way && aim.at !== invocation?.name)) return null;
    const rate = at === 'start' ? AIM_RATES.start : AIM_RATES.call;
    if (!FITTING[at].includes(aim.kind) || fraction(this.#seed, ordinal, 3) >= rate || this.#isLeftOut(ordinal)) return null;
    this.#aimed++;
    return aim.kind;
  }

  #randomKind(ordinal: number, at: keyof typeof FITTING): FaultKind | null {
    const { kinds, rate } = this.#plan;
    if (rate === 0 || fraction(this.#seed, ordinal, 0) >= rate || this.#isLeftOut(ordinal)) return null;
    const fitting = FITTING[at].filter((kind) => kinds.includes(kind));
    return fitting[Math.floor(fraction(this.#seed, ordinal, 1) * fitting.length)] ?? null;
  }

  /** The fault of a call. Only calls of the service fail: what the people of a history do arrives. */
  ofCall(way: Way, invocation: Invocation | null): Fault | null {
    return invocation ? this.#decide(way.kind, `${way.kind}.${way.verb}`, invocation) : null;
  }

  /** Time that a call waits before its turn: 0 for most. */
  pauseMs({ kind, ordinal }: Fault): number {
    if (kind === 'late') return this.#draw(ordinal, LATE_MS);
    return kind === 'paused' ? this.#draw(ordinal, PAUSES_MS) : 0;
  }

  /** Calls that are spent when an invocation begins. 0: none. */
  spentCalls(invocation: Invocation): number {
    const fault = this.#decide('start', 'start', invocation);
    if (!fault) return 0;
    if (!invocation.name.startsWith('sweep ')) return this.#draw(fault.ordinal, SPENT_CALLS);
    const isEmpty = !SAMPLES.includes(invocation.name) && fraction(this.#seed, fault.ordinal, 4) < EMPTY_RATE;
    const left = isEmpty ? 0 : this.#draw(fault.ordinal, LEFT_CALLS);
    this.struck.at(-1)!.trip = left;
    return isEmpty ? CALLS_MAX - ENDING_CALLS : SWEEP_CALLS - left;
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

  /** Begins a minute in which the database is full, read-only or slow. */
  trouble({ kind, ordinal }: Fault, now: number): void {
    this.#trouble = { kind, until: now + TROUBLE_MS, slowMs: this.#draw(ordinal, SLOW_MS) };
  }

  /** Text of the error of a write to a full or read-only database. Null: it may write. */
  refusal(now: number): string | null {
    const { kind, until } = this.#trouble;
    if (now >= until || (kind !== 'full' && kind !== 'readonly')) return null;
    this.disturbances++;
    return REFUSALS[kind];
  }

  /** Time that a call takes more than usual. */
  slownessMs({ kind }: Way, now: number): number {
    if (kind !== 'd1' || this.#trouble.kind !== 'slow' || now >= this.#trouble.until) return 0;
    this.disturbances++;
    return this.#trouble.slowMs;
  }
}

/** The error that a caller sees, as the platform words it. */
export function failureOf({ kind, target }: Way): Error {
  if (kind === 'd1') return new Error('D1_ERROR: Network connection lost.');
  if (kind === 'object') return Object.assign(new Error('Network connection lost.'), { retryable: true, remote: true });
  if (kind === 'fetch') return new TypeError(`fetch failed: ${target}`);
  return new Error(`${kind === 'r2' ? 'put: ' : ''}Network connection lost.`);
}
