import { beforeAll, describe, expect, it } from 'vitest';
import { callTesting, RENEWING_NAMES, readEvents, runScenario, sequenceOf, typesOf, unlikeLive } from '../../support/clients/sandbox.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('renewal scenarios', () => {
  const w = new World();
  let ada: Merchant;
  let published: Map<string, string[]>;
  beforeAll(async () => {
    ada = await w.merchant();
    const { body } = await callTesting(w, ada, 'GET', 'scenarios');
    published = new Map(body.items.map(({ scenario, expected }: { scenario: string; expected: string[] }) => [scenario, expected]));
  });

  it.each(RENEWING_NAMES)(
    '%s completes three times with one seed, with the documented events in order and in live form',
    async (scenario) => {
      const sessions = await Promise.all([1, 2, 3].map(() => runScenario(w, ada, scenario, { seed: 'the same' })));
      for (const session of sessions) {
        expect([session.status, typesOf(session)]).toEqual(['completed', published.get(scenario)]);
        const sent = await readEvents(w, session.session_id);
        expect(sent.map(({ type }) => type)).toEqual(published.get(scenario));
        expect(sent.flatMap(unlikeLive)).toEqual([]);
      }
      expect(sessions.map(sequenceOf)).toEqual(Array(3).fill(sequenceOf(sessions[0])));
    },
  );

  it('a GET of its subscription changes nothing and sends no event', async () => {
    const session = await runScenario(w, ada, 'subscription_authorized');
    const id = await w.env.DB.prepare('SELECT id FROM subscription_authorizations WHERE customer_ref = ?')
      .bind(`${session.session_id}:buyer`)
      .first<string>('id');
    const stored = () => w.env.DB.prepare('SELECT * FROM subscription_authorizations WHERE id = ?').bind(id).first();
    const [before, events] = [await stored(), await readEvents(w, session.session_id)];
    const { status, body } = await w.call('GET', `/v1/access/native-subscriptions/${id}`, { key: ada.sandboxKey });
    expect([status, body.status]).toEqual([200, 'active']);
    expect(await stored()).toEqual(before);
    expect(await readEvents(w, session.session_id)).toEqual(events);
  });

  it('an erased session leaves no rows and removes none of another session', async () => {
    const [gone, remaining] = await Promise.all([1, 2].map(() => runScenario(w, ada, 'subscription_authorized')));
    const countRows = async ({ session_id: id }: { session_id: string }): Promise<number[]> => {
      const tables = [
        ['sandbox_accounts', 'session_id = ?1'],
        ['sandbox_transactions', 'session_id = ?1'],
        ['subscription_authorizations', `customer_ref = '${id}:buyer' AND ?1 IS NOT NULL`],
        ['receipt_names', 'product_id IN (SELECT id FROM products WHERE sandbox_session_id = ?1)'],
        ['subscription_plans', 'product_id IN (SELECT id FROM products WHERE sandbox_session_id = ?1)'],
        [
          'subscription_collections',
          `authorization_id IN (SELECT id FROM subscription_authorizations WHERE customer_ref = '${id}:buyer') AND ?1 IS NOT NULL`,
        ],
      ];
      const counts = tables.map(([table, theirs]) =>
        w.env.DB.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${theirs}`).bind(id).first<number>('n'),
      );
      return (await Promise.all(counts)) as number[];
    };
    const [before, others] = [await countRows(gone), await countRows(remaining)];
    expect(Math.min(...before)).toBeGreaterThan(0);
    const total = (table: string) => w.env.DB.prepare(`SELECT count(*) AS n FROM ${table}`).first<number>('n');
    const totals = () => Promise.all(['subscription_plans', 'receipt_names'].map(total));
    const [plans, names] = await totals();
    await w.env.DB.prepare('UPDATE sandbox_sessions SET ended_at = 0 WHERE id = ?').bind(gone.session_id).run();
    await w.sweepAlone('analytics');
    await w.sweepAlone('endedSandboxes');
    expect((await callTesting(w, ada, 'GET', `sessions/${gone.session_id}`)).status).toBe(404);
    expect(await countRows(gone)).toEqual(before.map(() => 0));
    expect(await countRows(remaining)).toEqual(others);
    expect(await totals()).toEqual([plans! - 1, names! - 1]);
  });
});
