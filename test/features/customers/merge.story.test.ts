import { beforeEach, describe, expect, it } from 'vitest';
import { customerIdOf } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import { openShop } from '../../support/people/agent.ts';
import { watchCopy } from '../../support/people/entitlement-copy.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('POST /v1/customers/{customer_id}/merge', () => {
  const w = new World();
  let ada: Merchant;
  beforeEach(async () => {
    ada = await w.merchant();
  });
  const idOf = (customerRef: string) => customerIdOf(ada.userId, true, { customerRef });
  const get = async (path: string, key = ada.key) => w.call('GET', `/v1/${path}`, { key });
  const merge = (into: string, from: string, options: object = {}) =>
    w.call('POST', `/v1/customers/${into}/merge`, { key: ada.key, body: { from }, ...options });
  const settle = async () => {
    for (let round = 0; round < 4; round++) while (w.queue.sent.length > 0) await w.deliver();
  };

  it('a portal link of before the merge retries the delivery of a membership that moved', async () => {
    const [product, wallet] = [await w.product(ada), await w.chain.wallet()];
    await w.purchase(product, await w.chain.wallet(), { customer_ref: 'keeper' });
    const { confirmed } = await w.purchase(product, wallet, { customer_ref: 'moved' });
    await settle();
    await w.sweepAlone('analytics');
    const [into, from] = [idOf('keeper'), idOf('moved')];
    const { url } = (await w.call('POST', '/v1/customers/portal-sessions', { key: ada.key, body: { customer_id: from } })).body;
    const link = { token: new URL(url).searchParams.get('token')! };
    const { token } = (await w.call('POST', '/v1/buyer/portal-link/redeem', { body: link })).body;
    const retry = (id: string) => w.call('POST', `/v1/buyer/memberships/${id}/retry-delivery`, { key: token });
    expect((await retry(confirmed.membership_id)).status).toBe(200);
    expect((await merge(into, from)).status).toBe(200);
    await settle();
    const { membership_id } = (await get(`customers/${into}/state`)).body.products[0];
    expect((await retry(membership_id)).status).toBe(200);
  });

  it('payments, receipts, addresses and time of the other customer show under the survivor', async () => {
    const product = await w.product(ada, { access_period_days: 30 });
    const other = await w.product(ada, { access_period_days: 10 });
    const [one, two] = [await w.chain.wallet(), await w.chain.wallet()];
    const sales = [
      await w.purchase(product, one, { customer_ref: 'stays', email: 'a@example.com' }),
      await w.purchase(product, two, { customer_ref: 'goes', email: 'b@example.com' }),
      await w.purchase(other, two, { customer_ref: 'goes' }),
    ];
    await settle();
    await w.sweepAlone('analytics');
    const [into, from] = [idOf('stays'), idOf('goes')];
    const before = (await get(`customers/${from}`)).body;
    const merged = await merge(into, from);
    expect(merged.status).toBe(200);
    expect(merged.body).toMatchObject({
      customer_id: into,
      merged_from: [from],
      totals: { payments: 3 },
      version: 2,
    });
    expect(merged.body.emails.map(({ email }: Body) => email).sort()).toEqual(['a@example.com', 'b@example.com']);
    expect(merged.body.wallets.map(({ address }: Body) => address).sort()).toEqual([one.address, two.address].sort());
    await settle();
    expect((await get(`customers/${from}`)).body).toEqual((await get(`customers/${into}`)).body);
    const byEmail = await get('customers/state?email=b@example.com');
    expect([byEmail.status, byEmail.body.customer_id]).toEqual([200, into]);
    const { url } = (await w.call('POST', '/v1/customers/portal-sessions', { key: ada.key, body: { customer_id: into } })).body;
    const link = { token: new URL(url).searchParams.get('token')! };
    const { token } = (await w.call('POST', '/v1/buyer/portal-link/redeem', { body: link })).body;
    const shown = (await w.call('GET', '/v1/buyer/purchases', { key: token })).body.items;
    expect(shown.map((item: Body) => item.payment_id)).toEqual(sales.map(({ payment }) => payment.payment_id).reverse());
    expect((await get('customers')).body.items.map((item: Body) => item.customer_id)).toEqual([into]);
    for (const query of ['customer_ref=goes', 'q=goes', 'q=b@example.com', `wallet_address=${two.address}`])
      expect(
        (await get(`customers?${query}`)).body.items.map((item: Body) => item.customer_id),
        query,
      ).toEqual([into]);
    for (const id of [into, from]) {
      const payments = (await get(`payments?customer_id=${id}`)).body.items.map((item: Body) => item.payment_id);
      expect(payments).toEqual(sales.map(({ payment }) => payment.payment_id).reverse());
      const receipts = (await get(`receipts?customer_id=${id}`)).body.items.map((item: Body) => item.receipt_id);
      expect(receipts).toEqual(sales.map(({ confirmed }) => confirmed.receipt_id).reverse());
      expect((await get(`payments?customer_id=${id}&customer_ref=goes`)).body.total).toBe(2);
    }
    const { products } = (await get(`customers/${from}/state`)).body;
    expect(products.map(({ access }: Body) => access)).toEqual([true, true]);
    const ends = Object.fromEntries(products.map((state: Body) => [state.product_id, Date.parse(state.paid_through)]));
    const paid = (days: number) => Math.round((ends[days === 60 ? product.product_id : other.product_id]! - Date.now()) / DAY);
    expect([paid(60), paid(10)]).toEqual([60, 10]);
    const memberships = (await get('memberships')).body.items;
    const ofGone = memberships.find((item: Body) => item.membership_id === sales[1]!.confirmed.membership_id);
    expect(ofGone).toMatchObject({ status: 'cancelled', cancel_reason: 'merged' });
    const ofSurvivor = memberships.find((item: Body) => item.membership_id === sales[0]!.confirmed.membership_id);
    expect(Math.round((Date.parse(ofSurvivor.paid_through) - Date.now()) / DAY)).toBe(60);
    const moved = memberships.find((item: Body) => item.membership_id === sales[2]!.confirmed.membership_id);
    expect(moved).toMatchObject({ status: 'active', customer: { customer_ref: 'stays' } });
    const events = (await get('webhooks/events?event_type=customer.merged')).body.items;
    expect(events.map(({ data }: Body) => data.object.merged_from)).toEqual([[from]]);
    expect(before.merged_from).toEqual([]);
    const { items: entries } = (await w.call('GET', '/v1/account/audit-log?action=customer.merged', { key: ada.token })).body;
    expect(entries).toMatchObject([{ action: 'customer.merged' }]);
  });

  it('units move once, consume under the merged customer is refused, and a later payment of it serves the survivor', async () => {
    const shop = await openShop(w);
    ada = shop.merchant;
    const [into, from] = [idOf('stays'), idOf('goes')];
    const stores = await Promise.all(['stays', 'goes'].map((ref) => watchCopy(w, ada, shop.product.product_id, { customerRef: ref })));
    const storeCopies = async () => {
      for (const storeCopy of stores) await storeCopy();
    };
    const grant = (customer_ref: string, units: number) => shop.grant({ customer: { customer_ref }, units });
    await grant('stays', 2);
    await grant('goes', 5);
    const consume = (customer_ref: string, units = 1) => shop.consume({ customer: { customer_ref }, units });
    expect((await consume('goes')).body.remaining).toBe(4);
    await storeCopies();
    for (const customer_ref of ['stays', 'goes']) await w.call('POST', '/v1/customers', { key: ada.key, body: { customer_ref } });
    await w.sweepAlone('analytics');
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const first = await merge(into, from, { headers });
    expect(first.status).toBe(200);
    expect((await merge(into, from, { headers })).body).toEqual(first.body);
    expect((await merge(into, from)).status).toBe(200);
    await storeCopies();
    const refused = await consume('goes');
    expect([refused.status, refused.body.code]).toEqual([403, 'entitlement_missing']);
    expect(refused.body.meta).toMatchObject({ reason: 'merged', customer_id: into });
    expect((await consume('stays', 6)).body).toMatchObject({ consumed: true, remaining: 0 });
    await grant('goes', 3);
    expect((await consume('goes')).status).toBe(403);
    await storeCopies();
    expect((await consume('stays')).body).toMatchObject({ consumed: true, remaining: 2 });
  });

  it.each([
    ['merged', 'goes', 'stays'],
    ['surviving', 'stays', 'goes'],
  ])('a refund of the payment of the %s customer takes its time, and no other', async (_customer, refunded, other) => {
    const wallet = await w.chain.wallet();
    const product = await w.product(ada, { access_period_days: 30, payout_wallet: wallet.address });
    const stores = await Promise.all(['stays', 'goes'].map((ref) => watchCopy(w, ada, product.product_id, { customerRef: ref })));
    const sales = new Map<string, Awaited<ReturnType<World['purchase']>>>();
    for (const customer_ref of ['stays', 'goes'])
      sales.set(customer_ref, await w.purchase(product, await w.chain.wallet(), { customer_ref }));
    await settle();
    await w.sweepAlone('analytics');
    expect((await merge(idOf('stays'), idOf('goes'))).status).toBe(200);
    await settle();
    const path = `/v1/payments/${sales.get(refunded)!.payment.payment_id}`;
    const prepared = await w.call('POST', `${path}/refund-transaction`, { key: ada.key, body: { revoke_access: true } });
    const wire = await w.chain.sign(wallet, prepared.body.transaction);
    const tx_signature = await w.chain.call<string>('sendTransaction', wire, { encoding: 'base64' });
    expect((await w.call('POST', `${path}/refund-confirm`, { key: ada.key, body: { tx_signature } })).status).toBe(200);
    await settle();
    for (const storeCopy of stores) await storeCopy();
    const membership = (await get(`memberships/${sales.get('stays')!.confirmed.membership_id}`)).body;
    const [held] = (await get(`customers/${idOf('stays')}/state`)).body.products;
    const daysTo = (until: string) => Math.round((Date.parse(until) - Date.now()) / DAY);
    expect([membership.status, daysTo(membership.paid_through), held.access, daysTo(held.paid_through)]).toEqual(['active', 30, true, 30]);
    const paid = (await get(`payments/${sales.get(other)!.payment.payment_id}`)).body;
    expect(paid.membership_id).toBe(membership.membership_id);
  });

  it('a crash between the commit and the move is completed by the event', async () => {
    const product = await w.product(ada, { access_period_days: 30 });
    await w.purchase(product, await w.chain.wallet(), { customer_ref: 'goes' });
    await settle();
    await w.sweepAlone('analytics');
    await w.call('POST', '/v1/customers', { key: ada.key, body: { customer_ref: 'stays' } });
    const broken = { ...w.env, ENTITLEMENT: { getByName: () => ({ mergeAway: () => Promise.reject(new Error('away')) }) } };
    expect((await merge(idOf('stays'), idOf('goes'), { env: broken })).status).toBe(200);
    const access = async () => (await get(`customers/${idOf('stays')}/state`)).body.products.map((state: Body) => state.access);
    expect(await access()).not.toContain(true);
    await settle();
    expect(await access()).toEqual([true]);
  });

  it('refuses the customer itself, another mode, another account and a caller without the scope', async () => {
    await w.call('POST', '/v1/customers', { key: ada.key, body: { customer_ref: 'one' } });
    await w.call('POST', '/v1/customers', { key: ada.key, body: { customer_ref: 'two' } });
    const test = (await w.call('POST', '/v1/customers', { key: ada.sandboxKey, body: { customer_ref: 'one' } })).body.customer_id;
    expect((await merge(idOf('one'), idOf('one'))).status).toBe(422);
    expect((await merge(idOf('one'), test)).status).toBe(422);
    expect((await merge(idOf('one'), crypto.randomUUID())).status).toBe(404);
    const eve = await w.merchant();
    expect((await merge(idOf('one'), idOf('two'), { key: eve.key })).status).toBe(404);
    expect((await merge(idOf('one'), idOf('two'))).status).toBe(200);
    // The id of the merged customer answers the survivor, so that nothing is left to merge back.
    expect((await merge(idOf('two'), idOf('one'))).status).toBe(422);
    await w.call('POST', '/v1/customers', { key: ada.key, body: { customer_ref: 'three' } });
    const again = await merge(idOf('three'), idOf('two'));
    expect([again.status, again.body.meta]).toEqual([409, { reason: 'merged' }]);
  });
});
