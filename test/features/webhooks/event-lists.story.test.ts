import { beforeAll, describe, expect, it } from 'vitest';
import type { AccountId, EndpointId } from '#core/ids.ts';
import { recoverEndpoint } from '#features/webhooks/deliveries/fan-out.ts';
import { newCtx } from '#platform/context.ts';
import { scopeIn } from '../../../worker/platform/context.ts';
import { exampleOf } from '../../../worker/published/event-catalog.ts';
import { insertActs } from '../../support/fixtures/acts.ts';
import { consumer } from '../../support/people/consumer.ts';
import { rowsOf, withRowCount, worstOf } from '../../support/runner/rows-read.ts';
import { type Merchant, World } from '../../support/world.ts';

const EVENTS = 20_500;
const HOUR = 3_600_000;

describe(`list of ${EVENTS} events`, () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  let ada: Merchant;
  const now = Date.now();
  const idOf = (n: number) => `evt_${String(n).padStart(25, '0')}0`;
  beforeAll(async () => {
    ada = await w.merchant();
    // Events are a second apart, the last one now, with two alternating types.
    await w.env.DB.prepare(
      insertActs(`WITH RECURSIVE rows(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM rows WHERE n < ${EVENTS})
        SELECT printf('evt_%025d', n) AS id, ? AS merchant_id, 1 AS livemode, 'product' AS subject_type, 'p-' || n AS subject_id,
          1 AS subject_version, CASE n % 2 WHEN 0 THEN 'payout.changed' ELSE 'payment.created' END AS type,
          CASE n % 2 WHEN 0 THEN ? ELSE ? END AS data, NULL AS product_id, NULL AS payment_id, 'req' AS request_id,
          ${now} - (${EVENTS} - n) * 1000 AS created_at, 1 AS fanned_out_at FROM rows`),
    )
      .bind(ada.userId, JSON.stringify(exampleOf('payout.changed').data), JSON.stringify(exampleOf('payment.created').data))
      .run();
  });
  const list = (path: string, query: string, key = ada.key) => w.call('GET', `/v1/${path}?${query}`, { key });

  it.each(['webhooks/events', 'integrations/events'])(
    'the list is readable past row 10,000 to the newest event, each once and in order: %s',
    async (path) => {
      expect((await list(path, 'page=101&per_page=100')).status).toBe(422);
      const { body } = await list(path, 'page=100&per_page=100');
      expect([body.items.at(-1).id, body.has_more, body.total_exact]).toEqual([idOf(10_000), true, false]);
      const seen: string[] = [];
      for (let after = idOf(20_050); ; after = seen.at(-1)!) {
        const page = (await list(path, `after=${after}&per_page=100`)).body;
        seen.push(...page.items.map(({ id }: { id: string }) => id));
        if (!page.has_more) break;
      }
      expect(seen).toEqual(Array.from({ length: 450 }, (_, i) => idOf(20_051 + i)));
      const narrowed = (await list(path, `after=${idOf(20_490)}&event_type=payout.changed`)).body;
      expect([narrowed.items.map(({ id }: { id: string }) => id), narrowed.total]).toEqual([
        [20_492, 20_494, 20_496, 20_498, 20_500].map(idOf),
        5,
      ]);
      expect((await list(path, `after=${idOf(EVENTS)}`)).body).toMatchObject({ items: [], total: 0, has_more: false });
    },
  );

  it('a cursor of an event of another merchant or mode is refused', async () => {
    const eve = await w.merchant();
    const answers = [
      await list('webhooks/events', `after=${idOf(1)}`, eve.key),
      await list('webhooks/events', `after=${idOf(1)}`, ada.sandboxKey),
    ];
    answers.push(await list('webhooks/events', 'after=evt_unknown'));
    for (const { status, body } of answers) {
      expect([status, body.code, body.detail[0].loc]).toEqual([422, 'validation_error', ['query', 'after']]);
    }
  });

  it('a page costs its rows, each with its index entry and its event, and a count, from any start', async () => {
    const { env, readings } = withRowCount(w.env);
    const key = ada.key;
    await w.call('GET', `/v1/webhooks/events?after=${idOf(20_400)}&per_page=20`, { key, env });
    expect(rowsOf(readings), worstOf(readings)).toBeLessThan(600);
  });

  it('a recovery reads only the events of its time range', async () => {
    const { id } = await consumer(w, ada, 'ok', { event_types: ['payment.created'] });
    await w.env.DB.prepare('UPDATE webhook_endpoints SET created_at = 0 WHERE id = ?').bind(id).run();
    const { env, readings } = withRowCount(w.env);
    const ctx = newCtx(env, { requestId: 'req_recover', now, defer: () => {} });
    const scope = scopeIn(ctx, { merchantId: ada.userId as AccountId, livemode: true });
    const recover = (since: number, until: number) => recoverEndpoint(scope, id as EndpointId, since, until);
    expect(await recover(now - 99_500, now)).toBe(50);
    expect(rowsOf(readings), worstOf(readings)).toBeLessThan(1200);
    await w.env.DB.prepare(
      `UPDATE acts SET created_at = ${now - 2 * HOUR} WHERE created_at BETWEEN ${now - 2 * HOUR} AND ${now - HOUR}`,
    ).run();
    const first = w.attempts.length;
    expect(await recover(now - 2 * HOUR, now - HOUR)).toBe(1800);
    expect(new Set(w.attempts.slice(first).map(({ deliveryId }) => deliveryId)).size).toBe(1800);
    expect(await recover(now - 2 * HOUR, now - HOUR)).toBe(0);
  });
});
