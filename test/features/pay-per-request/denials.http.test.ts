import { generateKeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { NETWORKS } from '#solana/assets.ts';
import { USDC } from '../../support/chain/chain.ts';
import { CAPS } from '../../support/chain/priced.ts';
import { decoded, feePayerOf, newAgent, openShop, type Shop, sellToAgents, stall, withConfig, write } from '../../support/people/agent.ts';
import { World } from '../../support/world.ts';

describe('denied consume', () => {
  const w = new World();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w);
  });

  it('a denial is 403 entitlement_missing and carries the challenge in its body and header', async () => {
    const { status, body, headers } = await shop.consume();
    expect([status, body.code, body.retryable]).toEqual([403, 'entitlement_missing', false]);
    expect(body.meta).toMatchObject({ remaining: 0, paid_through: null, entitlement_id: expect.any(String) });
    const required = decoded(headers.get('PAYMENT-REQUIRED')!);
    expect(required).toEqual(body.meta.payment_required);
    const { extensions, ...challenge } = required;
    expect(Object.keys(extensions)).toEqual(['payment-identifier', 'offer-receipt']);
    expect(challenge).toEqual({
      x402Version: 2,
      resource: { url: `https://svc.test/p/${shop.product.slug}`, description: 'Weather API' },
      accepts: [
        {
          scheme: 'exact',
          network: NETWORKS.devnet.caip2,
          asset: USDC,
          amount: '10000',
          payTo: shop.merchant.wallet.address,
          maxTimeoutSeconds: 300,
          extra: { feePayer: feePayerOf(w), memo: expect.stringMatching(/^svc:[\w-]{38}$/), ...CAPS },
        },
      ],
    });
  });

  it('a denial states how many units remain', async () => {
    const own = await openShop(w);
    expect((await own.grant({ units: 1 })).status).toBe(200);
    const denied = await own.consume({ units: 3 });
    expect([denied.status, denied.body.meta.remaining]).toEqual([403, 1]);
    expect(denied.body.detail).toMatch(/^Units left: 1\. Units required: 3\. /);
  });

  it('each denial carries a new challenge and stores nothing', async () => {
    const memos = [];
    for (let i = 0; i < 3; i++) memos.push(decoded(await shop.challenge()).accepts[0].extra.memo);
    expect(new Set(memos).size).toBe(3);
    expect(await shop.books()).toEqual({ settlements: 0, claims: 0, payments: 0, receipts: 0, memberships: 0 });
    expect((await shop.entitlement()).code).toBe('not_found');
  });
});

