import { generateKeyPairSigner } from '@solana/kit';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './axe.ts';
import { type Product, Shop, type TestWallet, type Visit } from './shop.ts';

const USDC = 1_000_000n;
const shop = new Shop();
let product: Product;
let abandoned: { sold: Product; visit: Visit };
beforeAll(async () => {
  await shop.open();
  product = await shop.sell();
  // The session ends by the service's own clock while the other tests run. The last test checks this.
  abandoned = { sold: await shop.sell({ session_seconds: undefined }), visit: await shop.visit('desktop') };
  await abandoned.visit.page.goto(shop.urlOf(abandoned.sold));
  await abandoned.visit.page.getByRole('button', { name: 'Show a QR code' }).click();
  await abandoned.visit.page.getByText('We make sure that no payment').waitFor();
}, 60_000);
afterAll(() => shop.close());

/** Pays with the only wallet and returns the problem text of the page. */
async function tryToPay(wallet: TestWallet, shot?: string): Promise<string> {
  const { page, offences, shoot, close } = await shop.visit('phone', [wallet]);
  await page.goto(shop.urlOf(product));
  await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
  const problem = page.locator('.problem');
  await problem.waitFor();
  expect(await page.locator('#announcement').textContent()).toMatch(/^Not paid\. /);
  expect(await findViolations(page)).toEqual([]);
  expect(offences).toEqual([]);
  if (shot) await shoot(shot);
  expect(await page.getByRole('button', { name: 'Pay with Test wallet' }).isEnabled()).toBe(true);
  const text = await problem.innerText();
  await close();
  return text;
}

