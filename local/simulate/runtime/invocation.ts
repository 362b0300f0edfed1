import { AsyncLocalStorage } from 'node:async_hooks';
import type { Isolate } from './isolate.ts';

type InvocationKind = 'request' | 'queue' | 'cron' | 'object' | 'alarm';

/** Event that an isolate handles, with its calls and its deferred work. */
export class Invocation {
  readonly id: number;
  readonly kind: InvocationKind;
  /** Name in plain words, with ids replaced. */
  readonly name: string;
  readonly isolate: Isolate;
  readonly caller: Invocation | null;
  /** Ids of what it is about. */
  readonly subjects: readonly string[];
  readonly #life: number;
  calls = 0;
  /** Calls that a fault had spent before it began. The platform counts them too. */
  spent = 0;
  /** Faults that struck its calls, or those of what it called. */
  struck = 0;
  hasEnded = false;
  /** Rejects the answer, because the isolate died. */
  abandon: () => void = () => {};

  constructor(
    id: number,
    {
      kind,
      name,
      isolate,
      caller = null,
      subjects = [],
    }: Pick<Invocation, 'kind' | 'name' | 'isolate'> & { caller?: Invocation | null; subjects?: readonly string[] },
  ) {
    this.id = id;
    this.kind = kind;
    this.name = name;
    this.isolate = isolate;
    this.caller = caller;
    this.subjects = subjects;
    this.#life = isolate.life;
    isolate.running.add(this);
  }

  /** False once its isolate died. Nothing that it began continues, and it gets no answer. */
  get isAlive(): boolean {
    return this.isolate.life === this.#life;
  }

  strike(): void {
    this.struck++;
    this.caller?.strike();
  }

  end(): void {
    this.hasEnded = true;
    this.isolate.running.delete(this);
  }

  get label(): string {
    return `${this.isolate.name} #${this.id} ${this.name}`;
  }
}

const invocations = new AsyncLocalStorage<Invocation>();

export const currentInvocation = (): Invocation | null => invocations.getStore() ?? null;
export const within = <T>(invocation: Invocation, run: () => T): T => invocations.run(invocation, run);

/** Runs without the context of a caller: the next step of a scheduler continues no invocation. */
export const outside = AsyncLocalStorage.snapshot() as <T>(run: () => T) => T;
