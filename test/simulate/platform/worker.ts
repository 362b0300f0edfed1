import { DurableObject } from 'cloudflare:workers';
import { CASES } from './cases/cases.ts';
import { consume } from './cases/queues.ts';
import { attempt, textOf } from './outcome.ts';
import type { Bucket, Database, Delivered } from './platform.ts';
import { type Context, type Env, probeOf } from './probe.ts';

interface WorkerEnv extends Env {
  DB: Database;
  BUCKET: Bucket;
}

const delivered: Delivered[] = [];
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class Probe extends probeOf(DurableObject as unknown as Parameters<typeof probeOf>[0]) {
  constructor(ctx: Context, env: Env) {
    super(ctx, { PROBE: env.PROBE, QUEUE: env.QUEUE, pause });
  }
}

/** Runs the case that the path names inside workerd. */
export default {
  async fetch(request: Request, { DB, PROBE, QUEUE, BUCKET }: WorkerEnv): Promise<Response> {
    const name = decodeURIComponent(new URL(request.url).pathname.slice(1));
    const platform = { db: DB, objects: PROBE, queue: QUEUE, bucket: BUCKET, delivered, wait: pause };
    return new Response(textOf(await attempt(() => CASES[name]!(platform))));
  },
  queue: (batch: Parameters<typeof consume>[0]): void => consume(batch, delivered),
};
