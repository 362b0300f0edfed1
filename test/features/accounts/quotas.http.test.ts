import { describe, expect, it } from 'vitest';
import { PLAN_NAMES, PLANS, type PlanName } from '#rules/plans.ts';
import { multiply } from '../../support/fixtures/multiply.ts';
import { type Answer, type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

/** Active or enabled objects per plan and mode. `null`: unlimited. */
const QUOTAS: Record<PlanName, { keys: number; products: number | null; endpoints: number }> = {
  free: { keys: 2, products: 3, endpoints: 2 },
  starter: { keys: 5, products: 25, endpoints: 5 },
  growth: { keys: 20, products: 250, endpoints: 20 },
  scale: { keys: 100, products: null, endpoints: 50 },
};
const RANDOM_ID = 'randomblob(16)';

describe('plan quotas', () => {
  const w = new World();

  interface Counted {
    table: string;
    make(who: Merchant, sandbox: boolean): Promise<Answer<Body>>;
    idOf(body: Body): string;
    own: Record<string, string>;
  }
  const keyOf = (who: Merchant, sandbox: boolean) => (sandbox ? who.sandboxKey : who.key);
  const COUNTED: Record<'keys' | 'products' | 'endpoints', Counted> = {
    keys: {
      table: 'api_keys',
      make: (who, sandbox) => w.call('POST', '/v1/keys', { key: who.token, body: { name: 'one more', sandbox_mode: sandbox } }),
      idOf: ({ key }) => key.id,
      own: { id: RANDOM_ID, key_hash: 'hex(randomblob(32))' },
    },
    products: {
      table: 'products',
      make: (who, sandbox) =>
        w.call('POST', '/v1/products', {
          key: keyOf(who, sandbox),
          body: { name: 'One more', price: { asset: 'USDC', amount: '1' }, payout_wallet: who.wallet.address },
        }),
      idOf: ({ product_id }) => product_id,
      own: { id: RANDOM_ID, slug: 'lower(hex(randomblob(12)))' },
    },
    endpoints: {
      table: 'webhook_endpoints',
      make: (who, sandbox) =>
        w.call('POST', '/v1/webhooks/endpoints', { key: keyOf(who, sandbox), body: { url: 'https://shop.example.com/hooks' } }),
      idOf: ({ endpoint_id }) => endpoint_id,
      own: { id: RANDOM_ID },
    },
  };
  const CASES = PLAN_NAMES.flatMap((plan) =>
    Object.entries(QUOTAS[plan]).map(([what, limit]) => [plan, what as keyof typeof COUNTED, limit] as const),
  );

  it.each(CASES)('plan %s: creations of %s succeed up to %s in each mode, then 429', async (plan, what, limit) => {
    const { table, make, idOf, own } = COUNTED[what];
    const who = await w.merchant(plan);
    for (const sandbox of [false, true]) {
      const had = what === 'keys' ? 1 : 0;
      const first = await make(who, sandbox);
      expect(first.status).toBe(201);
      const most = limit ?? 1_000;
      if (most - had > 2) await multiply(w.env.DB, table, 'id', idOf(first.body), most - had - 2, own);
      if (most - had > 1) expect((await make(who, sandbox)).status).toBe(201);
      const beyond = await make(who, sandbox);
      if (limit === null) {
        expect(beyond.status).toBe(201);
        continue;
      }
      expect([beyond.status, beyond.body.code, beyond.body.retryable, beyond.body.meta]).toEqual([
        429,
        'plan_limit_reached',
        false,
        { limit, used: limit, plan },
      ]);
      expect(beyond.body.detail).toContain(`active ${what === 'endpoints' ? 'webhook endpoints' : what} per mode`);
      expect(beyond.headers.get('Retry-After')).toBeNull();
    }
  });

  it('PLANS states all quotas, prices and rates', () => {
    const stated = Object.fromEntries(
      PLAN_NAMES.map((plan) => {
        const { activeKeysMax: keys, activeProductsMax: products, enabledEndpointsMax: endpoints } = PLANS[plan];
        return [plan, { keys, products: Number.isFinite(products) ? products : null, endpoints }];
      }),
    );
    expect(stated).toEqual(QUOTAS);
    expect(PLAN_NAMES.map((plan) => [PLANS[plan].priceUsdc, PLANS[plan].requestsPerMinute, PLANS[plan].meteredPerSecond])).toEqual([
      ['0', 60, 5],
      ['19', 300, 20],
      ['49', 1000, 100],
      ['199', 3000, 500],
    ]);
    expect(PLAN_NAMES.map((plan) => PLANS[plan].feesPerDay)).toEqual([100, 5_000, 50_000, 500_000]);
  });
});
