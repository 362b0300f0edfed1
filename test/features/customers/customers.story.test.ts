import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { customerIdOf } from '#core/ids.ts';
import { DAY, MINUTE } from '#core/time.ts';
import { newAgent, openShop, sellToAgents, stall } from '../../support/people/agent.ts';
import { watchCopy } from '../../support/people/entitlement-copy.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { withRowCount, writtenBy } from '../../support/runner/rows-read.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('customers', () => {
  const w = new World();
  let ada: Merchant;
  let product: Body;
  beforeEach(async () => {
    ada = await w.merchant();
    product = await w.product(ada, { access_period_days: 30 });
  });

  const list = async (query = '', key = ada.key): Promise<Body> => (await w.call('GET', `/v1/customers${query}`, { key })).body;
  const get = async (id: string, key = ada.key): Promise<Body> => (await w.call('GET', `/v1/customers/${id}`, { key })).body;
  const post = (body: object, options: object = {}) => w.call('POST', '/v1/customers', { key: ada.key, body, ...options });
  const patch = (id: string, body: object, options: object = {}) =>
    w.call('PATCH', `/v1/customers/${id}`, { key: ada.key, body, ...options });
  const idOf = (customer: object) => customerIdOf(ada.userId, true, customer);
  const fold = () => w.sweepAlone('analytics');

  describe('fold', () => {
    it('a purchase makes the customer of its reference, and one without a reference that of the paying wallet', async () => {
      const [named, plain] = [await w.chain.wallet(), await w.chain.wallet()];
      const storeCopy = await watchCopy(w, ada, product.product_id, { customerRef: 'user-1' });
      await w.purchase(product, named, { customer_ref: 'user-1', email: 'Grace@example.com' });
      await w.purchase(product, named, { customer_ref: 'user-1' });
      await w.purchase(product, plain);
      expect((await list()).items).toEqual([]);
      await storeCopy();
      await fold();
      const sums = { SOL: { gross: '0', refunded: '0' } };
      const byId = new Map((await list()).items.map((item: Body) => [item.customer_id, item]));
      expect(byId.size).toBe(2);
      expect(byId.get(idOf({ customerRef: 'user-1' }))).toMatchObject({
        customer_ref: 'user-1',
        wallets: [{ address: named.address, source: 'payment' }],
        emails: [{ email: 'grace@example.com', source: 'checkout' }],
        totals: { payments: 2, USDC: { gross: '10', refunded: '0' }, ...sums },
        access: { active: 1, lapsed: 0 },
        version: 1,
      });
      const wallet = byId.get(idOf({ walletAddress: plain.address })) as Body;
      expect(wallet).toMatchObject({ wallets: [{ address: plain.address, source: 'key' }], totals: { payments: 1 } });
      expect(wallet).not.toHaveProperty('customer_ref');
      expect(await get(wallet.customer_id)).toEqual(wallet);
    });

    it('a repeated or parallel sweep counts each payment once', async () => {
      await w.purchase(product, await w.chain.wallet(), { customer_ref: 'user-1' });
      await fold();
      const { customer_id: id, totals } = (await list()).items[0];
      await w.env.DB.prepare('UPDATE sweeps SET due_at = 0, lease_until = 0').run();
      await Promise.all([w.sweepAlone('analytics'), w.sweepAlone('analytics')]);
      expect((await get(id)).totals).toEqual(totals);
    });

    it('a checkout that nobody pays, and a call with another account’s reference, make no customer', async () => {
      const eve = await w.merchant();
      await w.purchase(await w.product(eve), await w.chain.wallet(), { customer_ref: 'user-1' });
      await w.connect(product, { customer_ref: 'user-2' });
      await fold();
      expect((await list()).total).toBe(0);
      const [theirs] = (await list('', eve.key)).items;
      expect((await w.call('GET', `/v1/customers/${theirs.customer_id}`, { key: ada.key })).status).toBe(404);
      expect((await patch(theirs.customer_id, { name: 'Mallory' })).status).toBe(404);
      expect((await w.call('GET', `/v1/customers/${theirs.customer_id}/state`, { key: ada.key })).status).toBe(404);
    });

    it('a hand-off and a payment session make the customer that they name at once, and once', async () => {
      const wallet = await w.chain.wallet();
      const create = (path: string, body: object) =>
        w.call('POST', path, { key: ada.key, body, headers: { 'Idempotency-Key': crypto.randomUUID() } });
      const session = { product_id: product.product_id, customer_ref: 'user-2' };
      for (const body of [{ customer_ref: 'user-1', wallet_address: wallet.address }, { wallet_address: wallet.address }, {}])
        expect((await create(`/v1/products/${product.product_id}/handoffs`, body)).status).toBe(201);
      for (const body of [session, session]) expect((await create('/v1/access/payment-sessions', body)).status).toBe(201);
      const names = [{ customerRef: 'user-1' }, { walletAddress: wallet.address }, { customerRef: 'user-2' }];
      const ids = (await list()).items.map((item: Body) => item.customer_id);
      expect(new Set(ids)).toEqual(new Set(names.map(idOf)));
      expect(ids).toHaveLength(names.length);
      const state = await w.call('GET', '/v1/customers/state?customer_ref=user-2', { key: ada.key });
      expect(state).toMatchObject({ status: 200, body: { customer_id: idOf({ customerRef: 'user-2' }), products: [] } });
      await w.purchase(product, wallet, { customer_ref: 'user-2' });
      await fold();
      expect((await get(idOf({ customerRef: 'user-2' }))).totals.payments).toBe(1);
    });

    it('a grant shows its customer, and a payment by another wallet counts for the wallet that it was made for', async () => {
      const shop = await openShop(w);
      const storeCopy = await watchCopy(w, shop.merchant, shop.product.product_id, { customerRef: 'granted' });
      await shop.grant({ customer: { customer_ref: 'granted' }, units: 3 });
      await storeCopy();
      const named = { wallet_address: (await w.chain.wallet(0n)).address };
      expect((await shop.settle(await shop.pay({ customer: named }), { customer: named })).status).toBe(200);
      await fold();
      const { items } = await list('', shop.merchant.key);
      const shown = items.map(({ customer_ref, wallets, totals }: Body) => [customer_ref, wallets, totals.payments]);
      expect(shown).toContainEqual(['granted', [], 0]);
      expect(shown).toContainEqual([
        undefined,
        [
          { address: shop.agent.wallet.address, source: 'payment' },
          { address: named.wallet_address, source: 'key' },
        ],
        1,
      ]);
    });

    it('a first sale writes three rows of a customer, and a later one two', async () => {
      const buyer = await w.chain.wallet();
      const written: number[] = [];
      for (let sale = 0; sale < 2; sale++) {
        // Below the tolerance for clocks that differ.
        if (sale > 0) setTime(Date.now() + MINUTE);
        await w.purchase(product, buyer, { customer_ref: 'user-1' });
        const { env, readings } = withRowCount(w.env);
        await w.sweepAlone('analytics', env);
        written.push(writtenBy(readings.filter(({ sql }) => sql.startsWith('insert into "customers"'))));
      }
      letTimeRun();
      expect(written).toEqual([3, 2]);
    });
  });

  describe('list', () => {
    beforeEach(async () => {
      const other = await w.product(ada);
      const stores = [
        await watchCopy(w, ada, product.product_id, { customerRef: 'Alpha' }),
        await watchCopy(w, ada, other.product_id, { customerRef: 'beta' }),
      ];
      await w.purchase(product, await w.chain.wallet(), { customer_ref: 'Alpha', email: 'a@example.com' });
      await w.purchase(other, await w.chain.wallet(), { customer_ref: 'beta' });
      for (const storeCopy of stores) await storeCopy();
      await fold();
      await post({ customer_ref: 'gamma', name: 'Grace Hopper', email: 'G@example.com' });
    });
    const refs = async (query: string) => (await list(query)).items.map((item: Body) => item.customer_ref).sort();

    it('each filter selects its customers', async () => {
      const { wallets } = (await list('?customer_ref=Alpha')).items[0];
      for (const [query, expected] of [
        ['', ['Alpha', 'beta', 'gamma']],
        ['customer_ref=beta', ['beta']],
        [`wallet_address=${wallets[0].address}`, ['Alpha']],
        ['email=A@example.com', ['Alpha']],
        ['email=g@example.com', ['gamma']],
        [`product_id=${product.product_id}`, ['Alpha']],
        ['access=active', ['Alpha', 'beta']],
        ['access=none', ['gamma']],
        ['access=lapsed', []],
        ['q=al', ['Alpha']],
        ['q=grace', ['gamma']],
        ['q=G@exa', ['gamma']],
        ['q=a@ex', ['Alpha']],
        [`q=${wallets[0].address.slice(0, 9)}`, ['Alpha']],
        ['q=lpha', []],
        ['q=BE&access=active', ['beta']],
        [`created_from=${new Date(Date.now() + DAY).toISOString()}`, []],
        ['customer_ref=beta&email=a@example.com', []],
      ] as const)
        expect([query, await refs(`?${query}`)]).toEqual([query, expected]);
      expect((await list('?sort=created_at&per_page=1')).items.map((item: Body) => item.customer_ref)).toEqual(['gamma']);
      expect(await list('?q=x')).toMatchObject({ code: 'validation_error' });
    });
  });

  describe('merchant’s details', () => {
    it('a customer is noted once, under an Idempotency-Key or not, also by parallel calls', async () => {
      const headers = { 'Idempotency-Key': 'note-once' };
      const first = await post({ customer_ref: 'user-1', metadata: { tier: 'gold' } }, { headers });
      expect(first.body).toMatchObject({ customer_id: idOf({ customerRef: 'user-1' }), metadata: { tier: 'gold' }, version: 1 });
      expect((await post({ customer_ref: 'user-1', metadata: { tier: 'gold' } }, { headers })).body).toEqual(first.body);
      const again = await post({ customer_ref: 'user-1' });
      expect([again.status, again.body.code, again.body.meta.customer_id]).toEqual([409, 'state_conflict', first.body.customer_id]);
      const wallet_address = (await w.chain.wallet(0n)).address;
      const parallel = await Promise.all([1, 2, 3].map(() => post({ wallet_address })));
      expect(parallel.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    });

    it('a customer who has bought, and is not folded yet, is refused as known', async () => {
      await w.purchase(product, await w.chain.wallet(), { customer_ref: 'user-1' });
      expect((await post({ customer_ref: 'user-1' })).body.meta).toEqual({ customer_id: idOf({ customerRef: 'user-1' }) });
    });

    it('an update is stored with its event and entry, null clears, and metadata merges', async () => {
      const { body } = await post({ customer_ref: 'user-1', name: 'Ada', email: 'a@example.com', metadata: { a: '1', b: '2' } });
      const { body: updated } = await patch(body.customer_id, {
        name: null,
        metadata: { a: null, c: '3' },
        company: { name: 'Analytical' },
      });
      expect(updated).toMatchObject({ metadata: { b: '2', c: '3' }, company: { name: 'Analytical' }, version: 2 });
      expect(updated).not.toHaveProperty('name');
      const events = (await w.call('GET', '/v1/webhooks/events?event_type=customer.updated', { key: ada.key })).body.items;
      expect(events.map(({ data }: Body) => data)).toEqual([
        { object: updated, previous: { name: 'Ada', company: null, metadata: { a: '1', b: '2' } } },
      ]);
      const entries = (await w.call('GET', '/v1/account/audit-log?action=customer.*', { key: ada.token })).body.items;
      expect(entries.map(({ action, after }: Body) => [action, after.name])).toEqual([
        ['customer.updated', null],
        ['customer.created', 'Ada'],
      ]);
      expect((await patch(body.customer_id, { company: { name: 'Analytical' } })).body.version).toBe(2);
      const many = Object.fromEntries(Array.from({ length: 49 }, (_, i) => [`k${i}`, 'v']));
      expect((await patch(body.customer_id, { metadata: many })).body.code).toBe('validation_error');
    });

    it('parallel updates of different fields are all stored, each with its event', async () => {
      const { body } = await post({ customer_ref: 'user-1' });
      const answers = await Promise.all([patch(body.customer_id, { name: 'Ada' }), patch(body.customer_id, { email: 'a@example.com' })]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(await get(body.customer_id)).toMatchObject({ name: 'Ada', emails: [{ email: 'a@example.com' }], version: 3 });
    });

    it('a fold between read and update leaves the details alone, and the update leaves the sums alone', async () => {
      const { body } = await post({ customer_ref: 'user-1', name: 'Ada' });
      await w.purchase(product, await w.chain.wallet(), { customer_ref: 'user-1' });
      await Promise.all([fold(), patch(body.customer_id, { name: 'Ada Lovelace' })]);
      expect(await get(body.customer_id)).toMatchObject({ name: 'Ada Lovelace', totals: { payments: 1 }, version: 2 });
    });

    it('the sandbox and live mode know different customers of one reference', async () => {
      const [live, test] = [await post({ customer_ref: 'user-1' }), await post({ customer_ref: 'user-1' }, { key: ada.sandboxKey })];
      expect([live.status, test.status, live.body.customer_id === test.body.customer_id]).toEqual([201, 201, false]);
      expect((await w.call('GET', `/v1/customers/${test.body.customer_id}`, { key: ada.key })).status).toBe(404);
    });
  });

  it('a deleted account has no customers left', async () => {
    await post({ customer_ref: 'user-1', name: 'Ada' });
    expect((await w.call('DELETE', '/v1/account/account', { key: ada.token })).status).toBe(200);
    await w.sweepAlone('erasures');
    const left = w.env.DB.prepare('SELECT count(*) AS n FROM customers WHERE merchant_id = ?').bind(ada.userId);
    expect(await left.first('n')).toBe(0);
  });
});

describe('GET /v1/customers/state', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });
  const read = (query: string, key = ada.key) => w.call('GET', `/v1/customers/state?${query}`, { key });

  it('a purchase is in the state at once, without a fold, and by its id after it', async () => {
    const product = await w.product(ada, { access_period_days: 30, external_product_id: 'plan-a' });
    const { confirmed } = await w.purchase(product, await w.chain.wallet(), { customer_ref: 'user-1', email: 's@example.com' });
    const { body } = await read('customer_ref=user-1');
    expect(body).toMatchObject({
      customer_id: customerIdOf(ada.userId, true, { customerRef: 'user-1' }),
      customer_ref: 'user-1',
      has_more: false,
      products: [
        {
          product_id: product.product_id,
          external_product_id: 'plan-a',
          name: 'Weather API',
          access: true,
          paid_through: expect.any(String),
          membership_id: confirmed.membership_id,
        },
      ],
    });
    expect((await read('email=S@example.com')).body.products).toEqual(body.products);
    await w.deliver();
    await w.sweepAlone('analytics');
    const byId = await w.call('GET', `/v1/customers/${body.customer_id}/state`, { key: ada.key });
    expect(byId.body.products).toEqual(body.products);
  });

  it('units are those of the object, and a product without any left says why', async () => {
    const merchant = await w.merchant();
    const shop = stall(w, merchant, await sellToAgents(w, merchant), await newAgent(w));
    const customer = { customer_ref: 'units' };
    const storeCopy = await watchCopy(w, merchant, shop.product.product_id, { customerRef: 'units' });
    await shop.grant({ customer, units: 2 });
    await storeCopy();
    const units = async () =>
      (await read('customer_ref=units', merchant.key)).body.products.map((one: Body) => [one.access, one.units, one.reason]);
    expect(await units()).toEqual([[true, { granted: 2, used: 0, remaining: 2 }, undefined]]);
    await shop.consume({ customer });
    expect(await units()).toEqual([[true, { granted: 2, used: 1, remaining: 1 }, undefined]]);
    await shop.consume({ customer });
    expect(await units()).toEqual([[false, { granted: 2, used: 2, remaining: 0 }, 'exhausted']]);
  });

  it('none or two names are 422, an unknown one is 404, and an address of two customers is 409 with both', async () => {
    const product = await w.product(ada);
    for (const customer_ref of ['twin-1', 'twin-2'])
      await w.purchase(product, await w.chain.wallet(), { customer_ref, email: 'twin@example.com' });
    const answers = [
      await read(''),
      await read('customer_ref=a&email=b@example.com'),
      await read('customer_ref=nobody'),
      await read('email=twin@example.com'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([422, 422, 404, 409]);
    expect(answers.at(-1)!.body.meta.customer_ids.length).toBe(2);
    const eve = await w.merchant();
    expect((await read('customer_ref=twin-1', eve.key)).status).toBe(404);
    expect((await read('email=twin@example.com', eve.key)).status).toBe(404);
  });
});
