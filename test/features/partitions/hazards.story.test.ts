import { sql } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { forgetAll } from '#core/isolate/memory.ts';
import { type Env, newCtx } from '#platform/context.ts';
import { homeOf, shardNamed } from '#platform/db/directory.ts';
import { copyChanges, copyPage, createTriggers, dropTriggers, listDifferent, tableNamed } from '#platform/db/partitions/copy-rows.ts';
import { bindDatabases, openOnly } from '../../support/fixtures/databases.ts';
import { move, operate, partitionHex } from '../../support/fixtures/partitions.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const DB: D1Database = testEnv.DB;
const DB_2: D1Database = testEnv.TEST_DB_2;

/** Database that calls `before` ahead of each statement with a matching text. */
function intercepted(database: D1Database, text: RegExp, before: () => Promise<unknown>): D1Database {
  const wrap = (statement: D1PreparedStatement, isMatch: boolean): D1PreparedStatement =>
    new Proxy(statement, {
      get(target, name) {
        if (name === 'bind') return (...values: unknown[]) => wrap(target.bind(...values), isMatch);
        const method = Reflect.get(target, name);
        if (!isMatch || !['all', 'run', 'raw'].includes(String(name))) return typeof method === 'function' ? method.bind(target) : method;
        return async () => {
          await before();
          return method.call(target);
        };
      },
    });
  return { prepare: (sql: string) => wrap(database.prepare(sql), text.test(sql)), batch: database.batch.bind(database) } as D1Database;
}

