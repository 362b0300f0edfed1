import { describe, expect, it } from 'vitest';
import type { SvcError } from '../../sdk/src/index.ts';
import { readTestWallet } from '../support/fixtures/renewing.ts';
import { newKey } from '../support/people/agent.ts';
import { confirmSubscription } from '../support/people/subscription-buyer.ts';
import { subscriptionWorld } from '../support/people/subscription-shop.ts';
import { clientOf } from './real-client.ts';

const BUYER = 'ada';

describe('subscriptions through the SDK client', () => {
  const w = subscriptionWorld();

  it('a plan is published, subscribed to, read and cancelled, and a repeated key replays', async () => {
    const merchant = await w.merchant();
    const client = clientOf(w, merchant.sandboxKey);
    const product = await client.products.create({
      name: 'Club',
      price: { asset: 'USDC', amount: '5' },
      renewal_mode: 'AUTOMATIC',
      access_period_days: 30,
    });
    expect((await client.subscriptionPlans.get(product.product_id)).status).toBe('unpublished');
    const { transaction } = await client.subscriptionPlans.prepare(product.product_id);
    const { tx_signature } = await client.testing.pay({ transaction: transaction! });
    const idempotencyKey = newKey();
    const confirm = () => client.subscriptionPlans.confirm(product.product_id, { tx_signature: tx_signature! }, { idempotencyKey });
    expect([(await confirm()).status, (await confirm()).replayed]).toEqual(['published', true]);

    const wallet = await readTestWallet(w, merchant, BUYER);
    const { payment_id, subscription } = await w.connect(product, { customer_ref: BUYER, wallet_address: wallet });
    await client.testing.pay({ payment_id, wallet: BUYER });
    expect((await confirmSubscription(w, payment_id)).body.payment.status).toBe('CONFIRMED');
    const { authorization_id, ...held } = await client.nativeSubscriptions.get(subscription.authorization_id);
    expect(held.status).toBe('active');
    const listed = await client.nativeSubscriptions.list({ status: 'active', product_id: product.product_id });
    expect(listed.items.map((item) => item.authorization_id)).toEqual([authorization_id]);

    const cancelBy = (wallet_address: string) => client.nativeSubscriptions.cancelIntent(authorization_id, { wallet_address });
    const stranger = await cancelBy(merchant.wallet.address).catch((error: unknown) => error as SvcError);
    expect(stranger).toMatchObject({ code: 'not_found', status: 404 });
    const asked = await cancelBy(wallet);
    const signed = await client.testing.pay({ transaction: asked.transaction, wallet: BUYER });
    const proof = { tx_signature: signed.tx_signature! };
    expect((await client.nativeSubscriptions.cancelConfirm(authorization_id, proof)).status).toBe('cancel_requested');
  });
});
