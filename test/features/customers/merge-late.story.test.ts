import { beforeEach, describe, expect, it } from 'vitest';
import { customerIdOf } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import { watchCopy } from '../../support/people/entitlement-copy.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('payments under the reference of a merged customer', () => {
  const w = new World();
  let ada: Merchant;
  let product: Body;
  let storeCopies: () => Promise<void>;
  beforeEach(async () => {
    ada = await w.merchant();
    const wallet = await w.chain.wallet();
    product = await w.product(ada, { access_period_days: 30, payout_wallet: wallet.address });
    payout = wallet;
    const stores = await Promise.all(['stays', 'goes'].map((ref) => watchCopy(w, ada, product.product_id, { customerRef: ref })));
    storeCopies = async () => {
      for (const storeCopy of stores) await storeCopy();
    };
  });
  let payout: Awaited<ReturnType<World['chain']['wallet']>>;
  const idOf = (customerRef: string) => customerIdOf(ada.userId, true, { customerRef });
  const get = async (path: string) => (await w.call('GET', `/v1/${path}`, { key: ada.key })).body as Body;
  const settle = async () => {
    for (let round = 0; round < 4; round++) while (w.queue.sent.length > 0) await w.deliver();
    await storeCopies();
    for (let round = 0; round < 4; round++) while (w.queue.sent.length > 0) await w.deliver();
    await storeCopies();
  };
  const buy = async (customer_ref: string) => w.purchase(product, await w.chain.wallet(), { customer_ref });
  const merge = async () => {
    await w.sweepAlone('analytics');
    for (const customer_ref of ['stays', 'goes']) await w.call('POST', '/v1/customers', { key: ada.key, body: { customer_ref } });
    const { status } = await w.call('POST', `/v1/customers/${idOf('stays')}/merge`, { key: ada.key, body: { from: idOf('goes') } });
    expect(status).toBe(200);
  };
  const daysTo = (until: string) => Math.round((Date.parse(until) - Date.now()) / DAY);
  /** Memberships that run, as reference and days left, and the days that the survivor may use. */
  const held = async () => {
    const { items } = await get('memberships');
    const running = items.filter(({ status }: Body) => status === 'active');
    const [state] = (await get(`customers/${idOf('stays')}/state`)).products;
    return {
      memberships: running.map(({ customer, paid_through }: Body) => [customer.customer_ref, daysTo(paid_through)]),
      access: state.access ? daysTo(state.paid_through) : null,
    };
  };

  it.each([
    ['a survivor with a membership', ['stays', 'goes'], 60],
    ['a survivor that took over the membership', ['goes'], 30],
    ['a survivor without a membership', [], 0],
  ])('bring membership, time and refund rights to %s', async (_survivor, buyers, before) => {
    for (const ref of buyers) await buy(ref);
    await settle();
    await merge();
    await settle();
    const sale = await buy('goes');
    await settle();
    expect(await held()).toEqual({ memberships: [['stays', before + 30]], access: before + 30 });
    const { membership_id } = await get(`payments/${sale.payment.payment_id}`);
    expect((await get(`memberships/${membership_id}`)).customer.customer_ref).toBe('stays');
    const path = `/v1/payments/${sale.payment.payment_id}`;
    const prepared = await w.call('POST', `${path}/refund-transaction`, { key: ada.key, body: { revoke_access: true } });
    const wire = await w.chain.sign(payout, prepared.body.transaction);
    const tx_signature = await w.chain.call<string>('sendTransaction', wire, { encoding: 'base64' });
    expect((await w.call('POST', `${path}/refund-confirm`, { key: ada.key, body: { tx_signature } })).status).toBe(200);
    await settle();
    expect(await held()).toEqual(before > 0 ? { memberships: [['stays', before]], access: before } : { memberships: [], access: null });
  });

  it('move with customer.merged if the merge did not see them', async () => {
    await buy('stays');
    await settle();
    await merge();
    const merged = w.queue.sent.splice(0);
    await buy('goes');
    // The events of the purchase were handled before the merge.
    w.queue.sent.length = 0;
    expect((await held()).memberships).toHaveLength(2);
    await w.deliver(merged.map(({ job }) => job));
    await settle();
    expect((await held()).memberships).toEqual([['stays', 60]]);
    await w.deliver(merged.map(({ job }) => job));
    expect((await held()).memberships).toEqual([['stays', 60]]);
  });
});
