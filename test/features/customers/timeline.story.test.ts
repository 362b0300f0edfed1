import { describe, expect, it } from 'vitest';
import { customerIdOf } from '#core/ids.ts';
import { multiply } from '../../support/fixtures/multiply.ts';
import { consumer } from '../../support/people/consumer.ts';
import { rowsOf, withRowCount, worstOf } from '../../support/runner/rows-read.ts';
import { World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('GET /v1/customers/{customer_id}/timeline', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });

  it('lists the newest events of the customer and their deliveries, of one account and mode', async () => {
    const [ada, eve] = [await w.merchant(), await w.merchant()];
    await consumer(w, ada, 'ok');
    const product = await w.product(ada, { access_period_days: 30 });
    const wallet = await w.chain.wallet();
    const { payment } = await w.purchase(product, wallet, { customer_ref: 'user-1' });
    await w.purchase(product, wallet, { customer_ref: 'user-2' });
    while (w.queue.sent.length > 0) await w.deliver();
    await w.attempt();
    await w.sweepAlone('analytics');
    const id = customerIdOf(ada.userId, true, { customerRef: 'user-1' });
    expect((await w.call('PATCH', `/v1/customers/${id}`, { key: ada.key, body: { name: 'Ada' } })).status).toBe(200);
    const get = (query = '', key = ada.key, env = w.env) => w.call('GET', `/v1/customers/${id}/timeline${query}`, { key, env });
    const { items, next } = (await get()).body;
    expect(next).toBeNull();
    const events = items.filter(({ kind }: Body) => kind === 'event').map(({ type }: Body) => type);
    expect(events).toEqual(
      expect.arrayContaining(['customer.updated', 'payment.created', 'payment.confirmed', 'membership.activated', 'receipt.created']),
    );
    expect(items.some(({ kind, type }: Body) => kind === 'delivery' && type === 'payment.confirmed')).toBe(true);
    const times = items.map(({ at }: Body) => at);
    expect(times).toEqual(times.toSorted().reverse());
    const own = (await w.call('GET', `/v1/webhooks/timeline?payment_id=${payment.payment_id}`, { key: ada.key })).body.items;
    for (const { event_id } of own) expect(items.some((item: Body) => item.event_id === event_id)).toBe(true);
    expect(items.filter(({ type, kind }: Body) => kind === 'event' && type === 'payment.confirmed')).toHaveLength(1);
    expect((await get('?limit=2')).body.items).toEqual(items.slice(0, 2));
    for (const key of [eve.key, ada.sandboxKey]) expect((await get('', key)).status).toBe(404);
    expect((await w.call('GET', `/v1/customers/${crypto.randomUUID()}/timeline`, { key: ada.key })).status).toBe(404);
  });

  it('reads as many rows with 5,000 payments of other customers as with none', async () => {
    const ada = await w.merchant();
    const product = await w.product(ada, { access_period_days: 30 });
    const wallet = await w.chain.wallet();
    for (const customer_ref of ['user-1', 'user-2']) await w.purchase(product, wallet, { customer_ref });
    while (w.queue.sent.length > 0) await w.deliver();
    await w.sweepAlone('analytics');
    const id = customerIdOf(ada.userId, true, { customerRef: 'user-1' });
    const count = async () => {
      const { env, readings } = withRowCount(w.env);
      const { body } = await w.call('GET', `/v1/customers/${id}/timeline`, { key: ada.key, env });
      return [body.items.length, rowsOf(readings), worstOf(readings)] as const;
    };
    const [shown, rows] = await count();
    const other = { sql: "SELECT rowid AS id FROM payments WHERE customer_ref = 'user-2' AND merchant_id = unhex(?, '-')", of: ada.userId };
    const paymentRow = (await w.env.DB.prepare(other.sql).bind(other.of).first<number>('id'))!;
    const copied = { id: "'copy-' || i", nonce: "'copy-' || i", reference: "'copy-' || i", created_at: 'payments.created_at + i' };
    await multiply(w.env.DB, 'payments', 'rowid', String(paymentRow), 5_000, copied);
    const act = (await w.env.DB.prepare('SELECT max(seq) AS n FROM acts').first<number>('n'))!;
    await multiply(w.env.DB, 'acts', 'seq', String(act), 5_000, { seq: 'acts.seq + i', id: "printf('%014dcopy%011d', i, i)" });
    const [shownAgain, rowsAgain, worst] = await count();
    expect(shownAgain).toBe(shown);
    expect(rows).toBeLessThanOrEqual(150);
    expect(rowsAgain, worst).toBeLessThanOrEqual(rows + 5);
  });
});
