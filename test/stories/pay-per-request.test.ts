import { beforeAll, describe, expect, it } from 'vitest';
import { type Agent, decoded, newAgent, newKey, sellToAgents, write } from '../world/agent.ts';
import { type Merchant, World } from '../world/world.ts';

describe('an agent that has never heard of us', () => {
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

  it('is refused with a challenge, pays it with the unmodified client, and is served once', async () => {
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
    expect(other.body).toEqual(settled.body);
    expect(await w.eventTypes(settled.body.payment_id)).toEqual(['payment.confirmed', 'receipt.created']);
  });
});
