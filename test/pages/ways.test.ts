import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './axe.ts';
import { Shop } from './shop.ts';

const USDC = 1_000_000n;
const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

describe('paying in SOL', () => {
  it.each(['phone', 'desktop'] as const)('SOL is a choice with a quote and its end, on a %s', async (size) => {
    const product = await shop.sell({ accepted_assets: ['USDC', 'SOL'], price: { asset: 'USDC', amount: '15' } });
    const signer = await shop.chain.newBuyer(0n);
    const { page, offences, shoot, close } = await shop.visit(size, [{ signer }]);
    await page.goto(`${shop.baseUrl}/p/${product.slug}`);
    await page.getByRole('radio', { name: 'SOL' }).check();
    expect(await findViolations(page)).toEqual([]);
    await shoot('22-assets');
    await page.getByRole('button', { name: /QR code|wallet app/ }).click();
    await page.getByText(/^1 SOL = 150\.00/).waitFor();
    expect(await page.locator('.quote strong').innerText()).toContain('0.1');
    expect(await findViolations(page)).toEqual([]);
    await shoot('23-quote');
    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor({ timeout: 30_000 });
    expect(await page.locator('.panel').innerText()).toContain('0.1\u00a0SOL');
    expect((await shop.readPayments(product)).map(({ status }) => status)).toEqual(['CONFIRMED']);
    expect(offences).toEqual([]);
    await close();
  });

  it('a product priced in SOL is paid in SOL without a quote', async () => {
    const product = await shop.sell({ price: { asset: 'SOL', amount: '0.25' } });
    const { page, close } = await shop.visit('phone', [{ signer: await shop.chain.newBuyer(0n) }]);
    await page.goto(`${shop.baseUrl}/p/${product.slug}`);
    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor({ timeout: 30_000 });
    await close();
  });

  it('a payment in SOL is refused without a reliable price, and USDC still works', async () => {
    const product = await shop.sell({ accepted_assets: ['USDC', 'SOL'] });
    const { page, shoot, close } = await shop.visit('phone', [{ signer: await shop.chain.newBuyer(100n * USDC) }]);
    await page.goto(`${shop.baseUrl}/p/${product.slug}`);
    await page.route('**/connect', (route) =>
      route.fulfill({ status: 503, json: { code: 'price_unavailable', detail: 'none', meta: {}, retryable: true } }),
    );
    await page.getByRole('radio', { name: 'SOL' }).check();
    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.locator('.problem', { hasText: 'no reliable price' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shoot('24-no-price');
    await page.unroute('**/connect');
    await page.getByRole('radio', { name: 'USDC' }).check();
    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor({ timeout: 30_000 });
    await close();
  });
});

describe('paying with a service fee', () => {
  it('the fee is named, and the manual transfer is left out', async () => {
    const product = await shop.sell();
    const { page, shoot, close } = await shop.visit('phone');
    await page.goto(`${shop.baseUrl}/p/${product.slug}`);
    await page.route('**/connect', async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as { payment_id: string };
      const fee = { recipient: shop.wallet, asset: 'USDC', amount: '0.25', base_units: '250000' };
      const url = `solana:${shop.baseUrl}/v1/pay/${answer.payment_id}/solana-pay`;
      return route.fulfill({ response, json: { ...answer, fee, solana_pay_url: url } });
    });
    await page.getByRole('button', { name: 'Pay with a wallet app' }).click();
    await page.getByText('Includes a service fee of 0.25').waitFor();
    expect(await page.getByRole('link', { name: 'Open my wallet' }).getAttribute('href')).toMatch(/^solana:http.*\/solana-pay$/);
    expect(await page.getByText('Send it by hand').count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await shoot('28-fee');
    await close();
  });
});

describe('hand-off link', () => {
  it('the buyer is recognised and pays, and the link cannot buy twice', async () => {
    const product = await shop.sell();
    const url = await shop.handOff(product);
    expect(url).toContain(`/p/${product.slug}?handoff=`);
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, offences, shoot, close } = await shop.visit('phone', [{ signer }]);
    await page.goto(url);
    await page.locator('.recognised').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shoot('25-recognised');
    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor({ timeout: 30_000 });
    expect(offences).toEqual([]);
    const [payment] = (await shop.readPayments(product)) as { payment_id: string; status: string; customer_ref?: string }[];
    expect(payment!.customer_ref).toBe('customer-4711');
    await close();

    // A used link opens the paid purchase in any browser, and cannot start another.
    const other = await shop.visit('desktop', [{ signer }]);
    await other.page.goto(url);
    await other.page.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
    expect(await other.page.getByRole('button', { name: 'Buy once more' }).count()).toBe(0);
    expect(await findViolations(other.page)).toEqual([]);
    await other.shoot('26-handoff-used');
    await other.close();
    expect(await shop.readPayments(product)).toHaveLength(1);
  });

  it('a damaged, forged or expired link offers no payment', async () => {
    const product = await shop.sell();
    const url = await shop.handOff(product);
    const { page, offences, close } = await shop.visit('desktop', [{ signer: await shop.chain.newBuyer(0n) }]);
    const expectNothing = async (message: string) => {
      await page.locator('.notice', { hasText: message }).waitFor();
      expect(await page.getByRole('button').count()).toBe(0);
    };
    for (const damaged of [`${url}%20`, `${url})`, `${url.slice(0, -6)}AAAAAA`]) {
      await page.goto(damaged);
      await expectNothing('This link is not valid.');
    }
    await page.route('**/handoff/*', (route) =>
      route.fulfill({ status: 410, json: { code: 'handoff_expired', detail: 'over', meta: { reason: 'expired' } } }),
    );
    await page.goto(url);
    await expectNothing('expired or was already used');
    expect(offences).toEqual([]);
    await close();
  });

  it('a failed payment sends the buyer back to the shop for a new link', async () => {
    const product = await shop.sell();
    const { page, close } = await shop.visit('phone', [{ signer: await shop.chain.newBuyer(0n) }]);
    await page.goto(await shop.handOff(product));
    await page.getByRole('button', { name: 'Pay with a wallet app' }).click();
    await page.getByRole('timer').waitFor();
    await page.route('**/v1/payments/*', async (route) => {
      const answer = (await (await route.fetch()).json()) as object;
      return route.fulfill({ json: { ...answer, status: 'FAILED', failure_code: 'transaction_failed', poll_after_ms: null } });
    });
    await page.getByText('go back to the shop and open a new link there').waitFor();
    expect(await page.getByRole('button', { name: 'Start again' }).count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await close();
  });
});

describe('payment session', () => {
  it('the price stays fixed, another browser continues the payment, and it is paid once', async () => {
    const product = await shop.sell({ price: { asset: 'USDC', amount: '5' }, live_mode_confirmed: true });
    const session = await shop.callAs<{ checkout_url: string }>(product, 'POST', '/v1/access/payment-sessions', {
      product_id: product.product_id,
    });
    await shop.callAs(product, 'PATCH', `/v1/products/${product.product_id}`, { price: { asset: 'USDC', amount: '9' } });
    const laptop = await shop.visit('desktop');
    await laptop.page.goto(session.checkout_url);
    expect(await laptop.page.locator('.offer .amount').innerText()).toContain('5.00');
    await laptop.page.getByRole('button', { name: 'Show a QR code' }).click();
    await laptop.page.getByRole('timer').waitFor();

    const phone = await shop.visit('phone', [{ signer: await shop.chain.newBuyer(100n * USDC) }]);
    await phone.page.goto(session.checkout_url);
    await phone.page.getByRole('timer').waitFor();
    await phone.page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    for (const { page } of [phone, laptop]) await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor({ timeout: 30_000 });
    expect((await shop.readPayments(product)).map(({ status }) => status)).toEqual(['CONFIRMED']);
    expect([...phone.offences, ...laptop.offences]).toEqual([]);
    await phone.close();
    await laptop.close();

    const stranger = await shop.visit('desktop');
    await stranger.page.goto(session.checkout_url);
    await stranger.page.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
    expect(await stranger.page.getByRole('button', { name: 'Buy once more' }).count()).toBe(0);
    await stranger.close();
  });

  it('a session that is being paid or was paid elsewhere is followed and never paid twice', async () => {
    const product = await shop.sell({ live_mode_confirmed: true });
    const open = () =>
      shop.callAs<{ checkout_url: string; payment_session_id: string }>(product, 'POST', '/v1/access/payment-sessions', {
        product_id: product.product_id,
      });
    const asked: string[] = [];
    const onAct = (transaction: string) => {
      asked.push(transaction);
      return 'error:4001:User rejected the request.';
    };
    const { page, close } = await shop.visit('desktop', [{ signer: await shop.chain.newBuyer(100n * USDC), onAct }]);
    page.on('request', (request) => request.url().endsWith('/solana-pay') && asked.push(request.url()));
    const first = await open();
    await page.goto(first.checkout_url);
    // Another browser pays between page load and press: first pending, then confirmed.
    const isOnItsWay = { status: 'PENDING_CONFIRMATION', poll_after_ms: 300 };
    await page.route(/\/connect$|\/v1\/payments\//, async (route) => {
      const { transaction: _, ...answer } = (await (await route.fetch()).json()) as { transaction?: string };
      return route.fulfill({ json: { ...answer, ...isOnItsWay } });
    });
    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.getByRole('heading', { name: 'Payment seen' }).waitFor();
    await page.waitForTimeout(1000);
    await page.getByRole('heading', { name: 'Payment seen' }).waitFor();
    await page.unroute(/\/connect$|\/v1\/payments\//);

    const second = await open();
    await page.goto(second.checkout_url);
    await page.getByRole('button', { name: 'Pay with Test wallet' }).waitFor();
    const payer = await shop.visit('phone', [{ signer: await shop.chain.newBuyer(100n * USDC) }]);
    await payer.page.goto(second.checkout_url);
    await payer.page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await payer.page.getByRole('heading', { name: 'Paid', exact: true }).waitFor({ timeout: 30_000 });
    await payer.close();
    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
    expect(asked).toEqual([]);
    await close();
  });

  it('the page says when a new quote is available, and when the link has expired', async () => {
    const product = await shop.sell({ live_mode_confirmed: true });
    const session = await shop.callAs<{ checkout_url: string }>(product, 'POST', '/v1/access/payment-sessions', {
      product_id: product.product_id,
    });
    const { page, close } = await shop.visit('phone', [{ signer: await shop.chain.newBuyer(0n) }]);
    let meta: object = { reason: 'quote_expired' };
    await page.route('**/connect', (route) =>
      route.fulfill({ status: 410, headers: { 'retry-after': '170' }, json: { code: 'session_expired', detail: 'over', meta } }),
    );
    await page.goto(session.checkout_url);
    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.locator('.problem', { hasText: 'Try again in 3 minutes.' }).waitFor();
    meta = {};
    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.locator('.notice', { hasText: 'This payment link is over.' }).waitFor();
    await close();
  });
});

describe('identity verification on the checkout page', () => {
  it.each([
    ['telegram', 'Telegram', /^https:\/\/t\.me\/svc_local_bot\?start=/, 'start'],
    ['discord', 'Discord', /^https:\/\/discord\.com\/oauth2\/authorize\?/, 'state'],
  ] as const)(
    'the buyer verifies at %s, survives a reload and an expired link, and then pays',
    async (provider, name, address, parameter) => {
      const product = await shop.sell({ requires_identity: provider });
      const signer = await shop.chain.newBuyer(100n * USDC);
      const { page, offences, shoot, close } = await shop.visit('phone', [{ signer }]);
      await page.goto(`${shop.baseUrl}/p/${product.slug}`);
      await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
      const link = page.getByRole('link', { name: `Open ${name}` });
      await link.waitFor();
      expect(await findViolations(page)).toEqual([]);
      await shoot(`27-identity-${provider}`);
      const href = (await link.getAttribute('href'))!;
      expect(href).toMatch(address);
      await page.getByRole('button', { name: 'Back' }).click();
      await page.getByRole('button', { name: 'Pay with Test wallet' }).waitFor();
      await page.reload();
      await page.getByRole('button', { name: 'I have done it' }).click();
      await page.locator('.problem', { hasText: 'has not told us yet' }).waitFor();
      const over = { status: 410, json: { code: 'identity_expired', detail: 'over', meta: {} } };
      await page.route('**/connect', (route) => route.fulfill(over), { times: 1 });
      await page.getByRole('button', { name: 'I have done it' }).click();
      await page.locator('.problem', { hasText: `The link for ${name} had expired.` }).waitFor();
      const renewed = (await link.getAttribute('href'))!;
      expect(renewed).not.toBe(href);
      await shop.connector(provider, { identity_session_id: new URL(renewed).searchParams.get(parameter), provider_user_id: '4711' });
      await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
      await page.getByRole('timer').waitFor();
      await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
      await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor({ timeout: 30_000 });
      expect(await shop.readPayments(product)).toHaveLength(1);
      expect(offences).toEqual([]);
      await close();
    },
  );
});
