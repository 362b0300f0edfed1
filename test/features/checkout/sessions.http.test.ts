import { beforeAll, describe, expect, it } from 'vitest';
import { expireNow } from '../../support/faults/expire-now.ts';
import { sellToAgents, write } from '../../support/people/agent.ts';
import { openSession } from '../../support/people/sale.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('POST /v1/access/payment-sessions', () => {
  const w = new World();
  let ada: Merchant;
  let product: Body;
  beforeAll(async () => {
    ada = await w.merchant();
    product = await sellToAgents(w, ada, { price: { asset: 'USDC', amount: '5' }, external_product_id: 'api' });
  });
  const open = async (input: Record<string, unknown> = {}): Promise<Body> => {
    const { status, body } = await openSession(w, ada, { product_id: product.product_id, ...input });
    expect(status).toBe(201);
    return body;
  };
  const connect = (session: Body, input: Record<string, unknown> = {}, slug = product.slug) =>
    w.call('POST', `/v1/products/p/${slug}/connect`, { body: { payment_session_id: session.payment_session_id, ...input } });
  const payment = async (paymentId: string) => (await w.call('GET', `/v1/payments/${paymentId}`, { key: ada.key })).body;
  const age = (session: Body, minutes: number) =>
    w.env.DB.prepare('UPDATE payment_sessions SET expires_at = expires_at - ?1, created_at = created_at - ?1 WHERE id = ?2')
      .bind(minutes * 60_000, session.payment_session_id)
      .run();
  const paymentsIn = async (session: Body) =>
    (await w.env.DB.prepare('SELECT id, status FROM payments WHERE payment_session_id = ?').bind(session.payment_session_id).all()).results;

  it('a session opens by product id or external id and is valid for 30 minutes', async () => {
    const { status, body } = await openSession(w, ada, { product_id: product.product_id });
    expect(status).toBe(201);
    expect(body).toEqual({
      payment_session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: 'open',
      checkout_url: `https://svc.test/p/${product.slug}?ps=${body.payment_session_id}`,
      product_id: product.product_id,
      price: { asset: 'USDC', amount: '5', base_units: '5000000' },
      expires_at: body.expires_at,
      created_at: body.created_at,
    });
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(1_800_000);
    const named = await openSession(w, ada, { external_product_id: 'api' });
    expect([named.status, named.body.product_id]).toEqual([201, product.product_id]);
  });

  it('a session that no buyer could pay is refused with the reason of readiness', async () => {
    const refused = async (input: Record<string, unknown>, status: number, code: string, reason?: string, merchant = ada) => {
      const answer = await openSession(w, merchant, input);
      expect([input, answer.status, answer.body.code, answer.body.meta.reason]).toEqual([input, status, code, reason]);
    };
    const archived = await w.product(ada, { live_mode_confirmed: true });
    await w.call('POST', `/v1/products/${archived.product_id}/archive`, { key: ada.key });
    await refused({ product_id: archived.product_id }, 409, 'setup_not_ready', 'product_active');
    const agentsOnly = await w.product(ada, { live_mode_confirmed: true, allowed_rails: ['x402_solana_usdc'] });
    await refused({ product_id: agentsOnly.product_id }, 409, 'setup_not_ready', 'rail_enabled');
    await refused({ product_id: product.product_id, rail_id: 'solana_sol' }, 409, 'setup_not_ready', 'price_set');
    const poor = await w.merchant();
    const body = { name: 'API', price: { asset: 'USDC', amount: '1' }, live_mode_confirmed: true };
    const unpaid = await w.call('POST', '/v1/products', { key: poor.key, body });
    await refused({ product_id: unpaid.body.product_id }, 409, 'setup_not_ready', 'payout_wallet_set', poor);
    await refused({ product_id: product.product_id }, 404, 'not_found', undefined, poor);
    await refused({ external_product_id: 'nothing' }, 404, 'not_found');
    await refused({ product_id: product.product_id, rail_id: 'x402_solana_usdc' }, 422, 'validation_error');
    for (const wrong of [{}, { product_id: product.product_id, external_product_id: 'api' }, { product_id: 'api' }])
      await refused(wrong, 422, 'validation_error');
    for (const wrong of [{ customer_ref: 'a\nb' }, { success_url: 'http://a.co' }, { rail_id: 'cash' }, { metadata: { a: 1 } }])
      await refused({ product_id: product.product_id, ...wrong }, 422, 'validation_error');
  });
  it('a service without a fee wallet refuses sessions with 503, without a fix for the merchant', async () => {
    const greedy = new World({ FEE_BPS: '100' });
    const { status, body } = await openSession(greedy, ada, { product_id: product.product_id });
    expect([status, body.code, body.retryable, body.meta]).toEqual([503, 'fee_wallet_missing', false, { reason: 'fee_wallet_configured' }]);
  });

  it('a session fixes price, customer and success page against later changes', async () => {
    const own = await sellToAgents(w, ada, { price: { asset: 'USDC', amount: '5' }, success_url: 'https://shop.example/own' });
    const input = { product_id: own.product_id, customer_ref: 'user-1', success_url: 'https://shop.example/session' };
    const { body: session } = await openSession(w, ada, input);
    const { body: bare } = await openSession(w, ada, { product_id: own.product_id });
    await w.call('PATCH', `/v1/products/${own.product_id}`, { key: ada.key, body: { price: { asset: 'USDC', amount: '9' } } });
    const { body: bill } = await connect(session, { customer_ref: 'somebody-else' }, own.slug);
    expect(bill.price.amount).toBe('5');
    const signature = await w.chain.pay(await w.chain.wallet(), bill);
    const { body: confirmed } = await w.confirm(bill.payment_id, signature);
    expect(confirmed.payment.status).toBe('CONFIRMED');
    expect(confirmed.redirect_url).toContain('https://shop.example/session');
    expect((await payment(bill.payment_id)).customer_ref).toBe('user-1');
    const { body: other } = await connect(bare, { customer_ref: 'by-connect' }, own.slug);
    expect([other.price.amount, (await payment(other.payment_id)).customer_ref]).toEqual(['5', 'by-connect']);
  });

  it('a session holds one payment, however often connect is called', async () => {
    const session = await open();
    const buyer = await w.chain.wallet();
    const bills = await Promise.all(Array.from({ length: 20 }, () => connect(session)));
    expect(bills.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(bills.map(({ body }) => body.payment_id)).size).toBe(1);
    expect(await paymentsIn(session)).toHaveLength(1);
    const again = await connect(session, { wallet_address: buyer.address });
    expect(again.body).toMatchObject({ payment_id: bills[0]!.body.payment_id, memo: bills[0]!.body.memo, status: 'PENDING_SIGNATURE' });
    const sent = await w.call('POST', `/v1/payments/${again.body.payment_id}/transaction`, {
      body: { transaction: await w.chain.sign(buyer, again.body.transaction) },
    });
    expect(sent.body.payment.status).toBe('PENDING_CONFIRMATION');
    const underway = await connect(session, { wallet_address: buyer.address });
    expect(underway.body).toMatchObject({ payment_id: again.body.payment_id, status: 'PENDING_CONFIRMATION' });
    expect(underway.body.transaction).toBeUndefined();
    await w.deliver();
    const paid = await connect(session);
    expect([paid.status, paid.body.code, paid.body.meta]).toEqual([
      409,
      'state_conflict',
      { reason: 'completed', payment_id: again.body.payment_id },
    ]);
    expect(await w.eventTypes(again.body.payment_id)).toContain('payment.confirmed');
  });

  it('a new payment begins after a failed one while the session is valid, and only one', async () => {
    const session = await open({ customer_ref: 'user-2' });
    const { body: first } = await connect(session);
    await expireNow(w, first.payment_id);
    const next = await Promise.all(Array.from({ length: 20 }, () => connect(session)));
    const ids = new Set(next.map(({ body }) => body.payment_id));
    expect([ids.size, ids.has(first.payment_id)]).toEqual([1, false]);
    expect((await paymentsIn(session)).map(({ status }) => status).sort()).toEqual(['FAILED', 'PENDING_SIGNATURE']);
    await expireNow(w, next[0]!.body.payment_id);
    await age(session, 31);
    const over = await connect(session);
    expect([over.status, over.body.code]).toEqual([410, 'session_expired']);
  });

  it('money on time for a failed payment completes the session', async () => {
    const session = await open();
    const { body: bill } = await connect(session);
    const signature = await w.chain.pay(await w.chain.wallet(), bill);
    await expireNow(w, bill.payment_id);
    const late = await w.confirm(bill.payment_id, signature);
    expect(late.status).toBe(410);
    const recovered = late.body.meta.recovered_payment_id;
    expect((await payment(recovered)).status).toBe('CONFIRMED');
    const again = await connect(session);
    expect([again.status, again.body.meta]).toEqual([409, { reason: 'completed', payment_id: recovered }]);
  });

  it('a session ends after 30 minutes, and a buyer in the last minute still has five to pay', async () => {
    const untouched = await open();
    await age(untouched, 31);
    expect((await connect(untouched)).body.code).toBe('session_expired');
    const early = await open();
    expect((await connect(early)).body.expires_at).toBe(early.expires_at);
    const last = await open();
    await age(last, 29);
    const { body: bill } = await connect(last);
    const left = Date.parse(bill.expires_at) - Date.now();
    expect(left).toBeGreaterThan(290_000);
    expect(left).toBeLessThanOrEqual(300_000);
    await age(last, 2);
    expect((await connect(last)).body.payment_id).toBe(bill.payment_id);
    await w.env.DB.prepare('UPDATE payments SET expires_at = ? WHERE id = ?')
      .bind(Date.now() - 1000, bill.payment_id)
      .run();
    expect((await connect(last)).body.code).toBe('session_expired');
  });

  it('a session is refused on another product, and an unknown id answers 404', async () => {
    const session = await open();
    const other = await w.product(ada);
    expect((await connect(session, {}, other.slug)).status).toBe(404);
    expect((await connect({ payment_session_id: '01900000-0000-7000-8000-000000000000' })).status).toBe(404);
    expect((await connect({ payment_session_id: 'ps_1' })).status).toBe(422);
    expect(await paymentsIn(session)).toEqual([]);
  });

  it('a session of an archived product completes its payment and begins none', async () => {
    const own = await sellToAgents(w, ada);
    const [running, idle] = await Promise.all([1, 2].map(async () => (await openSession(w, ada, { product_id: own.product_id })).body));
    const { body: bill } = await connect(running, {}, own.slug);
    await w.call('POST', `/v1/products/${own.product_id}/archive`, { key: ada.key });
    expect((await connect(running, {}, own.slug)).body.payment_id).toBe(bill.payment_id);
    expect((await connect(idle, {}, own.slug)).status).toBe(404);
  });

  it('a node outage leaves the same payment for the next connect', async () => {
    const session = await open();
    const buyer = await w.chain.wallet();
    await w.chain.fault({ kind: 'http_503', method: 'getLatestBlockhash', times: 2 });
    const failed = await connect(session, { wallet_address: buyer.address });
    expect([failed.status, failed.body.code]).toEqual([503, 'rpc_unavailable']);
    const { body: bill } = await connect(session, { wallet_address: buyer.address });
    expect(bill.transaction).toBeDefined();
    expect(await paymentsIn(session)).toHaveLength(1);
    const self = await connect(session, { wallet_address: ada.wallet.address });
    expect([self.status, self.body.code]).toEqual([422, 'invalid_wallet_address']);
  });

  it('a sandbox session begins a payment of the simulated chain', async () => {
    const body = { name: 'API', price: { asset: 'USDC', amount: '1' } };
    const { body: sandbox } = await w.call('POST', '/v1/products', { key: ada.sandboxKey, body });
    const session = await openSession(w, ada, { product_id: sandbox.product_id }, { key: ada.sandboxKey });
    expect(session.status).toBe(201);
    const begun = await connect(session.body, {}, sandbox.slug);
    expect([begun.status, begun.body.status]).toEqual([200, 'PENDING_SIGNATURE']);
    expect((await write(w, ada, 'payment-sessions', { product_id: sandbox.product_id })).status).toBe(404);
    await w.call('POST', `/v1/products/${sandbox.product_id}/archive`, { key: ada.sandboxKey });
    const archived = await openSession(w, ada, { product_id: sandbox.product_id }, { key: ada.sandboxKey });
    expect([archived.status, archived.body.meta.reason]).toEqual([409, 'product_active']);
  });
});
