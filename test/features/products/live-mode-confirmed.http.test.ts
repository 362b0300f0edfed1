import { beforeAll, describe, expect, it } from 'vitest';
import { getPage } from '../../support/clients/page.ts';
import { feePayerOf, readyToBePaid, write } from '../../support/people/agent.ts';
import { checkOf, openSession, readiness } from '../../support/people/sale.ts';
import { type Merchant, World } from '../../support/world.ts';

const USDC = 'solana_usdc';
const X402 = 'x402_solana_usdc';

describe('live_mode_confirmed', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
    await readyToBePaid(w, ada);
  });

  const readState = async (product: { product_id: string; slug: string }) => {
    const page = await getPage(w, `/p/${product.slug}`);
    const connected = await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: {} });
    const session = await openSession(w, ada, { product_id: product.product_id });
    const body = { product_id: product.product_id, customer: { customer_ref: 'c' } };
    const denied = await write(w, ada, 'entitlements/consume', body);
    const rails = (await w.call('GET', `/v1/access/products/${product.product_id}/available-rails`, { key: ada.key })).body.items;
    const answer = await readiness(w, ada, `product_id=${product.product_id}`);
    const railOf = (id: string) => rails.find(({ rail_id }: { rail_id: string }) => rail_id === id);
    return {
      page: page.status,
      connect: connected.status,
      session: session.status,
      consume: denied.body.meta.missing ?? null,
      rails: [railOf(USDC).status, railOf(X402).reason ?? null],
      ready: answer.ready,
      check: checkOf(answer, 'live_mode_confirmed').status,
    };
  };

  it('a product for people alone sells by page, connect and session without it, and is ready', async () => {
    const product = await w.product(ada, { allowed_rails: [USDC] });
    expect(await readState(product)).toMatchObject({
      page: 200,
      connect: 200,
      session: 201,
      rails: ['available', 'rail_enabled'],
      ready: true,
      check: 'skip',
    });
  });

  it('a product for people and agents waits for it on the agent rail only', async () => {
    const product = await w.product(ada);
    const plain = { page: 200, connect: 200, session: 201 };
    const waiting = { consume: 'live_mode_confirmed', rails: ['available', 'live_mode_confirmed'], ready: true, check: 'fail' };
    expect(await readState(product)).toEqual({ ...plain, ...waiting });
    await w.call('PATCH', `/v1/products/${product.product_id}`, { key: ada.key, body: { live_mode_confirmed: true } });
    expect(await readState(product)).toEqual({ ...plain, consume: null, rails: ['available', null], ready: true, check: 'pass' });
  });

  it('a product with the agent rail by default is not ready without it', async () => {
    const product = await w.product(ada, { default_rail: X402 });
    expect(await readState(product)).toMatchObject({ ready: false, check: 'fail' });
    const { body } = await w.call('GET', `/v1/access/setup/readiness?product_id=${product.product_id}`, { key: ada.key });
    expect(body.blocking).toEqual(['live_mode_confirmed']);
  });
});

describe('payout wallet without a USDC account', () => {
  it('the refusal of consume leads to readiness, and its transaction creates the missing account', async () => {
    const w = new World();
    await w.chain.call('local_fundSol', feePayerOf(w), '1000000000');
    const ada = await w.merchant();
    const product = await w.product(ada, { live_mode_confirmed: true });
    const body = { product_id: product.product_id, customer: { customer_ref: 'c' } };
    const denied = await write(w, ada, 'entitlements/consume', body);
    const { fix } = denied.body.meta;
    const pointed = fix?.path ?? /GET (\S+)/.exec(JSON.stringify(denied.body))![1];
    expect(pointed).toBe(`/v1/access/setup/readiness?product_id=${product.product_id}`);
    const answer = (await w.call('GET', pointed, { key: ada.key })).body;
    const { fix: accountFix, message } = checkOf(answer, 'payout_ata_exists');
    expect(message).toContain(ada.wallet.address);
    expect([accountFix.method, accountFix.transaction]).toEqual([undefined, expect.any(String)]);
    await w.chain.call('sendTransaction', await w.chain.sign(ada.wallet, accountFix.transaction), { encoding: 'base64' });
    expect((await write(w, ada, 'entitlements/consume', body)).headers.get('PAYMENT-REQUIRED')).not.toBeNull();
  });
});
