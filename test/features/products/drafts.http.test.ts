import { describe, expect, it } from 'vitest';
import { PLANS } from '#rules/plans.ts';
import { newKey } from '../../support/people/agent.ts';
import { SubscriptionShop, subscriptionWorld } from '../../support/people/subscription-shop.ts';
import type { Merchant } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

const PRICE = { asset: 'USDC', amount: '5' };
const LIMIT = PLANS.free.activeProductsMax;

describe('draft products', () => {
  const w = subscriptionWorld();
  const create = (who: Merchant, terms: object = {}, path = '/v1/products') =>
    w.call('POST', path, {
      key: who.token,
      headers: { 'Idempotency-Key': newKey() },
      body: { name: 'Weather API', price: PRICE, ...terms },
    });
  const setWallet = (who: Merchant) =>
    w.call('PUT', '/v1/access/rail-settings/solana_usdc', {
      key: who.token,
      headers: { 'Idempotency-Key': newKey() },
      body: { payout_wallet: who.wallet.address },
    });
  const codesOf = ({ body }: Body) => body.warnings.map(({ code }: Body) => code);
  const used = async (who: Merchant) => (await w.call('GET', '/v1/billing/summary', { key: who.key })).body.usage.products;
  const fill = async (who: Merchant, count: number) => {
    for (let i = 0; i < count; i++) expect((await create(who, { payout_wallet: who.wallet.address })).status).toBe(201);
  };

  it.each(['/v1/products', '/v1/access/products'])('POST %s creates a draft with 201 and a warning with the fix', async (path) => {
    const ada = await w.merchant('free');
    const draft = await create(ada, {}, path);
    expect([draft.status, codesOf(draft)]).toEqual([201, ['payout_wallet_missing', 'one_use_by_default']]);
    const [wallet, uses] = draft.body.warnings;
    expect(wallet.fix).toMatchObject({ method: 'PUT', path: '/v1/access/rail-settings/solana_usdc' });
    expect(uses.fix).toMatchObject({ method: 'PATCH', path: `/v1/products/${draft.body.product_id}` });

    expect(codesOf(await create(ada, { usage_units: 1, payout_wallet: ada.wallet.address }, path))).toEqual([]);
    const automatic = { product_type: 'link', renewal_mode: 'AUTOMATIC', billing_model: 'recurring', payout_wallet: ada.wallet.address };
    const subscribed = await create(ada, automatic, path);
    expect(codesOf(subscribed)).toEqual(['plan_unpublished']);
    expect(subscribed.body.warnings[0].fix.path).toBe(`/v1/access/products/${subscribed.body.product_id}/subscription-plan`);
  });

  it('no wallet warning is given in the sandbox or with a wallet on the rail', async () => {
    const ada = await w.merchant('free');
    expect(codesOf(await create({ ...ada, token: ada.sandboxKey }, { usage_units: 9 }))).toEqual([]);
    expect((await setWallet(ada)).status).toBe(200);
    expect(codesOf(await create(ada, { usage_units: 9 }))).toEqual([]);
  });

  const RAILS: [rail: string, other: string, asset: string][] = [
    ['solana_usdc', 'solana_sol', 'USDC'],
    ['solana_sol', 'solana_usdc', 'SOL'],
    ['x402_solana_usdc', 'solana_usdc', 'USDC'],
  ];
  const set = (who: Merchant, rail: string, body: object) =>
    w.call('PUT', `/v1/access/rail-settings/${rail}`, { key: who.token, headers: { 'Idempotency-Key': newKey() }, body });

  it.each(RAILS)('a product of %s alone stays a draft while only %s has a payout wallet', async (rail, other, asset) => {
    const ada = await w.merchant('free');
    const terms = { price: { asset, amount: '5' }, allowed_rails: [rail], usage_units: 9 };
    expect((await set(ada, other, { payout_wallet: ada.wallet.address })).status).toBe(200);
    const draft = await create(ada, terms);
    expect(codesOf(draft)).toEqual(['payout_wallet_missing']);
    expect(draft.body.warnings[0].fix.path).toBe(`/v1/access/rail-settings/${rail}`);
    expect(await used(ada)).toBe(0);
    expect((await set(ada, rail, { payout_wallet: ada.wallet.address })).status).toBe(200);
    expect([codesOf(await create(ada, terms)), await used(ada)]).toEqual([[], 2]);
  });

  it.each(RAILS)('a product of %s alone has the warning rail_disabled while that rail is disabled', async (rail, _other, asset) => {
    const ada = await w.merchant('free');
    expect((await set(ada, rail, { payout_wallet: ada.wallet.address, enabled: false })).status).toBe(200);
    const draft = await create(ada, { price: { asset, amount: '5' }, allowed_rails: [rail], usage_units: 9 });
    expect(codesOf(draft)).toEqual(['rail_disabled']);
    expect(draft.body.warnings[0].fix).toMatchObject({
      method: 'PUT',
      path: `/v1/access/rail-settings/${rail}`,
      body: { enabled: true },
    });
    expect(await used(ada)).toBe(0);
    expect((await set(ada, rail, { enabled: true })).status).toBe(200);
    expect(await used(ada)).toBe(1);
  });

  it('enabling or allowing a rail that makes a draft payable above the quota is 429 plan_limit_reached', async () => {
    const ada = await w.merchant('free');
    await fill(ada, LIMIT);
    expect((await set(ada, 'x402_solana_usdc', { payout_wallet: ada.wallet.address, enabled: false })).status).toBe(200);
    const draft = await create(ada, { allowed_rails: ['x402_solana_usdc'], usage_units: 9 });
    expect([draft.status, codesOf(draft)]).toEqual([201, ['rail_disabled']]);
    expect((await set(ada, 'x402_solana_usdc', { enabled: true })).body.code).toBe('plan_limit_reached');
    const path = `/v1/products/${draft.body.product_id}`;
    const wallet = { allowed_rails: ['solana_usdc'], payout_wallet: ada.wallet.address };
    expect((await w.call('PATCH', path, { key: ada.token, body: { payout_wallet: ada.wallet.address } })).status).toBe(200);
    expect((await w.call('PATCH', path, { key: ada.token, body: wallet })).body.code).toBe('plan_limit_reached');
    expect(await used(ada)).toBe(LIMIT);
  });

  it('a draft does not count among the active products of the plan', async () => {
    const ada = await w.merchant('free');
    await fill(ada, LIMIT);
    const draft = { renewal_mode: 'AUTOMATIC', billing_model: 'recurring', product_type: 'link', payout_wallet: ada.wallet.address };
    expect((await create(ada, draft)).status).toBe(201);
    expect(await used(ada)).toBe(LIMIT);
    const beyond = await create(ada, { payout_wallet: ada.wallet.address });
    expect([beyond.status, beyond.body.code, beyond.body.meta]).toEqual([
      429,
      'plan_limit_reached',
      { limit: LIMIT, used: LIMIT, plan: 'free' },
    ]);
  });

  it('a payout wallet that makes a draft payable above the quota is 429 plan_limit_reached', async () => {
    const ada = await w.merchant('free');
    const drafts = await Promise.all(Array.from({ length: LIMIT + 1 }, () => create(ada)));
    const path = (body: Body) => `/v1/products/${body.product_id}`;
    const pay = (body: Body) => w.call('PATCH', path(body), { key: ada.token, body: { payout_wallet: ada.wallet.address } });
    // A wallet on the rail would make all drafts payable at once.
    const all = await setWallet(ada);
    expect([all.status, all.body.code, all.body.meta]).toEqual([
      429,
      'plan_limit_reached',
      { limit: LIMIT, used: LIMIT + 1, plan: 'free' },
    ]);
    for (const { body } of drafts.slice(0, LIMIT)) expect((await pay(body)).status).toBe(200);
    const last = drafts[LIMIT]!.body;
    const beyond = await pay(last);
    expect([beyond.status, beyond.body.code]).toEqual([429, 'plan_limit_reached']);
    expect('payout_wallet' in (await w.call('GET', path(last), { key: ada.key })).body).toBe(false);
    expect((await w.call('PATCH', path(last), { key: ada.token, body: { name: 'Still a draft' } })).status).toBe(200);
    // Archiving a product makes room, a rail wallet uses it for the draft, and restoring the archived one is then refused.
    const first = path(drafts[0]!.body);
    expect((await w.call('POST', `${first}/archive`, { key: ada.token })).status).toBe(200);
    expect((await setWallet(ada)).status).toBe(200);
    const revived = await w.call('POST', `${first}/unarchive`, { key: ada.token });
    expect([revived.status, revived.body.code]).toEqual([429, 'plan_limit_reached']);
    expect(await used(ada)).toBe(LIMIT);
  });

  it('one of two concurrent payout wallets makes its draft payable if the plan has room for one', async () => {
    const ada = await w.merchant('free');
    await fill(ada, LIMIT - 1);
    const drafts = [await create(ada), await create(ada)];
    const paid = await Promise.all(
      drafts.map(({ body }) =>
        w.call('PATCH', `/v1/products/${body.product_id}`, { key: ada.token, body: { payout_wallet: ada.wallet.address } }),
      ),
    );
    expect(paid.map(({ status }) => status).sort()).toEqual([200, 429]);
    expect(await used(ada)).toBe(LIMIT);
  });

  it('publishing the plan of a draft above the quota is 429 plan_limit_reached', async () => {
    const shop = await SubscriptionShop.open(w, {}, await w.merchant('free'));
    const prepared = await shop.preparePlan();
    expect(prepared.status).toBe(200);
    const wallet = { payout_wallet: shop.wallet.address };
    for (let i = 0; i < LIMIT; i++) expect((await create(shop.merchant, wallet)).status).toBe(201);
    const beyond = await shop.preparePlan();
    expect([beyond.status, beyond.body.code]).toEqual([429, 'plan_limit_reached']);
    // A plan published on the chain is not sold before the quota has room.
    const wire = await w.chain.sign(shop.wallet, prepared.body.transaction);
    const signature = await w.chain.call<string>('sendTransaction', wire, { encoding: 'base64' });
    expect((await shop.confirmPlan(signature)).body.code).toBe('plan_limit_reached');
    expect(await used(shop.merchant)).toBe(LIMIT);
    const [product] = (await w.call('GET', '/v1/products?status=active', { key: shop.merchant.key })).body.items;
    expect((await w.call('POST', `/v1/products/${product.product_id}/archive`, { key: shop.merchant.key })).status).toBe(200);
    expect((await shop.confirmPlan(signature)).status).toBe(200);
    expect(await used(shop.merchant)).toBe(LIMIT);
  });
});
