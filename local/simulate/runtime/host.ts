import type { SimulatedDatabase } from '../platform/database.ts';
import { Bindings, migratedDatabase } from './bindings.ts';
import { subjectsOf } from './counting/interleavings.ts';
import { webCrypto } from './crypto.ts';
import { type Delivery, Dispatch } from './dispatch.ts';
import { type FaultPlan, Faults, NO_FAULTS } from './faults.ts';
import { currentInvocation } from './invocation.ts';
import { Isolate } from './isolate.ts';
import { compileProgram, type Mutation } from './program.ts';
import { Random } from './random.ts';
import { Scheduler, Trace } from './scheduler.ts';
import { Clock, install } from './time/clock.ts';
import { Crons } from './time/crons.ts';

export type Handler = (request: Request) => Promise<Response>;

interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a JSON body, which the judge checks against the document.
  body: any;
}

interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  /** Body that is sent unchanged instead of JSON. */
  raw?: string | Uint8Array<ArrayBuffer>;
}

const ISOLATES = 3;
const BASE_URL = 'https://svc.test';
const START_AT = Date.UTC(2026, 8, 1);
/** Address of callers that send none. */
const CALLER_IP = '203.0.113.7';
/** By how much `settle` may move the clock until everything is quiet. */
const SETTLE_MS = 30 * 60_000;

/** The service, loaded once in several isolates. Histories run in it one after another. */
export class SimulatedService {
  readonly isolates: readonly Isolate[];
  /** Made once: the next history begins with the schema alone. */
  readonly database: SimulatedDatabase;
  readonly document: object;
  /** The history that runs. */
  history: SimulatedHost | null = null;

  private constructor(isolates: readonly Isolate[]) {
    this.isolates = isolates;
    const refusal = () => this.history!.refusal();
    this.database = migratedDatabase((way, work) => this.history!.scheduler.pass(way, work), refusal);
    this.document = isolates[0]!.service.openApiDocument();
  }

  static async load(mutations: readonly Mutation[] = []): Promise<SimulatedService> {
    const program = await compileProgram(mutations);
    const isolates = Array.from({ length: ISOLATES }, (_, index) => new Isolate(`isolate ${index + 1}`, program));
    return new SimulatedService(isolates);
  }

  /** Begins a history: an empty database, isolates without memory, and the clock of the process. `end` gives the process back. */
  begin(options: HistoryOptions): SimulatedHost {
    this.history = new SimulatedHost(this, options);
    return this.history;
  }
}

interface HistoryOptions {
  seed: number;
  /** Variables of the deployment. */
  variables: Readonly<Record<string, string>>;
  faults?: FaultPlan;
  isTraced?: boolean;
}

/** The service in one history, as its people and its judge see it. */
export class SimulatedHost {
  readonly document: object;
  readonly trace: Trace;
  readonly plan: FaultPlan;
  readonly scheduler: Scheduler;
  readonly #service: SimulatedService;
  readonly #clock: Clock;
  readonly #faults: Faults;
  readonly #bindings: Bindings;
  readonly #dispatch: Dispatch;
  readonly #handlers = new Map<string, Handler>();
  readonly #crons: Crons;
  readonly #restore: () => void;

