import { Buffer } from 'node:buffer';
import { type Pass, passAtOnce, type Realm } from './way.ts';

interface QueueOptions {
  name: string;
  pass?: Pass;
  now?(): number;
  newId?(): string;
  batchMax?: number;
  retriesMax?: number;
  deadLetters?: SimulatedQueue;
}

interface StoredMessage {
  id: string;
  sentAt: number;
  /** JSON, as a queue stores it. */
  body: string;
  attempts: number;
  dueAt: number;
}

interface SendOptions {
  delaySeconds?: number;
}

/** Answer of a consumer for one message. The first one holds. */
type Verdict = { kind: 'ack' } | { kind: 'retry'; delaySeconds?: number };

export interface Message {
  id: string;
  timestamp: Date;
  body: unknown;
  attempts: number;
  ack(): void;
  retry(options?: SendOptions): void;
}

export interface MessageBatch {
  queue: string;
  messages: readonly Message[];
  metadata: { metrics: { backlogCount: number; backlogBytes: number } };
  ackAll(): void;
  retryAll(options?: SendOptions): void;
}

type Consume = (batch: MessageBatch) => unknown;

const MESSAGE_BYTES_MAX = 128_000;
const MESSAGES_MAX = 100;
const BATCH_BYTES_MAX = 288_000;
const DELAY_SECONDS_MAX = 86_400;

/**
 * Queue with one consumer. `deliver` hands over a batch: at least once, since everything is delivered again that the consumer did not
 * acknowledge. Who calls it chooses when, which messages, in what order, and which ones twice.
 */
export class SimulatedQueue {
  readonly #options: Required<Omit<QueueOptions, 'deadLetters'>> & Pick<QueueOptions, 'deadLetters'>;
  readonly #messages = new Map<string, StoredMessage>();
  #ids = 0;

