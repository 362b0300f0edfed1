import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sign } from '../../local/demo/wallet.ts';
import { LOCALE_NAMES } from '../../worker/core/locales.ts';
import { findViolations } from './axe.ts';
import { press, seeHeading } from './shop.ts';
import { SubscriptionShop } from './subscription-shop.ts';

const USDC = 1_000_000n;
const shop = new SubscriptionShop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

describe('subscription checkout page', () => {
  it('each signature is explained before the wallet opens, and the page links to where the subscription is cancelled', async () => {
    const product = await shop.sellByPeriod();
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, offences, shoot, close } = await shop.visit('desktop', [{ signer }]);
    await page.goto(shop.urlOf(product));
    await page
      .getByText(/^5\.00\u00a0USDC now, then every 30 days\. Next charge: .+ You can cancel at any time, with your wallet\.$/)
      .waitFor();
    // The price always has its period: above, on the button and in the link preview.
    expect((await page.locator('.amount').innerText()).replace(/\s+/g, ' ')).toContain('5.00 USDC / 30 days');
    expect(await page.getByRole('button', { name: 'Subscribe with Test wallet' }).innerText()).toContain('5.00\u00a0USDC / 30 days');
    const preview = await page.locator('meta[property="og:description"]').getAttribute('content');
    expect(preview).toContain('5.00\u00a0USDC every 30 days');
    await seeHeading(page, 'Choose your wallet');
    expect(await findViolations(page)).toEqual([]);
    await shoot('70-subscribe');
    await press(page, 'Subscribe with Test wallet');
    await seeHeading(page, 'Allow monthly charges');
    await page.getByText('Step 1 of 2').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shoot('71-subscribe-approve');
    await press(page, 'Continue in Test wallet');
    await seeHeading(page, 'Subscribe');
    await page.getByText('Step 2 of 2').waitFor();
    await page.getByText('You agree to be charged 5.00\u00a0USDC now and every 30 days').waitFor();
    await shoot('72-subscribe-subscribe');
    await press(page, 'Continue in Test wallet');
    await seeHeading(page, 'You are subscribed');
    await page.getByText(/^Access until /).waitFor();
    await page.getByText(/^Next charge: 5\.00\u00a0USDC on /).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shoot('73-subscribed');
    const [payment] = await shop.readPayments(product);
    expect(payment!.status).toBe('CONFIRMED');

    await page.getByRole('link', { name: 'See or cancel the subscription' }).click();
    await seeHeading(page, 'Your subscription');
    await page.getByText(/^Active\. Renews on /).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shoot('74-subscription');
    await press(page, 'Cancel with Test wallet');
    await seeHeading(page, 'End the subscription');
    await press(page, 'Continue in Test wallet');
    await seeHeading(page, 'It is cancelled');
    const facts = async () => (await page.locator('#standing').innerText()).replace(/\s+/g, ' ');
    const shown = await facts();
    expect(shown).toMatch(/You have cancelled it\..*Next charge None Paid until /);
    expect(await findViolations(page)).toEqual([]);
    await shoot('75-subscription-cancelled');
    await page.reload();
    await page.getByText('You have cancelled it.').waitFor();
    expect(await facts()).toBe(shown);
    expect(offences).toEqual([]);
    await close();
  });

  it('a buyer continues with the remaining signature after a refusal and after a reload', async () => {
    const product = await shop.sellByPeriod();
    const signer = await shop.chain.newBuyer(100n * USDC);
    let refuses = true;
    const onAct = (transaction: string) => (refuses ? 'error:4001:User rejected the request.' : sign(signer, transaction));
    const { page, offences, shoot, close } = await shop.visit('phone', [{ signer, onAct }]);
    await page.goto(shop.urlOf(product));
    await press(page, 'Subscribe with Test wallet');
    await press(page, 'Continue in Test wallet');
    await page.locator('.problem', { hasText: 'You declined in your wallet. Nothing was charged.' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shoot('76-subscribe-declined');
    refuses = false;
    await press(page, 'Subscribe with Test wallet');
    await press(page, 'Continue in Test wallet');
    await page.getByText('Step 2 of 2').waitFor();
    await page.reload();
    await press(page, 'Subscribe with Test wallet');
    await seeHeading(page, 'Subscribe');
    await press(page, 'Continue in Test wallet');
    await seeHeading(page, 'You are subscribed');
    expect((await shop.readPayments(product)).length).toBe(1);
    expect(offences).toEqual([]);
    await close();
  });

  it('the page names the amount missing for the first payment, and collects once the wallet holds it', async () => {
    const product = await shop.sellByPeriod();
    const signer = await shop.chain.newBuyer(USDC);
    const { page, close } = await shop.visit('desktop', [{ signer }]);
    await page.goto(shop.urlOf(product));
    await press(page, 'Subscribe with Test wallet');
    await press(page, 'Continue in Test wallet');
    await page.getByText('Step 2 of 2').waitFor();
    await press(page, 'Continue in Test wallet');
    await seeHeading(page, 'The first payment is being collected');
    await page.getByText('Make sure that your wallet holds 5.00\u00a0USDC').waitFor({ timeout: 40_000 });
    expect(await findViolations(page)).toEqual([]);
    await shop.chain.call('local_fundUsdc', signer.address, '10000000');
    await seeHeading(page, 'You are subscribed');
    await close();
  });

  it('both pages are complete in every language before a script runs, and another wallet cannot cancel', async () => {
    const product = await shop.sellByPeriod();
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, close } = await shop.visit('desktop', [{ signer }]);
    await page.goto(shop.urlOf(product));
    await press(page, 'Subscribe with Test wallet');
    await press(page, 'Continue in Test wallet');
    await page.getByText('Step 2 of 2').waitFor();
    await press(page, 'Continue in Test wallet');
    await seeHeading(page, 'You are subscribed');
    const link = await page.getByRole('link', { name: 'See or cancel the subscription' }).getAttribute('href');
    await close();
    const stranger = await shop.visit('phone', [{ signer: await shop.chain.newBuyer(0n) }]);
    for (const locale of LOCALE_NAMES)
      for (const path of [shop.urlOf(product), `${shop.baseUrl}${link}`]) {
        await stranger.page.goto(`${path}?locale=${locale}`);
        expect(await findViolations(stranger.page)).toEqual([]);
        expect(await stranger.page.locator('main').innerText()).not.toMatch(/[{}]|undefined/);
      }
    await stranger.page.goto(`${shop.baseUrl}${link}`);
    await press(stranger.page, 'Cancel with Test wallet');
    const problem = stranger.page.locator('.problem', { hasText: 'This is not the wallet of this subscription.' });
    await problem.waitFor();
    expect(await problem.locator('strong').innerText()).toBe('Not cancelled');
    expect(await problem.innerText()).toContain(`Choose ${signer.address.slice(0, 4)} ${signer.address.slice(4, 8)} `);
    expect(await stranger.page.locator('#announcement').textContent()).toMatch(/^Not cancelled\. /);
    await stranger.close();
    const desktop = await shop.visit('desktop');
    await desktop.page.goto(`${shop.baseUrl}${link}?locale=en`);
    await press(desktop.page, 'Show a QR code');
    await desktop.page.getByRole('img', { name: 'QR code with the address of this page' }).waitFor();
    expect(await findViolations(desktop.page)).toEqual([]);
    await desktop.close();
    const phone = await shop.visit('phone', [], { timezoneId: 'America/Denver' });
    await phone.page.goto(`${shop.baseUrl}${link}?locale=en`);
    const href = (await phone.page.getByRole('link', { name: 'Open this page in Phantom' }).getAttribute('href'))!;
    expect(decodeURIComponent(/browse\/([^?]+)/.exec(href)![1]!)).toBe(`${shop.baseUrl}${link}?locale=en`);
    expect(await phone.page.locator('#standing').innerText()).toMatch(/Paid until\s.* M[SD]T/);
    expect(await findViolations(phone.page)).toEqual([]);
    await phone.shoot('74-subscription-no-wallet');
    await phone.close();
  });

  it('one tab at a time asks the wallet, and both tabs use one payment', async () => {
    const product = await shop.sellByPeriod();
    const signer = await shop.chain.newBuyer(100n * USDC);
    const prompts: (() => void)[] = [];
    const onAct = async (transaction: string) => {
      await new Promise<void>((resolve) => prompts.push(resolve));
      return sign(signer, transaction);
    };
    const { page, offences, close } = await shop.visit('desktop', [{ signer, onAct }]);
    await page.goto(shop.urlOf(product));
    await press(page, 'Subscribe with Test wallet');
    await press(page, 'Continue in Test wallet');
    await expect.poll(() => prompts.length).toBe(1);
    const tab = await page.context().newPage();
    await tab.goto(shop.urlOf(product));
    await press(tab, 'Subscribe with Test wallet');
    await press(tab, 'Continue in Test wallet');
    await tab.locator('.problem', { hasText: 'another tab or window' }).waitFor();
    expect(await findViolations(tab)).toEqual([]);
    expect(prompts.length).toBe(1);
    prompts[0]!();
    await page.getByText('Step 2 of 2').waitFor();
    await press(tab, 'Subscribe with Test wallet');
    await seeHeading(tab, 'Subscribe');
    await press(tab, 'Continue in Test wallet');
    await expect.poll(() => prompts.length).toBe(2);
    prompts[1]!();
    await seeHeading(tab, 'You are subscribed');
    expect((await shop.readPayments(product)).map(({ status }) => status)).toEqual(['CONFIRMED']);
    expect(offences).toEqual([]);
    await close();
  });

  it('a desktop shows a QR code and a phone links into wallets, but not after a hand-off', async () => {
    const product = await shop.sellByPeriod();
    const desktop = await shop.visit('desktop');
    await desktop.page.goto(shop.urlOf(product));
    await press(desktop.page, 'Show a QR code');
    await desktop.page.getByRole('img', { name: 'QR code with the address of this page' }).waitFor();
    expect(await findViolations(desktop.page)).toEqual([]);
    await desktop.shoot('77-subscribe-code');
    await desktop.close();
    const phone = await shop.visit('phone');
    await phone.page.goto(shop.urlOf(product));
    const href = (await phone.page.getByRole('link', { name: 'Open this page in Phantom' }).getAttribute('href'))!;
    expect(decodeURIComponent(/browse\/([^?]+)/.exec(href)![1]!)).toBe(shop.urlOf(product));
    expect(await findViolations(phone.page)).toEqual([]);
    await phone.page.goto(await shop.handOff(product));
    await phone.page.getByText('No Solana wallet was found').waitFor();
    expect(await phone.page.getByRole('link', { name: 'Open this page in Phantom' }).count()).toBe(0);
    await phone.close();
  });

  it('the buyer’s identity is verified before the wallet is asked, if the product requires it', async () => {
    const product = await shop.sellByPeriod({ requires_identity: 'telegram' });
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, offences, shoot, close } = await shop.visit('desktop', [{ signer }]);
    await page.goto(shop.urlOf(product));
    await press(page, 'Subscribe with Test wallet');
    const link = page.locator('.panel a.button');
    await link.waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'Open Telegram' }).waitFor();
    await page.getByRole('img', { name: 'QR code that opens Telegram on your phone' }).waitFor();
    await shoot('78-subscribe-identity');
    expect(await shop.readPayments(product)).toEqual([]);
    const done = page.locator('.panel .plain-button').first();
    await done.click();
    await page.locator('.problem').waitFor();
    expect(await findViolations(page)).toEqual([]);
    const deepLink = new URL((await link.getAttribute('href'))!);
    await shop.connector('telegram', { identity_session_id: deepLink.searchParams.get('start'), provider_user_id: '4711' });
    await seeHeading(page, 'Allow monthly charges');
    await press(page, 'Continue in Test wallet');
    await page.getByText('Step 2 of 2').waitFor();
    await press(page, 'Continue in Test wallet');
    await seeHeading(page, 'You are subscribed');
    expect((await shop.readPayments(product)).map(({ status }) => status)).toEqual(['CONFIRMED']);
    expect(offences).toEqual([]);
    await close();
  });

  it('a first payment that could not be collected is reported, with a link to revoke the approval', async () => {
    const product = await shop.sellByPeriod();
    const signer = await shop.chain.newBuyer(USDC);
    const { page, offences, shoot, close } = await shop.visit('phone', [{ signer }]);
    await page.goto(shop.urlOf(product));
    await press(page, 'Subscribe with Test wallet');
    await press(page, 'Continue in Test wallet');
    await page.getByText('Step 2 of 2').waitFor();
    await press(page, 'Continue in Test wallet');
    await seeHeading(page, 'The first payment is being collected');
    // Simulates a later answer of the service, which takes longer than a test.
    await page.route('**/v1/payments/*', async (route) => {
      const { subscription: _, ...answer } = (await (await route.fetch()).json()) as { subscription?: object };
      return route.fulfill({ json: { ...answer, status: 'FAILED', failure_code: 'collection_failed' } });
    });
    await seeHeading(page, 'The subscription did not begin');
    await page.getByText('Nothing was charged. Your approval still stands: take it back with your wallet').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shoot('79-collection-failed');
    await page.unroute('**/v1/payments/*');
    await page.getByRole('link', { name: 'Take the approval back' }).click();
    await page.getByText('It has not begun. Nothing was charged.').waitFor();
    await press(page, 'Cancel with Test wallet');
    await seeHeading(page, 'End the subscription');
    await press(page, 'Continue in Test wallet');
    await seeHeading(page, 'It is cancelled');
    expect(offences).toEqual([]);
    await close();
  });
});