  constructor(service: SimulatedService, { seed, variables, faults = NO_FAULTS, isTraced = false }: HistoryOptions) {
    this.#service = service;
    this.document = service.document;
    this.plan = faults;
    this.trace = new Trace({ isStored: isTraced });
    this.#clock = new Clock(START_AT);
    this.#faults = new Faults(seed, faults);
    const random = new Random(seed, 'service');
    const { stackTraceLimit } = Error;
    // The service makes an error for each refusal. Stacks are shown with the trace only.
    if (!isTraced) Error.stackTraceLimit = 0;
    const restore = install(this.#clock, random, webCrypto(random));
    this.#restore = () => {
      Error.stackTraceLimit = stackTraceLimit;
      restore();
    };
    this.scheduler = new Scheduler({ clock: this.#clock, random: new Random(seed, 'order'), faults: this.#faults, trace: this.trace });
    const placing = new Random(seed, 'isolates');
    const { database, isolates } = service;
    const deliver = (delivery: Delivery) => this.#dispatch.deliver(delivery);
    this.#bindings = new Bindings({ database, scheduler: this.scheduler, isolates, random: placing, variables, deliver });
    this.scheduler.platform = this.#bindings;
    this.#dispatch = new Dispatch({ scheduler: this.scheduler, isolates, random: placing, env: this.#bindings.env });
    for (const isolate of isolates) {
      isolate.enter({
        random,
        fetch: (input, init) => this.#fetch(input, init),
        setTimer: (ms, run, options) => this.#setTimer(ms, run, options),
        clearTimer: (id) => this.#clock.clear(id),
        log: () => {},
        onDeath: (dead, cause) => {
          this.#faults.disturbances++;
          this.scheduler.note(`${dead.name} ${cause}, with ${dead.running.size} invocations`);
          this.#bindings.endIn(dead);
        },
      });
    }
    const ring = () => void this.#dispatch.cron();
    const isAimedAt = /^(?:sweep |cron)/.test(faults.aim?.at ?? '');
    const gaps = new Random(seed, 'cron');
    this.#crons = new Crons({ clock: this.#clock, pick: (from) => gaps.pick(from), isAimedAt, ring });
  }

  /** Sends one request of a caller. Rejects if the connection is lost before an answer. */
  async call(method: string, path: string, { body, headers = {}, raw }: CallOptions = {}): Promise<Answer> {
    const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const subjects = subjectsOf(path, typeof text === 'string' ? text : undefined);
    const request = new Request(new URL(path, BASE_URL), {
      method,
      headers: { 'cf-connecting-ip': CALLER_IP, ...(text === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(text === undefined ? {} : { body: text }),
      redirect: 'manual',
    });
    let isOver = false;
    const answering = this.#dispatch.request(request, subjects).finally(() => {
      isOver = true;
    });
    answering.catch(() => {});
    await this.scheduler
      .drive(() => isOver)
      .catch(() => {
        throw new Error(`no answer to ${method} ${path} within fifteen minutes`);
      });
    const { response, text: answered } = await answering;
    this.scheduler.note(`answered: ${method} ${path} ${response.status} ${answered}`);
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: isJson && answered !== '' ? JSON.parse(answered) : answered };
  }

  now(): number {
    return Math.floor(this.#clock.now);
  }

  /** Lets time pass, with all that is due by then. */
  async advance(ms: number): Promise<void> {
    this.#crons.wait(ms);
    await this.scheduler.advanceTo(this.#clock.now + ms);
  }

  /** Runs until no invocation, message or call is left. Crons run meanwhile. Later alarms and timers remain. */
  async settle(): Promise<void> {
    const isQuiet = () =>
      this.scheduler.ready === 0 && this.#dispatch.open === 0 && this.#clock.busy === 0 && this.#bindings.pendingMessages === 0;
    await this.scheduler.drive(isQuiet, SETTLE_MS).catch(() => {
      throw new Error('the service comes to no rest within half an hour');
    });
  }

  rows(sql: string, ...values: (string | number | null)[]): Record<string, unknown>[] {
    return this.#service.database.rows(sql, ...values);
  }

  /** Answers the service's requests to a host outside. */
  serve(hostname: string, handler: Handler): void {
    this.#handlers.set(hostname, handler);
  }

  /** Text of the error of a write to the database now. Null: none. */
  refusal(): string | null {
    return this.#faults.refusal(this.#clock.now);
  }

  /** Grows with each fault and each of its effects. */
  faults(): number {
    return this.#faults.disturbances;
  }

  /** Faults that struck, in order. */
  get struck(): Faults['struck'] {
    return this.#faults.struck;
  }

  alarms(): { target: string; at: number }[] {
    return this.#bindings.alarms;
  }

  get calls(): ReadonlyMap<string, number> {
    return this.scheduler.calls;
  }

  calm(): void {
    this.#crons.calm();
    this.#faults.end();
  }

  end(): void {
    for (const isolate of this.#service.isolates) isolate.leave();
    this.#bindings.close();
    this.#service.database.rewind();
    this.#restore();
  }

  #fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    // Node frees a request after its signal, and a listener of the signal refers to the history.
    const { signal, ...plain } = init ?? {};
    const request = new Request(input, plain);
    const { hostname } = new URL(request.url);
    const answering = this.scheduler.pass({ kind: 'fetch', target: hostname, verb: request.method }, () => {
      const handler = this.#handlers.get(hostname);
      if (!handler) throw new TypeError(`fetch failed: nobody answers at ${hostname}`);
      return handler(request);
    });
    if (!signal) return answering;
    return new Promise((resolve, reject) => {
      const abort = () => reject(signal.reason);
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort, { once: true });
      answering.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
    });
  }

  #setTimer(ms: number, run: () => void, options?: { isIdle: boolean }): number {
    const invocation = currentInvocation();
    const ring = () => (ms > 0 && options?.isIdle ? run() : this.scheduler.add('timer', run, invocation));
    return this.#clock.set(this.#clock.now + Math.max(0, ms), ring, options);
  }
}
