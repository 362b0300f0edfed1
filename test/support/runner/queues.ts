import { vi } from 'vitest';
import type { AttemptMessage, Env } from '#platform/context.ts';
import worker from '../../../worker/index.ts';
import type { HeldAttempt, World } from '../world.ts';

/** Batch size as in wrangler.toml. */
const ATTEMPTS_BATCH = 6;
export const JOBS_BATCH = 10;

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** URL of a receiver that does not answer within an attempt's time. */
const SILENT = /^(.*)\/(?:hang|slow)\/([^/]+)$/;

/** Makes requests to silent servers time out on demand instead of after fifteen seconds. */
export function holdSilent(): { open(): number; expire(): Promise<void> } {
  const open = new Set<AbortController>();
  const sent = new Map<string, number>();
  const { fetch } = globalThis;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const [, origin, box] = SILENT.exec(String(input)) ?? [];
    if (box === undefined) return fetch(input, init);
    const boxUrl = `${origin}/_box/${box}`;
    sent.set(boxUrl, (sent.get(boxUrl) ?? 0) + 1);
    const patience = new AbortController();
    open.add(patience);
    return fetch(input, { ...init, signal: patience.signal }).finally(() => open.delete(patience));
  });
  const hasArrived = async ([boxUrl, count]: [string, number]) => (await (await fetch(boxUrl)).json<unknown[]>()).length >= count;
  const timeout = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
  const expire = async () => {
    for (const one of sent) while (!(await hasArrived(one))) await pause(5);
    for (const patience of open) patience.abort(timeout);
  };
  return { open: () => open.size, expire };
}

/** Consumers of the two queues as on the platform: the next batch starts when the handler returns, whatever work is left. */
export class AttemptQueues {
  readonly #background: Promise<unknown>[] = [];
  #underWay = 0;
  #isOver = false;
  readonly #w: World;
  readonly #env: Env;
  readonly #beforeBatch: () => Promise<unknown>;
  readonly #loops: Promise<void>[];

  constructor(w: World, env: Env = w.env, beforeBatch: () => Promise<unknown> = async () => {}) {
    this.#w = w;
    this.#env = env;
    this.#beforeBatch = beforeBatch;
    this.#loops = [false, true].map((isSlow) => this.#consume(isSlow));
  }

  #take(isSlow: boolean): HeldAttempt[] {
    const { attempts } = this.#w;
    const batch: HeldAttempt[] = [];
    for (let i = 0; i < attempts.length && batch.length < ATTEMPTS_BATCH; ) {
      // Delayed messages wait. The end of a test takes them earlier, through the sweep.
      if (attempts[i]!.isSlow === isSlow && attempts[i]!.delaySeconds === 0) batch.push(...attempts.splice(i, 1));
      else i++;
    }
    return batch;
  }

  async #consume(isSlow: boolean): Promise<void> {
    await pause(0);
    for (;;) {
      const batch = this.#take(isSlow);
      if (batch.length === 0 && this.#isOver) return;
      if (batch.length === 0) {
        await pause(2);
        continue;
      }
      await this.#beforeBatch();
      const messages = batch.map((held, index) => ({
        id: `a${index}`,
        timestamp: new Date(),
        attempts: 1,
        body: held,
        ack: () => {},
        retry: () => this.#w.attempts.push(held),
      }));
      const execution = { waitUntil: (work: Promise<unknown>) => this.#leave(work), passThroughOnException: () => {}, props: {} };
      const queue = isSlow ? 'svc-webhooks-slow' : 'svc-webhooks';
      await worker.queue(
        { queue, messages } as unknown as MessageBatch<AttemptMessage>,
        this.#env,
        execution as unknown as Parameters<typeof worker.queue>[2],
      );
    }
  }

  #leave(work: Promise<unknown>): void {
    this.#underWay++;
    this.#background.push(work.finally(() => this.#underWay--));
  }

  async drain(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }

  /** Waits until nothing is under way but requests to silent servers. */
  async quieten(silent: ReturnType<typeof holdSilent>): Promise<void> {
    await this.drain();
    while (this.#underWay > silent.open()) await pause(2);
  }

  /** Waits for the remaining work. Silent servers time out once only they are waited for. */
  async end(silent?: ReturnType<typeof holdSilent>): Promise<void> {
    if (silent === undefined) await this.drain();
    else await this.quieten(silent);
    await silent?.expire();
    await Promise.all(this.#background);
  }
}
