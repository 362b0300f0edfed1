import { describe, expect, it } from 'vitest';
import { SimulatedDatabase } from '../../../local/simulate/platform/database.ts';
import type { ObjectContext } from '../../../local/simulate/platform/objects/instance.ts';
import { SimulatedNamespace } from '../../../local/simulate/platform/objects/namespace.ts';
import { SimulatedQueue } from '../../../local/simulate/platform/queue.ts';
import type { Pass, Way } from '../../../local/simulate/platform/way.ts';

/** Object that counts in storage and in memory, and calls another one. */
class Counter {
  readonly #ctx: ObjectContext;
  readonly #send: (text: string) => Promise<unknown>;
  memory = 0;

  constructor(ctx: ObjectContext, send: (text: string) => Promise<unknown>) {
    this.#ctx = ctx;
    this.#send = send;
  }

  add(): number {
    const { sql } = this.#ctx.storage;
    sql.exec('CREATE TABLE IF NOT EXISTS counts (n INTEGER)');
    sql.exec('INSERT INTO counts VALUES (1)');
    return ++this.memory;
  }

  addAndErase(): Promise<void> {
    this.add();
    return this.#ctx.storage.deleteAll();
  }

  async addAndSend(): Promise<void> {
    this.add();
    await this.#send('sent');
  }

  schedule(at: number): Promise<void> {
    return this.#ctx.storage.setAlarm(at);
  }

  wait(): Promise<void> {
    return new Promise(() => {});
  }

  alarm(): void {
    this.add();
  }
}

type Counts = Record<'add' | 'addAndErase' | 'addAndSend' | 'schedule' | 'wait', (...args: unknown[]) => Promise<unknown>>;

/** Namespace that can hold its commits until they are released. */
function heldNamespace() {
  const commits: { run(): void; refuse(error: Error): void }[] = [];
  const ways: Way[] = [];
  const state = { isHeld: false };
  const pass: Pass = (way, work) => {
    ways.push(way);
    if (!state.isHeld || way.verb !== 'commit') return (async () => work())();
    return new Promise((resolve, refuse) => void commits.push({ run: () => resolve(work()), refuse }));
  };
  const isolateFor = () => ({
    realm: globalThis,
    construct: (ctx: ObjectContext, out: Pass) =>
      new Counter(ctx, (text) => out({ kind: 'queue', target: text, verb: 'send' }, () => text)),
  });
  const namespace = new SimulatedNamespace({ name: 'COUNTER', isolateFor, pass });
  const counter = () => namespace.binding().getByName('one') as Counts;
  const tables = () => namespace.rows('one', "SELECT count(*) FROM sqlite_master WHERE name = 'counts'")[0]![0];
  const stored = () => (tables() === 0 ? 0 : namespace.rows('one', 'SELECT count(*) FROM counts')[0]![0]);
  return { namespace, counter, stored, commits, ways, state };
}

const turns = async (): Promise<void> => {
  for (let i = 0; i < 5; i++) await new Promise(setImmediate);
};
const settled = (work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work.catch((error: Error) => error.message), turns().then(() => 'open')]);

