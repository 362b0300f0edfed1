import { beforeAll, describe, expect, it } from 'vitest';
import type { Env } from '#platform/context.ts';
import { getPage } from '../../support/clients/page.ts';
import { newKey, withConfig } from '../../support/people/agent.ts';
import { openSession } from '../../support/people/sale.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

const BOTH = { accepted_assets: ['USDC', 'SOL'] };
const SOL = { price: { asset: 'SOL', amount: '0.05' } };

describe('payable assets of a checkout', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });
  const sell = (terms: object = {}, merchant = ada): Promise<Body> => w.product(merchant, { live_mode_confirmed: true, ...terms });
  const connect = (product: Body, body: object = {}, env = w.env) =>
    w.call('POST', `/v1/products/p/${product.slug}/connect`, { body, env });
  const switchRail = (merchant: Merchant, railId: string, body: object) =>
    w.call('PUT', `/v1/access/rail-settings/${railId}`, { key: merchant.key, body, headers: { 'Idempotency-Key': newKey() } });
  const pageFacts = async ({ slug }: Body, env = w.env): Promise<Body> => {
    const { html } = await getPage(w, `/p/${slug}`, {}, env);
    const facts = /id="facts"[^>]*>(.*?)<\/script>/s.exec(html)?.[1];
    return facts ? JSON.parse(facts) : null;
  };

  async function expectPaidIn(product: Body, assets: string[], env: Env = w.env): Promise<void> {
    expect((await w.call('GET', `/v1/products/p/${product.slug}`, { env })).body.accepted_assets).toEqual(assets);
    const facts = await pageFacts(product, env);
    expect([facts?.isPayable ?? false, facts?.assets ?? []]).toEqual([assets.length > 0, assets]);
    const begun = await connect(product, {}, env);
    expect([begun.status === 200, begun.body.price?.asset]).toEqual([assets.length > 0, assets[0]]);
    for (const asset of ['USDC', 'SOL']) expect((await connect(product, { asset }, env)).status === 200).toBe(assets.includes(asset));
  }

  it.each<[string, object, string[]]>([
    ['the asset of the price', {}, ['USDC']],
    ['SOL, priced so', SOL, ['SOL']],
    ['either, the asset of the price first', BOTH, ['USDC', 'SOL']],
    ['either, priced in SOL', { ...SOL, ...BOTH }, ['SOL', 'USDC']],
    ['the other asset alone', { ...BOTH, allowed_rails: ['solana_sol'] }, ['SOL']],
    ['the other asset, and agents', { ...BOTH, allowed_rails: ['x402_solana_usdc', 'solana_sol'] }, ['SOL']],
    ['USDC alone, priced in SOL', { ...SOL, ...BOTH, allowed_rails: ['solana_usdc'] }, ['USDC']],
    ['either, the preferred one first', { ...BOTH, default_rail: 'solana_sol' }, ['SOL', 'USDC']],
    ['either, whatever agents begin with', { ...BOTH, default_rail: 'x402_solana_usdc' }, ['USDC', 'SOL']],
    ['nothing, sold to agents alone', { allowed_rails: ['x402_solana_usdc'] }, []],
  ])('a checkout accepts %s', async (_, terms, assets) => {
    const product = await sell(terms);
    await expectPaidIn(product, assets);
    const session = await openSession(w, ada, { product_id: product.product_id });
    if (assets.length === 0) return expect([session.status, session.body.meta.reason]).toEqual([409, 'rail_enabled']);
    const bill = await connect(product, { payment_session_id: session.body.payment_session_id });
    expect(bill.body.price.asset).toBe(assets[0]);
  });

  it('a disabled rail removes its asset', async () => {
    const merchant = await w.merchant();
    const product = await sell(BOTH, merchant);
    await switchRail(merchant, 'solana_sol', { enabled: false });
    await expectPaidIn(product, ['USDC']);
    await switchRail(merchant, 'solana_usdc', { enabled: false });
    await expectPaidIn(product, []);
    expect((await connect(product)).body.meta.reason).toBe('rail_enabled');
    await switchRail(merchant, 'solana_sol', { enabled: true });
    await expectPaidIn(product, ['SOL']);
  });

  it('a rail without a payout wallet removes its asset', async () => {
    const merchant = await w.merchant();
    const product = await sell({ ...BOTH, payout_wallet: undefined }, merchant);
    await expectPaidIn(product, []);
    expect((await connect(product)).body.meta.reason).toBe('payout_wallet_set');
    await switchRail(merchant, 'solana_sol', { payout_wallet: merchant.wallet.address });
    await expectPaidIn(product, ['SOL']);
  });

  it('an unknown SOL price leaves only the asset of the price, and a fee without a wallet leaves none', async () => {
    const [product, preferred] = [await sell(BOTH), await sell({ ...BOTH, default_rail: 'solana_sol' })];
    for (const one of [product, preferred]) await expectPaidIn(one, ['USDC'], withConfig(w, { PRICE_URL: '' }));
    await expectPaidIn(product, [], withConfig(w, { FEE_BPS: '100' }));
  });

  it('a sandbox checkout needs no wallet, node or price source', async () => {
    const body = { name: 'API', price: { asset: 'USDC', amount: '1' }, ...BOTH };
    const { body: product } = await w.call('POST', '/v1/products', { key: ada.sandboxKey, body });
    expect((await w.call('GET', `/v1/products/p/${product.slug}`)).body.accepted_assets).toEqual(['USDC', 'SOL']);
    expect((await connect(product)).status).toBe(200);
    const session = await openSession(w, ada, { product_id: product.product_id, rail_id: 'solana_sol' }, { key: ada.sandboxKey });
    expect(session.status).toBe(201);
  });
});
