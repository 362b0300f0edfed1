import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../bundle.ts';
import { SimulatedDatabase } from '../platform/database.ts';
import type { Delivery } from './dispatch.ts';
import type { Isolate } from './isolate.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

interface Surroundings {
  scheduler: Scheduler;
  isolates: readonly Isolate[];
  random: Random;
  variables: Readonly<Record<string, string>>;
  deliver(delivery: Delivery): Promise<void>;
}

export interface Bindings {
  enter(around: Surroundings): object;
  leave(): void;
  evictAllOf(isolate: Isolate): void;
  pendingMessages(): number;
  rows(sql: string, ...values: (string | number | null)[]): Record<string, unknown>[];
}

export async function openBindings(): Promise<Bindings> {
  let around: Surroundings | null = null;
  const pass = ((way, work) => around!.scheduler.pass(way, work)) as Scheduler['pass'];
  const database = new SimulatedDatabase({ pass });
  const folder = join(ROOT, 'migrations');
  for (const name of readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort())
    database.migrate(readFileSync(join(folder, name), 'utf8'));
  return {
    enter: (now) => {
      around = now;
      return { ...now.variables, DB: database.binding() };
    },
    leave: () => {
      around = null;
      database.rewind();
    },
    evictAllOf: () => {},
    pendingMessages: () => 0,
    rows: (sql, ...values) => database.rows(sql, ...values),
  };
}
