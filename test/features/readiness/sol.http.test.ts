import { generateKeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { apply, checkOf, failingIn, isSold, openSession, readiness } from '../../support/people/sale.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

const BOTH = { accepted_assets: ['USDC', 'SOL'], allowed_rails: ['solana_usdc', 'solana_sol'] };

describe('readiness of SOL sales', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });
  const sell = (terms: object, world = w, merchant = ada): Promise<Body> =>
    world.product(merchant, { live_mode_confirmed: true, ...terms });
  const newWallet = async (): Promise<string> => (await generateKeyPairSigner()).address;
  const readRail = async (product: Body, railId: string, world = w, merchant = ada): Promise<Body> => {
    const { body } = await world.call('GET', `/v1/access/products/${product.product_id}/available-rails`, { key: merchant.key });
    return body.items.find((item: Body) => item.rail_id === railId);
  };

  /** Asserts the failing checks, and that a real sale succeeds on each rail exactly if none fails. `ready` refers to the default rail. */
  async function expectBlocked(product: Body, blocking: string[], world = w, merchant = ada): Promise<Body> {
    const answer = await readiness(world, merchant, `product_id=${product.product_id}`);
    expect(failingIn(answer)).toEqual(blocking);
    expect(await isSold(world, merchant, product.product_id)).toBe(blocking.length === 0);
    const usual = answer.rails.find(({ rail_id }: Body) => rail_id === product.default_rail);
    expect([answer.ready, answer.blocking.length]).toEqual(usual?.ready ? [true, 0] : [false, expect.any(Number)]);
    return answer;
  }

  it.each([
    ['priced in it', { price: { asset: 'SOL', amount: '0.0005' } }],
    ['quoted in it', { price: { asset: 'USDC', amount: '0.05' }, ...BOTH }],
  ])('a price below rent exemption (%s) is blocked, and cured by a higher price or a transfer of SOL', async (_, terms) => {
    for (const cure of ['price', 'transfer']) {
      const payout_wallet = await newWallet();
      const product = await sell({ ...terms, payout_wallet });
      const answer = await expectBlocked(product, ['payout_ata_exists']);
      const { fix, message } = checkOf(answer, 'payout_ata_exists');
      expect(message).toContain('solana_sol');
      expect(fix.detail).toContain(`${payout_wallet} holds too little SOL`);
      expect(await readRail(product, 'solana_sol')).toMatchObject({ status: 'unavailable', reason: 'payout_wallet_empty', fix });
      const refused = await openSession(w, ada, { product_id: product.product_id, rail_id: 'solana_sol' });
      expect([refused.status, refused.body.code, refused.body.meta.reason]).toEqual([409, 'setup_not_ready', 'payout_wallet_empty']);
      expect(refused.body.meta.fix).toEqual(fix);
      if (cure === 'price') expect(await apply(w, ada, fix)).toBe(200);
      else await w.chain.call('local_fundSol', payout_wallet, '890880');
      await expectBlocked(product, []);
    }
  });

  it('a fee that the service’s wallet cannot receive blocks the sale until the operator funds it', async () => {
    const feeWallet = await newWallet();
    const poor = new World({ FEE_BPS: '250', FEE_WALLET: feeWallet });
    const merchant = await poor.merchant();
    const product = await sell({ price: { asset: 'SOL', amount: '0.01' } }, poor, merchant);
    const answer = await expectBlocked(product, ['fee_wallet_configured'], poor, merchant);
    expect(Object.keys(checkOf(answer, 'fee_wallet_configured').fix)).toEqual(['detail']);
    const refused = await openSession(poor, merchant, { product_id: product.product_id });
    expect([refused.status, refused.body.code, refused.body.meta.reason]).toEqual([503, 'fee_wallet_missing', 'fee_wallet_empty']);
    await poor.chain.call('local_fundSol', feeWallet, '890880');
    await expectBlocked(product, [], poor, merchant);
  });

  it.each([
    ['USDC', 'solana_sol'],
    ['SOL', 'solana_usdc'],
  ])('an unknown SOL price blocks a price in %s over %s with a fix that needs no call', async (asset, railId) => {
    const mute = new World();
    const merchant = await mute.merchant();
    const [both, alone] = [
      await sell({ price: { asset, amount: '0.5' }, ...BOTH }, mute, merchant),
      await sell({ price: { asset, amount: '0.5' }, allowed_rails: [asset === 'SOL' ? 'solana_sol' : 'solana_usdc'] }, mute, merchant),
    ];
    await mute.prices({ answer: 'down' });
    const answer = await expectBlocked(both, ['rail_enabled'], mute, merchant);
    const { fix, message } = checkOf(answer, 'rail_enabled');
    expect(message).toMatch(new RegExp(`^${railId}: `));
    expect(Object.keys(fix)).toEqual(['detail']);
    expect(await readRail(both, railId, mute, merchant)).toMatchObject({ status: 'degraded', reason: 'price_unavailable', fix });
    const refused = await openSession(mute, merchant, { product_id: both.product_id, rail_id: railId });
    expect([refused.status, refused.body.code, refused.body.retryable]).toEqual([503, 'price_unavailable', true]);
    await expectBlocked(alone, [], mute, merchant);
    const own = asset === 'SOL' ? 'solana_sol' : 'solana_usdc';
    for (const product of [alone, both]) expect(await readRail(product, own, mute, merchant)).toMatchObject({ status: 'available' });
    await mute.prices({});
    // A failed source is not called again for a moment.
    await scheduler.wait(1600);
    await expectBlocked(both, [], mute, merchant);
    expect((await readRail(both, railId, mute, merchant)).status).toBe('available');
  });

  it('a small SOL price is blocked and opens no session while the node does not answer the balance', async () => {
    const product = await sell({ price: { asset: 'SOL', amount: '0.0005' } });
    await w.chain.fault({ kind: 'http_503', method: 'getBalance', times: 50 });
    expect((await readiness(w, ada, `product_id=${product.product_id}`)).blocking).toEqual(['rail_enabled']);
    const refused = await openSession(w, ada, { product_id: product.product_id });
    expect([refused.status, refused.body.code]).toEqual([503, 'rpc_unavailable']);
    // This amount is enough for any wallet, so the node is not called.
    const plenty = await sell({ price: { asset: 'SOL', amount: '0.5' } });
    await expectBlocked(plenty, []);
    await w.chain.call('local_clearFaults');
    await expectBlocked(product, []);
  });
});