describe('denial of a product that cannot be paid yet', () => {
  const w = new World();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w);
  });
  const patch = (id: string, body: object) => w.call('PATCH', `/v1/products/${id}`, { key: shop.merchant.token, body });
  const setRail = (own: Shop, body: object, key = own.merchant.key) =>
    w.call('PUT', '/v1/access/rail-settings/x402_solana_usdc', { key, body, headers: { 'Idempotency-Key': crypto.randomUUID() } });
  const newStall = async (terms: Record<string, unknown> = {}) =>
    stall(w, shop.merchant, await sellToAgents(w, shop.merchant, terms), shop.agent);

  const expectMissing = async (own: Shop, missing: string, options: Parameters<Shop['consume']>[1] = {}) => {
    const { status, body, headers } = await own.consume({}, options);
    expect([status, body.code, headers.get('PAYMENT-REQUIRED')]).toEqual([403, 'entitlement_missing', null]);
    expect(body.meta).toMatchObject({ payment_required: null, reason: 'setup_not_ready', missing, fix: expect.stringMatching(/\w{4}/) });
    return body.meta.fix as string;
  };
  const expectOffered = async (own: Shop) => {
    const settled = await own.settle(await own.pay());
    expect([settled.status, settled.body.consumed_units]).toEqual([200, 1]);
  };

  it('a denial names live_mode_confirmed as missing, and offers a payment once it is set', async () => {
    const own = await newStall({ live_mode_confirmed: false });
    await expectMissing(own, 'live_mode_confirmed');
    await patch(own.product.product_id, { live_mode_confirmed: true });
    await expectOffered(own);
  });

  it('a denial names an archived product, and offers a payment once it is active', async () => {
    const own = await newStall();
    await w.call('POST', `/v1/products/${own.product.product_id}/archive`, { key: shop.merchant.key });
    await expectMissing(own, 'product_active');
    await w.call('POST', `/v1/products/${own.product.product_id}/unarchive`, { key: shop.merchant.key });
    await expectOffered(own);
  });

  it('a denial names a rail that the product does not allow, and offers a payment once it is allowed', async () => {
    const own = await newStall({ allowed_rails: ['solana_usdc'] });
    await expectMissing(own, 'rail_enabled');
    await patch(own.product.product_id, { allowed_rails: ['solana_usdc', 'x402_solana_usdc'] });
    await expectOffered(own);
  });

  it('a denial names the rail’s switch, the payout wallet and its USDC account, one after the other', async () => {
    const merchant = await w.merchant();
    const sold = { name: 'Weather', price: { asset: 'USDC', amount: '0.01' }, live_mode_confirmed: true };
    const { body: product } = await w.call('POST', '/v1/products', { key: merchant.key, body: sold });
    const own = stall(w, merchant, product, shop.agent);
    expect((await setRail(own, { enabled: false })).status).toBe(200);
    expect(await expectMissing(own, 'rail_enabled')).toContain('rail-settings/x402_solana_usdc');
    expect((await setRail(own, { enabled: true })).status).toBe(200);
    expect(await expectMissing(own, 'payout_wallet_set')).toContain('payout_wallet');
    const wallet = (await generateKeyPairSigner()).address;
    expect((await setRail(own, { payout_wallet: wallet })).status).toBe(200);
    expect(await expectMissing(own, 'payout_ata_exists')).toContain('/v1/access/setup/readiness?product_id=');
    // Denials cache the missing account so that they do not call the node each time. A readiness request clears that cache.
    const ready = await w.call('GET', `/v1/access/setup/readiness?product_id=${product.product_id}`, { key: merchant.key });
    expect(ready.status).toBe(200);
    await w.chain.call('local_fundUsdc', wallet, '0');
    await expectOffered(own);
    expect(decoded(await own.challenge()).accepts[0].payTo).toBe(wallet);
  });

  it('a sandbox denial carries a challenge without a chain call', async () => {
    const { body: product } = await w.call('POST', '/v1/products', {
      key: shop.merchant.sandboxKey,
      body: {
        name: 'Test',
        price: { asset: 'USDC', amount: '0.01' },
        live_mode_confirmed: true,
        payout_wallet: shop.merchant.wallet.address,
      },
    });
    await w.chain.call('local_resetCalls');
    const own = stall(w, shop.merchant, product, shop.agent);
    const denied = await own.consume({}, { key: shop.merchant.sandboxKey });
    expect([denied.status, denied.body.code, denied.headers.has('PAYMENT-REQUIRED')]).toEqual([403, 'entitlement_missing', true]);
    expect(await w.chain.call('local_calls')).toEqual({});
    await own.grant({ units: 1 }, { key: shop.merchant.sandboxKey });
    const used = await own.consume({}, { key: shop.merchant.sandboxKey });
    expect([used.status, used.body.remaining]).toEqual([200, 0]);
    const elsewhere = await w.call('GET', `/v1/access/entitlements/${used.body.entitlement_id}`, { key: shop.merchant.key });
    expect(elsewhere.status).toBe(404);
  });

  it.each(['FEE_PAYER_KEYS', 'CHALLENGE_KEYS'])('a denial names the x402 rail as unavailable without %s', async (name) => {
    const own = await newStall();
    const env = withConfig(w, { [name]: '' });
    expect(await expectMissing(own, 'rail_unavailable', { env })).toContain('/v1/access/rails');
    const payment = await own.pay();
    const settled = await own.settle(payment, {}, { env });
    expect([settled.status, settled.body.code, settled.body.meta.reason]).toEqual([409, 'setup_not_ready', 'rail_unavailable']);
    expect((await own.settle(payment)).status).toBe(200);
  });

  it('settle offers no challenge if the product cannot be paid', async () => {
    const own = await newStall({ live_mode_confirmed: false });
    const refused = await own.settle('e30=');
    expect([refused.status, refused.body.code, refused.headers.get('PAYMENT-REQUIRED')]).toEqual([422, 'payment_mismatch', null]);
    expect(refused.body.meta).toMatchObject({ payment_required: null, missing: 'live_mode_confirmed' });
  });

  it('a denial still carries a payable challenge while the node is down', async () => {
    const elsewhere = new World();
    const merchant = await elsewhere.merchant();
    const own = stall(elsewhere, merchant, await sellToAgents(elsewhere, merchant), await newAgent(elsewhere));
    await elsewhere.chain.fault({ kind: 'http_503', times: 0 });
    const denied = await own.consume();
    expect([denied.status, denied.body.code]).toEqual([403, 'entitlement_missing']);
    const header = denied.headers.get('PAYMENT-REQUIRED')!;
    await elsewhere.chain.call('local_clearFaults');
    expect((await own.settle(await own.agent.pay(header))).status).toBe(200);
  });

  it('a hanging node delays the first denial by less than 3 s and later ones by less than 1 s', async () => {
    const elsewhere = new World();
    const merchant = await elsewhere.merchant();
    const own = stall(elsewhere, merchant, await sellToAgents(elsewhere, merchant), await newAgent(elsewhere));
    await elsewhere.chain.fault({ kind: 'hang', times: 0, ms: 20_000 });
    const timed = async () => {
      const began = Date.now();
      const denied = await own.consume();
      expect([denied.status, denied.body.code]).toEqual([403, 'entitlement_missing']);
      expect(denied.headers.get('PAYMENT-REQUIRED')).toBeTruthy();
      return Date.now() - began;
    };
    expect(await timed()).toBeLessThan(3000);
    expect(await timed()).toBeLessThan(1000);
  });

  it('units of one product do not serve another product of the same customer', async () => {
    const [one, two] = [await newStall(), await newStall()];
    await one.grant({ units: 1 });
    expect((await two.consume()).status).toBe(403);
    const body = { product_id: one.product.product_id, customer: { customer_ref: one.customer.wallet_address } };
    expect((await write(w, shop.merchant, 'entitlements/consume', body)).status).toBe(403);
    expect((await one.consume()).status).toBe(200);
  });
});
