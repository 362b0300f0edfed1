import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sign } from '../../local/demo/wallet.ts';
import { findViolations } from './axe.ts';
import { press, Shop, seeHeading, type TestWallet } from './shop.ts';

const USDC = 1_000_000n;
const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

/** Wallet with prompts that stay open until the test approves them. */
async function slowWallet(wallet: Partial<TestWallet> = {}): Promise<{ wallet: TestWallet; prompts: (() => void)[] }> {
  const signer = await shop.chain.newBuyer(100n * USDC);
  const prompts: (() => void)[] = [];
  const onAct = async (transaction: string) => {
    await new Promise<void>((resolve) => prompts.push(resolve));
    return wallet.features ? shop.sendBy(signer, transaction) : sign(signer, transaction);
  };
  return { wallet: { signer, onAct, ...wallet }, prompts };
}

describe('checkout page: one wallet at a time', () => {
  it('an abandoned wallet’s signature is not sent, and a transaction is stored before it is sent', async () => {
    const product = await shop.sell();
    const [a, b] = [await slowWallet({ name: 'Wallet A' }), await slowWallet({ name: 'Wallet B' })];
    const { page, shoot, close } = await shop.visit('desktop', [a.wallet, b.wallet]);
    let sent = 0;
    let remembered = '';
    await page.route('**/transaction', async (route) => {
      sent++;
      remembered = (await page.evaluate('JSON.stringify(localStorage)')) as string;
      return route.continue();
    });
    await page.goto(shop.urlOf(product));
    await press(page, 'Pay with Wallet A');
    await seeHeading(page, 'Approve the payment in Wallet A');
    await expect.poll(() => a.prompts.length).toBe(1);
    await press(page, 'Choose another way');
    await page.locator('.problem', { hasText: 'First close the request in Wallet A' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shoot('30-close-first');
    a.prompts[0]!();
    await page.waitForTimeout(500);
    expect(sent).toBe(0);

    await press(page, 'Pay with Wallet A');
    await expect.poll(() => a.prompts.length).toBe(2);
    await press(page, 'Choose another way');
    await press(page, 'Pay with Wallet B');
    await expect.poll(() => b.prompts.length).toBe(1);
    b.prompts[0]!();
    await page.waitForTimeout(30);
    a.prompts[1]!();
    await seeHeading(page, 'Paid');
    expect(sent).toBe(1);
    const [payment] = (await shop.readPayments(product)) as unknown as { payment_id: string; tx_signature: string; payer_wallet: string }[];
    expect(payment!.payer_wallet).toBe(b.wallet.signer.address);
    expect(remembered).toContain(payment!.tx_signature);

    // A sent payment is never offered again, even if the service does not answer.
    await page.route('**/v1/pay**', (route) => route.abort());
    await page.reload();
    await seeHeading(page, 'Payment seen');
    await page.unroute('**/v1/pay**');
    await seeHeading(page, 'Paid');
    // A finished payment does not hide the payment named by the address.
    const phone = await shop.visit('desktop');
    await phone.page.goto(shop.urlOf(product));
    await press(phone.page, 'Show a QR code');
    await phone.page.getByRole('timer').waitFor();
    const named = (await shop.readPayments(product)).find(({ status }) => status === 'PENDING_SIGNATURE')!;
    await page.goto('about:blank');
    await page.goto(shop.urlOf(product, `#payment=${named.payment_id}`));
    await seeHeading(page, 'You may be paying for this already');
    await phone.close();
    await close();
  });

  it('a second tab asks no wallet, and a wallet that sends by itself must answer before the next request', async () => {
    const product = await shop.sell();
    const { wallet, prompts } = await slowWallet({ features: ['solana:signAndSendTransaction'] });
    const { page, shoot, close } = await shop.visit('desktop', [wallet]);
    await page.goto(shop.urlOf(product));
    await press(page, 'Pay with Test wallet');
    await expect.poll(() => prompts.length).toBe(1);
    const tab = await page.context().newPage();
    await tab.goto(shop.urlOf(product));
    await press(tab, 'Pay with Test wallet');
    await tab.locator('.problem', { hasText: 'another tab or window' }).waitFor();
    await press(page, 'Choose another way');
    await press(page, 'Pay with Test wallet');
    await page.locator('.problem', { hasText: 'Test wallet is still asking you' }).waitFor();
    await shoot('31-still-asked');
    // Closing the tab releases its lock on the payment, but only once the browser has removed the tab.
    await page.close();
    await expect.poll(() => tab.evaluate('navigator.locks.query().then(({ held }) => held.length)')).toBe(0);
    await press(tab, 'Pay with Test wallet');
    await expect.poll(() => prompts.length).toBe(2);
    await press(tab, 'Choose another way');
    prompts[1]!();
    await seeHeading(tab, 'Paid');
    expect((await shop.readPayments(product)).map(({ status }) => status)).toEqual(['CONFIRMED']);
    await close();
  });

  it('a wallet that errors after sending closes every way to pay until the outcome is known', async () => {
    const product = await shop.sell();
    const signer = await shop.chain.newBuyer(100n * USDC);
    const onAct = async (transaction: string) => {
      await shop.sendBy(signer, transaction);
      return 'error:0:The message port closed before a response was received.';
    };
    const { page, shoot, close } = await shop.visit('desktop', [{ signer, features: ['solana:signAndSendTransaction'], onAct }]);
    await page.route('**/v1/payments/*', async (route) => {
      const { tx_signature: _, ...answer } = (await (await route.fetch()).json()) as { tx_signature?: string };
      return route.fulfill({ json: { ...answer, status: 'PENDING_SIGNATURE', poll_after_ms: 500 } });
    });
    const expectClosed = async () => {
      await page.getByText('We make sure that nothing was sent. Until ').waitFor();
      for (const name of ['Pay with Test wallet', 'Show a QR code'])
        expect(await page.getByRole('button', { name }).isDisabled()).toBe(true);
    };
    await page.goto(shop.urlOf(product));
    await press(page, 'Pay with Test wallet');
    await page.locator('.problem', { hasText: 'Look in your wallet' }).waitFor();
    await page.waitForTimeout(5000);
    await expectClosed();
    expect(await findViolations(page)).toEqual([]);
    await shoot('33-unclear');
    await page.reload();
    await expectClosed();
    await page.unroute('**/v1/payments/*');
    await seeHeading(page, 'Paid');
    await close();
  });

  it('a second transaction sent by a wallet after another payment is reported to the service and the buyer', async () => {
    const product = await shop.sell();
    const { wallet, prompts } = await slowWallet({ features: ['solana:signAndSendTransaction'] });
    const { page, shoot, close } = await shop.visit('desktop', [wallet]);
    await page.goto(shop.urlOf(product));
    await press(page, 'Pay with Test wallet');
    await expect.poll(() => prompts.length).toBe(1);
    // Chosen before the service reports the other payment, because no other way can be chosen afterwards.
    await press(page, 'Choose another way');
    const reported: string[] = [];
    const other = { status: 'PENDING_CONFIRMATION', tx_signature: '5VERv8', poll_after_ms: 300 };
    let payment: object = {};
    await page.route('**/v1/payments/*', async (route) => {
      payment = { ...((await (await route.fetch()).json()) as object), ...other };
      return route.fulfill({ json: payment });
    });
    await page.route('**/v1/pay/confirm', (route) => {
      reported.push((route.request().postDataJSON() as { tx_signature: string }).tx_signature);
      return route.fulfill({ json: { payment } });
    });
    await seeHeading(page, 'Payment seen');
    prompts[0]!();
    await page.locator('.problem', { hasText: 'Two payments were sent for this' }).waitFor();
    await expect.poll(() => reported.filter((signature) => signature !== other.tx_signature)).toHaveLength(1);
    expect(await findViolations(page)).toEqual([]);
    await shoot('34-twice');
    await close();
  });
});

describe('stored payment', () => {
  it('a stored payment can be finished after the product is archived, expires a day later, and cannot break the page', async () => {
    const product = await shop.sell();
    const { page, offences, close } = await shop.visit('phone', [{ signer: await shop.chain.newBuyer(100n * USDC) }]);
    await page.goto(shop.urlOf(product));
    await press(page, 'Pay with a wallet app');
    await page.getByRole('timer').waitFor();
    await shop.callAs(product, 'POST', `/v1/products/${product.product_id}/archive`);
    await page.reload();
    await press(page, 'Pay with Test wallet');
    await seeHeading(page, 'Paid');
    await page.getByRole('link', { name: 'Open the receipt' }).waitFor();
    expect(await page.getByRole('button', { name: 'Buy once more' }).count()).toBe(0);

    const key = `svc:payment:${product.slug}:`;
    const stored = JSON.parse((await page.evaluate(`localStorage.getItem('${key}')`)) as string) as { until: number };
    expect(stored.until - Date.now()).toBeGreaterThan(23 * 3_600_000);
    expect(stored.until - Date.now()).toBeLessThan(25 * 3_600_000);
    const damaged = { version: 1, value: { paymentId: crypto.randomUUID() } };
    for (const item of [{ ...stored, until: Date.now() - 1000 }, damaged, 'nonsense']) {
      await page.evaluate(`localStorage.setItem('${key}', ${JSON.stringify(JSON.stringify(item))})`);
      const response = await page.reload();
      expect(response!.status()).toBe(404);
      await page.getByText('This is no longer for sale.').waitFor();
      expect(await page.getByRole('button').count()).toBe(0);
    }
    expect(offences).toEqual([]);
    await close();
  });
});
