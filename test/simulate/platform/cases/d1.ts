import { attempt, attempts } from '../outcome.ts';
import type { Case, Database, Statement } from '../platform.ts';

/** Runs statements that create tables, which all cases of a run share. */
const make = async (db: Database, ...sql: string[]): Promise<void> => {
  for (const one of sql) await db.prepare(one).run();
};

const changeOf = ({ changes, last_row_id, changed_db }: Record<string, unknown>) => ({ changes, last_row_id, changed_db });
const readMeta = async (result: Promise<{ meta: Record<string, unknown> }>) => changeOf((await result).meta);

export const D1_CASES: Record<string, Case> = {
  'metadata counts changed rows and names the last row': async ({ db }) => {
    await make(db, 'CREATE TABLE meta_rows (id INTEGER PRIMARY KEY, a TEXT)');
    return attempts({
      insert: () => readMeta(db.prepare("INSERT INTO meta_rows VALUES (7, 'a'), (9, 'b')").run()),
      update: () => readMeta(db.prepare("UPDATE meta_rows SET a = 'c'").all()),
      same: () => readMeta(db.prepare("UPDATE meta_rows SET a = 'c'").run()),
      none: () => readMeta(db.prepare("UPDATE meta_rows SET a = 'd' WHERE id = 99").run()),
      read: () => readMeta(db.prepare('SELECT * FROM meta_rows').all()),
      ignored: () => readMeta(db.prepare("INSERT INTO meta_rows VALUES (7, 'x') ON CONFLICT DO NOTHING").run()),
      upsert: () => readMeta(db.prepare("INSERT INTO meta_rows VALUES (7, 'x') ON CONFLICT DO UPDATE SET a = excluded.a").run()),
      replaced: () => readMeta(db.prepare("INSERT OR REPLACE INTO meta_rows VALUES (7, 'y')").run()),
      returning: async () => (await db.prepare("INSERT INTO meta_rows (a) VALUES ('z') RETURNING id, a").all()).results,
      common: () => readMeta(db.prepare("WITH n (v) AS (SELECT 'w') INSERT INTO meta_rows (a) SELECT v FROM n").run()),
      delete: () => readMeta(db.prepare('DELETE FROM meta_rows').run()),
    });
  },

  'constraint errors': async ({ db }) => {
    await make(
      db,
      'CREATE TABLE refusing (id INTEGER PRIMARY KEY, b TEXT NOT NULL UNIQUE, c CHECK (c <> 13), d INTEGER REFERENCES refusing (id))',
      'CREATE TABLE named (k TEXT, l TEXT, m ANY, PRIMARY KEY (k, l)) STRICT, WITHOUT ROWID',
      'CREATE TABLE strict_one (n INTEGER) STRICT',
      'CREATE UNIQUE INDEX named_lower ON named (lower(m))',
      "CREATE TRIGGER refusing_raises BEFORE INSERT ON refusing WHEN NEW.b = 'raise' BEGIN SELECT RAISE(ABORT, 'no such thing'); END",
      "INSERT INTO refusing VALUES (1, 'x', 1, NULL)",
      "INSERT INTO named VALUES ('a', 'b', 'C')",
    );
    const run = (sql: string) => () => db.prepare(sql).run();
    return attempts({
      primary: run("INSERT INTO refusing VALUES (1, 'y', 1, NULL)"),
      unique: run("INSERT INTO refusing VALUES (2, 'x', 1, NULL)"),
      missing: run('INSERT INTO refusing VALUES (2, NULL, 1, NULL)'),
      check: run("INSERT INTO refusing VALUES (2, 'y', 13, NULL)"),
      foreign: run("INSERT INTO refusing VALUES (2, 'y', 1, 99)"),
      trigger: run("INSERT INTO refusing VALUES (2, 'raise', 1, NULL)"),
      composite: run("INSERT INTO named VALUES ('a', 'b', 'D')"),
      expression: run("INSERT INTO named VALUES ('a', 'c', 'c')"),
      strict: run("INSERT INTO strict_one VALUES ('text')"),
      mismatch: run("INSERT INTO refusing VALUES ('text', 'y', 1, NULL)"),
      rows: () => db.prepare('SELECT (SELECT count(*) FROM refusing) AS a, (SELECT count(*) FROM named) AS b').first(),
    });
  },

  'a batch is stored as a whole or not at all': async ({ db }) => {
    await make(db, 'CREATE TABLE atomic (id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT UNIQUE)', "INSERT INTO atomic (a) VALUES ('taken')");
    const insert = (value: string): Statement => db.prepare('INSERT INTO atomic (a) VALUES (?)').bind(value);
    const count = async () => (await db.prepare('SELECT count(*) AS n, max(id) AS last FROM atomic').all()).results;
    return attempts({
      refused: () => db.batch([insert('new'), insert('taken'), insert('other')]),
      after: count,
      syntax: () => db.batch([insert('new'), db.prepare('SELEC 1')]),
      afterSyntax: count,
      unbound: () => db.batch([insert('new'), db.prepare('SELECT ?')]),
      afterUnbound: count,
      stored: async () => (await db.batch([insert('new'), insert('other')])).map(({ meta }) => changeOf(meta)),
      afterStored: count,
      empty: () => db.batch([]),
      comments: () => db.batch([db.prepare('-- nothing')]),
    });
  },

  'a statement of a batch sees what those before it did': async ({ db }) => {
    await make(db, 'CREATE TABLE seen (id INTEGER PRIMARY KEY, a INTEGER)');
    const results = await db.batch([
      db.prepare('INSERT INTO seen VALUES (1, 5), (2, 6)'),
      db.prepare('SELECT sum(a) AS sum FROM seen'),
      db.prepare('UPDATE seen SET a = a + 1 WHERE id = ?').bind(2),
      db.prepare('SELECT a FROM seen ORDER BY id'),
    ]);
    return results.map(({ results }) => results);
  },

  'changes() is that of the last write, over reads and batches': async ({ db }) => {
    await make(
      db,
      'CREATE TABLE counted (id INTEGER PRIMARY KEY, a INTEGER)',
      'CREATE TABLE counted_log (id INTEGER)',
      'CREATE TRIGGER counted_added AFTER INSERT ON counted BEGIN INSERT INTO counted_log VALUES (NEW.id), (NEW.id); END',
    );
    const changes = () => db.prepare('SELECT changes() AS n');
    const batch = await db.batch([
      db.prepare('INSERT INTO counted VALUES (1, 1), (2, 1), (3, 1)'),
      changes(),
      changes(),
      db.prepare('UPDATE counted SET a = 2 WHERE id > 1'),
      changes(),
      db.prepare('UPDATE counted SET a = 2 WHERE id > 9'),
      changes(),
      db.prepare('SELECT * FROM counted'),
      changes(),
      db.prepare('DELETE FROM counted WHERE id = 1 RETURNING id'),
      changes(),
      db.prepare('INSERT INTO counted VALUES (2, 9) ON CONFLICT DO NOTHING'),
      changes(),
    ]);
    return batch.map(({ results, meta }) => [results, changeOf(meta)]);
  },

  'a guard aborts a batch whose compare-and-set hit nothing': async ({ db }) => {
    await make(db, 'CREATE TABLE guard_one (never TEXT NOT NULL)', 'CREATE TABLE versions (id TEXT PRIMARY KEY, version INTEGER)');
    await make(db, "INSERT INTO versions VALUES ('a', 1)");
    const step = (from: number) => [
      db.prepare('UPDATE versions SET version = version + 1 WHERE id = ? AND version = ?').bind('a', from),
      db.prepare('INSERT INTO guard_one SELECT NULL WHERE changes() <> 1'),
      db.prepare("INSERT INTO versions VALUES ('of ' || ?, 0)").bind(from),
    ];
    return attempts({
      hit: async () => (await db.batch(step(1))).map(({ meta }) => changeOf(meta)),
      missed: () => db.batch(step(1)),
      rows: async () => (await db.prepare('SELECT * FROM versions ORDER BY id').all()).results,
    });
  },

  'concurrent batches for one unique row: one is stored': async ({ db }) => {
    await make(
      db,
      'CREATE TABLE raced (subject TEXT, version INTEGER, UNIQUE (subject, version))',
      'CREATE TABLE raced_effects (n INTEGER)',
    );
    const race = (n: number) =>
      db.batch([db.prepare('INSERT INTO raced VALUES (?, ?)').bind('s', 2), db.prepare('INSERT INTO raced_effects VALUES (?)').bind(n)]);
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => race(n)));
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason.message as string] : []));
    return { refused, effects: await db.prepare('SELECT count(*) AS n FROM raced_effects').first('n') };
  },

  'bound values and their types in SQL': async ({ db }) => {
    await make(db, 'CREATE TABLE typed (i INTEGER, t TEXT, r REAL, n NUMERIC, b BLOB)');
    const read = (value: unknown) => () => db.prepare("SELECT ?1 AS v, typeof(?1) AS t, ?1 || '' AS s, ?1 IS 1 AS one").bind(value).first();
    await db.prepare('INSERT INTO typed VALUES (?1, ?1, ?1, ?1, ?1)').bind(5).run();
    await db.prepare('INSERT INTO typed VALUES (?1, ?1, ?1, ?1, ?1)').bind('6').run();
    await db.prepare('INSERT INTO typed VALUES (?1, ?1, ?1, ?1, ?1)').bind(true).run();
    return attempts({
      integer: read(1),
      fraction: read(1.5),
      large: read(1e300),
      beyond: () =>
        db
          .prepare('SELECT ?1 AS v, typeof(?1) AS t')
          .bind(2 ** 60)
          .first(),
      negativeZero: read(-0),
      notANumber: read(Number.NaN),
      infinite: read(Number.POSITIVE_INFINITY),
      true: read(true),
      false: read(false),
      null: read(null),
      text: read('größe 💰'),
      empty: read(''),
      zero: read('a\0b'),
      surrogate: read('a\ud800b'),
      bytes: read(new Uint8Array([1, 2, 255])),
      part: read(new Uint8Array([1, 2, 3, 4]).subarray(1, 3)),
      buffer: read(new Uint8Array([1, 2]).buffer),
      array: read([1, 2, 3]),
      emptyArray: read([]),
      floats: read(new Float32Array([1.5, 2])),
      affinities: async () =>
        (
          await db
            .prepare('SELECT i, typeof(i) AS ti, t, typeof(t) AS tt, r, typeof(r) AS tr, n, typeof(n) AS tn, typeof(b) AS tb FROM typed')
            .all()
        ).results,
    });
  },

  'values that cannot be bound': async ({ db }) => {
    const bind = (value: unknown) => () => db.prepare('SELECT ? AS v').bind(value).first();
    return attempts({
      bigint: bind(5n),
      undefined: bind(undefined),
      date: bind(new Date(0)),
      object: bind({ a: 1 }),
      function: bind(Math.max),
      largeArray: bind([256]),
      texts: bind(['a']),
      map: bind(new Map()),
    });
  },

  'integers beyond 2^53 are rounded, and exact as text': async ({ db }) => {
    await make(db, 'CREATE TABLE large (a INTEGER, t TEXT)', "INSERT INTO large VALUES (9007199254740993, '9007199254740993'), (1, '1')");
    return attempts({
      read: async () => (await db.prepare('SELECT a, t, CAST(a AS TEXT) AS c FROM large').all()).results,
      sum: () => db.prepare('SELECT sum(a) AS s, CAST(sum(CAST(t AS INTEGER)) AS TEXT) AS c FROM large').first(),
      raw: () => db.prepare('SELECT max(a), 1 FROM large').raw(),
      returned: async () => (await db.prepare('UPDATE large SET a = a + 2 WHERE a > 5 RETURNING a, CAST(a AS TEXT) AS c').all()).results,
      returnedOnce: () => db.prepare('SELECT CAST(max(a) AS TEXT) AS c FROM large').first('c'),
      overflow: () => db.prepare('SELECT sum(a) AS s FROM (SELECT 9223372036854775807 AS a UNION ALL SELECT 1)').first(),
    });
  },

  'shapes of results': async ({ db }) => {
    const two = () => db.prepare('SELECT 1 AS a, 2 AS a, 3 AS b UNION ALL SELECT 4, 5, NULL');
    return attempts({
      all: async () => (await two().all()).results,
      run: async () => (await two().run()).results,
      raw: () => two().raw(),
      names: () => two().raw({ columnNames: true }),
      first: () => two().first(),
      column: () => two().first('b'),
      unknownColumn: () => two().first('z'),
      noRow: () => db.prepare('SELECT 1 AS a WHERE 0').first(),
      noRowColumn: () => db.prepare('SELECT 1 AS a WHERE 0').first('z'),
      noRows: () => db.prepare('SELECT 1 AS a WHERE 0').raw({ columnNames: true }),
      nullColumn: () => db.prepare('SELECT NULL AS a').first('a'),
      unnamed: () => db.prepare("SELECT 1 + 1, 'x'").first(),
      blob: () => db.prepare("SELECT x'00ff' AS a, x'' AS b").first(),
      reused: async () => {
        const statement = db.prepare('SELECT ? AS v');
        const [one, other] = [statement.bind(1), statement.bind(2)];
        return [await one.first('v'), await other.first('v'), await one.first('v')];
      },
      several: async () => (await db.prepare('SELECT 1 AS a; SELECT 2 AS b').all()).results,
      trailing: async () => (await db.prepare('SELECT 1 AS a; -- end\n;').all()).results,
    });
  },

  'JSON, rows as a table and text search': async ({ db }) => {
    await make(
      db,
      'CREATE TABLE from_json (id TEXT PRIMARY KEY, n INTEGER, flag INTEGER)',
      "CREATE VIRTUAL TABLE searched USING fts5 (words, content = '', columnsize = 0, tokenize = 'unicode61')",
    );
    const rows = JSON.stringify([
      { id: 'a', n: 1, flag: true },
      { id: 'b', n: null, flag: false },
      { id: 'c', n: 9007199254740991, flag: null },
    ]);
    return attempts({
      inserted: () =>
        readMeta(
          db
            .prepare(
              "INSERT INTO from_json SELECT value ->> 'id', value ->> 'n', value ->> 'flag' FROM json_each(?) j WHERE true ON CONFLICT DO NOTHING",
            )
            .bind(rows)
            .run(),
        ),
      read: async () => (await db.prepare('SELECT *, typeof(n) AS t FROM from_json ORDER BY id').all()).results,
      moved: () =>
        readMeta(
          db
            .prepare("UPDATE from_json SET n = j.value ->> 'n' FROM json_each(?) j WHERE id = j.value ->> 'id'")
            .bind('[{"id":"a","n":7}]')
            .run(),
        ),
      among: async () =>
        (await db.prepare('SELECT id FROM from_json WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id').bind('["a","c"]').all())
          .results,
      path: () =>
        db
          .prepare(
            `SELECT json_extract('{"a":[1,{"b":null}]}', '$.a[1].b') AS v, '{"a":1.0}' -> 'a' AS w, json_group_array(id) AS ids FROM from_json`,
          )
          .first(),
      words: () => readMeta(db.prepare("INSERT INTO searched (rowid, words) VALUES (1, 'Crème brûlée'), (2, 'apple pie')").run()),
      found: async () => (await db.prepare('SELECT rowid FROM searched WHERE searched MATCH ?').bind('creme').all()).results,
      badQuery: () => db.prepare('SELECT rowid FROM searched WHERE searched MATCH ?').bind('"').all(),
    });
  },

  'a failed statement changes nothing, and the next one works': async ({ db }) => {
    await make(db, 'CREATE TABLE partly (id INTEGER PRIMARY KEY, a TEXT UNIQUE)', "INSERT INTO partly VALUES (1, 'a'), (2, 'b'), (3, 'c')");
    return {
      refused: await attempt(() => db.prepare("UPDATE partly SET a = CASE id WHEN 1 THEN 'z' ELSE 'c' END WHERE id < 3").run()),
      rows: (await db.prepare('SELECT * FROM partly ORDER BY id').all()).results,
      next: await readMeta(db.prepare("UPDATE partly SET a = a || 'x'").run()),
    };
  },
};
