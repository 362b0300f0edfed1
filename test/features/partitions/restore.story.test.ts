import { beforeAll, describe, expect, it } from 'vitest';
import { findTrouble } from '#features/operator/health-checks.ts';
import { type Env, newCtx } from '#platform/context.ts';
import { bindDatabases, openOnly, rebuildNames } from '../../support/fixtures/databases.ts';
import { operate } from '../../support/fixtures/partitions.ts';
import { newAgent, openShop, type Shop } from '../../support/people/agent.ts';
import { type Consumer, consumer, received } from '../../support/people/consumer.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Answer, World } from '../../support/world.ts';

const PASSWORD = 'correct horse battery';
const OWN = `name NOT LIKE '\\_cf\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '%\\_words%' ESCAPE '\\'`;

type Copy = Map<string, Record<string, unknown>[]>;

/** All rows of a database, as a backup has them. */
async function backUp(database: D1Database): Promise<Copy> {
  const { results } = await database.prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND ${OWN}`).all<{ name: string }>();
  const copy: Copy = new Map();
  for (const { name } of results) copy.set(name, (await database.prepare(`SELECT * FROM ${name}`).all<Record<string, unknown>>()).results);
  return copy;
}

/** Replaces all rows of a database by those of the backup, as Time Travel does. */
async function restore(database: D1Database, copy: Copy): Promise<void> {
  for (const name of copy.keys()) await database.prepare(`DELETE FROM ${name}`).run();
  // Triggers write these tables too.
  for (const [name, rows] of copy) {
    await database.prepare(`DELETE FROM ${name}`).run();
    for (const row of rows) {
      const columns = Object.keys(row);
      const values = Object.values(row).map((value) => (Array.isArray(value) ? Uint8Array.from(value) : value));
      await database
        .prepare(`INSERT INTO ${name} (${columns.join()}) VALUES (${columns.map(() => '?').join()})`)
        .bind(...values)
        .run();
    }
  }
}

describe('restore of one database', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true', MOVES: 'on' });
  w.env.LOCAL_CLOCK_URL = w.chain.url;
  let here: Shop;
  let restored: Shop;
  let mine: Consumer;
  const open = () => openShop(w, { access_period_days: 30, usage_units: 10 });
  beforeAll(async () => {
    await bindDatabases(w, 'DB_2');
    openOnly(w, 'DB');
    here = await open();
    openOnly(w, 'DB_2');
    restored = await open();
    mine = await consumer(w, restored.merchant, 'ok');
  });
  const sell = async (shop: Shop) => w.purchase(shop.product, (await newAgent(w)).wallet);
  const bring = async () => {
    await w.deliver();
    await w.attempt();
  };
  const events = async (): Promise<{ id: string; delivery: string; payment: string }[]> =>
    (await received(mine)).map(({ headers, body }) => {
      const { id, data } = JSON.parse(body);
      return { id, delivery: headers['x-svc-delivery-id']!, payment: `${data.object.payment_id} ${headers['x-svc-event-type']}` };
    });
  const logIn = ({ merchant }: Shop) => w.call('POST', '/v1/auth/login', { body: { email: merchant.email, password: PASSWORD } });
  const connect = (shop: Shop): Promise<Answer<{ code?: string }>> =>
    w.call('POST', `/v1/products/p/${shop.product.slug}/connect`, { body: {} });

  it('its writes are refused until it is opened, all others go on, and no event or delivery number comes again', async () => {
    const remaining = await sell(restored);
    await bring();
    const backup = await backUp(testEnv.TEST_DB_2);
    const lost = await sell(restored);
    await bring();
    const before = await events();
    expect(before.map(({ payment }) => payment)).toContain(`${lost.payment.payment_id} payment.confirmed`);

    const closed = await operate<{ partitions: string[] }>(w, 'close', { database: 'DB_2' });
    expect(closed.partitions).toHaveLength(8);
    const refused = await connect(restored);
    expect([refused.status, refused.body.code, refused.headers.get('Retry-After')]).toEqual([503, 'temporarily_unavailable', '5']);
    expect((await w.call('GET', `/v1/payments/${remaining.payment.payment_id}`)).status).toBe(200);
    expect((await sell(here)).confirmed.payment.status).toBe('CONFIRMED');
    await restore(testEnv.TEST_DB_2, backup);
    // The backup has no fence: the directory refuses.
    expect((await connect(restored)).status).toBe(503);
    await testEnv.TEST_DB_2.prepare('UPDATE sweeps SET due_at = 0, sent_at = 0, lease_until = 0').run();
    const [tick] = (await w.cron()).filter(({ database }) => database === 'DB_2');
    expect(await w.runSweep(tick!)).toEqual([]);
    expect((await rebuildNames(w)).shared).toEqual([]);
    await operate(w, 'open', { database: 'DB_2' });
    // An isolate asks at most once a second.
    await new Promise((resolve) => setTimeout(resolve, 1100));

    expect((await logIn(restored)).status).toBe(200);
    expect((await w.call('GET', `/v1/payments/${lost.payment.payment_id}`)).status).toBe(404);
    const { payment } = await sell(restored);
    await bring();
    const after = (await events()).slice(before.length);
    expect(after.map((one) => one.payment)).toContain(`${payment.payment_id} payment.confirmed`);
    for (const one of after) {
      expect(before.map(({ id }) => id)).not.toContain(one.id);
      expect(before.map(({ delivery }) => delivery)).not.toContain(one.delivery);
    }
    const [seen] = (await testEnv.TEST_DB_2.prepare('SELECT max(seq) AS seq FROM acts').all<{ seq: number }>()).results;
    expect(Math.max(...backup.get('acts')!.map(({ seq }) => Number(seq)))).toBeLessThan(seen!.seq);
  }, 120_000);

  it('a database that is not bound, and one of which a partition moves, cannot be closed', async () => {
    await expect(operate(w, 'close', { database: 'DB_9' })).rejects.toThrow('404');
    await operate(w, 'move', { partition: '008', to: 'DB' });
    await expect(operate(w, 'close', { database: 'DB_2' })).rejects.toThrow('409');
    await expect(operate(w, 'move', { partition: '009', to: 'DB' })).rejects.toThrow('Another partition moves');
    const findAt = async (wallNow: number) =>
      (await findTrouble(newCtx(w.env, { requestId: 'req_trouble', wallNow, defer: () => {} }))).filter(
        ({ name }) => name === 'partition_moves',
      );
    expect(await findAt(Date.now())).toEqual([]);
    const [stuck] = await findAt(Date.now() + 11 * 60_000);
    expect(stuck!.finding).toContain('npm run admin -- partitions move 008 --to DB, or partitions cancel 008');
    for (let state = ''; state !== 'done'; ) ({ state } = await operate(w, 'cancel', { partition: '008' }));
  });

  it('nothing moves while MOVES is off', async () => {
    const off = { ...w.env, MOVES: '' } as Env;
    await expect(operate(w, 'move', { partition: '008', to: 'DB' }, off)).rejects.toThrow('MOVES is not on');
    await expect(operate(w, 'close', { database: 'DB_2' }, off)).rejects.toThrow('MOVES is not on');
  });
});
