import { describe, expect, it } from 'vitest';
import { World } from '../world/world.ts';

describe('checkout', () => {
  it('turns one payment on chain into payment, membership and receipt', async () => {
    const w = new World();
    const merchant = await w.merchant();
    const product = await w.product(merchant, { access_period_days: 30 });
    const buyer = await w.chain.wallet();
    const { payment, signature, confirmed } = await w.purchase(product, buyer);
    expect(confirmed.payment.status).toBe('CONFIRMED');
    expect(confirmed.payment.tx_signature).toBe(signature);
    expect(await w.eventTypes(payment.payment_id)).toEqual([
      'payment.created',
      'payment.submitted',
      'payment.confirmed',
      'membership.activated',
      'receipt.created',
    ]);
    const verified = await w.call('GET', `/v1/receipt/${confirmed.receipt_id}/verify`);
    expect(verified.body.valid).toBe(true);
  });
});
