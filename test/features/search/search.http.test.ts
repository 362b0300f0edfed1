import { describe, expect, it } from 'vitest';
import type { GivenRole } from '#rules/access/roles.ts';
import { addMember } from '../../support/people/team.ts';
import { World } from '../../support/world.ts';

interface SearchResult {
  type: string;
  id: string;
  title: string;
  dashboard_url: string;
}

describe('search', () => {
  const w = new World();
  const search = (key: string, q: string, mode = '') => w.call('GET', `/v1/search?q=${encodeURIComponent(q)}${mode}`, { key });
  const find = async (key: string, q: string, mode?: string): Promise<string[]> => {
    const { status, body } = await search(key, q, mode);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.items.map(({ type, id }: SearchResult) => `${type} ${id}`).sort();
  };

  /** A sale of a merchant who has one of each object, with the id of each. */
  async function soldShop() {
    const ada = await w.merchant();
    const make = async (path: string, body: object) => (await w.call('POST', path, { key: ada.token, body })).body;
    const endpoint = await make('/v1/webhooks/endpoints', { url: 'https://shop.example.com/hook', event_types: ['payment.confirmed'] });
    const ticket = await make('/v1/support/tickets', { subject: 'Late money', body: 'Where is it?' });
    const key = await make('/v1/keys', { name: 'server', permissions: ['read'] });
    const product = await w.product(ada, { access_period_days: 30 });
    const sale = await w.purchase(product, await w.chain.wallet(), { customer_ref: 'user-42' });
    await w.sweepAlone('analytics');
    await w.deliver();
    const list = async (path: string) => (await w.call('GET', path, { key: ada.key })).body.items[0];
    const payment = (await w.call('GET', `/v1/payments/${sale.payment.payment_id}`, { key: ada.key })).body;
    return {
      ada,
      sale,
      ids: {
        payment: payment.payment_id as string,
        receipt: payment.receipt_id as string,
        customer: (await list('/v1/customers')).customer_id as string,
        membership: sale.confirmed.membership_id as string,
        product: product.product_id as string,
        endpoint: endpoint.endpoint_id as string,
        ticket: ticket.ticket_id as string,
        key: key.key.id as string,
        event: (await list('/v1/webhooks/events?event_type=payment.confirmed')).id as string,
        delivery: String((await list('/v1/webhooks/deliveries')).delivery_id),
      },
    };
  }

  it('an id finds its object alone, in no other account and no other mode, and the link names the mode', async () => {
    const { ada, ids } = await soldShop();
    const eve = await w.merchant();
    for (const [type, id] of Object.entries(ids)) {
      expect(await find(ada.token, id), type).toEqual([`${type} ${id}`]);
      expect(await find(ada.token, ` ${id} `), type).toEqual([`${type} ${id}`]);
      expect(await find(eve.token, id), type).toEqual([]);
      // A ticket and a key of the account are of both modes or of their own.
      if (type !== 'ticket' && type !== 'key') expect(await find(ada.token, id, '&mode=sandbox'), type).toEqual([]);
    }
    expect(await find(ada.token, ids.payment.toUpperCase())).toEqual([`payment ${ids.payment}`]);
    const { items } = (await search(ada.token, ids.payment)).body;
    expect(new URL(items[0].dashboard_url).pathname).toBe(`/dashboard/payments/${ids.payment}`);
  });

  it('a signature finds its payment and receipt, and a beginning finds what lists find', async () => {
    const { ada, sale, ids } = await soldShop();
    expect(await find(ada.token, sale.signature)).toEqual([`payment ${ids.payment}`, `receipt ${ids.receipt}`]);
    const begun = await find(ada.token, 'USER-4');
    expect(begun).toContain(`customer ${ids.customer}`);
    expect(begun.length).toBeLessThanOrEqual(20);
    for (const q of ['%%', '__', `'; DROP TABLE payments`, '\u202euser', '١٢', '9'.repeat(200)])
      expect(await find(ada.token, q), q).toEqual([]);
  });

  it('a part of its name finds a product before it is sold, in its own account alone', async () => {
    const [ada, eve] = [await w.merchant(), await w.merchant()];
    const { product_id: id } = await w.product(ada, { name: 'Tide tables' });
    expect(await find(ada.token, 'tide TAB')).toEqual([`product ${id}`]);
    expect([await find(eve.token, 'tide TAB'), await find(ada.token, 'tide TAB', '&mode=sandbox')]).toEqual([[], []]);
  });

  it('a text under two or above 200 characters is 422 at its field', async () => {
    const ada = await w.merchant();
    for (const q of ['', 'a', ' a ', 'a'.repeat(201)]) {
      const { status, body } = await search(ada.key, q);
      expect([status, body.code, body.detail?.[0]?.loc], q).toEqual([422, 'validation_error', ['query', 'q']]);
    }
    expect((await w.call('GET', '/v1/search', { key: ada.key })).status).toBe(422);
  });

  it('a restricted key and each role find objects of their groups alone', async () => {
    const { ada, ids } = await soldShop();
    const body = { name: 'searcher', permissions: ['read'], scopes: ['settings:read', 'payments:read'] };
    const { raw_key } = (await w.call('POST', '/v1/keys', { key: ada.token, body })).body;
    expect(await find(raw_key, ids.payment)).toEqual([`payment ${ids.payment}`]);
    // The list of payments also finds one by its receipt.
    for (const type of ['receipt', 'customer', 'membership', 'product', 'endpoint', 'ticket', 'key', 'event', 'delivery'] as const)
      expect(await find(raw_key, ids[type]), type).toEqual(type === 'receipt' ? [`payment ${ids.payment}`] : []);
    expect(await find(raw_key, 'user-4')).toEqual([`payment ${ids.payment}`]);
    const unseen: [GivenRole, (keyof typeof ids)[]][] = [
      ['finance', ['endpoint', 'event', 'delivery', 'key']],
      ['support', ['key']],
      ['viewer', ['key']],
    ];
    for (const [role, hidden] of unseen) {
      const { token } = await addMember(w, ada, role);
      for (const type of Object.keys(ids) as (keyof typeof ids)[])
        expect(await find(token, ids[type]), `${role} ${type}`).toEqual(hidden.includes(type) ? [] : [`${type} ${ids[type]}`]);
    }
  });
});
