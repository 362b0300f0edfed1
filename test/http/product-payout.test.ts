import { describe, expect, it } from 'vitest';
import { World } from '../world/world.ts';

describe('a stolen key', () => {
  const w = new World();
  const wallet = async () => (await w.chain.wallet(0n)).address;

  it.each([
    ['a price in the other asset', { price: { asset: 'SOL', amount: '1' } }],
    ['one more asset', { accepted_assets: ['USDC', 'SOL'] }],
  ])('cannot send the next sale elsewhere by choosing a rail: %s', async (_, change) => {
    const ada = await w.merchant();
    const [vault, eve] = [await wallet(), await wallet()];
    const set = (rail: string, payout_wallet: string) => {
      const headers = { 'Idempotency-Key': crypto.randomUUID() };
      return w.call('PUT', `/v1/access/rail-settings/${rail}`, { key: ada.key, headers, body: { payout_wallet } });
    };
    expect((await set('solana_usdc', vault)).status).toBe(200);
    const product = await w.product(ada, { payout_wallet: undefined });
    expect((await set('solana_usdc', eve)).status).toBe(403);
    // Where nobody is paid yet a key may say who is.
    expect((await set('solana_sol', eve)).status).toBe(200);

    const path = `/v1/products/${product.product_id}`;
    const refused = await w.call('PATCH', path, { key: ada.key, body: change });
    expect([refused.status, refused.body.meta?.reason]).toEqual([403, 'sign_in_required']);
    expect((await w.connect(product)).recipient).toBe(vault);
    // Its owner may, and everybody is told.
    expect((await w.call('PATCH', path, { key: ada.token, body: change })).status).toBe(200);
    const { results } = await w.env.DB.prepare("SELECT data FROM events WHERE subject_id = ? AND type = 'payout.changed'")
      .bind(product.product_id)
      .all<{ data: string }>();
    expect(results.map(({ data }) => JSON.parse(data).previous)).toEqual([{ payout_wallet: vault }]);
  });

  const X402 = 'x402_solana_usdc';
  it.each<[string, object, object[]]>([
    ['naming a rail’s wallet first and the same one for the product then', { [X402]: 'eve' }, [{ payout_wallet: 'eve' }]],
    [
      'taking the rail that is paid off the offer, naming a wallet, and offering it again',
      {},
      [{ allowed_rails: [X402] }, { payout_wallet: 'eve' }, { allowed_rails: ['solana_usdc'] }],
    ],
    [
      'taking the rail that is paid off the offer and opening another',
      { solana_sol: 'eve' },
      [{ allowed_rails: [X402] }, { price: { asset: 'SOL', amount: '1' }, allowed_rails: ['solana_sol'] }],
    ],
    [
      'accepting an asset while its rail is closed, and opening it then',
      { solana_sol: 'eve' },
      [{ accepted_assets: ['USDC', 'SOL'], allowed_rails: ['solana_usdc'] }, { allowed_rails: ['solana_usdc', 'solana_sol'] }],
    ],
  ])('nor by %s', async (_, rails, changes) => {
    const ada = await w.merchant();
    const [vault, eve] = [await wallet(), await wallet()];
    for (const [rail, payout] of Object.entries({ solana_usdc: 'vault', ...rails }))
      await w.call('PUT', `/v1/access/rail-settings/${rail}`, {
        key: ada.key,
        headers: { 'Idempotency-Key': crypto.randomUUID() },
        body: { payout_wallet: payout === 'eve' ? eve : vault },
      });
    const product = await w.product(ada, { payout_wallet: undefined });
    const answers = [];
    for (const change of changes) {
      const body = JSON.parse(JSON.stringify(change).replaceAll('"eve"', JSON.stringify(eve)));
      answers.push(await w.call('PATCH', `/v1/products/${product.product_id}`, { key: ada.key, body }));
    }
    expect(answers.filter(({ body }) => body.meta?.reason === 'sign_in_required')).toHaveLength(1);
    for (const asset of ['USDC', 'SOL']) {
      const { status, body } = await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: { asset } });
      if (status === 200) expect(body.recipient).toBe(vault);
    }
  });
});
