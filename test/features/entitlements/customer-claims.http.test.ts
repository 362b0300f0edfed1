import { beforeAll, describe, expect, it } from 'vitest';
import { write } from '../../support/people/agent.ts';
import { type Merchant, World } from '../../support/world.ts';

/** Buyer data sent at connect is an unproven claim. Data from the merchant's server is trusted. */
const w = new World();
let ada: Merchant;
let product: { product_id: string; slug: string };
beforeAll(async () => {
  ada = await w.merchant();
  product = await w.product(ada, { access_period_days: 30, live_mode_confirmed: true });
});

const lookup = async (query: string) => {
  const { status, body } = await w.call('GET', `/v1/memberships/lookup?product_id=${product.product_id}&${query}`, { key: ada.key });
  return status === 200 ? body : status;
};
const handoff = async (customer_ref: string, email: string): Promise<string> => {
  const path = `/v1/products/${product.product_id}/handoffs`;
  return (await w.call('POST', path, { key: ada.key, body: { customer_ref, email } })).body.handoff_token;
};
const member = async (ref: string) => {
  const buyer = await w.chain.wallet();
  const email = `${ref}@example.com`;
  const bought = await w.purchase(product, buyer, { handoff_token: await handoff(ref, email) });
  return { buyer, email, membershipId: bought.confirmed.membership_id as string };
};

describe('payment under a claimed customer reference', () => {
  it('a claimed reference extends the membership and changes neither its wallet nor its email', async () => {
    const victim = await member('user-42');
    const thief = await w.chain.wallet();
    const before = await lookup('customer_ref=user-42');
    const { payment } = await w.purchase(product, thief, { customer_ref: 'user-42', email: 'thief@example.com' });
    const after = await lookup('customer_ref=user-42');
    expect(after.membership_id).toBe(victim.membershipId);
    expect(after.customer).toEqual(before.customer);
    expect(Date.parse(after.paid_through)).toBeGreaterThan(Date.parse(before.paid_through));
    for (const query of [`wallet_address=${victim.buyer.address}`, `email=${victim.email}`])
      expect((await lookup(query)).membership_id).toBe(victim.membershipId);
    expect(await lookup('email=thief@example.com')).toBe(404);
    expect(await lookup(`wallet_address=${thief.address}`)).toBe(404);
    const paid = await w.call('GET', `/v1/payments/${payment.payment_id}`, { key: ada.key });
    expect(paid.body).toMatchObject({ payer_wallet: thief.address, customer_ref: 'user-42' });
  });

  it('a membership begun by a claim belongs to the customer from their first hand-off or session on', async () => {
    const squatter = await w.chain.wallet();
    await w.purchase(product, squatter, { customer_ref: 'user-43', email: 'squatter@example.com' });
    const rightful = await member('user-43');
    expect((await lookup('customer_ref=user-43')).customer).toEqual({
      customer_ref: 'user-43',
      wallet_address: rightful.buyer.address,
      email: rightful.email,
    });
    expect(await lookup('email=squatter@example.com')).toBe(404);
    const other = await w.chain.wallet();
    const session = await write(w, ada, 'payment-sessions', { product_id: product.product_id, customer_ref: 'user-43' });
    await w.purchase(product, other, { payment_session_id: session.body.payment_session_id });
    expect((await lookup('customer_ref=user-43')).customer.wallet_address).toBe(other.address);
  });

  it('the address of a claim is not inherited by a hand-off or session that names none, and that of a hand-off is', async () => {
    await w.purchase(product, await w.chain.wallet(), { customer_ref: 'user-45', email: 'thief@example.com' });
    const buySession = async (customer_ref: string) => {
      const { body } = await write(w, ada, 'payment-sessions', { product_id: product.product_id, customer_ref });
      await w.purchase(product, await w.chain.wallet(), { payment_session_id: body.payment_session_id });
    };
    await buySession('user-45');
    expect((await lookup('customer_ref=user-45')).customer.email).toBeUndefined();
    expect(await lookup('email=thief@example.com')).toBe(404);
    const { email } = await member('user-46');
    await buySession('user-46');
    expect((await lookup('customer_ref=user-46')).customer.email).toBe(email);
  });

  it('a reference given in a session without a customer is a claim too', async () => {
    const victim = await member('user-44');
    const session = await write(w, ada, 'payment-sessions', { product_id: product.product_id });
    const { payment_session_id } = session.body;
    await w.purchase(product, await w.chain.wallet(), { payment_session_id, customer_ref: 'user-44', email: 'thief@example.com' });
    expect((await lookup('customer_ref=user-44')).customer).toMatchObject({ wallet_address: victim.buyer.address, email: victim.email });
  });
});

describe('trusted_customer_ref', () => {
  it('only the merchant’s server can set the reference', async () => {
    const strict = await w.product(ada, { trusted_customer_ref: true, live_mode_confirmed: true });
    expect(strict.trusted_customer_ref).toBe(true);
    const connect = (body: object) => w.call('POST', `/v1/products/p/${strict.slug}/connect`, { body });
    const refused = await connect({ customer_ref: 'user-1' });
    expect([refused.status, refused.body.code]).toEqual([422, 'validation_error']);
    expect(refused.body.detail).toMatchObject([{ loc: ['body', 'customer_ref'], type: 'untrusted_customer_ref' }]);
    expect((await connect({})).status).toBe(200);
    const session = await write(w, ada, 'payment-sessions', { product_id: strict.product_id, customer_ref: 'user-1' });
    expect((await connect({ payment_session_id: session.body.payment_session_id, customer_ref: 'user-2' })).status).toBe(200);
    const named = await w.call('POST', `/v1/products/${strict.product_id}/handoffs`, { key: ada.key, body: { customer_ref: 'user-3' } });
    expect((await connect({ handoff_token: named.body.handoff_token, customer_ref: 'user-3' })).status).toBe(200);
    const nameless = await w.call('POST', `/v1/products/${strict.product_id}/handoffs`, { key: ada.key, body: {} });
    expect((await connect({ handoff_token: nameless.body.handoff_token, customer_ref: 'user-3' })).status).toBe(422);
    expect((await connect({ handoff_token: nameless.body.handoff_token })).status).toBe(200);
  });

  it('trusted_customer_ref can be switched on and off at any time', async () => {
    const { product_id, slug, trusted_customer_ref } = await w.product(ada);
    expect(trusted_customer_ref).toBe(false);
    const change = (on: boolean) => w.call('PATCH', `/v1/products/${product_id}`, { key: ada.key, body: { trusted_customer_ref: on } });
    const claim = () => w.call('POST', `/v1/products/p/${slug}/connect`, { body: { customer_ref: 'user-1' } });
    expect((await change(true)).body.trusted_customer_ref).toBe(true);
    expect((await claim()).status).toBe(422);
    expect((await change(false)).body.trusted_customer_ref).toBe(false);
    expect((await claim()).status).toBe(200);
  });
});
