import type { Page } from 'playwright-core';
import { sign } from '../../local/demo/wallet.ts';
import { type Product, press, Shop, seeHeading } from './shop.ts';

export class SubscriptionShop extends Shop {
  sellUnpublished(terms: Record<string, unknown> = {}): Promise<Product> {
    return this.sell({ renewal_mode: 'AUTOMATIC', live_mode_confirmed: true, price: { asset: 'USDC', amount: '5' }, ...terms });
  }

  async sellByPeriod(terms: Record<string, unknown> = {}): Promise<Product> {
    const product = await this.sellUnpublished(terms);
    const path = `/v1/access/products/${product.product_id}/subscription-plan`;
    const { transaction } = await this.callAs<{ transaction: string }>(product, 'POST', path);
    const signature = await this.chain.call<string>('sendTransaction', await sign(this.seller, transaction), { encoding: 'base64' });
    await this.callAs(product, 'POST', `${path}/confirm`, { tx_signature: signature });
    return product;
  }
}

/** Subscribes from the wallet choice to the end, with a wallet that never subscribed before. */
export async function subscribe(page: Page): Promise<void> {
  await press(page, 'Subscribe with Test wallet');
  await press(page, 'Continue in Test wallet');
  await page.getByText('Step 2 of 2').waitFor();
  await press(page, 'Continue in Test wallet');
  await seeHeading(page, 'You are subscribed');
}
