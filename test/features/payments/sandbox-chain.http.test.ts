import { beforeAll, describe, expect, it } from 'vitest';
import { builtRoutes, fill, nameOf, operations, type Route } from '../../contract/spec-routes.ts';
import { type Merchant, World } from '../../support/world.ts';

const SIGNATURE = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW';

describe('sandbox key and chain calls', () => {
  const w = new World();
  let ada: Merchant;
  let params: Record<string, string>;
  beforeAll(async () => {
    ada = await w.merchant();
    const sandbox = { ...ada, key: ada.sandboxKey };
    const product = await w.product(sandbox, { live_mode_confirmed: true });
    params = { product_id: product.product_id, slug: product.slug, rail_id: 'x402_solana_usdc' };
  });

  /** Returns the published example, changed to the sandbox product and with a wallet in every wallet field. */
  const bodyOf = (route: Route): unknown => {
    const json = operations.get(nameOf(route))?.requestBody?.content['application/json'];
    const schema = json?.schema as { example?: Record<string, unknown>; $ref?: string } | undefined;
    const example = (json?.example ?? schema?.example ?? {}) as Record<string, unknown>;
    const { wallet } = ada;
    const own: Record<string, Record<string, unknown>> = {
      'PUT /v1/access/rail-settings/{rail_id}': { payout_wallet: wallet.address },
      'PATCH /v1/products/{product_id}': { payout_wallet: wallet.address },
      'POST /v1/receipt': { tx_sig: SIGNATURE },
      'POST /v1/pay/confirm': { payment_id: '01900000-0000-7000-8000-000000000000', tx_signature: SIGNATURE },
      'POST /v1/access/payment-sessions': { product_id: params.product_id },
      'POST /v1/access/entitlements/consume': { product_id: params.product_id, customer: { wallet_address: wallet.address } },
      'POST /v1/access/x402/settle': { product_id: params.product_id, payment_signature: 'e30=' },
    };
    return own[nameOf(route)] ?? example;
  };

  it('no route called with a sandbox key makes a node call', async () => {
    const asked: string[] = [];
    const routes = builtRoutes.filter(
      ({ auth, path }) => ['merchant', 'key', 'activator', 'viewer'].includes(auth) && !path.startsWith('/v1/auth'),
    );
    expect(routes.length).toBeGreaterThan(50);
    for (const route of routes) {
      await w.chain.call('local_resetCalls');
      const named = /\/(?:readiness|available-rails)$/.test(route.path) && !route.path.includes('{');
      const query = named ? `?product_id=${params.product_id}&mode=sandbox` : '';
      const { status } = await w.call(route.method, fill(route.path, params) + query, {
        key: ada.sandboxKey,
        headers: route.idempotent ? { 'Idempotency-Key': crypto.randomUUID() } : {},
        ...(route.method === 'GET' || route.method === 'DELETE' ? {} : { body: bodyOf(route) }),
      });
      expect([nameOf(route), status < 500]).toEqual([nameOf(route), true]);
      const calls = Object.keys(await w.chain.call<Record<string, number>>('local_calls'));
      if (calls.length > 0) asked.push(`${nameOf(route)} (${status}): ${calls}`);
    }
    expect(asked).toEqual([]);
  });

  it('sandbox rail settings leave ata_exists and create_ata_transaction null', async () => {
    const { body } = await w.call('GET', '/v1/access/rail-settings', { key: ada.sandboxKey });
    const x402 = body.items.find(({ rail_id }: { rail_id: string }) => rail_id === 'x402_solana_usdc');
    expect(x402).toMatchObject({ payout_wallet: ada.wallet.address, payout_ata: expect.any(String) });
    expect([x402.ata_exists, x402.create_ata_transaction]).toEqual([null, null]);
  });
});