describe('simulated object', () => {
  it('answers once its writes are durable', async () => {
    const { counter, commits, state } = heldNamespace();
    state.isHeld = true;
    const answer = counter().add();
    expect(await settled(answer)).toBe('open');
    commits[0]!.run();
    expect(await settled(answer)).toBe(1);
  });

  it('sends nothing before its writes are durable', async () => {
    const { counter, commits, ways, state } = heldNamespace();
    state.isHeld = true;
    const answer = counter().addAndSend();
    await turns();
    expect(ways.filter(({ kind }) => kind === 'queue')).toEqual([]);
    commits[0]!.run();
    await answer;
    expect(ways.filter(({ kind }) => kind === 'queue')).toHaveLength(1);
  });

  it('loses writes that are not durable when it is killed, and its callers get an error', async () => {
    const { namespace, counter, stored, commits, state } = heldNamespace();
    await counter().add();
    state.isHeld = true;
    const answer = counter().add();
    await turns();
    namespace.kill('one');
    expect(await settled(answer)).toBe('Network connection lost.');
    commits[0]!.run();
    state.isHeld = false;
    expect(stored()).toBe(1);
    expect(await counter().add()).toBe(1);
    expect(stored()).toBe(2);
  });

  it('restores everything if it is killed before a deletion is durable', async () => {
    const { namespace, counter, stored, state } = heldNamespace();
    await counter().add();
    state.isHeld = true;
    void counter()
      .addAndErase()
      .catch(() => {});
    await turns();
    expect(stored()).toBe(0);
    namespace.kill('one');
    expect(stored()).toBe(1);
  });

  it('resets if a commit is refused', async () => {
    const { namespace, counter, stored, commits, state } = heldNamespace();
    await counter().add();
    state.isHeld = true;
    const answer = counter().add();
    await turns();
    commits[0]!.refuse(new Error('storage is down'));
    expect(await settled(answer)).toBe('Internal error in Durable Object storage write caused object to be reset.');
    expect([namespace.isRunning('one'), stored()]).toEqual([false, 1]);
  });

  it('loses its memory but not its storage in an eviction, which no busy object has', async () => {
    const { namespace, counter, stored } = heldNamespace();
    await counter().add();
    const waiting = counter().wait();
    await turns();
    expect(namespace.evict('one')).toBe(false);
    namespace.kill('one');
    await settled(waiting);
    await counter().add();
    expect(namespace.evict('one')).toBe(true);
    expect(await counter().add()).toBe(1);
    expect(stored()).toBe(3);
  });

  it('forgets every object when its namespace is closed, whatever is under way', async () => {
    const { namespace, counter, commits, state } = heldNamespace();
    await counter().schedule(1);
    state.isHeld = true;
    const run = namespace.runAlarm('one');
    const answer = counter().add();
    await turns();
    namespace.close();
    commits[0]!.run();
    expect([await settled(run), await settled(answer), namespace.names]).toEqual(['open', 'open', []]);
    state.isHeld = false;
    expect(await counter().add()).toBe(1);
  });

  it('runs an alarm again if the object dies before the end of its run is durable', async () => {
    const { namespace, counter, stored, state } = heldNamespace();
    await counter().schedule(1);
    expect(namespace.alarms).toEqual([{ name: 'one', at: 1 }]);
    state.isHeld = true;
    const run = namespace.runAlarm('one');
    await turns();
    expect(namespace.alarms).toEqual([]);
    namespace.kill('one');
    state.isHeld = false;
    await run;
    expect([stored(), namespace.alarms.length]).toEqual([0, 1]);
    await namespace.runAlarm('one');
    expect([stored(), namespace.alarms]).toEqual([1, []]);
  });
});

describe('simulated queue', () => {
  const sent = async (queue: SimulatedQueue, count: number) => {
    for (let n = 0; n < count; n++) await queue.binding().send(n);
    return queue.waiting.map(({ id }) => id);
  };

  it('delivers out of order, and twice, on request', async () => {
    const queue = new SimulatedQueue({ name: 'queue' });
    const [a, b] = await sent(queue, 2);
    const seen: unknown[] = [];
    await queue.deliver(({ messages }) => void seen.push(messages.map(({ body }) => body)), [b!, a!, b!]);
    expect([seen, queue.size]).toEqual([[[1, 0, 1]], 0]);
  });

  it('delivers again what a consumer never got', async () => {
    let isDown = true;
    const pass: Pass = async (way, work) => {
      if (isDown && way.verb === 'deliver') throw new Error('lost');
      return work();
    };
    const queue = new SimulatedQueue({ name: 'queue', pass });
    await sent(queue, 1);
    const attempts: number[] = [];
    const consume = ({ messages }: { messages: readonly { attempts: number }[] }) =>
      void attempts.push(...messages.map((one) => one.attempts));
    await queue.deliver(consume);
    isDown = false;
    await queue.deliver(consume);
    expect([attempts, queue.size]).toEqual([[2], 0]);
  });
});

describe('simulated database', () => {
  it('starts from an image, and rewinds to it', async () => {
    const made = new SimulatedDatabase();
    made.migrate('CREATE TABLE t (a INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)');
    const database = new SimulatedDatabase({ image: made.serialize() });
    await database.binding().prepare('INSERT INTO t VALUES (2)').run();
    expect(database.rows('SELECT a FROM t')).toEqual([{ a: 1 }, { a: 2 }]);
    database.rewind();
    expect(database.rows('SELECT a FROM t')).toEqual([{ a: 1 }]);
  });

  it('stores nothing if a call fails before its effect, and all if its answer is lost', async () => {
    let fault: 'before' | 'after' = 'before';
    const pass: Pass = async (_way, work) => {
      if (fault === 'before') throw new Error('not sent');
      await work();
      throw new Error('answer lost');
    };
    const database = new SimulatedDatabase({ pass });
    database.migrate('CREATE TABLE t (a)');
    const insert = () => database.binding().prepare('INSERT INTO t VALUES (1)').run();
    await expect(insert()).rejects.toThrow('not sent');
    expect(database.rows('SELECT count(*) AS n FROM t')).toEqual([{ n: 0 }]);
    fault = 'after';
    await expect(insert()).rejects.toThrow('answer lost');
    expect(database.rows('SELECT count(*) AS n FROM t')).toEqual([{ n: 1 }]);
  });
});
