import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import type { Way } from '../platform/way.ts';
import { Interleavings } from './counting/interleavings.ts';
import { CALLS_MAX, type Fault, type Faults, failureOf } from './faults.ts';
import { currentInvocation, Invocation, outside, within } from './invocation.ts';
import type { Isolate } from './isolate.ts';
import type { Random } from './random.ts';
import type { Clock } from './time/clock.ts';

interface Step {
  words: string;
  invocation: Invocation | null;
  run: () => void;
}

interface Call<T> {
  way: Way;
  work: () => T | Promise<T>;
  fault: Fault | null;
  invocation: Invocation | null;
  resolve: (value: T) => void;
  reject: (error: unknown) => void;
}

interface Goal {
  isMet: () => boolean;
  until: number;
  resolve: () => void;
  reject: (error: Error) => void;
}

/** Part of the platform that the scheduler calls. */
export interface Platform {
  isolateOf(target: string): Isolate;
  evict(target: string): void;
  /** Time of the next alarm or message. */
  nextEventAt(): number | null;
  /** Brings the alarms and messages that are due. */
  bringEvents(): void;
}

/** True if the work of a call is an event of an object, in the isolate that it lives in. */
const isInbound = ({ kind, verb }: Way): boolean => (kind === 'object' && verb !== 'commit') || kind === 'alarm';
/** How late an alarm or message may be while there is other work. */
const EVENTS_MS = 200;
/** A step takes less than this by the clock of the history. */
const STEP_MS = 4;
/** Characters of a trace that are hashed at once. */
const HASHED_AT_ONCE = 32_768;
/** How long a history may wait for one answer. */
const PATIENCE_MS = 15 * 60_000;

/** Binding of a target, without the name of its object. */
const classOf = (target: string): string => target.replace(/[:/].*$/, '');

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Steps of a history, one line each. The hash covers every line, so histories with equal hashes are equal. */
export class Trace {
  readonly #hash = createHash('sha256');
  readonly #lines: string[] | null;
  /** Lines that the hash has yet to take. */
  #pending = '';
  #count = 0;

  constructor({ isStored }: { isStored: boolean }) {
    this.#lines = isStored ? [] : null;
  }

  get count(): number {
    return this.#count;
  }

  get lines(): readonly string[] {
    return this.#lines ?? [];
  }

  add(line: string): void {
    this.#count++;
    this.#pending += `${line}\n`;
    if (this.#pending.length > HASHED_AT_ONCE) this.#hashPending();
    this.#lines?.push(line);
  }

  digest(): string {
    this.#hashPending();
    return this.#hash.copy().digest('hex');
  }

  #hashPending(): void {
    this.#hash.update(this.#pending);
    this.#pending = '';
  }
}

/** Decides what happens next. Everything that waits is a step or a timer, and the seed picks among the steps that are ready. */
export class Scheduler {
  readonly clock: Clock;
  readonly faults: Faults;
  readonly #random: Random;
  readonly #trace: Trace;
  readonly #startedAt: number;
  readonly #ready: Step[] = [];
  readonly #goals: Goal[] = [];
  readonly #afterTurn: (() => void)[] = [];
  #isRunning = false;
  #bringsAt = 0;
  #invocations = 0;
  platform: Platform | null = null;
  /** Calls of the service by way and verb. */
  readonly calls = new Map<string, number>();
  /** Most calls that one run of each sweep made. */
  readonly trips = new Map<string, number>();
  readonly interleavings = new Interleavings();
  /** Failures that no caller receives. */
  readonly problems: string[] = [];

  constructor({ clock, random, faults, trace }: { clock: Clock; random: Random; faults: Faults; trace: Trace }) {
    this.clock = clock;
    this.#startedAt = clock.now;
    this.#random = random;
    this.faults = faults;
    this.#trace = trace;
  }

  get ready(): number {
    return this.#ready.length;
  }

  nextInvocation(): number {
    return ++this.#invocations;
  }

  note(words: string): void {
    this.#trace.add(`+${((this.clock.now - this.#startedAt) / 1000).toFixed(3)}s ${words}`);
  }

  add(words: string, run: () => void, invocation: Invocation | null = null): void {
    this.#ready.push({ words, invocation, run });
  }

  /** Runs `then` once what runs now has ended, with all that follows from it at once. */
  afterTurn = (then: () => void): void => {
    this.#afterTurn.push(AsyncLocalStorage.bind(then));
  };

  /** The one way out of the service: does `work` when its turn comes, unless a fault strikes. */
  pass = <T>(way: Way, work: () => T | Promise<T>): Promise<T> => {
    const invocation = currentInvocation();
    if (invocation && way.kind !== 'timer' && ++invocation.calls + invocation.spent > CALLS_MAX) {
      if (invocation.calls + invocation.spent === CALLS_MAX + 1)
        this.problems.push(`${invocation.name} makes more than ${CALLS_MAX} calls`);
      return Promise.reject(new Error('Too many subrequests.'));
    }
    const words = `${way.kind} ${way.target} ${way.verb}`;
    if (invocation) this.#count(way, invocation);
    const fault = this.faults.ofCall(way, invocation);
    if (fault) this.note(`FAULT ${fault.ordinal} ${fault.kind}: ${words} of ${invocation?.label}`);
    return new Promise<T>((resolve, reject) => {
      const add = () => this.add(words, () => this.#perform({ way, work, fault, invocation, resolve, reject }), invocation);
      const isTrouble = fault?.kind === 'full' || fault?.kind === 'readonly' || fault?.kind === 'slow';
      if (isTrouble) this.faults.trouble(fault, this.clock.now);
      const slowMs = invocation ? this.faults.slownessMs(way, this.clock.now) : 0;
      const waitMs = slowMs + (fault ? this.faults.pauseMs(fault) : 0);
      // The platform cancels what an invocation has under way when it ends, so that a late call follows no answer.
      const resume = () => (invocation?.hasEnded ? undefined : add());
      if (waitMs > 0) this.clock.set(this.clock.now + waitMs, resume);
      else add();
    });
  };

  #count({ kind, target, verb }: Way, invocation: Invocation): void {
    if (invocation.name.startsWith('sweep '))
      this.trips.set(invocation.name, Math.max(this.trips.get(invocation.name) ?? 0, invocation.calls));
    const name = `${kind} ${classOf(target)} ${verb}`;
    this.calls.set(name, (this.calls.get(name) ?? 0) + 1);
  }