describe('hazards of a move', () => {
  const w = new World({ MOVES: 'on' });
  let merchant: Merchant;
  let partition: string;
  beforeAll(async () => {
    await bindDatabases(w, 'DB_2');
    openOnly(w, 'DB');
  });
  beforeEach(async () => {
    letTimeRun();
    forgetAll();
    merchant = await w.merchant();
    partition = partitionHex(merchant.userId);
  });

  const ctxNow = () => newCtx(w.env, { requestId: 'req_hazard', wallNow: Date.now(), defer: () => {} });
  const sides = () => ({ from: shardNamed(ctxNow(), 'DB').db, to: shardNamed(ctxNow(), 'DB_2').db });
  const create = async (name: string) => {
    const body = { name, price: { asset: 'USDC', amount: '5' }, payout_wallet: merchant.wallet.address };
    return w.call('POST', '/v1/access/products', { key: merchant.key, body, headers: { 'Idempotency-Key': `${name}-${merchant.userId}` } });
  };
  const list = (env: Env) => w.call('GET', '/v1/products?per_page=100', { key: merchant.key, env });
  const selectRows = async (database: D1Database, text: string, ...values: unknown[]): Promise<Record<string, unknown>[]> =>
    (
      await database
        .prepare(text)
        .bind(...values)
        .all<Record<string, unknown>>()
    ).results;
  const heldIn = (database: D1Database) => selectRows(database, 'SELECT state FROM held WHERE partition = ?', partition);
  const cancel = async (env = w.env) => {
    for (let state = ''; state !== 'done'; ) ({ state } = await operate(w, 'cancel', { partition }, env));
  };

  it('a shard that was opened before a move stores no row with its numbers in the target', async () => {
    const opened = homeOf(ctxNow(), merchant.userId);
    await move(w, { partition, to: 'DB_2' });
    const written = opened.db.run(sql`UPDATE accounts SET display_name = 'late' WHERE id = ${merchant.userId}`);
    await expect(written).rejects.toMatchObject({ cause: { code: 'temporarily_unavailable' } });
    expect(await selectRows(DB_2, 'SELECT display_name FROM accounts WHERE id = ?', merchant.userId)).not.toEqual([
      { display_name: 'late' },
    ]);
    await move(w, { partition, to: 'DB' });
  });

  it('an unfenced write to the source after the publication is in the target', async () => {
    await create('sold');
    await move(w, { partition, to: 'DB_2' }, async ({ state }) => {
      if (state === 'published') await DB.prepare("UPDATE products SET name = 'late' WHERE merchant_id = ?").bind(merchant.userId).run();
    });
    expect(await selectRows(DB_2, 'SELECT name FROM products WHERE merchant_id = ?', merchant.userId)).toEqual([{ name: 'late' }]);
    await move(w, { partition, to: 'DB' });
  });

  it('a claim of another partition on the same transaction is neither overwritten nor deleted', async () => {
    const table = tableNamed('tx_claims');
    const claim = (database: D1Database, subject: string) =>
      database.prepare("INSERT INTO tx_claims (tx_key, livemode, kind, subject_id) VALUES ('same', 1, 'payment', ?)").bind(subject).run();
    const other = `${merchant.userId.slice(0, 20)}fff${merchant.userId.slice(23)}`;
    await claim(DB_2, other);
    await createTriggers(sides().from, partition);
    await claim(DB, merchant.userId);
    const claims = () => selectRows(DB_2, "SELECT subject_id FROM tx_claims WHERE tx_key = 'same'");
    await copyPage(sides(), table, partition, '');
    expect(await claims()).toEqual([{ subject_id: other }]);
    expect((await listDifferent(sides(), partition)).join()).toContain('tx_claims: 1 rows and 0');
    await DB.prepare("DELETE FROM tx_claims WHERE tx_key = 'same'").run();
    while ((await copyChanges(sides(), partition)) > 0);
    expect(await claims()).toEqual([{ subject_id: other }]);
    await dropTriggers(sides().from);
    await DB_2.prepare("DELETE FROM tx_claims WHERE tx_key = 'same'").run();
  });

  it('a slug that goes from a copied product to one of a later page does not stop the copy', async () => {
    const table = tableNamed('products');
    const [first, second] = [(await create('first')).body, (await create('second')).body].map(({ id, product_id }) => id ?? product_id);
    await createTriggers(sides().from, partition);
    await copyPage(sides(), table, partition, '');
    await DB_2.prepare('DELETE FROM products WHERE id = ?').bind(second).run();
    const [before] = await selectRows(DB, 'SELECT rowid AS row, slug FROM products WHERE id = ?', first);
    await DB.prepare("UPDATE products SET slug = slug || '-old' WHERE id = ?").bind(first).run();
    await DB.prepare('UPDATE products SET slug = ? WHERE id = ?').bind(before!.slug, second).run();
    for (let after: string | null = String(before!.row); after !== null; ) after = (await copyPage(sides(), table, partition, after)).last;
    while ((await copyChanges(sides(), partition)) > 0);
    const slugs = (database: D1Database) =>
      selectRows(database, 'SELECT id, slug FROM products WHERE merchant_id = ? ORDER BY id', merchant.userId);
    expect(await slugs(DB_2)).toEqual(await slugs(DB));
    await dropTriggers(sides().from);
    await DB_2.prepare('DELETE FROM products WHERE merchant_id = ?').bind(merchant.userId).run();
  });

  it('texts of equal length with other first or final characters differ', async () => {
    await create('5_apples');
    for (const name of ['6_apples', '5_applet']) {
      await copyPage(sides(), tableNamed('products'), partition, '');
      await DB_2.prepare('UPDATE products SET name = ? WHERE merchant_id = ?').bind(name, merchant.userId).run();
      expect((await listDifferent(sides(), partition)).join()).toContain('products: ');
    }
    await DB_2.prepare('DELETE FROM products WHERE merchant_id = ?').bind(merchant.userId).run();
  });

  it('a failure while writes are refused lifts the fence', async () => {
    const failing = intercepted(DB_2, /AS sum FROM/, () => Promise.reject(new Error('D1_ERROR: no')));
    const env = { ...w.env, DB_2: failing } as Env;
    let error = '';
    for (let calls = 0; error === '' && calls < 50; calls++) {
      const report = await operate(w, 'move', { partition, to: 'DB_2' }, env).catch(({ message }) => {
        error = message;
      });
      if (report?.state === 'resting') setTime(Date.now() + 14_000);
    }
    expect(error).toContain('not copied in 3 tries');
    expect(await heldIn(DB)).toEqual([{ state: 'resting' }]);
    expect((await create('accepted')).status).toBe(201);
    await cancel();
  });

  it('a cancellation waits for the call that runs, so the fence and the rest of the sweeps end', async () => {
    let release = () => {};
    let begin = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const hasBegun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const slow = intercepted(DB_2, /AS sum FROM/, () => {
      begin();
      return held;
    });
    const env = { ...w.env, DB_2: slow } as Env;
    let running: Promise<unknown> = Promise.resolve();
    for (let state = ''; state !== 'resting'; ) ({ state } = await operate(w, 'move', { partition, to: 'DB_2' }));
    setTime(Date.now() + 14_000);
    running = operate(w, 'move', { partition, to: 'DB_2' }, env).catch(() => null);
    await hasBegun;
    expect((await operate(w, 'cancel', { partition })).state).toBe('fencing');
    release();
    await running;
    const { state } = await operate(w, 'cancel', { partition }).catch(() => ({ state: 'published' }));
    if (state === 'published') await move(w, { partition, to: 'DB_2' });
    else await cancel();
    const states = [...(await heldIn(DB)), ...(await heldIn(DB_2))];
    expect(states).toEqual([{ state: 'left' }]);
    if (state === 'published') await move(w, { partition, to: 'DB' });
  });

  it('an isolate that cannot read the moves does not read a partition that may have left', async () => {
    for (let state = ''; state !== 'resting'; ) ({ state } = await operate(w, 'move', { partition, to: 'DB_2' }));
    forgetAll();
    expect((await list(w.env)).status).toBe(200);
    const away = intercepted(testEnv.TEST_DIRECTORY, /FROM moves/, () => Promise.reject(new Error('D1_ERROR: away')));
    setTime(Date.now() + 11_000);
    const refused = await list({ ...w.env, DIRECTORY: away } as Env);
    expect([refused.status, refused.body.code]).toEqual([503, 'temporarily_unavailable']);
    setTime(Date.now() + 2_000);
    expect((await list(w.env)).status).toBe(200);
    await cancel();
  });
});
