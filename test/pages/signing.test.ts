import { address } from '@solana/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sign } from '../../local/demo/wallet.ts';
import { buildUnsigned } from '../../worker/solana/checkout-transaction.ts';
import { findViolations } from './axe.ts';
import { type Product, press, Shop, seeHeading } from './shop.ts';

const SENDS = ['solana:signAndSendTransaction'] as ['solana:signAndSendTransaction'];
const FIELD = 'Prepared transaction';

class SignerShop extends Shop {
  async prepareRefund(): Promise<{ product: Product; paymentId: string; transaction: string }> {
    const product = await this.sell();
    const buyer = await this.chain.newBuyer(100_000_000n);
    const body = { wallet_address: buyer.address };
    type Session = { payment_id: string; transaction: string };
    const session = await this.api.must<Session>('POST', `/v1/products/p/${product.slug}/connect`, { body });
    const path = `/v1/payments/${session.payment_id}`;
    await this.api.must('POST', `${path}/transaction`, { body: { transaction: await sign(buyer, session.transaction) } });
    await expect.poll(async () => (await this.api.must<{ status: string }>('GET', path)).status, { timeout: 20_000 }).toBe('CONFIRMED');
    const { transaction } = await this.callAs<{ transaction: string }>(product, 'POST', `${path}/refund-transaction`, {
      amount: { asset: 'USDC', amount: '2.5' },
    });
    return { product, paymentId: session.payment_id, transaction };
  }
}

const shop = new SignerShop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

/** Programs that pass links on may encode the fragment. */
const pageOf = (transaction: string): string => `${shop.baseUrl}/sign#${encodeURIComponent(transaction)}`;

describe('signing page', () => {
  it('a refund is described in plain text, signed and sent by the wallet, and confirmed', async () => {
    const { product, paymentId, transaction } = await shop.prepareRefund();
    const { page, offences, shoot, close } = await shop.visit('desktop', [{ signer: shop.seller, features: SENDS }]);
    await page.goto(pageOf(transaction));
    await seeHeading(page, 'This transaction does the following');
    const steps = await page.locator('.transaction-steps').innerText();
    expect(steps).toContain(`Sends 2.50\u00a0USDC of ${shop.wallet} to the account`);
    expect(await page.locator('.facts').innerText()).toMatch(/Network fee\s+0\.00000\d+\sSOL/);
    await page.getByRole('link', { name: 'Deutsch' }).click();
    expect(await page.locator('.transaction-steps').innerText()).toContain('2,50\u00a0USDC');
    await page.getByRole('link', { name: 'English' }).click();
    expect(await findViolations(page)).toEqual([]);
    await shoot('90-sign-refund');
    await press(page, 'Sign with Test wallet');
    await seeHeading(page, 'Signed and sent');
    expect(await findViolations(page)).toEqual([]);
    await shoot('91-signed');
    const txSignature = await page.locator('.copies .value').innerText();
    type Paid = { refunded: { amount: { amount: string } }[] };
    const confirm = () => shop.callAs<Paid>(product, 'POST', `/v1/payments/${paymentId}/refund-confirm`, { tx_signature: txSignature });
    await expect.poll(async () => (await confirm()).refunded[0]?.amount.amount, { timeout: 20_000 }).toBe('2.5');
    expect(offences).toEqual([]);
    await close();
  });

  it('a wallet of another address is refused, and the page names the wallet that must sign', async () => {
    const { transaction } = await shop.prepareRefund();
    const other = await shop.chain.newBuyer(0n);
    const { page, offences, shoot, close } = await shop.visit('phone', [{ signer: other, features: SENDS, onAct: () => 'error:1:asked' }]);
    await page.goto(pageOf(transaction));
    await press(page, 'Sign with Test wallet');
    await page.locator('#panel').getByText(`This transaction is signed by ${shop.wallet}.`).waitFor();
    await shoot('92-sign-other-wallet');
    expect(offences).toEqual([]);
    await close();
  });

  it('the wallet signs with the account named by the transaction, even if it shares another one first', async () => {
    const { transaction } = await shop.prepareRefund();
    const { page, offences, close } = await shop.visit('desktop', [{ signer: shop.seller, features: SENDS, accounts: 'another_first' }]);
    await page.goto(pageOf(transaction));
    await press(page, 'Sign with Test wallet');
    await seeHeading(page, 'Signed and sent');
    expect(offences).toEqual([]);
    await close();
  });

  it('input that is no transaction is refused, and the full JSON answer of a call is accepted', async () => {
    const { transaction } = await shop.prepareRefund();
    const { page, offences, shoot, close } = await shop.visit('phone', [{ signer: shop.seller }], { locale: 'de-DE' });
    await page.goto(`${shop.baseUrl}/sign`);
    const field = page.getByLabel('Vorbereitete Transaktion');
    for (const garbage of ['hello', '{"transaction":"x"}', 'A'.repeat(300), transaction.slice(0, 400)]) {
      await field.fill(garbage);
      await press(page, 'Zeigen, was sie tut');
      await page.locator('.problem').waitFor();
      expect(await page.locator('.problem strong').innerText()).toBe('Nicht signiert');
    }
    await shoot('93-sign-garbage');
    await field.fill(JSON.stringify({ checks: [{ name: 'payout_ata_exists', fix: { detail: 'Sign this', transaction } }] }));
    await press(page, 'Zeigen, was sie tut');
    await seeHeading(page, 'Diese Transaktion tut Folgendes');
    expect(await findViolations(page)).toEqual([]);
    expect(offences).toEqual([]);
    await close();
  });

  it('a wallet that only signs yields a copyable transaction, and a declined request shows its message', async () => {
    const { transaction } = await shop.prepareRefund();
    let declines = true;
    const onAct = (asked: string) => (declines ? 'error:4001:User rejected the request.' : sign(shop.seller, asked));
    const { page, offences, shoot, close } = await shop.visit('desktop', [{ signer: shop.seller, onAct }]);
    await page.goto(pageOf(transaction).replace('#', '?next=/dashboard/payments#'));
    await press(page, 'Sign with Test wallet');
    await page.locator('#panel').getByText('You declined in your wallet. Nothing was signed.').waitFor();
    declines = false;
    await press(page, 'Sign with Test wallet');
    await seeHeading(page, 'Signed, not sent');
    await shoot('94-signed-not-sent');
    expect(await page.locator('.copies .value').innerText()).toBe(await sign(shop.seller, transaction));
    expect(await page.getByRole('link', { name: 'Back, without sending' }).getAttribute('href')).toBe('/dashboard/payments');
    expect(offences).toEqual([]);
    await close();
  });

  it('an unreadable step is named, and no wallet is offered for it', async () => {
    const lifetime = { blockhash: shop.wallet, lastValidBlockHeight: 1n };
    const step = { programAddress: address('Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa'), accounts: [], data: Uint8Array.of(9) };
    const { page, offences, shoot, close } = await shop.visit('phone', [{ signer: shop.seller, features: SENDS }]);
    await page.goto(pageOf(buildUnsigned(shop.wallet, [step], lifetime)));
    await page.getByText('It may do anything that your wallet can, so it cannot be signed here.').waitFor();
    expect(await page.getByRole('button').allInnerTexts()).toEqual(['Read another transaction']);
    await shoot('95-sign-unknown');
    await press(page, 'Read another transaction');
    await page.getByLabel(FIELD).waitFor();
    expect(offences).toEqual([]);
    await close();
  });
});
