import { Invocation, within } from './invocation.ts';
import type { Isolate } from './isolate.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

/** A batch as a queue of the platform hands it to its consumer. */
export interface Delivery {
  queue: string;
  batch: unknown;
}

/** Path with its ids replaced, as a verb of the coverage. */
const routeOf = (path: string): string =>
  path
    .replace(/\?.*$/, '')
    .split('/')
    .map((part) => (/\d|^[A-Za-z]{25,}$/.test(part) && !/^v\d$/.test(part) ? ':id' : part))
    .join('/');

type Handle = (isolate: Isolate, execution: object) => Promise<unknown>;

/** Brings events to the isolates: each to one that the seed picks, as an invocation with a budget of its own. */
export class Dispatch {
  readonly #scheduler: Scheduler;
  readonly #isolates: readonly Isolate[];
  readonly #random: Random;
  readonly #env: object;
  /** Invocations that have not ended. */
  #open = 0;

  constructor({ scheduler, isolates, random, env }: { scheduler: Scheduler; isolates: readonly Isolate[]; random: Random; env: object }) {
    this.#scheduler = scheduler;
    this.#isolates = isolates;
    this.#random = random;
    this.#env = env;
  }

  get open(): number {
    return this.#open;
  }

  /** Answers a request, or rejects if its isolate dies first. */
  request(request: Request): Promise<{ response: Response; text: string }> {
    const name = `${request.method} ${routeOf(new URL(request.url).pathname)}`;
    return this.#arrive('request', name, async (isolate, execution) => {
      const response = await isolate.service.worker.fetch(request, this.#env, execution);
      return { response, text: await response.text() };
    });
  }

  deliver({ queue, batch }: Delivery): Promise<void> {
    return this.#arrive('queue', `queue ${queue}`, (isolate, execution) => isolate.service.worker.queue(batch, this.#env, execution));
  }

  async cron(): Promise<void> {
    const controller = { cron: '* * * * *', scheduledTime: this.#scheduler.clock.now, noRetry: () => {} };
    const handle: Handle = (isolate, execution) => isolate.service.worker.scheduled(controller, this.#env, execution);
    // The next minute brings the next one, whatever becomes of this.
    await this.#arrive('cron', 'cron', handle).catch(() => {});
  }

  #arrive<T>(kind: Invocation['kind'], name: string, handle: (isolate: Isolate, execution: object) => Promise<T>): Promise<T> {
    this.#open++;
    return new Promise<T>((resolve, reject) => {
      this.#scheduler.add(`arrives: ${name}`, () => {
        const isolate = this.#random.pick(this.#isolates);
        const invocation = new Invocation(this.#scheduler.nextInvocation(), { kind, name, isolate });
        invocation.abandon = () => {
          this.#open--;
          reject(new Error('The connection is lost: the isolate died.'));
        };
        void within(invocation, () => this.#invoke(invocation, handle, resolve, reject));
      });
    });
  }

  async #invoke<T>(
    invocation: Invocation,
    handle: (isolate: Isolate, execution: object) => Promise<T>,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ): Promise<void> {
    const { isolate } = invocation;
    const deferred: Promise<unknown>[] = [];
    const execution = { waitUntil: (work: Promise<unknown>) => void deferred.push(work), passThroughOnException: () => {}, props: {} };
    const spent = this.#scheduler.faults.spentCalls(invocation);
    if (spent > 0) this.#scheduler.note(`FAULT: ${invocation.label} begins with ${spent} calls spent`);
    try {
      const value = await isolate.service.withBudget(() => {
        for (let i = 0; i < spent; i++) isolate.service.chargeCall();
        return handle(isolate, execution);
      });
      if (!invocation.isAlive) return;
      this.#scheduler.note(`answers: ${invocation.label}`);
      const isLost = invocation.kind === 'request' && this.#scheduler.faults.isAnswerLost(invocation);
      if (isLost) reject(new Error('The connection is lost: its answer does not arrive.'));
      else resolve(value);
    } catch (error) {
      if (!invocation.isAlive) return;
      this.#scheduler.note(`fails: ${invocation.label}: ${String(error)}`);
      reject(error);
    }
    for (let seen = 0; seen < deferred.length; ) {
      seen = deferred.length;
      await Promise.allSettled(deferred);
    }
    if (!invocation.isAlive) return;
    this.#open--;
    invocation.end();
  }
}
