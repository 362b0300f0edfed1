import { setTimeout as pause } from 'node:timers/promises';
import { SimulatedBucket } from '../../../local/simulate/platform/bucket.ts';
import { SimulatedDatabase } from '../../../local/simulate/platform/database.ts';
import { SimulatedNamespace } from '../../../local/simulate/platform/objects/namespace.ts';
import { SimulatedQueue } from '../../../local/simulate/platform/queue.ts';
import { CASES } from './cases/cases.ts';
import { consume } from './cases/queues.ts';
import { attempt, textOf } from './outcome.ts';
import type { Bucket, Database, Delivered, Namespace, Platform } from './platform.ts';
import { type Context, type Env, probeOf } from './probe.ts';

const Probe = probeOf(
  class {
    ctx: Context;
    env: Env;

    constructor(ctx: Context, env: Env) {
      this.ctx = ctx;
      this.env = env;
    }
  },
);

interface Due {
  at: number;
  run(): Promise<void>;
}

/** The simulated platform. Time passes in `wait` alone, at once. */
export function simulated(): { run(name: string): Promise<string> } {
  let skew = 0;
  const now = () => Date.now() + skew;
  const delivered: Delivered[] = [];
  const dead = new SimulatedQueue({ name: 'dead', now });
  const queue = new SimulatedQueue({ name: 'queue', now, deadLetters: dead });
  const objects: SimulatedNamespace = new SimulatedNamespace({
    name: 'Probe',
    now,
    isolateFor: () => ({
      realm: globalThis,
      construct: (ctx, pass) =>
        new Probe(ctx as unknown as Context, {
          PROBE: objects.binding(globalThis, pass) as unknown as Namespace,
          QUEUE: queue.binding(globalThis, pass),
          pause: (ms) => pass({ kind: 'timer', target: 'timer', verb: 'set' }, () => pause(ms)),
        }),
    }),
  });
  const dues = (): Due[] => [
    ...objects.alarms.map(({ name, at }) => ({ at, run: () => objects.runAlarm(name) })),
    ...[queue, dead].flatMap((one) =>
      one.waiting.map(({ id, at }) => ({ at, run: () => one.deliver((batch) => consume(batch, delivered), [id]) })),
    ),
  ];
  const wait = async (ms: number): Promise<void> => {
    const until = now() + ms;
    for (;;) {
      await pause(1);
      const next = dues().toSorted((a, b) => a.at - b.at)[0];
      if (!next || next.at > until) break;
      skew += Math.max(0, next.at - now());
      await next.run();
    }
    skew += Math.max(0, until - now());
  };
  const platform: Platform = {
    db: new SimulatedDatabase().binding() as unknown as Database,
    objects: objects.binding() as unknown as Namespace,
    queue: queue.binding(),
    bucket: new SimulatedBucket().binding() as unknown as Bucket,
    delivered,
    wait,
  };
  return { run: async (name) => textOf(await attempt(() => CASES[name]!(platform))) };
}
