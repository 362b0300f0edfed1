import { evictDurableObject, listDurableObjectIds, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { vi } from 'vitest';
import { MINUTE, SECOND } from '#core/time.ts';
import { zero } from '../../../local/bench/bill/bill.ts';
import type { Counts } from '../../../local/bench/bill/prices.ts';
import type { World } from '../world.ts';
import { setTime } from './clock.ts';
import { testEnv } from './env.ts';
import { rowsOf, withRowCount, writtenBy } from './rows-read.ts';

type Namespace = { getByName(name: string): object };
type Call = (...args: unknown[]) => unknown;

const isEntitlement = (name: string): boolean => /:(?:live|sandbox):/.test(name);
/** Line about the configuration, which each new environment of a test logs. */
const isAboutConfig = (line: string): boolean => line.includes('"request_id":"configuration"');

/** By id, which is not counted. */
function stubOf(name: string): DurableObjectStub<undefined> {
  const namespace = isEntitlement(name) ? testEnv.ENTITLEMENT : testEnv.ADMISSION;
  return namespace.get(namespace.idFromName(name)) as unknown as DurableObjectStub<undefined>;
}

/** Rings the alarms of all admission objects and removes them from memory: what they wait for depends on the pace of earlier calls. */
export async function restAdmission(): Promise<void> {
  for (const id of await listDurableObjectIds(testEnv.ADMISSION)) {
    const stub = testEnv.ADMISSION.get(id) as unknown as DurableObjectStub<undefined>;
    await runDurableObjectAlarm(stub);
    await evictDurableObject(stub);
  }
}

/** Counts of everything that work causes. Objects are counted by the prototypes of the platform, whoever calls them. */
export class Spent {
  readonly counts: Counts = zero();
  readonly env: World['env'];
  readonly #w: World;
  /** Touched objects, with the time of the last call or alarm. */
  readonly #touchedAt = new Map<string, number>();
  readonly #undo: (() => void)[] = [];
  readonly #readings: ReturnType<typeof withRowCount>['readings'];

  constructor(w: World) {
    this.#w = w;
    const { env, readings } = withRowCount(w.env);
    this.#readings = readings;
    const queue = <Q extends object>(real: Q): Q =>
      ({
        send: (...args: unknown[]) => {
          this.counts.messages++;
          return (real as Record<string, Call>).send!(...args);
        },
        sendBatch: (messages: Iterable<unknown>) => {
          const all = [...messages];
          this.counts.messages += all.length;
          return (real as Record<string, Call>).sendBatch!(all);
        },
      }) as unknown as Q;
    const { JOBS, SANDBOX, WEBHOOKS, WEBHOOKS_SLOW, MAIL, SWEEPS } = env;
    const queues = { JOBS, SANDBOX, WEBHOOKS, WEBHOOKS_SLOW, MAIL, SWEEPS };
    this.env = { ...env, ...Object.fromEntries(Object.entries(queues).map(([name, real]) => [name, queue(real)])) };
  }

  async watch(): Promise<void> {
    const log = vi.spyOn(console, 'log').mockImplementation((line) => {
      if (!isAboutConfig(String(line))) this.counts.logLines++;
    });
    this.#undo.push(() => log.mockRestore());
    const namespace = Object.getPrototypeOf(testEnv.ENTITLEMENT) as Namespace;
    const { getByName } = namespace;
    const { counts } = this;
    const touchedAt = this.#touchedAt;
    namespace.getByName = function (this: Namespace, name: string) {
      touchedAt.set(name, Date.now());
      return new Proxy(getByName.call(this, name), {
        get: (stub, verb) => {
          const value = Reflect.get(stub, verb);
          if (typeof value !== 'function') return value;
          return (...args: unknown[]) => {
            counts.objectRequests++;
            return (stub as Record<PropertyKey, Call>)[verb]!(...args);
          };
        },
      });
    };
    this.#undo.push(() => Object.assign(namespace, { getByName }));
    const stub = (getByName as (name: string) => DurableObjectStub<undefined>).call(testEnv.ADMISSION, 'counted');
    const [sql, storage] = await runInDurableObject(stub, (_, state) => [
      Object.getPrototypeOf(state.storage.sql) as SqlStorage,
      Object.getPrototypeOf(state.storage) as DurableObjectStorage,
    ]);
    const { exec } = sql;
    sql.exec = function (this: SqlStorage, ...args: Parameters<typeof exec>) {
      const cursor = exec.apply(this, args);
      counts.objectRows += cursor.rowsWritten;
      return cursor;
    } as typeof exec;
    this.#undo.push(() => Object.assign(sql, { exec }));
    const { setAlarm } = storage;
    storage.setAlarm = function (this: DurableObjectStorage, ...args) {
      counts.objectRows++;
      return setAlarm.apply(this, args);
    };
    this.#undo.push(() => Object.assign(storage, { setAlarm }));
  }

  /** Rings the alarms of touched objects that are due within `ms`, each at its time, and delivers all messages, until nothing is left. */
  async drain(ms = MINUTE): Promise<void> {
    const until = Date.now() + ms;
    for (;;) {
      while (this.#w.queue.sent.length > 0 || this.#w.attempts.length > 0) {
        this.counts.requests += this.#w.queue.sent.length + this.#w.attempts.length;
        await this.#w.deliver(undefined, this.env);
        await this.#w.attempt(undefined, this.env);
      }
      const alarms = await Promise.all([...this.#touchedAt.keys()].map(async (name) => ({ name, at: await this.#alarmOf(name) })));
      const [next] = alarms.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
      if (!next) return;
      if (next.at > Date.now()) setTime(next.at);
      this.counts.objectRequests++;
      this.#touchedAt.set(next.name, Date.now());
      await runDurableObjectAlarm(stubOf(next.name));
    }
  }

  /** Time of an object's alarm. Its messages go to this world's queues. */
  #alarmOf(name: string): Promise<number> {
    return runInDurableObject(stubOf(name), async (instance, { storage }) => {
      if (isEntitlement(name)) Object.assign(instance, { env: this.env });
      return (await storage.getAlarm()) ?? Number.POSITIVE_INFINITY;
    });
  }

  /** Removes the objects from memory that were idle for ten seconds, as the platform does. */
  async evictIdle(): Promise<void> {
    for (const [name, at] of this.#touchedAt) if (at <= Date.now() - 10 * SECOND) await evictDurableObject(stubOf(name));
  }

  end(): Counts {
    for (const undo of this.#undo.splice(0)) undo();
    this.counts.rowsRead = rowsOf(this.#readings);
    this.counts.rowsWritten += writtenBy(this.#readings);
    return this.counts;
  }
}
