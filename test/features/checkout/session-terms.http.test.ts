import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { expireNow } from '../../support/faults/expire-now.ts';
import { openSession } from '../../support/people/sale.ts';
import { CONNECTOR_SECRETS } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('connect with a payment session', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
    await w.prices({ price: '10000000000', expo: -8 });
  });
  afterEach(() => vi.restoreAllMocks());
  const sell = (terms: object = {}): Promise<Body> => w.product(ada, { live_mode_confirmed: true, ...terms });
  const open = async (product: Body, input: object = {}): Promise<Body> => {
    const { status, body } = await openSession(w, ada, { product_id: product.product_id, ...input });
    expect(status).toBe(201);
    return body;
  };
  const connect = (product: Body, session: Body, input: object = {}) =>
    w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: { payment_session_id: session.payment_session_id, ...input } });
  const patch = (product: Body, body: object) => w.call('PATCH', `/v1/products/${product.product_id}`, { key: ada.key, body });
  const payment = async (paymentId: string) => (await w.call('GET', `/v1/payments/${paymentId}`, { key: ada.key })).body;
  const handOver = async (product: Body, body: object): Promise<string> =>
    (await w.call('POST', `/v1/products/${product.product_id}/handoffs`, { key: ada.key, body })).body.handoff_token;

  it.each(['xx', 'pl-PL', 'klingon', ''])('the unknown locale %j is refused with 422', async (locale) => {
    const product = await sell();
    const answer = await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: { locale } });
    expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ['body', 'locale']]);
  });

  it.each(['pt-BR', 'pt_BR.UTF-8', 'de-AT', 'JA'])('the locale tag %s is accepted', async (locale) => {
    const product = await sell();
    expect((await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: { locale } })).status).toBe(200);
  });

  it('a session is paid in SOL if the product accepts it, quoted from the session price', async () => {
    const product = await sell({ price: { asset: 'USDC', amount: '5' }, accepted_assets: ['USDC', 'SOL'] });
    const session = await open(product, { rail_id: 'solana_sol', customer_ref: 'user-1' });
    expect(session.price).toMatchObject({ asset: 'USDC', amount: '5' });
    await patch(product, { price: { asset: 'USDC', amount: '9' } });
    const buyer = await w.chain.wallet(0n);
    const { body: bill } = await connect(product, session, { wallet_address: buyer.address });
    expect(bill).toMatchObject({ price: { asset: 'SOL', amount: '0.05' }, price_quote: { rate: '100', expires_at: bill.expires_at } });
    expect(bill.transaction).toBeDefined();
    expect(Date.parse(bill.expires_at)).toBeLessThan(Date.parse(session.expires_at));
    const { body } = await w.confirm(bill.payment_id, await w.chain.paySol(buyer, bill));
    expect(body.payment.status).toBe('CONFIRMED');
    expect((await payment(bill.payment_id)).customer_ref).toBe('user-1');
    expect((await connect(product, session)).body.meta.reason).toBe('completed');
  });

  it('the first payment uses the rail of the session or the asset of the buyer, and then another asset is refused', async () => {
    const product = await sell({ accepted_assets: ['USDC', 'SOL'] });
    const begin = async (railId: string | undefined, asset?: string) => {
      const session = await open(product, railId ? { rail_id: railId } : {});
      return { session, bill: (await connect(product, session, asset ? { asset } : {})).body };
    };
    const assets = [];
    for (const [railId, asset] of [['solana_sol'], ['solana_usdc'], [undefined], ['solana_sol', 'USDC'], ['solana_usdc', 'SOL']] as const)
      assets.push((await begin(railId, asset)).bill.price.asset);
    expect(assets).toEqual(['SOL', 'USDC', 'USDC', 'USDC', 'SOL']);
    const { session, bill } = await begin('solana_sol');
    for (const asset of ['SOL', undefined]) {
      const again = await connect(product, session, { asset });
      expect([again.status, again.body.payment_id, again.body.price]).toEqual([200, bill.payment_id, bill.price]);
    }
    const refused = await connect(product, session, { asset: 'USDC' });
    expect([refused.status, refused.body.meta]).toEqual([
      409,
      expect.objectContaining({ reason: 'other_asset', payment_id: bill.payment_id }),
    ]);
    const replaced = await connect(product, session, { asset: 'USDC', replaces_payment_id: bill.payment_id });
    expect([replaced.status, replaced.body.price.asset]).toEqual([200, 'USDC']);
    expect((await connect(product, session, { asset: 'USDC' })).body.payment_id).toBe(replaced.body.payment_id);
  });

  it('another asset is refused with the existing payment, also after its transaction was sent', async () => {
    const product = await sell({ accepted_assets: ['USDC', 'SOL'] });
    const session = await open(product);
    const buyer = await w.chain.wallet();
    const { body: bill } = await connect(product, session, { wallet_address: buyer.address });
    const transaction = await w.chain.sign(buyer, bill.transaction);
    const sent = await w.call('POST', `/v1/payments/${bill.payment_id}/transaction`, { body: { transaction } });
    expect(sent.body.payment.status).toBe('PENDING_CONFIRMATION');
    const refused = await connect(product, session, { asset: 'SOL' });
    expect([refused.status, refused.body.code, refused.body.meta]).toEqual([
      409,
      'state_conflict',
      expect.objectContaining({ reason: 'other_asset', payment_id: bill.payment_id }),
    ]);
    expect((await connect(product, session, { asset: 'USDC' })).body.payment_id).toBe(bill.payment_id);
  });

  it('a session is paid over another rail if its own was closed', async () => {
    const product = await sell({ accepted_assets: ['USDC', 'SOL'], default_rail: 'solana_sol' });
    const session = await open(product);
    await patch(product, { default_rail: 'solana_usdc', allowed_rails: ['solana_usdc'] });
    expect((await connect(product, session)).body.price.asset).toBe('USDC');
  });

  it('a session preserves its price after the product changed its asset', async () => {
    const product = await sell({ price: { asset: 'USDC', amount: '5' } });
    const session = await open(product);
    expect((await patch(product, { price: { asset: 'SOL', amount: '1' } })).status).toBe(200);
    const { body: bill } = await connect(product, session);
    expect(bill.price).toMatchObject({ asset: 'USDC', amount: '5' });
    const later = await open(product);
    expect(later.price).toMatchObject({ asset: 'SOL', amount: '1' });
    expect((await connect(product, later)).body.price).toMatchObject({ asset: 'SOL', amount: '1' });
    expect((await connect(product, await open(product), { asset: 'USDC' })).status).toBe(422);
  });

  it('an expired quote answers 410 quote_expired, and a new quote follows once the payment has failed', async () => {
    const product = await sell({ accepted_assets: ['USDC', 'SOL'] });
    const session = await open(product);
    const { body: bill } = await connect(product, session, { asset: 'SOL' });
    await w.env.DB.prepare('UPDATE payments SET expires_at = ? WHERE id = ?')
      .bind(Date.now() - 1000, bill.payment_id)
      .run();
    const ended = await connect(product, session, { asset: 'SOL' });
    expect([ended.status, ended.body.code, ended.body.meta.reason]).toEqual([410, 'session_expired', 'quote_expired']);
    expect(Number(ended.headers.get('Retry-After'))).toBeGreaterThan(120);
    await expireNow(w, bill.payment_id);
    const again = await connect(product, session, { asset: 'USDC' });
    expect([again.status, again.body.price.asset]).toEqual([200, 'USDC']);
    expect(again.body.payment_id).not.toBe(bill.payment_id);
  });

  it('terms of the session win over the hand-off, and the hand-off over the buyer', async () => {
    const product = await sell({ success_url: 'https://shop.example/product' });
    const buyerInput = { customer_ref: 'by-connect', email: 'connect@example.com' };
    const handoff = {
      customer_ref: 'by-handoff',
      email: 'handoff@example.com',
      success_url: 'https://shop.example/handoff',
      metadata: { from: 'handoff' },
    };
    const full = await open(product, {
      customer_ref: 'by-session',
      success_url: 'https://shop.example/session',
      metadata: { from: 'session' },
    });
    const bare = await open(product);
    for (const [session, customerRef, page, from] of [
      [full, 'by-session', 'https://shop.example/session', 'session'],
      [bare, 'by-handoff', 'https://shop.example/handoff', 'handoff'],
    ] as const) {
      const token = await handOver(product, handoff);
      const { body: bill } = await connect(product, session, { ...buyerInput, handoff_token: token });
      const { body } = await w.confirm(bill.payment_id, await w.chain.pay(await w.chain.wallet(), bill));
      expect(body.redirect_url).toContain(page);
      expect(await payment(bill.payment_id)).toMatchObject({ customer_ref: customerRef, metadata: { from } });
      expect((await connect(product, session, { handoff_token: token })).body.meta.reason).toBe('completed');
      const other = await connect(product, await open(product), { handoff_token: token });
      expect([other.status, other.body.meta]).toMatchObject([410, { reason: 'used', payment_id: bill.payment_id }]);
    }
  });

  it('one hand-off serves one payment, though several sessions present it at once', async () => {
    const product = await sell();
    const token = await handOver(product, { customer_ref: 'user-3' });
    const sessions = await Promise.all([1, 2, 3, 4].map(() => open(product)));
    const answers = await Promise.all(sessions.map((session) => connect(product, session, { handoff_token: token })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 410, 410, 410]);
  });

  it('a running payment refuses a forged, foreign, expired or used hand-off', async () => {
    const [product, sibling] = [await sell(), await sell()];
    const [session, elsewhere] = [await open(product), await open(product)];
    const [first, second] = [await w.chain.wallet(), await w.chain.wallet()];
    const own = await handOver(product, { wallet_address: first.address });
    const { body: bill } = await connect(product, session, { handoff_token: own });
    expect(typeof bill.transaction).toBe('string');
    const refused = async (token: string, status: number, code: string, env = w.env) => {
      const body = { payment_session_id: session.payment_session_id, handoff_token: token };
      const answer = await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body, env });
      expect([token, answer.status, answer.body.code, 'transaction' in answer.body]).toEqual([token, status, code, false]);
    };
    for (const forged of ['garbage', `${own.slice(0, -1)}${own.endsWith('A') ? 'B' : 'A'}`, await handOver(sibling, {})])
      await refused(forged, 403, 'handoff_secret_mismatch');
    await refused(own, 503, 'handoff_not_configured', { ...w.env, HANDOFF_SECRETS: '' });
    const taken = await handOver(product, { wallet_address: second.address });
    await connect(product, elsewhere, { handoff_token: taken });
    await refused(taken, 410, 'handoff_expired');
    const old = await handOver(product, { wallet_address: second.address });
    const now = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => now + 600_001);
    await refused(old, 410, 'handoff_expired');
    // The hand-off of this payment is accepted even after it expired.
    const again = await connect(product, session, { handoff_token: own });
    expect([again.body.payment_id, typeof again.body.transaction]).toEqual([bill.payment_id, 'string']);
  });

  it('a running payment prepares no transaction for a wallet of another hand-off', async () => {
    const product = await sell();
    const session = await open(product);
    const [first, second] = [await w.chain.wallet(), await w.chain.wallet()];
    const { body: bill } = await connect(product, session, { wallet_address: first.address });
    expect(typeof bill.transaction).toBe('string');
    const token = await handOver(product, { wallet_address: second.address });
    const { status, body } = await connect(product, session, { handoff_token: token });
    expect([status, body.payment_id, 'transaction' in body]).toEqual([200, bill.payment_id, false]);
    expect(typeof (await connect(product, await open(product), { handoff_token: token })).body.transaction).toBe('string');
  });

  it('a running payment is blocked while the product requires identity', async () => {
    const product = await sell();
    const session = await open(product);
    const { body: bill } = await connect(product, session);
    await patch(product, { requires_identity: 'telegram' });
    const refused = await connect(product, session);
    expect([refused.status, refused.body.code, refused.body.meta]).toEqual([
      422,
      'identity_verification_required',
      { provider: 'telegram' },
    ]);
    await patch(product, { requires_identity: null });
    expect((await connect(product, session)).body.payment_id).toBe(bill.payment_id);
  });

  it('the session holds a payment only after the buyer is identified', async () => {
    const product = await sell({ requires_identity: 'telegram' });
    const session = await open(product);
    expect((await connect(product, session)).body).toEqual({ identity: { required: true, provider: 'telegram' } });
    expect(
      (await w.env.DB.prepare('SELECT payment_id FROM payment_sessions WHERE id = ?').bind(session.payment_session_id).first())!,
    ).toEqual({
      payment_id: null,
    });
    const { body: identity } = await w.call('POST', `/v1/products/p/${product.slug}/identity`);
    await w.call('POST', '/v1/integrations/connectors/telegram/identity', {
      body: { identity_session_id: identity.identity_session_id, provider_user_id: '42' },
      headers: { 'X-Svc-Connector-Secret': CONNECTOR_SECRETS.telegram[0] },
    });
    const { body: bill } = await connect(product, session, { identity_session_id: identity.identity_session_id });
    expect((await payment(bill.payment_id)).buyer_identity).toEqual({ provider: 'telegram', provider_user_id: '42' });
    expect((await connect(product, session)).body.payment_id).toBe(bill.payment_id);
  });

  it('a product that requires identity cannot be bought over x402', async () => {
    const product = await sell({ requires_identity: 'discord' });
    const body = { product_id: product.product_id, customer: { customer_ref: 'c' } };
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const denied = await w.call('POST', '/v1/access/entitlements/consume', { key: ada.key, body, headers });
    expect([denied.headers.get('PAYMENT-REQUIRED'), denied.body.meta.missing]).toEqual([null, 'rail_enabled']);
  });
});