  #perform<T>(call: Call<T>): void {
    const { way, fault, invocation, resolve, reject } = call;
    if (fault) this.faults.disturbances++;
    if (fault?.kind === 'evicted') this.platform?.evict(way.target);
    if (fault?.kind === 'died') invocation?.isolate.kill('dies before a call');
    else if (fault?.kind === 'refused') reject(failureOf(way));
    else {
      const refuse = (error: unknown) => this.#answer(call, () => reject(error));
      try {
        const value = isInbound(way) ? this.#receive(call) : call.work();
        if (value instanceof Promise) value.then((settled) => this.#answer(call, () => resolve(settled)), refuse);
        else this.#answer(call, () => resolve(value));
      } catch (error) {
        refuse(error);
      }
    }
  }

  /** Settles a call after its effect, unless its caller died or the answer is lost. */
  #answer<T>({ way, fault, invocation, reject }: Call<T>, settle: () => void): void {
    if (invocation && !invocation.isAlive) return;
    if (fault?.kind === 'died_after') invocation?.isolate.kill('dies before an answer');
    else if (fault?.kind === 'lost') reject(failureOf(way));
    else settle();
  }

  /** Runs the work of an object in the isolate that it lives in. */
  #receive<T>({ way, work, invocation: caller }: { way: Way; work: () => T | Promise<T>; invocation: Invocation | null }): Promise<T> {
    const isolate = this.platform!.isolateOf(way.target);
    const kind = way.kind === 'alarm' ? 'alarm' : 'object';
    const invocation = new Invocation(this.nextInvocation(), {
      kind,
      name: `${classOf(way.target)}.${way.verb}`,
      isolate,
      caller,
      subjects: [way.target],
    });
    return new Promise<T>((resolve, reject) => {
      invocation.abandon = () => reject(failureOf(way));
      within(invocation, async () => work())
        .finally(() => invocation.end())
        .then(
          (value) => invocation.isAlive && resolve(value),
          (error) => invocation.isAlive && reject(error),
        );
    });
  }

  /** Runs steps until `isMet`. The clock goes on, by at most `patienceMs`. */
  drive(isMet: () => boolean, patienceMs: number = PATIENCE_MS): Promise<void> {
    const met = new Promise<void>((resolve, reject) => {
      this.#goals.push({ isMet, until: this.clock.now + patienceMs, resolve, reject });
    });
    if (!this.#isRunning) outside(() => void this.#run());
    return met;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (;;) {
      await nextTurn();
      const then = this.#afterTurn.shift();
      if (then) then();
      if (then || this.#meetGoal()) continue;
      if (this.#goals.length === 0) break;
      this.#step();
    }
    this.#isRunning = false;
  }

  /** Settles one goal that is met or out of time. */
  #meetGoal(): boolean {
    for (const [index, goal] of this.#goals.entries()) {
      const isMet = goal.isMet();
      if (!isMet && this.clock.now <= goal.until) continue;
      this.#goals.splice(index, 1);
      if (isMet) goal.resolve();
      else goal.reject(new Error('waits for ever'));
      return true;
    }
    return false;
  }

  #step(): void {
    if (this.#ready.length > 0) this.#runReady(this.#random.below(this.#ready.length));
    else this.clock.now = Math.min(this.#nextAt(this.clock.nextAt()), this.#nextAt(this.platform?.nextEventAt() ?? null));
    for (let timer = this.clock.takeDue(); timer; timer = this.clock.takeDue()) timer.run();
    if (this.#ready.length > 0 && this.clock.now < this.#bringsAt) return;
    this.#bringsAt = this.clock.now + EVENTS_MS;
    this.platform?.bringEvents();
  }

  #nextAt(at: number | null): number {
    return Math.max(this.clock.now, at ?? this.clock.now + PATIENCE_MS);
  }

  #runReady(at: number): void {
    const { words, invocation, run } = this.#ready[at]!;
    const last = this.#ready.pop()!;
    if (at < this.#ready.length) this.#ready[at] = last;
    if (invocation && !invocation.isAlive) return;
    this.clock.now += this.#random.below(STEP_MS);
    this.note(invocation ? `${words} of ${invocation.label}` : words);
    if (invocation && invocation.subjects.length > 0) this.interleavings.step(invocation);
    run();
  }

  /** Moves the clock to `at`, past all that is due by then and what follows from it. */
  async advanceTo(at: number): Promise<void> {
    this.clock.set(at, () => {}, { isIdle: true });
    await this.drive(() => this.clock.now >= at, Number.POSITIVE_INFINITY);
  }
}
