import { beforeAll, describe, expect, it } from 'vitest';
import { base64, utf8 } from '#core/encoding.ts';
import type { Env } from '#platform/context.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { decoded, newKey, ONE, openShop, type Shop, sellToAgents, stall, withObjectFaults, write } from '../../support/people/agent.ts';
import { openSignInShop, resource, signIn } from '../../support/people/sign-in.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('call budget of consume', () => {
  const w = new World();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w, { external_product_id: 'budget-1' });
    await shop.grant({ units: 100 });
    await shop.challenge({ customer: { customer_ref: 'warm-up' } });
  });
  /** Counts every call over a binding or the network. `ADMISSION.record` is deferred until after the answer. */
  const measureCost = async (body: object, idempotencyKey = newKey(), merchant: Merchant = shop.merchant) => {
    const database = withFaults(w.env);
    const objects = withObjectFaults(database.env);
    await w.chain.call('local_resetCalls');
    const answer = await write(w, merchant, 'entitlements/consume', body, { idempotencyKey, env: objects.env });
    const calls = objects.calls.map(({ binding, verb }) => `${binding}.${verb}`);
    return { status: answer.status, calls, trips: database.trips.map(({ kind }) => kind), node: await w.chain.call('local_calls') };
  };
  const HOT = ['ADMISSION.admit', 'ENTITLEMENT.consume', 'ADMISSION.record'];
  const named = () => ({ product_id: shop.product.product_id, customer: shop.customer });

  it('consume by product_id costs one admission call and one object call, without database or node, as does its replay', async () => {
    const key = newKey();
    expect(await measureCost(named(), key)).toEqual({ status: 200, calls: HOT, trips: [], node: {} });
    expect(await measureCost(named(), key)).toEqual({ status: 200, calls: HOT, trips: [], node: {} });
  });

  it('lookup by external_product_id costs one extra database read', async () => {
    const body = { external_product_id: 'budget-1', customer: shop.customer };
    expect(await measureCost(body)).toEqual({ status: 200, calls: HOT, trips: ['read'], node: {} });
  });

  it('a denial costs one database read, one entitlement read, and no node call within a minute of the last', async () => {
    const body = { ...named(), customer: { customer_ref: 'nobody' } };
    const calls = ['ADMISSION.consume', 'ENTITLEMENT.read', 'ADMISSION.record'];
    expect(await measureCost(body)).toEqual({ status: 403, calls, trips: ['read'], node: {} });
  });

  it('consume by a sign-in costs one database read more, as does its replay, and a refused one calls no object of a wallet', async () => {
    const signInShop = await openSignInShop(w);
    const agent = await signInShop.buyer();
    const named = { product_id: signInShop.product.product_id, resource };
    const ask = (body: object, key?: string) => measureCost({ ...named, ...body }, key, signInShop.merchant);
    await ask({ customer: { customer_ref: 'warm-up' } });
    const [proof, key] = [await signIn(agent, await signInShop.challenge()), newKey()];
    for (let times = 0; times < 2; times++)
      expect(await ask({ sign_in: proof }, key)).toEqual({ status: 200, calls: HOT, trips: ['read'], node: {} });
    expect(await ask({ sign_in: proof })).toEqual({ status: 403, calls: HOT, trips: ['read'], node: {} });
    const unsigned = ['ADMISSION.admit', 'ADMISSION.record'];
    for (const sign_in of [
      'junk',
      base64.encode(utf8(JSON.stringify({ ...decoded(proof), address: agent.wallet.address.replace(/.$/, '1') }))),
    ])
      expect(await ask({ sign_in })).toEqual({ status: 403, calls: unsigned, trips: ['read'], node: {} });
  });

  it('consume with a plain body and its replay each cost one call to the account’s object', async () => {
    const customer = { customer_ref: 'plain' };
    await shop.grant({ customer, units: 5 });
    const key = newKey();
    for (let times = 0; times < 2; times++)
      expect(await measureCost({ ...named(), customer }, key)).toEqual({ status: 200, calls: ['ADMISSION.consume'], trips: [], node: {} });
  });

  it('consume of ninety units costs the same as consume of one', async () => {
    expect(await measureCost({ ...named(), units: 90 })).toEqual({ status: 200, calls: HOT, trips: [], node: {} });
  });

  it('a database outage does not stop a customer who has units, and answers 503 to one who has none', async () => {
    const { env } = withFaults(w.env, { before: () => true });
    expect((await shop.consume({}, { env })).status).toBe(200);
    const denied = await shop.consume({ customer: { customer_ref: 'nobody' } }, { env });
    expect([denied.status, denied.body.code, denied.body.retryable]).toEqual([503, 'temporarily_unavailable', true]);
  });

  it('settle calls the node at most once each for height, simulation, broadcast and status', async () => {
    const payment = await shop.pay({ customer: { customer_ref: 'settler' } });
    await w.chain.call('local_resetCalls');
    const settled = await shop.settle(payment, { customer: { customer_ref: 'settler' } });
    expect(settled.status).toBe(200);
    expect(await w.chain.call('local_calls')).toEqual({
      getBlockHeight: 1,
      simulateTransaction: 1,
      sendTransaction: 1,
      getTransaction: 1,
      getSignatureStatuses: 1,
    });
  });
});

