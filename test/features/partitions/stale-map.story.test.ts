import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { forgetAll } from '#core/isolate/memory.ts';
import type { Env } from '#platform/context.ts';
import { bindDatabases, openOnly } from '../../support/fixtures/databases.ts';
import { move, operate, partitionHex } from '../../support/fixtures/partitions.ts';
import { letTimeRun } from '../../support/runner/clock.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

/** Database that counts the rows of its write batches. */
function counted(database: D1Database) {
  const batches: { statements: number; read: number; written: number }[] = [];
  const batch = async (statements: D1PreparedStatement[]) => {
    const results = await database.batch(statements);
    const sum = (name: 'rows_read' | 'rows_written') => results.reduce((all, { meta }) => all + meta[name], 0);
    batches.push({ statements: statements.length, read: sum('rows_read'), written: sum('rows_written') });
    return results;
  };
  return { database: { prepare: (text: string) => database.prepare(text), batch } as unknown as D1Database, batches };
}

describe('isolate with an old map', () => {
  const w = new World({ MOVES: 'on' });
  let merchant: Merchant;
  let partition: string;
  beforeAll(async () => {
    await bindDatabases(w, 'DB_2');
    openOnly(w, 'DB');
    merchant = await w.merchant();
    partition = partitionHex(merchant.userId);
  });
  beforeEach(() => {
    letTimeRun();
    forgetAll();
  });
  const create = (env: Env, name: string) => {
    const body = { name, price: { asset: 'USDC', amount: '5' }, payout_wallet: merchant.wallet.address };
    return w.call('POST', '/v1/access/products', { key: merchant.key, env, body, headers: { 'Idempotency-Key': `${name}-key` } });
  };
  const namesIn = async (database: D1Database) =>
    (
      await database.prepare('SELECT name FROM products WHERE merchant_id = ? ORDER BY name').bind(merchant.userId).all<{ name: string }>()
    ).results.map(({ name }) => name);

  it('a fenced batch writes no row and reads at most one row more than without a fence', async () => {
    // The first product stores its payout wallet too.
    expect((await create(w.env, 'first')).status).toBe(201);
    const fenced = counted(testEnv.DB);
    expect((await create({ ...w.env, DB: fenced.database }, 'fenced')).status).toBe(201);
    const alone = counted(testEnv.DB);
    forgetAll();
    const { DB_2: _, DIRECTORY: __, ...one } = w.env;
    expect((await create({ ...one, DB: alone.database, OPEN_DATABASES: 'DB' } as unknown as Env, 'alone')).status).toBe(201);
    const [withFence, without] = [fenced.batches, alone.batches].map((batches) => batches.filter(({ written }) => written > 0));
    expect(withFence!.length).toBe(without!.length);
    for (const [i, batch] of withFence!.entries()) {
      expect(batch.written).toBe(without![i]!.written);
      expect(batch.read - without![i]!.read).toBeLessThanOrEqual(1);
    }
  });

  it('a write that an old map sends to the source is refused there, and goes right when repeated with the moves', async () => {
    // Without MOVES an isolate knows only the map of its deployment.
    const old = { ...w.env, MOVES: '' } as Env;
    expect((await create(old, 'before')).status).toBe(201);
    const { refused_ms } = await move(w, { partition, to: 'DB_2' });
    expect(refused_ms).toBeLessThan(30_000);
    forgetAll();
    expect((await create(old, 'after')).status).toBe(503);
    expect(await namesIn(testEnv.TEST_DB_2)).not.toContain('after');
    expect((await create(w.env, 'after')).status).toBe(201);
    expect(await namesIn(testEnv.TEST_DB_2)).toContain('after');
    expect(await namesIn(testEnv.DB)).toEqual([]);
  });

  it('a read shows what is true in the calls between the publication and the end of a move', async () => {
    const list = async () => {
      const { body } = await w.call('GET', '/v1/products?per_page=100', { key: merchant.key });
      return body.items.map(({ name }: { name: string }) => name).sort();
    };
    const names = await list();
    const refused: number[] = [];
    await move(w, { partition, to: 'DB' }, async ({ state }) => {
      expect([state, await list()]).toEqual([state, names]);
      const { status, body, headers } = await create(w.env, `during-${state}-${refused.length}`);
      if (status === 201) names.push(`during-${state}-${refused.length}`);
      else {
        expect([status, body.code, headers.get('Retry-After')]).toEqual([503, 'temporarily_unavailable', '5']);
        expect(['fencing', 'published']).toContain(state);
        refused.push(status);
      }
      names.sort();
      expect([state, await list()]).toEqual([state, names]);
    });
    expect(refused.length).toBeGreaterThan(0);
    expect(await list()).toEqual(names);
  });

  it('a cancelled move leaves the source as it was', async () => {
    const before = await namesIn(testEnv.DB);
    let { state } = await operate(w, 'move', { partition, to: 'DB_2' });
    expect(['begun', 'clearing', 'copying', 'resting']).toContain(state);
    for (let calls = 0; state !== 'done' && calls < 50; calls++) ({ state } = await operate(w, 'cancel', { partition }));
    expect(state).toBe('done');
    expect((await create(w.env, 'zz-after-cancelling')).status).toBe(201);
    expect(await namesIn(testEnv.DB)).toEqual([...before, 'zz-after-cancelling']);
    expect(await namesIn(testEnv.TEST_DB_2)).toEqual([]);
    const { results } = await testEnv.DB.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'changed_%'").all();
    expect(results).toEqual([]);
  });
});
