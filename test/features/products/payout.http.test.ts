import { describe, expect, it } from 'vitest';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { World } from '../../support/world.ts';

describe('stolen API key', () => {
  const w = new World();
  const wallet = async () => (await w.chain.wallet(0n)).address;

  it.each([
    ['a price in the other asset', { price: { asset: 'SOL', amount: '1' } }],
    ['one more asset', { accepted_assets: ['USDC', 'SOL'] }],
  ])('a key cannot set an unknown wallet, and a switch to a wallet its owner set emits payout.changed: %s', async (_, change) => {
    const ada = await w.merchant();
    const [vault, eve] = [await wallet(), await wallet()];
    const set = (rail: string, payout_wallet: string, key = ada.key) => {
      const headers = { 'Idempotency-Key': crypto.randomUUID() };
      return w.call('PUT', `/v1/access/rail-settings/${rail}`, { key, headers, body: { payout_wallet } });
    };
    expect((await set('solana_usdc', vault)).status).toBe(200);
    const product = await w.product(ada, { payout_wallet: undefined });
    expect((await set('solana_usdc', eve)).status).toBe(403);
    // A key cannot pay another rail to an unknown wallet, but the owner can.
    expect((await set('solana_sol', eve)).status).toBe(403);
    expect((await set('solana_sol', eve, ada.token)).status).toBe(200);

    expect((await w.connect(product)).recipient).toBe(vault);
    const path = `/v1/products/${product.product_id}`;
    expect((await w.call('PATCH', path, { key: ada.key, body: change })).status).toBe(200);
    const { results } = await prepareOnEvents(w.env.DB, "SELECT data FROM events WHERE subject_id = ? AND type = 'payout.changed'")
      .bind(product.product_id)
      .all<{ data: string }>();
    expect(results.map(({ data }) => JSON.parse(data).previous)).toEqual([{ payout_wallet: vault }]);
  });
});
