import { expect, it } from 'vitest';
import { withFaults } from '../world/faults.ts';
import { World } from '../world/world.ts';

it('a confirmation costs one read, one call to the node, one batch and one re-read', async () => {
  const w = new World();
  const product = await w.product(await w.merchant());
  const buyer = await w.chain.wallet();
  await w.purchase(product, buyer);
  const payment = await w.connect(product);
  const signature = await w.chain.pay(buyer, payment);
  await w.chain.call('local_resetCalls');
  const { env, trips } = withFaults(w.env);
  expect((await w.confirm(payment.payment_id, signature, { env })).body.payment.status).toBe('CONFIRMED');
  // The first batch is the read: three selects in one round trip.
  expect(trips.map(({ kind }) => kind)).toEqual(['batch', 'batch', 'read']);
  expect(await w.chain.call('local_calls')).toEqual({ getTransaction: 1, getSignatureStatuses: 1 });
});

it('an authenticated call costs no database trip for knowing who calls', async () => {
  const w = new World();
  const merchant = await w.merchant();
  await w.call('GET', '/v1/account/me', { key: merchant.key });
  const { env, trips } = withFaults(w.env);
  await w.call('GET', '/v1/account/me', { key: merchant.key, env });
  expect(trips).toHaveLength(1);
  const refused = withFaults(w.env);
  await w.call('GET', '/v1/account/me', { key: `${merchant.key.slice(0, -1)}_`, env: refused.env });
  expect(refused.trips).toHaveLength(0);
});
