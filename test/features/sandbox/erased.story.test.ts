import { runInDurableObject } from 'cloudflare:test';
import { beforeAll, describe, expect, it } from 'vitest';
import { callTesting, runScenario } from '../../support/clients/sandbox.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { multiply } from '../../support/fixtures/multiply.ts';
import { putRow } from '../../support/fixtures/put-row.ts';
import { testEnv } from '../../support/runner/env.ts';
import { rowsOf, withRowCount, worstOf } from '../../support/runner/rows-read.ts';
import { type Merchant, World } from '../../support/world.ts';

const heldBy = (name: string): Promise<[string[], number | null]> =>
  runInDurableObject(testEnv.METERED_SESSION.getByName(name), async (_, { storage }) => [
    storage.sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'")
      .toArray()
      .map((table) => table.name),
    await storage.getAlarm(),
  ]);

describe('erasing a sandbox session', () => {
  const w = new World();
  let ada: Merchant;
  let eve: Merchant;
  beforeAll(async () => {
    [ada, eve] = await Promise.all([w.merchant(), w.merchant()]);
    await w.sweepAlone('analytics');
  });

  const erase = async (sessionId: string) => {
    await w.env.DB.prepare('UPDATE sandbox_sessions SET ended_at = 0 WHERE id = ?').bind(sessionId).run();
    await w.sweepAlone('endedSandboxes');
    expect((await callTesting(w, ada, 'GET', `sessions/${sessionId}`)).status).toBe(404);
  };
  const readAnalytics = async ({ sandboxKey: key }: Merchant) => {
    const summary = (await w.call('GET', '/v1/account/summary', { key })).body;
    const analytics = (await w.call('GET', '/v1/account/analytics', { key })).body;
    return { ...summary, ...analytics, as_of: '', top_products: analytics.top_products.map(({ count }: { count: number }) => count) };
  };
  const countRows = async (merchant: Merchant): Promise<number> => {
    const sql = ['analytics_days', 'analytics_quarters', 'analytics_totals']
      .map((table) => `SELECT count(*) AS n FROM ${table} WHERE merchant_id = ?1 AND livemode = 0`)
      .join(' UNION ALL ');
    const { results } = await w.env.DB.prepare(`SELECT sum(n) AS n FROM (${sql})`).bind(merchant.userId).all<{ n: number }>();
    return results[0]!.n;
  };

  it('erasing empties the objects of its metered sessions and of their channels', async () => {
    const session = await runScenario(w, ada, 'metered_session_full');
    const metered = await w.env.DB.prepare('SELECT id, channel_id AS channel FROM metered_sessions WHERE customer_ref = ?')
      .bind(`${session.session_id}:buyer`)
      .first<{ id: string; channel: string }>();
    const names = [metered!.id, `channel:sandbox:${metered!.channel}`];
    for (const name of names) expect((await heldBy(name))[0]).toContain('page');
    await erase(session.session_id);
    for (const name of names) expect(await heldBy(name)).toEqual([[], null]);
    const { results } = await prepareOnEvents(w.env.DB, 'SELECT id FROM events WHERE subject_id = ?').bind(metered!.id).all();
    expect(results).toEqual([]);
    expect((await w.call('GET', `/v1/access/metered-sessions/${metered!.id}`, { key: ada.sandboxKey })).status).toBe(404);
  });

  it('erasing reads at most 600 rows among 2,000 live settlements and ended sessions', async () => {
    const session = await runScenario(w, ada, 'payment_failed');
    for (const [table, key] of [
      ['settlements', 'payment_id'],
      ['ended_sessions', 'id'],
    ] as const) {
      await putRow(w.env.DB, table, { [key]: 'many', livemode: 1, status: 'settled', nonce: 'many' });
      await multiply(w.env.DB, table, key, 'many', 1000, { [key]: "'many-' || i", nonce: "'many-' || i" });
    }
    await w.env.DB.prepare('UPDATE sandbox_sessions SET ended_at = 0 WHERE id = ?').bind(session.session_id).run();
    const { env, readings } = withRowCount(w.env);
    await w.sweepAlone('endedSandboxes', env);
    expect(rowsOf(readings), worstOf(readings)).toBeLessThanOrEqual(600);
    expect((await callTesting(w, ada, 'GET', `sessions/${session.session_id}`)).status).toBe(404);
  });

  it('a session is erased although a full page of twenty earlier ones fails', async () => {
    const session = await runScenario(w, ada, 'payment_failed');
    await w.env.DB.batch([
      w.env.DB.prepare(`INSERT INTO sandbox_sessions WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
        SELECT 'stuck-' || i, merchant_id, 'stuck', seed, status, options, NULL, NULL, 0, 0, 0, 0, '{}', '[]', 0, 0, -1, 0, 1
        FROM sandbox_sessions, n WHERE sandbox_sessions.id = ?`).bind(session.session_id),
      w.env.DB.prepare(
        "CREATE TRIGGER stuck BEFORE DELETE ON sandbox_sessions WHEN old.scenario = 'stuck' BEGIN SELECT RAISE(ABORT, 'stuck'); END",
      ),
    ]);
    try {
      await erase(session.session_id);
      expect(await w.env.DB.prepare("SELECT count(*) AS n FROM sandbox_sessions WHERE scenario = 'stuck'").first('n')).toBe(20);
    } finally {
      await w.env.DB.batch(
        ['DROP TRIGGER stuck', "DELETE FROM sandbox_sessions WHERE scenario = 'stuck'"].map((sql) => w.env.DB.prepare(sql)),
      );
    }
  });

  it('erasing removes its analytics, folded or not, and those of no other session', async () => {
    const asked = { seed: 'one' };
    const [folded, remaining] = [
      await runScenario(w, ada, 'membership_renewed', asked),
      await runScenario(w, ada, 'payment_overpaid', asked),
    ];
    await runScenario(w, eve, 'payment_overpaid', asked);
    const [live, product] = [await w.merchant(), await w.product(ada)];
    await w.purchase(product, await w.chain.wallet());
    await w.sweepAlone('analytics');
    const late = await runScenario(w, ada, 'payment_failed', asked);
    const liveBefore = (await w.call('GET', '/v1/account/summary', { key: ada.key })).body;
    expect((await readAnalytics(ada)).confirmed_payments).toBeGreaterThan((await readAnalytics(eve)).confirmed_payments);
    await erase(folded.session_id);
    await erase(late.session_id);
    expect(await readAnalytics(ada)).toEqual(await readAnalytics(eve));
    await w.sweepAlone('analytics');
    await w.sweepAlone('analytics');
    expect(await readAnalytics(ada)).toEqual(await readAnalytics(eve));
    expect(await countRows(ada)).toBeGreaterThan(0);
    await erase(remaining.session_id);
    await w.sweepAlone('analytics');
    expect(await readAnalytics(ada)).toEqual({ ...(await readAnalytics(live)), top_products: [] });
    expect(await countRows(ada)).toBe(0);
    expect((await w.call('GET', '/v1/account/summary', { key: ada.key })).body.totals).toEqual(liveBefore.totals);
  });
});
