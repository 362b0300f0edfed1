// @module-tag quick
import { beforeAll, describe, expect, it } from 'vitest';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { USDC } from '../../support/chain/chain.ts';
import { FIRST_CHECK, letTimePass } from '../../support/faults/finality.ts';
import { type Agent, asDuplicate, decoded, mayServe, newAgent, newKey, sellToAgents, write } from '../../support/people/agent.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('unmodified x402 client', () => {
  const w = new World();
  let merchant: Merchant;
  let agent: Agent;
  let product: { product_id: string };
  beforeAll(async () => {
    merchant = await w.merchant();
    agent = await newAgent(w);
    product = await sellToAgents(w, merchant);
  });
  const customer = () => ({ wallet_address: agent.wallet.address });
  const consume = (body: object = {}, idempotencyKey?: string) =>
    write(w, merchant, 'entitlements/consume', { product_id: product.product_id, customer: customer(), ...body }, { idempotencyKey });
  const settle = (payment_signature: string, body: object = {}, idempotencyKey?: string) =>
    write(w, merchant, 'x402/settle', { product_id: product.product_id, payment_signature, ...body }, { idempotencyKey });

  it('an agent is denied with a challenge, pays it with the unmodified client, and is served once', async () => {
    const denied = await consume();
    expect([denied.status, denied.body.code, denied.body.retryable]).toEqual([403, 'entitlement_missing', false]);
    const header = denied.headers.get('PAYMENT-REQUIRED')!;
    expect(denied.body.meta.payment_required).toEqual(decoded(header));
    const key = newKey();
    const signature = await agent.pay(header);
    const settled = await settle(signature, { consume_units: 1 }, key);
    expect(settled.body).toMatchObject({ success: true, payer: agent.wallet.address, granted_units: 1, consumed_units: 1, remaining: 0 });
    const again = await settle(signature, { consume_units: 1 }, key);
    expect(again.body).toEqual(settled.body);
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    expect((await consume()).status).toBe(403);
    const other = await settle(signature, { consume_units: 1 });
    expect([other.status, other.headers.get('X-Svc-Duplicate-Settlement')]).toEqual([200, 'true']);
    expect(other.body).toEqual(asDuplicate(settled.body));
    expect(await w.eventTypes(settled.body.payment_id)).toEqual(['payment.confirmed', 'receipt.created']);
  });

  it('a second key gets the first answer as a duplicate, and another body under that key is 409', async () => {
    const signature = await agent.pay((await consume()).headers.get('PAYMENT-REQUIRED')!);
    expect((await settle(signature, { consume_units: 1 })).status).toBe(200);
    const key = newKey();
    const first = await settle(signature, { consume_units: 1 }, key);
    expect([first.status, first.body.duplicate, first.headers.get('X-Svc-Duplicate-Settlement')]).toEqual([200, true, 'true']);
    const again = await settle(signature, { consume_units: 1 }, key);
    expect(again.body).toEqual(first.body);
    for (const name of ['Idempotent-Replayed', 'X-Svc-Duplicate-Settlement']) expect(again.headers.get(name)).toBe('true');
    const other = await settle(signature, {}, key);
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_conflict']);
  });

  it('settle of more units than the payment buys is 422 before any money moves, and as many as it buys still settle', async () => {
    const signature = await agent.pay((await consume()).headers.get('PAYMENT-REQUIRED')!);
    const before = await w.chain.held(agent.wallet.address);
    const key = newKey();
    for (const idempotencyKey of [key, key, newKey()]) {
      const refused = await settle(signature, { consume_units: 2 }, idempotencyKey);
      expect([refused.status, refused.body.code, refused.body.meta.buys_units]).toEqual([422, 'validation_error', 1]);
      expect(refused.body.detail).toEqual([expect.objectContaining({ loc: ['body', 'consume_units'] })]);
    }
    expect(await w.chain.held(agent.wallet.address)).toBe(before);
    expect((await settle(signature, { consume_units: 1 }, key)).body.consumed_units).toBe(1);
    const late = await settle(signature, { consume_units: 2 });
    expect([late.status, late.body.meta.buys_units]).toEqual([422, 1]);
  });

  it('each request is paid by a payment of its own, and every receipt verifies', async () => {
    const receipts: string[] = [];
    for (let i = 0; i < 3; i++) {
      const settled = await settle(await agent.pay((await consume()).headers.get('PAYMENT-REQUIRED')!), { consume_units: 1 });
      expect([settled.status, mayServe(settled)]).toEqual([200, true]);
      const { extensions, ...response } = decoded(settled.body.payment_response);
      expect(Object.keys(extensions)).toEqual(['offer-receipt']);
      expect(response).toEqual({
        success: true,
        payer: agent.wallet.address,
        transaction: settled.body.tx_signature,
        network: settled.body.network,
        amount: '10000',
      });
      const verified = await w.call('GET', `/v1/receipt/${settled.body.receipt_id}/verify`);
      expect(verified.body.valid).toBe(true);
      receipts.push(settled.body.receipt_id);
    }
    expect(new Set(receipts).size).toBe(3);
    expect((await consume()).status).toBe(403);
  });

  it('a refunded consumption lets the same payment serve one other request', async () => {
    const signature = await agent.pay((await consume()).headers.get('PAYMENT-REQUIRED')!);
    const settled = await settle(signature, { consume_units: 1 });
    await write(w, merchant, 'entitlements/refund', { consumption_id: settled.body.consumption_id, reason: 'upstream timed out' });
    const answers = await Promise.all(Array.from({ length: 4 }, () => settle(signature, { consume_units: 1 })));
    expect(answers.filter(mayServe)).toHaveLength(1);
    expect((await consume()).status).toBe(403);
  });

  it('the merchant’s payments have no membership, and are confirmed and then finalized', async () => {
    await letTimePass(w, FIRST_CHECK);
    await w.sweep();
    const { body } = await w.call('GET', `/v1/payments?product_id=${product.product_id}`, { key: merchant.key });
    expect(body.total).toBe(7);
    for (const payment of body.items) {
      expect(payment).toMatchObject({ status: 'CONFIRMED', references: [], payer_wallet: agent.wallet.address, net: { amount: '0.01' } });
      expect([payment.membership_id, typeof payment.finalized_at]).toEqual([undefined, 'string']);
      expect(await w.eventTypes(payment.payment_id)).toEqual(['payment.confirmed', 'receipt.created', 'payment.finalized']);
    }
    const balance = await w.chain.call<{ value: { amount: string } }>(
      'getTokenAccountBalance',
      await associatedTokenAccount(merchant.wallet.address, USDC),
    );
    // The account was created with one unit, and five payments of 0.01 USDC followed.
    expect(balance.value.amount).toBe('70001');
  });
});
