import type { MessageBatch } from '../platform/queue.ts';
import { subjectsOf } from './counting/interleavings.ts';
import { Invocation, within } from './invocation.ts';
import type { Isolate } from './isolate.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

/** A batch as a queue of the platform hands it to its consumer. */
export interface Delivery {
  queue: string;
  batch: MessageBatch;
}

/** Path with its ids replaced, as a verb of the coverage. */
const routeOf = (path: string): string =>
  path
    .replace(/\?.*$/, '')
    .replace(/\/p\/[^/]+/, '/p/:slug')
    .split('/')
    .map((part) => (/\d|^[A-Za-z]{25,}$/.test(part) && !/^(?:v\d|x402)$/.test(part) ? ':id' : part))
    .join('/');

type Handle<T> = (isolate: Isolate, execution: object) => Promise<T>;
type Event = Pick<Invocation, 'kind' | 'name'> & { subjects?: readonly string[] };

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
  request(request: Request, subjects: readonly string[]): Promise<{ response: Response; text: string }> {
    const name = `${request.method} ${routeOf(new URL(request.url).pathname)}`;
    const handle = async (isolate: Isolate, execution: object) => {
      const response = await isolate.service.worker.fetch(request, this.#env, execution);
      return { response, text: await response.text() };
    };
    return this.#arrive({ kind: 'request', name, subjects }, handle);
  }

  deliver({ queue, batch }: Delivery): Promise<void> {
    const bodies = batch.messages.map(({ body }) => body as { sweep?: string; kind?: string });
    const [{ sweep, kind } = {}] = bodies;
    const name = sweep === undefined ? `queue ${queue}${kind === undefined ? '' : ` ${kind}`}` : `sweep ${sweep}`;
    const handle: Handle<void> = (isolate, execution) => isolate.service.worker.queue(batch, this.#env, execution);
    return this.#arrive({ kind: 'queue', name, subjects: sweep === undefined ? subjectsOf('', JSON.stringify(bodies)) : [] }, handle);
  }

  async cron(): Promise<void> {
    const controller = { cron: '* * * * *', scheduledTime: this.#scheduler.clock.now, noRetry: () => {} };
    const handle: Handle<void> = (isolate, execution) => isolate.service.worker.scheduled(controller, this.#env, execution);
    // The next minute brings the next one, whatever becomes of this.
    await this.#arrive({ kind: 'cron', name: 'cron' }, handle).catch(() => {});
  }

  #arrive<T>({ kind, name, subjects = [] }: Event, handle: Handle<T>): Promise<T> {
    this.#open++;
    return new Promise<T>((resolve, reject) => {
      this.#scheduler.add(`arrives: ${name}`, () => {
        const isolate = this.#random.pick(this.#isolates);
        const invocation = new Invocation(this.#scheduler.nextInvocation(), { kind, name, isolate, subjects });
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
    handle: Handle<T>,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ): Promise<void> {
    const { isolate } = invocation;
    const deferred: Promise<unknown>[] = [];
    const execution = { waitUntil: (work: Promise<unknown>) => void deferred.push(work), passThroughOnException: () => {}, props: {} };
    const spent = this.#scheduler.faults.spentCalls(invocation);
    invocation.spent = spent;
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
