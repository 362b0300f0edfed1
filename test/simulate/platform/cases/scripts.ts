import { attempt, attemptSync } from '../outcome.ts';
import type { Probe } from '../probe.ts';

type Script = (probe: Probe, ...args: unknown[]) => unknown;

class OwnError extends Error {
  code: string;

  constructor(message: string) {
    super(message);
    this.name = 'OwnError';
    this.code = 'own_code';
  }
}

class Point {
  x = 1;
}

const exec = ({ ctx }: Probe, sql: string, ...bindings: unknown[]) => ctx.storage.sql.exec(sql, ...bindings);
const entriesOf = (probe: Probe): unknown[] => {
  exec(probe, 'CREATE TABLE IF NOT EXISTS log (entry TEXT)');
  return exec(probe, 'SELECT entry FROM log')
    .toArray()
    .map(({ entry }) => entry);
};
const tables = (probe: Probe) =>
  exec(probe, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf_*' ORDER BY name").toArray();

/** Code that runs inside an object. */
export const SCRIPTS: Record<string, Script> = {
  entries: entriesOf,
  tables,
  pause: ({ env }, ms) => env.pause(Number(ms)),
  id: ({ ctx }) => ({ name: ctx.id.name, length: ctx.id.toString().length }),
  echo: (_, ...values) => values,
  remember: ({ memory }, value) => {
    memory.value = value;
  },
  recall: ({ memory }) => memory.value,
  write: (probe, entry) => probe.log(String(entry)),

  statements: (probe) => {
    const run = (sql: string, ...bindings: unknown[]) => attemptSync(() => exec(probe, sql, ...bindings).toArray());
    const { sql } = probe.ctx.storage;
    return {
      create: run('CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT UNIQUE NOT NULL, c)'),
      insert: run("INSERT INTO t VALUES (1, 'x', 2), (2, 'y', 3)"),
      primary: run("INSERT INTO t VALUES (1, 'z', 2)"),
      unique: run("INSERT INTO t VALUES (3, 'x', 2)"),
      missing: run('INSERT INTO t VALUES (3, NULL, 2)'),
      returning: run("INSERT INTO t VALUES (4, 'w', 9007199254740993) RETURNING *"),
      begin: run('BEGIN'),
      savepoint: run('SAVEPOINT s'),
      syntax: run('SELEC 1'),
      table: run('SELECT * FROM nothing'),
      few: run('SELECT ?'),
      many: run('SELECT ?', 1, 2),
      hundred: run(`SELECT 1 IN (${Array(100).fill('?').join()}) AS v`, ...Array(100).fill(1)),
      more: run(`SELECT 1 IN (${Array(101).fill('?').join()}) AS v`, ...Array(101).fill(1)),
      bigint: run('SELECT ?', 5n),
      undefined: run('SELECT ? AS v', undefined),
      boolean: run('SELECT ? AS v', true),
      date: run('SELECT ? AS v', new Date(0)),
      object: run('SELECT ? AS v', {}),
      array: run('SELECT ? AS v', [1, 2]),
      integer: run("SELECT ?1 AS v, typeof(?1) AS t, ?1 || '' AS s", 5),
      beyond: run('SELECT 9007199254740993 AS v'),
      bytes: run('SELECT ?1 AS v, typeof(?1) AS t', new Uint8Array([1, 2, 3]).subarray(1)),
      buffer: run('SELECT ?1 AS v', new Uint8Array([1, 2]).buffer),
      surrogate: run('SELECT ? AS v', 'a\ud800\0b'),
      notANumber: run('SELECT ? AS v', Number.NaN),
      several: run("INSERT INTO t VALUES (5, 'v', 7); SELECT * FROM t WHERE c = ?", 7),
      severalBound: run("INSERT INTO t VALUES (?, 'u', 7); SELECT * FROM t WHERE c = ?", 7, 7),
      large: run('SELECT length(?) AS n', 'x'.repeat(2_200_001)),
      hasSize: sql.databaseSize > 0,
    };
  },

  cursors: (probe) => {
    exec(probe, 'CREATE TABLE t (a, b)');
    exec(probe, "INSERT INTO t VALUES (1, 'x'), (2, 'y')");
    const select = (where = 'true') => exec(probe, `SELECT a, b FROM t WHERE ${where}`);
    const opened = select();
    const steps = [opened.next(), opened.next().done, opened.toArray(), opened.next()];
    return {
      steps,
      one: attemptSync(() => select('a = 1').one()),
      none: attemptSync(() => select('a = 9').one()),
      several: attemptSync(() => select().one()),
      raw: [...select().raw()],
      names: select().columnNames,
      noNames: exec(probe, "INSERT INTO t VALUES (3, 'z')").columnNames,
      iterated: [...select()],
      duplicate: exec(probe, 'SELECT 1 AS a, 2 AS a').toArray(),
    };
  },

  transactions: async (probe) => {
    const { storage } = probe.ctx;
    exec(probe, 'CREATE TABLE t (a UNIQUE)');
    const insert = (a: number) => exec(probe, 'INSERT INTO t VALUES (?)', a);
    const rows = () =>
      exec(probe, 'SELECT a FROM t ORDER BY a')
        .toArray()
        .map(({ a }) => a);
    const outcomes: Record<string, unknown> = {};
    outcomes.result = storage.transactionSync(() => {
      insert(1);
      return 'done';
    });
    outcomes.thrown = attemptSync(() =>
      storage.transactionSync(() => {
        insert(2);
        throw new OwnError('undo');
      }),
    );
    outcomes.constraint = attemptSync(() =>
      storage.transactionSync(() => {
        insert(3);
        insert(1);
      }),
    );
    outcomes.nested = storage.transactionSync(() => {
      insert(4);
      attemptSync(() =>
        storage.transactionSync(() => {
          insert(5);
          throw new Error('inner');
        }),
      );
      insert(6);
      return rows();
    });
    outcomes.caught = storage.transactionSync(() => {
      insert(7);
      attemptSync(() => insert(1));
      insert(8);
      return rows();
    });
    await storage.setAlarm(Date.now() + 600_000);
    attemptSync(() =>
      storage.transactionSync(() => {
        void storage.deleteAlarm();
        throw new Error('undo');
      }),
    );
    outcomes.hasAlarm = (await storage.getAlarm()) !== null;
    await storage.deleteAlarm();
    outcomes.async = storage.transactionSync(async () => insert(9)) instanceof Promise;
    outcomes.rows = rows();
    outcomes.changes = exec(probe, 'SELECT changes() AS n').one().n;
    return outcomes;
  },

  'alarm times': async ({ ctx: { storage } }) => {
    const at = Date.now() + 600_000;
    const outcomes: Record<string, unknown> = { none: await storage.getAlarm() };
    outcomes.set = await storage.setAlarm(at);
    outcomes.number = (await storage.getAlarm()) === at;
    await storage.setAlarm(new Date(at + 1));
    outcomes.date = (await storage.getAlarm()) === at + 1;
    void storage.setAlarm(at + 2);
    outcomes.atOnce = (await storage.getAlarm()) === at + 2;
    outcomes.invalid = await attempt(() => storage.setAlarm(Number.NaN));
    outcomes.negative = await attempt(() => storage.setAlarm(-1));
    outcomes.kept = (await storage.getAlarm()) === at + 2;
    outcomes.deleted = await storage.deleteAlarm();
    outcomes.after = await storage.getAlarm();
    return outcomes;
  },

  'delete all': async (probe) => {
    const { storage } = probe.ctx;
    exec(probe, 'CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT)');
    exec(probe, 'INSERT INTO t VALUES (5)');
    await storage.setAlarm(Date.now() + 600_000);
    await storage.deleteAll();
    const outcomes: Record<string, unknown> = { tables: tables(probe), alarm: await storage.getAlarm() };
    outcomes.table = attemptSync(() => exec(probe, 'SELECT * FROM t').toArray());
    exec(probe, 'CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT)');
    exec(probe, 'INSERT INTO t DEFAULT VALUES');
    outcomes.again = exec(probe, 'SELECT * FROM t').toArray();
    return outcomes;
  },

  'throw error': () => {
    throw new Error('plain', { cause: new TypeError('the cause') });
  },
  'throw type error': () => {
    throw new TypeError('typed');
  },
  'throw range error': () => {
    throw Object.assign(new RangeError('ranged'), { extra: { a: [1] } });
  },
  'throw own error': async () => {
    throw new OwnError('own');
  },
  'throw text': () => {
    throw 'a text';
  },
  'throw object': () => {
    throw { a: 1 };
  },
  'throw undefined': () => {
    throw undefined;
  },
  'throw DOM exception': () => {
    throw new DOMException('aborted', 'AbortError');
  },
  'throw SQL error': (probe) => exec(probe, 'SELEC 1'),
  'return point': () => new Point(),
  'return symbol': () => Symbol('s'),
  'return promise': async () => ({ a: 1 }),
  'return values': () => ({
    undefined: undefined,
    null: null,
    bigint: 5n,
    date: new Date(5),
    map: new Map<unknown, unknown>([['a', { b: new Set([1]) }]]),
    bytes: new Uint8Array([1, 2]),
    buffer: new Uint8Array([3]).buffer,
    error: new OwnError('inner'),
    nan: Number.NaN,
    zero: -0,
    sparse: [1, undefined, 3],
    text: 'a\0\ud83d\ude00',
  }),
  mutate: (probe, list) => {
    const own = list as number[];
    probe.memory.list = own;
    void probe.env.pause(1).then(() => own.push(9));
    return own;
  },

  'abort after write': async (probe) => {
    probe.memory.value = 'lost';
    probe.log('durable');
    await probe.ctx.storage.sync();
    probe.log('in the turn of the abort');
    probe.ctx.abort(new OwnError('aborted'));
  },
  'write and throw': (probe) => {
    probe.log('before the error');
    throw new Error('after the write');
  },
  'block and throw': (probe) =>
    probe.ctx.blockConcurrencyWhile(async () => {
      throw new OwnError('blocked');
    }),

  // Two events run each of these at once, and log when they begin and end.
  'interleave at a timer': (probe, name) => interleave(probe, name, () => probe.env.pause(5)),
  'interleave at a promise': (probe, name) => interleave(probe, name, () => Promise.resolve()),
  'interleave at getAlarm': (probe, name) => interleave(probe, name, () => probe.ctx.storage.getAlarm()),
  'interleave at setAlarm': (probe, name) => interleave(probe, name, () => probe.ctx.storage.setAlarm(Date.now() + 600_000)),
  'interleave at a call': (probe, name) =>
    interleave(probe, name, () => probe.env.PROBE.getByName(`other of ${probe.ctx.id.name}`).run('echo')),
  'interleave at a section': (probe, name) => interleave(probe, name, () => probe.ctx.blockConcurrencyWhile(() => probe.env.pause(5))),
  'interleave within a section': (probe, name) => probe.ctx.blockConcurrencyWhile(() => interleave(probe, name, () => probe.env.pause(5))),
  'interleave at sync': (probe, name) => interleave(probe, name, () => probe.ctx.storage.sync()),

  // The first event waits for a call while the second one holds a section open.
  'answer during a section': async (probe, name) => {
    probe.log(`${name} begins`);
    if (name === 'a') await probe.env.PROBE.getByName(`other of ${probe.ctx.id.name}`).run('pause', 5);
    else
      await probe.ctx.blockConcurrencyWhile(async () => {
        await probe.env.pause(30);
        probe.log(`${name} in its section`);
      });
    probe.log(`${name} ends`);
  },

  schedule: (probe, ms) => probe.ctx.storage.setAlarm(Date.now() + Number(ms)),
  'has alarm': async ({ ctx }) => (await ctx.storage.getAlarm()) !== null,
  'alarm of alarm once': async (probe, info) => {
    const { retryCount, isRetry } = info as { retryCount: number; isRetry: boolean };
    probe.log(`runs ${retryCount} ${isRetry} ${await probe.ctx.storage.getAlarm()}`);
  },
  'alarm of alarm fails': async (probe, info) => {
    const { retryCount, isRetry } = info as { retryCount: number; isRetry: boolean };
    probe.log(`runs ${retryCount} ${isRetry} ${await probe.ctx.storage.getAlarm()}`);
    if (retryCount < 1) throw new Error('again');
  },
  'alarm of alarm sets another': async (probe, info) => {
    const { retryCount } = info as { retryCount: number };
    const count = entriesOf(probe).length;
    probe.log(`runs ${retryCount}`);
    if (count === 0) await probe.ctx.storage.setAlarm(Date.now() + 50);
  },
  'alarm of alarm sets another and fails': async (probe, info) => {
    const { retryCount } = info as { retryCount: number };
    const count = entriesOf(probe).length;
    probe.log(`runs ${retryCount}`);
    if (count > 0) return;
    await probe.ctx.storage.setAlarm(Date.now() + 50);
    throw new Error('after another alarm');
  },
  'alarm of alarm deletes itself and fails': async (probe) => {
    probe.log('runs');
    await probe.ctx.storage.deleteAlarm();
    throw new Error('after the deletion');
  },
};

async function interleave(probe: Probe, name: unknown, wait: () => Promise<unknown>): Promise<void> {
  probe.log(`${name} begins`);
  await wait();
  probe.log(`${name} goes on`);
  await wait();
  probe.log(`${name} ends`);
}

let constructions = 0;

/** Work of the constructor, by the name of the object. */
export const CONSTRUCTORS: Record<string, (probe: Probe) => void> = {
  'constructor throws once': () => {
    if (constructions++ === 0) throw new OwnError('constructor');
  },
  'constructor blocks': (probe) => {
    void probe.ctx.blockConcurrencyWhile(async () => {
      await probe.env.pause(10);
      probe.log('constructed');
    });
  },
  'constructor blocks and throws': (probe) => {
    void probe.ctx.blockConcurrencyWhile(async () => {
      await probe.env.pause(1);
      throw new OwnError('blocked constructor');
    });
  },
};
