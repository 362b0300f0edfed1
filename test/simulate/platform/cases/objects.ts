import { attempt, attempts } from '../outcome.ts';
import type { Case, Platform, Stub } from '../platform.ts';

const SCRIPTED = ['statements', 'cursors', 'transactions', 'alarm times', 'delete all'];
const THROWN = ['error', 'type error', 'range error', 'own error', 'text', 'object', 'undefined', 'DOM exception', 'SQL error'];
const INTERLEAVED = [
  'at a timer',
  'at a promise',
  'at getAlarm',
  'at setAlarm',
  'at a call',
  'at a section',
  'within a section',
  'at sync',
];

/** Case of one script, in an object of its own. */
const scripted = (script: string): [string, Case] => [`object: ${script}`, ({ objects }) => objects.getByName(script).run(script)];

/** Two events of one object at once, in the order in which they wait for each other. */
const interleaved = (script: string): [string, Case] => [
  `two events ${script}`,
  async ({ objects }) => {
    const object = objects.getByName(`two events ${script}`);
    await object.run('entries');
    await Promise.all([object.run(`interleave ${script}`, 'a'), object.run(`interleave ${script}`, 'b')]);
    return object.run('entries');
  },
];

async function runAlarm({ objects, wait }: Platform, name: string, waits: readonly number[]): Promise<unknown> {
  const object = objects.getByName(name);
  await object.run('schedule', 20);
  const seen: unknown[] = [];
  for (const ms of waits) {
    await wait(ms);
    seen.push(await object.run('entries'), await object.run('has alarm'));
  }
  return seen;
}

const RETRY_MS = 4000;
const alarm = (name: string, waits: readonly number[]): [string, Case] => [name, (platform) => runAlarm(platform, name, waits)];

export const OBJECT_CASES: Record<string, Case> = {
  ...Object.fromEntries(SCRIPTED.map(scripted)),
  ...Object.fromEntries(INTERLEAVED.map(interleaved)),

  'an answer waits for the section of another event': async ({ objects }) => {
    const object = objects.getByName('answer during a section');
    await object.run('entries');
    await Promise.all([object.run('answer during a section', 'a'), object.run('answer during a section', 'b')]);
    return object.run('entries');
  },

  'errors of methods': ({ objects }) => {
    const object = objects.getByName('errors');
    const works = Object.fromEntries(THROWN.map((thrown) => [thrown, () => object.run(`throw ${thrown}`)]));
    return attempts({ ...works, after: () => object.run('echo', 'still works') });
  },

  'methods that do not exist': ({ objects }) => {
    const object = objects.getByName('methods');
    return attempts({
      missing: () => object.nothing(),
      own: () => object.own(),
      hasThen: () => typeof (object as { then?: unknown }).then,
    });
  },

  'arguments and results are copies': async ({ objects }) => {
    const object = objects.getByName('copies');
    const list = [1];
    const call = object.run('echo', list);
    list.push(2);
    const nested = { a: undefined, b: [new Date(1), new Map([[1, 5n]])], c: new Uint8Array([7]) };
    const mutated = (await object.run('mutate', [1])) as number[];
    await objects.getByName('later').run('pause', 20);
    return { sent: await call, values: await object.run('return values'), echoed: await object.run('echo', nested, -0), mutated };
  },

  'values that cannot be sent': ({ objects }) => {
    const object = objects.getByName('unsendable');
    return attempts({
      point: () => object.run('return point'),
      symbol: () => object.run('return symbol'),
      sentSymbol: () => object.run('echo', Symbol('s')),
      sentPoint: () => object.run('echo', new (class Sent {})()),
      promise: () => object.run('return promise'),
    });
  },

  'names and ids': async ({ objects }) => {
    const [id, again, other] = ['named', 'named', 'other'].map((name) => objects.idFromName(name).toString());
    return {
      inside: await objects.getByName('named').run('id'),
      stub: (objects.getByName('named') as unknown as { name: string }).name,
      length: id!.length,
      isSame: id === again,
      isOther: id !== other,
    };
  },

  'an abort resets the object to what was durable': async ({ objects, wait }) => {
    const object = () => objects.getByName('aborted');
    await object().run('remember', 'here');
    const inFlight = attempt(() => object().run('pause', 200));
    await object().run('echo');
    const outcomes: Record<string, unknown> = { aborted: await attempt(() => object().run('abort after write')), inFlight: await inFlight };
    await wait(20);
    outcomes.memory = await object().run('recall');
    outcomes.entries = await object().run('entries');
    return outcomes;
  },

  'writes before an error stay': async ({ objects }) => {
    const object = objects.getByName('write and throw');
    return { thrown: await attempt(() => object.run('write and throw')), entries: await object.run('entries') };
  },

  'a section that throws resets the object': async ({ objects }) => {
    const object = (): Stub => objects.getByName('block and throw');
    await object().run('remember', 'here');
    const thrown = await attempt(() => object().run('block and throw'));
    return { thrown, memory: await object().run('recall') };
  },

  'constructors that throw or block': ({ objects }) => {
    const echo = (name: string) => () => objects.getByName(name).run('echo', 'works');
    return attempts({
      throws: echo('constructor throws once'),
      again: echo('constructor throws once'),
      blocks: () => objects.getByName('constructor blocks').run('entries'),
      blocksAndThrows: echo('constructor blocks and throws'),
    });
  },

  'calls of one stub arrive in order': async ({ objects }) => {
    const object = objects.getByName('ordered');
    await Promise.all(Array.from({ length: 10 }, (_, i) => object.run('write', i)));
    return object.run('entries');
  },

  'objects have storage of their own': async ({ objects }) => {
    await objects.getByName('apart one').run('write', 'one');
    await objects.getByName('apart two').run('write', 'two');
    return [await objects.getByName('apart one').run('entries'), await objects.getByName('apart two').run('entries')];
  },

  ...Object.fromEntries([
    alarm('alarm once', [300, 300]),
    alarm('alarm fails', [300, RETRY_MS]),
    alarm('alarm sets another', [600]),
    alarm('alarm sets another and fails', [600, RETRY_MS]),
    alarm('alarm deletes itself and fails', [300, RETRY_MS]),
  ]),
};
