import { expect, it } from 'vitest';
import { withFaults } from '../../world/faults.ts';
import { World } from '../../world/world.ts';

it.each([
  { buyer: 'named at connect', trips: ['batch', 'batch'] },
  { buyer: 'known only from the chain', trips: ['batch', 'batch', 'batch'] },
])(
  'a confirmation costs at most two reads, one call to the node and one batch: buyer $buyer',
  async ({ buyer: known, trips: expected }) => {
    const w = new World();
    const product = await w.product(await w.merchant());
    const buyer = await w.chain.wallet();
    await w.purchase(product, buyer);
    const payment = await w.connect(product, known === 'named at connect' ? { wallet_address: buyer.address } : {});
    const signature = await w.chain.pay(buyer, payment);
    await w.chain.call('local_resetCalls');
    const { env, trips } = withFaults(w.env);
    expect((await w.confirm(payment.payment_id, signature, { env })).body.payment.status).toBe('CONFIRMED');
    // The first ones read, several selects in one round trip; the last one stores everything.
    expect(trips.map(({ kind }) => kind)).toEqual(expected);
    expect(await w.chain.call('local_calls')).toEqual({ getTransaction: 1, getSignatureStatuses: 1 });
  },
);

it('an authenticated call costs no database trip for knowing who calls', async () => {
  const w = new World();
  const merchant = await w.merchant();
  await w.call('GET', '/v1/account/me', { key: merchant.key });
  const { env, trips } = withFaults(w.env);
  await w.call('GET', '/v1/account/me', { key: merchant.key, env });
  // What is answered is read side by side: the account, who signs in to it, and whether letters to it come back.
  expect(trips.map(({ kind }) => kind)).toEqual(['read', 'read', 'read']);
  const refused = withFaults(w.env);
  await w.call('GET', '/v1/account/me', { key: `${merchant.key.slice(0, -1)}_`, env: refused.env });
  expect(refused.trips).toHaveLength(0);
});