describe('checkout page: failed attempts', () => {
  it('a declined request shows its message and leaves the wallet button enabled', async () => {
    const signer = await shop.chain.newBuyer(100n * USDC);
    expect(await tryToPay({ signer, onAct: () => 'error:4001:User rejected the request.' }, '8-rejected')).toContain('You declined');
  });

  it('a balance below the price shows its message and leaves the wallet button enabled', async () => {
    const signer = await shop.chain.newBuyer(1n * USDC);
    expect(await tryToPay({ signer })).toContain('not enough USDC');
  });

  it('a wallet without a token account gets its own message', async () => {
    const signer = await generateKeyPairSigner();
    await shop.chain.call('local_fundSol', signer.address, '1000000000');
    expect(await tryToPay({ signer })).toContain('holds no USDC yet');
  });

  it('a wallet without SOL for the network fee gets its own message', async () => {
    const signer = await generateKeyPairSigner();
    await shop.chain.call('local_fundUsdc', signer.address, '100000000');
    expect(await tryToPay({ signer })).toContain('not enough SOL');
  });

  it('a wallet that shares no account gets its own message', async () => {
    const signer = await shop.chain.newBuyer(100n * USDC);
    expect(await tryToPay({ signer, accounts: 'none' })).toContain('shared no account');
  });

  it('a wallet that throws an error gets its own message', async () => {
    const signer = await shop.chain.newBuyer(100n * USDC);
    expect(await tryToPay({ signer, onAct: () => 'error:-32603:Internal error' })).toContain('Test wallet reported a problem');
    expect(await tryToPay({ signer, isBroken: true })).toContain('Test wallet reported a problem');
  });

  it('a wallet on the wrong network is disabled and labelled before it is chosen', async () => {
    const signer = await shop.chain.newBuyer(100n * USDC);
    const right = { signer, name: 'Right wallet' };
    // A name that differs by a zero-width space must not add a second button.
    const alike = { signer, name: 'Right\u200b wallet' };
    const wrong = { signer, name: 'Wrong wallet', chains: ['solana:mainnet'] };
    const { page, shoot, close } = await shop.visit('desktop', [wrong, right, alike]);
    await page.goto(shop.urlOf(product));
    await page.getByText('Not on Solana devnet').waitFor();
    expect(await page.getByRole('button', { name: 'Pay with Wrong wallet' }).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Pay with Right wallet' }).isEnabled()).toBe(true);
    expect(await findViolations(page)).toEqual([]);
    await shoot('9-several');
    await close();
  });

  it('a buyer without a wallet gets links into wallet apps, a QR payment and a manual transfer', async () => {
    const { page, offences, shoot, close } = await shop.visit('phone');
    await page.goto(shop.urlOf(product));
    await page.getByText('No Solana wallet was found').waitFor();
    expect(await page.getByRole('link', { name: /Open this page in/ }).count()).toBe(2);
    await page.getByRole('button', { name: 'Pay with a wallet app' }).click();
    const link = page.getByRole('link', { name: 'Open my wallet' });
    await link.waitFor();
    expect(await link.getAttribute('href')).toMatch(new RegExp(`^solana:${shop.wallet}\\?amount=12\\.5&`));
    await page.getByText('Send it by hand').click();
    // Browsers that block copying: no clipboard, and a clipboard that rejects.
    for (const clipboard of ['undefined', '{ writeText: () => Promise.reject(new Error()) }']) {
      await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: ${clipboard}, configurable: true })`);
      await page.getByRole('button', { name: 'Copy: To' }).click();
      await page.getByText('copy it yourself').first().waitFor();
      expect(await page.evaluate('getSelection().toString()')).toBe(shop.wallet);
      await page.getByRole('button', { name: 'Copy: Memo' }).click();
      await page.getByRole('button', { name: 'Selected: Memo' }).waitFor();
    }
    expect(await findViolations(page)).toEqual([]);
    expect(offences).toEqual([]);
    await shoot('10-no-wallet');
    await page.getByLabel('Already sent?').fill('nonsense');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.locator('.problem', { hasText: 'does not pay this purchase' }).waitFor();
    await close();
  });

  it('an offline start shows its message, and the next attempt pays', async () => {
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, close } = await shop.visit('desktop', [{ signer }]);
    await page.goto(shop.urlOf(product));
    await page.route('**/connect', (route) => route.abort());
    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.locator('.problem', { hasText: 'No connection.' }).waitFor();
    await page.unroute('**/connect');
    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor({ timeout: 30_000 });
    await close();
  });
});

/** Begins a payment, then replaces later answers of the service. */
async function beginThen(visit: Visit, answer: Record<string, unknown>, confirming: Record<string, unknown> | null = null): Promise<void> {
  const { page } = visit;
  await page.goto(shop.urlOf(product));
  await page.getByRole('button', { name: /QR code|wallet app/ }).click();
  await page.getByRole('timer').waitFor();
  await pretend(page, answer, confirming);
}

async function pretend(page: Page, answer: Record<string, unknown>, confirming: Record<string, unknown> | null): Promise<void> {
  await page.route('**/v1/payments/*', async (route) => {
    const response = await route.fetch();
    return route.fulfill({ response, json: { ...((await response.json()) as object), poll_after_ms: 300, ...answer } });
  });
  if (confirming) await page.route('**/v1/pay/confirm', (route) => route.fulfill({ status: 410, json: confirming }));
}

describe('checkout page: session ends without a payment', () => {
  const over = { status: 'FAILED', poll_after_ms: null };

  it('the page first checks for late payments, and offers a fresh session only after that', async () => {
    const visit = await shop.visit('phone');
    const { page } = visit;
    const sold = await shop.sell();
    await page.goto(shop.urlOf(sold));
    await page.getByRole('button', { name: 'Pay with a wallet app' }).click();
    await page.getByRole('timer').waitFor();
    await page.route('**/v1/payments/*', async (route) => {
      const response = await route.fetch();
      const body = { ...((await response.json()) as object), expires_at: new Date(Date.now() - 1000).toISOString(), poll_after_ms: 300 };
      return route.fulfill({ response, json: body });
    });
    await page.getByText('We make sure that no payment is still on its way.').waitFor();
    expect(await page.getByRole('button', { name: 'Start again', exact: true }).count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await visit.shoot('11-closing');
    await page.unroute('**/v1/payments/*');
    await pretend(page, { ...over, failure_code: 'session_expired' }, null);
    await page.reload();
    await page.getByText('No payment arrived.').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await visit.shoot('12-expired');
    expect(await shop.readPayments(sold)).toHaveLength(1);
    await page.getByRole('button', { name: 'Start again' }).click();
    await page.getByRole('heading', { name: 'Choose how to pay' }).waitFor();
    await page.unroute('**/v1/payments/*');
    await page.getByRole('button', { name: 'Pay with a wallet app' }).click();
    await page.getByRole('timer').waitFor();
    expect(await shop.readPayments(sold)).toHaveLength(2);
    await visit.close();
  });

  it.each([
    ['transaction_failed', 'so no money moved', '13-failed'],
    ['underpaid', 'Less than the price arrived', '14-underpaid'],
  ])('failure code %s is explained, and the buyer can start again', async (failure_code, message, shot) => {
    const visit = await shop.visit('desktop');
    await beginThen(visit, { ...over, failure_code });
    await visit.page.getByText(message).waitFor();
    expect(await findViolations(visit.page)).toEqual([]);
    await visit.shoot(shot);
    await visit.page.getByRole('button', { name: 'Start again' }).click();
    await visit.page.getByRole('heading', { name: 'Choose how to pay' }).waitFor();
    await visit.close();
  });

  it('late money is reported as not lost, and no second payment is offered', async () => {
    const visit = await shop.visit('phone');
    const late = { code: 'session_expired', detail: 'late', meta: { reason: 'late' } };
    await beginThen(visit, { ...over, failure_code: 'session_expired', tx_signature: '5VERv8' }, late);
    await visit.page.getByRole('heading', { name: 'Your payment arrived too late' }).waitFor();
    expect(await visit.page.getByRole('button', { name: 'Start again' }).count()).toBe(0);
    expect(await findViolations(visit.page)).toEqual([]);
    await visit.shoot('15-late');
    await visit.close();
  });

  it('no wallet opens in the last seconds of a quote', async () => {
    const sold = await shop.sell({ accepted_assets: ['USDC', 'SOL'] });
    let isAsked = false;
    const onAct = () => {
      isAsked = true;
      return 'error:4001:User rejected the request.';
    };
    const { page, shoot, close } = await shop.visit('phone', [{ signer: await shop.chain.newBuyer(0n), onAct }]);
    await page.goto(shop.urlOf(sold));
    const expires_at = new Date(Date.now() + 14_000).toISOString();
    await page.route(/\/connect$|\/v1\/payments\//, async (route) =>
      route.fulfill({ json: { ...((await (await route.fetch()).json()) as object), expires_at } }),
    );
    await page.getByRole('radio', { name: 'SOL' }).check();
    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.getByText('This price is no longer valid.').waitFor();
    await page.waitForTimeout(1500);
    expect(isAsked).toBe(false);
    expect(await page.getByRole('button').allInnerTexts()).toEqual(['I have not paid: start again now']);
    await shoot('29-price-over');
    await close();
  });

  it('an unpaid session expires on the service, and the buyer can start a new one', { timeout: 150_000 }, async () => {
    const { page, offences, close } = abandoned.visit;
    await page.getByRole('button', { name: 'Start again', exact: true }).waitFor({ timeout: 120_000 });
    expect((await shop.readPayments(abandoned.sold)).map(({ status }) => status)).toEqual(['FAILED']);
    await page.getByRole('button', { name: 'Start again' }).click();
    await page.getByRole('button', { name: 'Show a QR code' }).click();
    await page.getByRole('timer').waitFor();
    expect((await shop.readPayments(abandoned.sold)).map(({ status }) => status)).toEqual(['PENDING_SIGNATURE', 'FAILED']);
    expect(offences).toEqual([]);
    await close();
  });
});
