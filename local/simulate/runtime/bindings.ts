import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../bundle.ts';
import { DEV_ASSETS_DIR } from '../../cli/directories.ts';
import { AssetsBinding } from '../platform/assets.ts';
import { SimulatedBucket } from '../platform/bucket.ts';
import { SimulatedDatabase } from '../platform/database.ts';
import { SimulatedNamespace } from '../platform/objects/namespace.ts';
import type { Pass } from '../platform/way.ts';
import type { Delivery } from './dispatch.ts';
import type { Isolate } from './isolate.ts';
import { Queues } from './queues.ts';
import type { Random } from './random.ts';
import type { Platform, Scheduler } from './scheduler.ts';

const CLASSES = { ADMISSION: 'Admission', ENTITLEMENT: 'Entitlement', METERED_SESSION: 'MeteredSession' } as const;
type Binding = keyof typeof CLASSES;

interface BindingsOptions {
  database: SimulatedDatabase;
  scheduler: Scheduler;
  isolates: readonly Isolate[];
  random: Random;
  variables: Readonly<Record<string, string>>;
  deliver(delivery: Delivery): Promise<unknown>;
}

/** An empty database with the schema of the migrations. */
export function migratedDatabase(pass: Pass, refusal: () => string | null): SimulatedDatabase {
  const database = new SimulatedDatabase({ pass, refusal });
  const folder = join(ROOT, 'migrations');
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  for (const name of names.sort()) database.migrate(readFileSync(join(folder, name), 'utf8'));
  return database;
}

/** Bindings of the service in one history. */
export class Bindings implements Platform {
  readonly env: object;
  readonly #options: BindingsOptions;
  readonly #namespaces: Record<Binding, SimulatedNamespace>;
  readonly #queues: Queues;
  readonly #archive: SimulatedBucket;
  /** Isolate of each object that runs, or ran last. */
  readonly #isolates = new Map<string, Isolate>();

  constructor(options: BindingsOptions) {
    this.#options = options;
    const { scheduler, random, deliver } = options;
    this.#queues = new Queues({ scheduler, random, deliver });
    this.#archive = new SimulatedBucket({ pass: scheduler.pass, now: () => this.#now() });
    const namespaces = (Object.keys(CLASSES) as Binding[]).map((binding) => [binding, this.#namespace(binding)] as const);
    this.#namespaces = Object.fromEntries(namespaces) as Record<Binding, SimulatedNamespace>;
    this.env = this.#envThrough(options.scheduler.pass);
  }

  get pendingMessages(): number {
    return this.#queues.pending;
  }

  get alarms(): { target: string; at: number }[] {
    return Object.entries(this.#namespaces).flatMap(([binding, { alarms }]) =>
      alarms.map(({ name, at }) => ({ target: `${binding}:${name}`, at })),
    );
  }

  isolateOf(target: string): Isolate {
    const [namespace, name] = this.#find(target);
    const known = this.#isolates.get(target);
    if (known && namespace.isRunning(name)) return known;
    const isolate = this.#options.random.pick(this.#options.isolates);
    this.#isolates.set(target, isolate);
    return isolate;
  }

  /** Drops an object that is idle. One that is at work is reset, and loses what is not durable. */
  evict(target: string): void {
    const [namespace, name] = this.#find(target);
    if (!namespace.evict(name)) namespace.kill(name);
  }

  /** Ends the objects that live in an isolate. */
  endIn(isolate: Isolate): void {
    for (const [target, home] of this.#isolates) {
      const [namespace, name] = this.#find(target);
      if (home === isolate) namespace.kill(name);
    }
  }

  nextEventAt(): number | null {
    const alarms = Object.values(this.#namespaces).flatMap((namespace) => namespace.alarms.map(({ at }) => at));
    const at = Math.min(this.#queues.nextAt(), ...alarms);
    return at === Number.POSITIVE_INFINITY ? null : at;
  }

  bringEvents(): void {
    const { now } = this.#options.scheduler.clock;
    for (const namespace of Object.values(this.#namespaces))
      for (const { name, at } of namespace.alarms) if (at <= now) void namespace.runAlarm(name);
    this.#queues.bring();
  }

  close(): void {
    for (const namespace of Object.values(this.#namespaces)) namespace.close();
  }

  #now(): number {
    return Math.floor(this.#options.scheduler.clock.now);
  }

  #find(target: string): [SimulatedNamespace, string] {
    const end = target.indexOf(':');
    return [this.#namespaces[target.slice(0, end) as Binding], target.slice(end + 1)];
  }

  #namespace(binding: Binding): SimulatedNamespace {
    const { scheduler } = this.#options;
    return new SimulatedNamespace({
      name: binding,
      pass: scheduler.pass,
      now: () => this.#now(),
      afterTurn: scheduler.afterTurn,
      isolateFor: (name) => {
        // Chosen when the event was delivered that wakes the object.
        const { service } = this.#isolates.get(`${binding}:${name}`)!;
        return { realm: globalThis, construct: (ctx, pass) => new service[CLASSES[binding]](ctx, this.#envThrough(pass)) };
      },
    });
  }

  #envThrough(pass: Pass): object {
    const { variables, database } = this.#options;
    const env: Record<string, unknown> = {
      ...variables,
      DB: database.binding(),
      ARCHIVE: this.#archive.binding(globalThis, pass),
      ASSETS: new AssetsBinding(DEV_ASSETS_DIR, pass),
      ...this.#queues.bindings(pass),
    };
    for (const [binding, namespace] of Object.entries(this.#namespaces)) env[binding] = namespace.binding(globalThis, pass);
    return env;
  }
}
