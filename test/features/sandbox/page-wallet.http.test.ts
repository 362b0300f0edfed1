import { beforeAll, describe, expect, it } from 'vitest';
import { type Merchant, World } from '../../support/world.ts';

const w = new World();
let ada: Merchant;
let eve: Merchant;
beforeAll(async () => {
  [ada, eve] = await Promise.all([w.merchant(), w.merchant()]);
});

const WALLET = 'AbCdEfGhIjKlMnOpQrStUv';
const sell = (merchant: Merchant) => w.product({ ...merchant, key: merchant.sandboxKey });

/** Requests as the page's script does. The route is not part of the published API. */
async function ask(slug: string, body: unknown) {
  const { createExecutionContext, waitOnExecutionContext } = await import('cloudflare:test');
  const execution = createExecutionContext();
  const request = new Request(`https://svc.test/p/${slug}/test-wallet`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const response = await (await import('../../../worker/index.ts')).default.fetch(request, w.env, execution);
  const answer = { status: response.status, body: (await response.json()) as Record<string, string> };
  await waitOnExecutionContext(execution);
  return answer;
}

describe('test wallet of the checkout page', () => {
  it('the wallet is stable per browser and merchant, and no wallet label of the merchant selects it', async () => {
    const [one, other] = [await sell(ada), await sell(eve)];
    const readAddress = async (slug: string, wallet_id = WALLET) => (await ask(slug, { wallet_id })).body.address;
    const address = await readAddress(one.slug);
    expect(await readAddress(one.slug)).toBe(address);
    expect(await readAddress(one.slug, WALLET.toLowerCase())).not.toBe(address);
    expect(await readAddress(other.slug)).not.toBe(address);
    const payment = await w.connect(one);
    for (const wallet of [WALLET, `page:${WALLET}`]) {
      const body = { payment_id: payment.payment_id, outcome: 'declined', wallet };
      const named = await w.call('POST', '/v1/testing/pay', { key: ada.sandboxKey, body });
      expect(named.body.payer_wallet).not.toBe(address);
    }
  });

  it('the wallet pays the displayed payment, and no transaction of another product, of live mode or without a memo', async () => {
    const [product, other, live] = [await sell(ada), await sell(ada), await w.product(ada)];
    const { address } = (await ask(product.slug, { wallet_id: WALLET })).body;
    const payment = await w.connect(product, { wallet_address: address });
    const shown = { transaction: payment.transaction, outcome: 'paid' };
    expect((await ask(other.slug, { wallet_id: WALLET, shown })).body).toMatchObject({ code: 'payment_mismatch' });
    expect((await ask(live.slug, { wallet_id: WALLET, shown })).status).toBe(404);
    expect((await ask('nothing', { wallet_id: WALLET })).status).toBe(404);
    const broken = { ...shown, transaction: btoa('nothing') };
    expect((await ask(product.slug, { wallet_id: WALLET, shown: broken })).body).toMatchObject({ code: 'payment_mismatch' });
    const misspelled = { ...shown, transaction: 'AB==' };
    expect((await ask(product.slug, { wallet_id: WALLET, shown: misspelled })).body).toMatchObject({ code: 'validation_error' });
    expect((await ask(product.slug, { wallet_id: 'short' })).status).toBe(422);
    const livePayment = await w.connect(live, { wallet_address: address });
    const crossed = { ...shown, transaction: livePayment.transaction };
    expect((await ask(product.slug, { wallet_id: WALLET, shown: crossed })).body).toMatchObject({ code: 'payment_mismatch' });
    const paid = await ask(product.slug, { wallet_id: WALLET, shown });
    expect([paid.status, paid.body.address]).toEqual([200, address]);
    const { status, body } = await w.confirm(payment.payment_id, paid.body.tx_signature!);
    expect([status, body.payment.status]).toEqual([200, 'CONFIRMED']);
    expect((await ask(product.slug, { wallet_id: WALLET, shown })).body).toMatchObject({ code: 'state_conflict' });
  });
});
