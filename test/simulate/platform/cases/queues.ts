import { attempt, attempts } from '../outcome.ts';
import type { Case, Delivered, Platform } from '../platform.ts';

/** Body of a message that says what the consumer does with it. */
export interface Verdicts {
  tag: string;
  /** Calls of the message for its first attempts, in order. Every later attempt is acknowledged. */
  tries?: readonly (readonly string[])[];
}

interface Consumed {
  queue: string;
  messages: readonly { id: string; attempts: number; body: unknown; ack(): void; retry(options?: { delaySeconds?: number }): void }[];
  ackAll(): void;
  retryAll(options?: { delaySeconds?: number }): void;
}

/** Consumer of the queue and of its dead-letter queue, on both sides. */
export function consume(batch: Consumed, delivered: Delivered[]): void {
  let hasFailed = false;
  for (const message of batch.messages) {
    const { id, attempts, body } = message;
    delivered.push({ queue: batch.queue, id, attempts, body });
    const { tries = [] } = (body ?? {}) as Partial<Verdicts>;
    const calls: Record<string, () => void> = {
      ack: () => message.ack(),
      retry: () => message.retry(),
      retryLater: () => message.retry({ delaySeconds: 1 }),
      ackAll: () => batch.ackAll(),
      retryAll: () => batch.retryAll(),
      throw: () => {
        hasFailed = true;
      },
    };
    for (const call of batch.queue === 'queue' ? (tries[attempts - 1] ?? []) : []) calls[call]!();
  }
  if (hasFailed) throw new Error('the consumer fails');
}

const about = (delivered: readonly Delivered[], tag: string) =>
  delivered.filter(({ body }) => (body as Partial<Verdicts> | null)?.tag === tag);

/** Sends one message and returns how it was delivered. */
const delivery = async ({ queue, delivered, wait }: Platform, tries: readonly (readonly string[])[], ms = 1500): Promise<unknown> => {
  const tag = tries.flat().join('-') || 'plain';
  await queue.send({ tag, tries });
  await wait(ms);
  const seen = about(delivered, tag);
  return { seen: seen.map(({ queue, attempts }) => ({ queue, attempts })), ids: new Set(seen.map(({ id }) => id)).size };
};

const VERDICTS: Record<string, readonly (readonly string[])[]> = {
  'a message is acknowledged by default': [[]],
  'a message is retried on request': [['retry']],
  'the first of acknowledgement and retry': [['ack', 'retry']],
  'the first of retry and acknowledgement': [['retry', 'ack']],
  'a retry of all after an acknowledgement': [['ack', 'retryAll']],
  'an acknowledgement after a retry of all': [['retryAll', 'ack']],
  'a retry after an acknowledgement of all': [['ackAll', 'retry']],
  'a consumer that fails': [['throw']],
  'a consumer that fails after an acknowledgement': [['ack', 'throw']],
  'a consumer that fails after an acknowledgement of all': [['ackAll', 'throw']],
};

export const QUEUE_CASES: Record<string, Case> = {
  ...Object.fromEntries(Object.entries(VERDICTS).map(([name, tries]): [string, Case] => [name, (platform) => delivery(platform, tries)])),

  'a message that fails each attempt becomes a dead letter': (platform) =>
    delivery(platform, [['retry'], ['retry', 'throw'], ['throw']], 3000),

  'bodies are JSON': async ({ queue, delivered, wait }) => {
    const body = { tag: 'json', date: new Date(0), missing: undefined, nan: Number.NaN, list: [undefined, 1], map: new Map([[1, 2]]) };
    await queue.send(body);
    await queue.sendBatch([{ body: { tag: 'json', n: 1 } }, { body: { tag: 'json', n: 2 } }]);
    await wait(1500);
    return about(delivered, 'json').map(({ body, attempts, queue }) => ({ body, attempts, queue }));
  },

  'messages are delayed': async ({ queue, delivered, wait }) => {
    await queue.send({ tag: 'late' }, { delaySeconds: 2 });
    await queue.sendBatch([{ body: { tag: 'late' }, delaySeconds: 2 }]);
    await wait(300);
    const early = about(delivered, 'late').length;
    await wait(3500);
    return { early, late: about(delivered, 'late').length };
  },

  'a retry is delayed': async ({ queue, delivered, wait }) => {
    await queue.send({ tag: 'again', tries: [['retryLater']] });
    for (let tries = 0; tries < 50 && about(delivered, 'again').length === 0; tries++) await wait(100);
    const early = about(delivered, 'again').length;
    await wait(2000);
    return { early, late: about(delivered, 'again').length };
  },

  'messages that cannot be sent': ({ queue }) =>
    attempts({
      large: () => queue.send('x'.repeat(128_001)),
      undefined: () => queue.send(undefined),
      bigint: () => queue.send({ a: 5n }),
      many: () => queue.sendBatch(Array.from({ length: 101 }, () => ({ body: 1 }))),
      largeOne: () => queue.sendBatch([{ body: 'x'.repeat(128_001) }]),
      largeBatch: () => queue.sendBatch(Array.from({ length: 3 }, () => ({ body: 'x'.repeat(100_000) }))),
      none: () => queue.sendBatch([]),
      longDelay: () => queue.send(1, { delaySeconds: 86_401 }),
      negativeDelay: () => queue.send(1, { delaySeconds: -1 }),
    }),
};

export const BUCKET_CASES: Record<string, Case> = {
  'objects of a bucket': async ({ bucket }) => {
    const summary = (one: Awaited<ReturnType<typeof bucket.head>>) => one && [one.key, one.size, one.httpMetadata.contentType];
    const outcomes: Record<string, unknown> = { missing: await bucket.get('none'), noHead: await bucket.head('none') };
    await bucket.put('a/1', new TextEncoder().encode('hello world'), { httpMetadata: { contentType: 'application/jsonl' } });
    await bucket.put('a/2', 'text');
    await bucket.put('b/1', new Uint8Array([1, 2, 3]).buffer);
    outcomes.head = summary(await bucket.head('a/1'));
    outcomes.text = await (await bucket.get('a/1'))!.text();
    outcomes.bytes = await (await bucket.get('b/1'))!.arrayBuffer();
    const ranged = async (range: object) => (await bucket.get('a/1', { range }))!.text();
    outcomes.range = await ranged({ offset: 2, length: 3 });
    outcomes.from = await ranged({ offset: 6 });
    outcomes.end = await ranged({ suffix: 4 });
    outcomes.beyond = await ranged({ offset: 6, length: 100 });
    outcomes.outside = await attempt(() => ranged({ offset: 100, length: 5 }));
    outcomes.size = summary(await bucket.get('a/1', { range: { offset: 2, length: 3 } }));
    const listed = await bucket.list({ prefix: 'a/' });
    outcomes.listed = { keys: listed.objects.map(({ key }) => key), truncated: listed.truncated };
    await bucket.put('a/2', 'replaced');
    outcomes.replaced = await (await bucket.get('a/2'))!.text();
    await bucket.delete(['a/1', 'none']);
    await bucket.delete('b/1');
    outcomes.left = (await bucket.list()).objects.map(({ key }) => key);
    return outcomes;
  },
};
