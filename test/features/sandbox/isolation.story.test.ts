import { beforeAll, describe, expect, it } from 'vitest';
import { callTesting, runScenario } from '../../support/clients/sandbox.ts';
import { newAgent, sellToAgents, write } from '../../support/people/agent.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('isolation of sandbox and live mode', () => {
  const w = new World();
  let ada: Merchant;
  let product: Body;
  beforeAll(async () => {
    ada = await w.merchant();
    product = await w.product({ ...ada, key: ada.sandboxKey }, { price: { asset: 'USDC', amount: '0.5' } });
  });
  const testPay = (body: object) => callTesting(w, ada, 'POST', 'pay', body);

  it('a test wallet pays a sandbox payment without any call to the node', async () => {
    await w.chain.call('local_resetCalls');
    const payment = await w.connect(product);
    const paid = await testPay({ payment_id: payment.payment_id, wallet: 'ada' });
    expect([paid.status, paid.body.payer_wallet]).toEqual([
      200,
      (await testPay({ payment_id: payment.payment_id, wallet: 'ada', outcome: 'declined' })).body.payer_wallet,
    ]);
    const before = await w.call('GET', `/v1/payments/${payment.payment_id}`);
    expect(before.body.status).toBe('PENDING_SIGNATURE');
    const { status, body } = await w.confirm(payment.payment_id, paid.body.tx_signature);
    expect([status, body.payment.status, body.payment.livemode]).toEqual([200, 'CONFIRMED', false]);
    expect(await w.chain.call('local_calls')).toEqual({});
    const receipt = await w.call('GET', `/v1/receipt/${body.receipt_id}/verify`);
    expect(receipt.body.valid ?? receipt.body.verified).toBe(true);
  });

  it.each([
    ['underpaid', 422, 'payment_mismatch'],
    ['late', 410, 'session_expired'],
    ['overpaid', 200, undefined],
  ])('a test payment that is %s gets the same answer as a live one', async (outcome, status, code) => {
    const payment = await w.connect(product);
    const paid = await testPay({ payment_id: payment.payment_id, outcome });
    const answer = await w.confirm(payment.payment_id, paid.body.tx_signature);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  it('the service finds a sandbox payment that is never confirmed by a caller', async () => {
    const payment = await w.connect(product);
    await testPay({ payment_id: payment.payment_id });
    await w.deliver();
    expect((await w.call('GET', `/v1/payments/${payment.payment_id}`)).body.status).toBe('CONFIRMED');
  });

  it('a test wallet answers an agent’s challenge, which settles once', async () => {
    const named = { product_id: product.product_id, customer: { customer_ref: 'agent-1' } };
    const denied = await write(w, ada, 'entitlements/consume', named, { key: ada.sandboxKey });
    const challenge = denied.headers.get('PAYMENT-REQUIRED');
    const late = await testPay({ payment_required: challenge, outcome: 'late' });
    expect([late.status, late.body.detail[0].loc]).toEqual([422, ['body', 'outcome']]);
    const { body } = await testPay({ payment_required: challenge });
    const settled = await write(
      w,
      ada,
      'x402/settle',
      { ...named, payment_signature: body.payment_signature, consume_units: 1 },
      { key: ada.sandboxKey },
    );
    expect([settled.status, settled.body.success, settled.body.consumed_units]).toEqual([200, true, 1]);
    const live = await sellToAgents(w, ada, { payout_wallet: ada.wallet.address });
    const crossed = await write(w, ada, 'x402/settle', { product_id: live.product_id, payment_signature: body.payment_signature });
    expect(crossed.status).toBe(422);
  });

  it('a transaction of one chain pays nothing on the other', async () => {
    const [test, live] = [await w.connect(product), await w.connect(await w.product(ada))];
    const { body } = await testPay({ payment_id: test.payment_id });
    expect((await w.confirm(live.payment_id, body.tx_signature)).body.payment.status).toBe('PENDING_SIGNATURE');
    const signature = await w.chain.pay(await w.chain.wallet(), test);
    const other = await w.connect(product);
    expect((await w.confirm(other.payment_id, signature)).body.payment.status).toBe('PENDING_SIGNATURE');
    await w.sweep();
    expect((await w.call('GET', `/v1/payments/${other.payment_id}`)).body.status).toBe('PENDING_SIGNATURE');
    expect((await testPay({ payment_id: live.payment_id })).status).toBe(404);
    const agent = await newAgent(w);
    const denied = await write(
      w,
      ada,
      'entitlements/consume',
      { product_id: product.product_id, customer: { customer_ref: 'x' } },
      { key: ada.sandboxKey },
    );
    const real = await agent.pay(denied.headers.get('PAYMENT-REQUIRED')!);
    const refused = await write(
      w,
      ada,
      'x402/settle',
      { product_id: product.product_id, payment_signature: real },
      { key: ada.sandboxKey },
    );
    expect([refused.status, refused.body.meta.reason]).toEqual([422, 'invalid_exact_svm_transaction_simulation_failed']);
  });

  it('no live sweep takes a row of a session, at any session time', async () => {
    const session = await runScenario(w, ada, 'payment_underpaid');
    const before = await dump(session.session_id);
    await w.env.DB.prepare('UPDATE payments SET expires_at = 0 WHERE customer_ref = ?').bind(`${session.session_id}:buyer`).run();
    await w.sweep();
    const after = await dump(session.session_id);
    expect(after.map(({ status, version }) => [status, version])).toEqual(before.map(({ status, version }) => [status, version]));
  });

  const dump = async (sessionId: string) =>
    (
      await w.env.DB.prepare('SELECT status, version FROM payments WHERE customer_ref = ?')
        .bind(`${sessionId}:buyer`)
        .all<{ status: string; version: number }>()
    ).results;
});
