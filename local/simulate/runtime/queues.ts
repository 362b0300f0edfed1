import type { Pass } from '../platform/way.ts';
import type { Delivery } from './dispatch.ts';
import type { Scheduler } from './scheduler.ts';

interface Waiting {
  id: string;
  body: unknown;
  attempts: number;
}

interface Sent {
  body: unknown;
  delaySeconds?: number;
}

const DELIVERY_MS = 200;
const RETRIES_MAX = 10;

/** Interim queues: each message has a batch to itself. */
export class Queues {
  readonly #scheduler: Scheduler;
  readonly #deliver: (delivery: Delivery) => Promise<unknown>;
  #pending = 0;
  #lastId = 0;

  constructor(scheduler: Scheduler, deliver: (delivery: Delivery) => Promise<unknown>) {
    this.#scheduler = scheduler;
    this.#deliver = deliver;
  }

  get pending(): number {
    return this.#pending;
  }

  binding(queue: string, pass: Pass) {
    const send = (verb: string, messages: Sent[]) =>
      pass({ kind: 'queue', target: queue, verb }, () => {
        for (const { body, delaySeconds = 0 } of messages) this.#add(queue, body, delaySeconds * 1000 + DELIVERY_MS);
      });
    return {
      send: (body: unknown, options: Omit<Sent, 'body'> = {}) => send('send', [{ ...options, body: structuredClone(body) }]),
      sendBatch: (messages: Iterable<Sent>) =>
        send(
          'sendBatch',
          [...messages].map((message) => ({ ...message, body: structuredClone(message.body) })),
        ),
    };
  }

  #add(queue: string, body: unknown, ms: number): void {
    const { isDoubled, lateMs } = this.#scheduler.faults.ofDelivery(queue);
    const message = { id: `message-${++this.#lastId}`, body, attempts: 1 };
    this.#wait(queue, message, ms + lateMs);
    if (isDoubled) this.#wait(queue, message, ms + 1000);
  }

  #wait(queue: string, message: Waiting, ms: number): void {
    this.#pending++;
    this.#scheduler.clock.set(this.#scheduler.clock.now + ms, () => void this.#bring(queue, message), { isIdle: true });
  }

  async #bring(queue: string, message: Waiting): Promise<void> {
    let again: { delaySeconds?: number } | null = null;
    const retry = (options: { delaySeconds?: number } = {}) => {
      again = options;
    };
    const messages = [{ ...message, timestamp: new Date(), ack: () => {}, retry }];
    await this.#deliver({ queue, batch: { queue, messages, ackAll: () => {}, retryAll: retry } }).catch(() => retry());
    this.#pending--;
    const { delaySeconds = 5 } = again ?? {};
    if (again !== null && message.attempts <= RETRIES_MAX && queue !== 'svc-sweeps')
      this.#wait(queue, { ...message, attempts: message.attempts + 1 }, delaySeconds * 1000);
  }
}
