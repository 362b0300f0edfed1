import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Client, createClient, type SvcError } from '../../sdk/src/index.ts';
import worker from '../../worker/index.ts';
import { untilEnded } from '../support/clients/sandbox.ts';
import { newKey } from '../support/people/agent.ts';
import { type Merchant, World } from '../support/world.ts';

describe('sandbox through the SDK client', () => {
  const w = new World();
  let merchant: Merchant;
  let client: Client;
  const clientOf = (key: string) =>
    createClient({
      baseUrl: 'https://svc.test',
      key,
      fetch: async (request) => {
        const execution = createExecutionContext();
        const response = await worker.fetch(request as never, w.env, execution);
        await waitOnExecutionContext(execution);
        return response;
      },
    });
  beforeAll(async () => {
    merchant = await w.merchant();
    client = clientOf(merchant.sandboxKey);
  });

  /** Delivers the queues to the newest session while the client waits for its end. */
  async function bringAlong(): Promise<void> {
    const { body } = await w.call('GET', '/v1/testing/sessions?limit=1', { key: merchant.sandboxKey });
    await untilEnded(w, merchant, body.items[0].session_id);
  }

  it('a scenario runs to its end and returns its events in order', async () => {
    const running = client.testing.run('payment_confirmed', { seed: 'monday' });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await bringAlong();
    const { session, events } = await running;
    expect([session.status, session.seed, session.livemode]).toEqual(['completed', 'monday', false]);
    expect(events.map(({ event_type }) => event_type)).toEqual([
      'payment.created',
      'payment.submitted',
      'payment.confirmed',
      'membership.activated',
      'receipt.created',
      'entitlement.granted',
      'payment.finalized',
    ]);
    for (const { event_id, object } of events) expect([event_id, object?.id]).toEqual([expect.stringMatching(/^evt_/), expect.any(String)]);
  });

  it('a failed session throws, and a refused one throws the service’s error', async () => {
    const running = client.testing.run('payment_failed').catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const { body } = await w.call('GET', '/v1/testing/sessions?limit=1', { key: merchant.sandboxKey });
    await w.env.DB.prepare("UPDATE sandbox_sessions SET product_id = 'none' WHERE id = ?").bind(body.items[0].session_id).run();
    for (let i = 0; i < 40; i++) await w.deliver();
    expect(await running).toMatchObject({ message: expect.stringContaining('failed') });
    await expect(client.testing.run('nothing')).rejects.toMatchObject({ code: 'validation_error', status: 422 });
    await expect(clientOf(merchant.key).testing.run('payment_failed')).rejects.toMatchObject({
      code: 'invalid_authorization',
      status: 403,
    });
  });

  it('a payment is paid once per key or declined, and a challenge is answered with a settleable payment', async () => {
    const product = await client.products.create({ name: 'Forecasts', price: { asset: 'USDC', amount: '0.5' } });
    const { payment_id } = await w.connect(product);
    const idempotencyKey = newKey();
    const paid = await client.testing.pay({ payment_id, outcome: 'paid' }, { idempotencyKey });
    const again = await client.testing.pay({ payment_id, outcome: 'paid' }, { idempotencyKey });
    expect([again.replayed, again.tx_signature, again.payer_wallet]).toEqual([true, paid.tx_signature, paid.payer_wallet]);
    const { payment } = await client.payments.confirm({ payment_id, tx_signature: paid.tx_signature! });
    expect(payment.status).toBe('CONFIRMED');
    await expect(client.testing.pay({ payment_id, outcome: 'paid' })).rejects.toMatchObject({ code: 'state_conflict' });

    const other = await w.connect(product);
    const declined = await client.testing.pay({ payment_id: other.payment_id, outcome: 'declined', wallet: 'ada' });
    expect(declined.tx_signature).toBeUndefined();
    const who = { product_id: product.product_id, customer: { customer_ref: 'agent' } };
    const refusal = await client.entitlements.consume(who).catch((error: unknown) => error as SvcError);
    const payment_required = (refusal as SvcError).headers.get('PAYMENT-REQUIRED')!;
    const { payment_signature, payer_wallet } = await client.testing.pay({ payment_required, outcome: 'paid', wallet: 'ada' });
    expect(payer_wallet).toBe(declined.payer_wallet);
    const settled = await client.x402.settle({ ...who, payment_signature: payment_signature!, consume_units: 1 });
    expect(settled).toMatchObject({ success: true, consumed_units: 1 });
  });
});