describe('rate limit of consume and settle', () => {
  const w = new World();
  const strict: Env = { ...w.env, RATE_MULTIPLIER: '1' };
  let merchant: Merchant;
  let product: { product_id: string };
  beforeAll(async () => {
    merchant = await w.merchant('free');
    product = await w.product(merchant);
    await write(w, merchant, 'entitlements/grant', {
      product_id: product.product_id,
      customer: { customer_ref: 'a' },
      units: 1000,
      reason: 'test',
    });
  });
  const consume = (key = merchant.key) =>
    write(w, merchant, 'entitlements/consume', { product_id: product.product_id, customer: { customer_ref: 'a' } }, { env: strict, key });
  /** Waits until a new one-second window of the rate limit begins. */
  const freshSecond = () => new Promise((resolve) => setTimeout(resolve, 1100));

  it('consume has its own bucket per second: the free plan allows five requests', async () => {
    await freshSecond();
    const answers = await Promise.all(Array.from({ length: 12 }, () => consume()));
    const passed = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    expect([passed.length, refused.length]).toEqual([5, 7]);
    expect(passed.map(({ headers }) => headers.get('X-RateLimit-Remaining')).sort()).toEqual(['0', '1', '2', '3', '4']);
    for (const { body, headers } of refused) {
      expect([body.code, headers.get('X-RateLimit-Limit'), headers.get('Retry-After')]).toEqual(['rate_limited', '5', '1']);
      expect(Math.abs(Number(headers.get('X-RateLimit-Reset')) - Date.now() / 1000)).toBeLessThan(3);
    }
    await freshSecond();
    expect((await consume()).status).toBe(200);
  });

  it('the buckets per second and per minute are counted separately', async () => {
    const left = async () =>
      Number((await w.call('GET', '/v1/products', { key: merchant.key, env: strict })).headers.get('X-RateLimit-Remaining'));
    const before = await left();
    await freshSecond();
    await Promise.all(Array.from({ length: 5 }, () => consume()));
    expect(await left()).toBe(before - 1);
    await freshSecond();
    for (let i = 0; i < 5; i++) await left();
    expect((await consume()).headers.get('X-RateLimit-Remaining')).toBe('4');
  });

  it('settle shares the bucket of consume, and the sandbox has its own', async () => {
    await freshSecond();
    await Promise.all(Array.from({ length: 5 }, () => consume()));
    const settle = { product_id: product.product_id, payment_signature: 'e30=' };
    const [sandbox, settled] = await Promise.all([
      consume(merchant.sandboxKey),
      write(w, merchant, 'x402/settle', settle, { env: strict }),
    ]);
    expect([settled.status, sandbox.status, sandbox.headers.get('X-RateLimit-Limit')]).toEqual([429, 404, '1']);
  });
});

describe('credits_burned of a key', () => {
  const w = new World();
  it('consume and settle count their units once: replays, duplicates and denials add nothing', async () => {
    const shop = await openShop(w);
    const { merchant } = shop;
    const burned = async () => {
      const { body: keys } = await w.call<{ usage_summary: { credits_burned: number } }[]>('GET', '/v1/keys', { key: merchant.token });
      return keys.map(({ usage_summary }) => usage_summary.credits_burned);
    };
    await shop.grant({ units: 10 });
    const consumeKey = newKey();
    for (let i = 0; i < 3; i++) await shop.consume({ units: 4 }, { idempotencyKey: consumeKey });
    expect((await shop.consume({ units: 7 })).status).toBe(403);
    const own = stall(w, merchant, await sellToAgents(w, merchant), shop.agent);
    const [payment, settleKey] = [await own.pay({ units: 3 }), newKey()];
    for (let i = 0; i < 2; i++) expect((await own.settle(payment, { consume_units: 3 }, { idempotencyKey: settleKey })).status).toBe(200);
    expect((await own.settle(payment, { consume_units: 3 })).headers.get('X-Svc-Duplicate-Settlement')).toBe('true');
    expect(await own.books()).toEqual(ONE);
    expect((await burned()).sort()).toEqual([0, 7]);
  });
});