  constructor(options: QueueOptions) {
    const newId = () => (++this.#ids).toString(16).padStart(32, '0');
    this.#options = { pass: passAtOnce, now: Date.now, newId, batchMax: 5, retriesMax: 2, ...options };
  }

  get name(): string {
    return this.#options.name;
  }

  /** Number of messages that are waiting or being delivered. */
  get size(): number {
    return this.#messages.size;
  }

  /** Binding of an isolate. `realm` is its global object, `pass` carries its calls. */
  binding(realm: Realm = globalThis, pass: Pass = this.#options.pass): QueueBinding {
    const send: Send = (verb, messages) => pass({ kind: 'queue', target: this.name, verb }, () => this.#store(messages));
    return new QueueBinding(realm, send);
  }

  /** Ids of messages that are not being delivered, with the earliest time of their delivery. */
  get waiting(): { id: string; at: number }[] {
    return [...this.#messages.values()].map(({ id, dueAt }) => ({ id, at: dueAt })).filter(({ at }) => at !== Number.POSITIVE_INFINITY);
  }

  clear(): void {
    this.#messages.clear();
  }

  /**
   * Delivers the messages with these ids, by default those that are due, in order of arrival. An id may occur twice. Messages are retried if
   * `consume` fails or never runs.
   */
  async deliver(consume: Consume, ids: readonly string[] = this.#dueIds()): Promise<void> {
    const stored = ids.flatMap((id) => this.#messages.get(id) ?? []);
    if (stored.length === 0) return;
    for (const message of stored) message.dueAt = Number.POSITIVE_INFINITY;
    const batch = new Batch(this.name, stored, this.size - stored.length);
    let hasFailed = false;
    try {
      await this.#options.pass({ kind: 'queue', target: this.name, verb: 'deliver' }, () => consume(batch) as Promise<void>);
    } catch {
      hasFailed = true;
    }
    for (const message of new Set(stored)) this.#settle(message, hasFailed ? batch.retryOf(message.id, true) : batch.retryOf(message.id));
  }

  #settle(message: StoredMessage, retry: { delaySeconds: number } | null): void {
    const { retriesMax, deadLetters, now } = this.#options;
    if (retry === null) {
      this.#messages.delete(message.id);
    } else if (message.attempts <= retriesMax) {
      message.attempts++;
      message.dueAt = now() + retry.delaySeconds * 1000;
    } else {
      this.#messages.delete(message.id);
      deadLetters?.receive(message);
    }
  }

  /** Takes over a message that another queue gave up. */
  receive(message: StoredMessage): void {
    this.#messages.set(message.id, { ...message, attempts: 1, dueAt: this.#options.now() });
  }

  #dueIds(): string[] {
    const now = this.#options.now();
    const due = this.waiting.filter(({ at }) => at <= now);
    return due.slice(0, this.#options.batchMax).map(({ id }) => id);
  }

  #store(messages: readonly Outgoing[]): void {
    const { newId, now } = this.#options;
    for (const { body, delaySeconds } of messages) {
      const id = newId();
      this.#messages.set(id, { id, sentAt: now(), body, attempts: 1, dueAt: now() + delaySeconds * 1000 });
    }
  }
}

class Batch implements MessageBatch {
  readonly queue: string;
  readonly messages: readonly Message[];
  readonly metadata: MessageBatch['metadata'];
  readonly #verdicts = new Map<string, Verdict>();
  #all: Verdict = { kind: 'ack' };
  #hasAll = false;

  constructor(queue: string, stored: readonly StoredMessage[], backlogCount: number) {
    this.queue = queue;
    this.metadata = { metrics: { backlogCount, backlogBytes: 0 } };
    this.messages = stored.map(({ id, sentAt, body, attempts }) => ({
      id,
      timestamp: new Date(sentAt),
      body: JSON.parse(body),
      attempts,
      ack: () => this.#judge(id, { kind: 'ack' }),
      retry: (options) => this.#judge(id, { kind: 'retry', ...options }),
    }));
  }

  ackAll(): void {
    this.#judgeAll({ kind: 'ack' });
  }

  retryAll(options?: SendOptions): void {
    this.#judgeAll({ kind: 'retry', ...options });
  }

  /** Delay of a message that must be delivered again, or null. */
  retryOf(id: string, hasFailed = false): { delaySeconds: number } | null {
    const verdict = this.#verdicts.get(id);
    const decided = verdict ?? this.#all;
    const isRetried = hasFailed || this.#all.kind === 'retry' || decided.kind === 'retry';
    if (!isRetried) return null;
    const own = verdict?.kind === 'retry' ? verdict.delaySeconds : undefined;
    return { delaySeconds: own ?? (this.#all.kind === 'retry' ? this.#all.delaySeconds : undefined) ?? 0 };
  }

  #judge(id: string, verdict: Verdict): void {
    if (!this.#hasAll && !this.#verdicts.has(id)) this.#verdicts.set(id, verdict);
  }

  #judgeAll(verdict: Verdict): void {
    if (this.#hasAll) return;
    this.#hasAll = true;
    this.#all = verdict;
  }
}

interface Outgoing {
  body: string;
  delaySeconds: number;
}

type Send = (verb: string, messages: readonly Outgoing[]) => Promise<void>;

/** `env.QUEUE`. */
export class QueueBinding {
  readonly #realm: Realm;
  readonly #send: Send;

  constructor(realm: Realm, send: Send) {
    this.#realm = realm;
    this.#send = send;
  }

  async send(body: unknown, { delaySeconds = 0 }: SendOptions = {}): Promise<void> {
    await this.#sendAll('send', [{ body: this.#textOf(body), delaySeconds }]);
  }

  async sendBatch(messages: Iterable<{ body: unknown } & SendOptions>, options: SendOptions = {}): Promise<void> {
    const outgoing = [...messages].map(({ body, delaySeconds = options.delaySeconds ?? 0 }) => ({
      body: this.#textOf(body),
      delaySeconds,
    }));
    if (outgoing.length === 0) throw new this.#realm.TypeError('sendBatch() requires at least one message');
    await this.#sendAll('sendBatch', outgoing);
  }

  #textOf(body: unknown): string {
    const text = JSON.stringify(body);
    if (text === undefined) throw new this.#realm.TypeError('Message body cannot be undefined');
    return text;
  }

  async #sendAll(verb: string, messages: readonly Outgoing[]): Promise<void> {
    if (!isAcceptable(messages)) throw new this.#realm.Error('Unknown Internal Error (15000)');
    await this.#send(verb, messages);
  }
}

function isAcceptable(messages: readonly Outgoing[]): boolean {
  const sizes = messages.map(({ body }) => Buffer.byteLength(body));
  return (
    messages.length <= MESSAGES_MAX &&
    sizes.every((bytes) => bytes <= MESSAGE_BYTES_MAX) &&
    sizes.reduce((sum, bytes) => sum + bytes, 0) <= BATCH_BYTES_MAX &&
    messages.every(({ delaySeconds }) => delaySeconds >= 0 && delaySeconds <= DELAY_SECONDS_MAX)
  );
}
