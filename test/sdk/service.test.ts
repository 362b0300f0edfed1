import { wrapFetchWithPayment } from '@x402/fetch';
import { type Context, Hono } from 'hono';
import { beforeAll, describe, expect, it } from 'vitest';
import { protect, type SvcEnv } from '../../sdk/src/hono.ts';
import type { Client, ProtectOptions, SvcError } from '../../sdk/src/index.ts';
import { type Agent, newAgent, sellToAgents } from '../support/people/agent.ts';
import { type Merchant, World } from '../support/world.ts';
import { clientOf, type Wire } from './real-client.ts';

describe('SDK client against the service', () => {
  const w = new World();
  let merchant: Merchant;
  let client: Client;
  beforeAll(async () => {
    merchant = await w.merchant();
    client = clientOf(w, merchant.key);
  });

  it('products, a confirmed purchase, its membership and its receipt work through the client', async () => {
    const made = await client.products.create({
      name: 'Forecasts',
      price: { asset: 'USDC', amount: '5' },
      payout_wallet: merchant.wallet.address,
    });
    expect((await client.products.update(made.product_id, { name: 'Better forecasts' })).name).toBe('Better forecasts');
    expect((await client.products.list()).items.map(({ product_id }) => product_id)).toContain(made.product_id);
    const bill = await w.connect(made);
    const tx_signature = await w.chain.pay(await w.chain.wallet(), bill);
    const { payment, receipt_id } = await client.payments.confirm({ payment_id: bill.payment_id, tx_signature });
    expect(payment.status).toBe('CONFIRMED');
    expect((await client.payments.get(bill.payment_id)).receipt_id).toBe(receipt_id);
    expect((await client.payments.list({ product_id: made.product_id })).total).toBe(1);
    expect((await client.memberships.lookup({ payment_id: bill.payment_id })).product_id).toBe(made.product_id);
    expect((await client.receipts.verify(receipt_id!)).valid).toBe(true);
    expect((await client.receipts.get(receipt_id!)).tx_sig).toBe(tx_signature);
    expect((await client.products.archive(made.product_id)).status).toBe('archived');
    expect((await client.products.unarchive(made.product_id)).status).toBe('active');
  });

  it('webhook endpoints are created, changed, rotated and disabled', async () => {
    const made = await client.webhookEndpoints.create({ url: 'https://hooks.example.com/in', event_types: ['payment.confirmed'] });
    expect(made.secret).toMatch(/^whsec_/);
    expect((await client.webhookEndpoints.update(made.endpoint_id, { description: 'shop' })).description).toBe('shop');
    expect((await client.webhookEndpoints.rotateSecret(made.endpoint_id)).secret).not.toBe(made.secret);
    expect((await client.webhookEndpoints.disable(made.endpoint_id)).status).toBe('disabled');
    expect((await client.webhookEndpoints.list()).total).toBe(1);
    expect((await client.webhookDeliveries.list()).total).toBe(0);
  });

  it('entitlements are granted, consumed, refunded and read, each write once per key', async () => {
    const product = await w.product(merchant);
    const who = { product_id: product.product_id, customer: { customer_ref: 'ada' } };
    expect((await client.entitlements.grant({ ...who, units: 2, reason: 'welcome' })).remaining).toBe(2);
    const used = await client.entitlements.consume(who, { idempotencyKey: 'first-use' });
    const again = await client.entitlements.consume(who, { idempotencyKey: 'first-use' });
    expect([used.replayed, again.replayed, again.consumption_id]).toEqual([false, true, used.consumption_id]);
    expect((await client.entitlements.refund({ consumption_id: used.consumption_id, reason: 'failed' })).remaining).toBe(2);
    expect((await client.entitlements.get(used.entitlement_id)).used_units).toBe(0);
    const stranger = client.entitlements.consume({ ...who, customer: { customer_ref: 'eve' } });
    expect(await stranger.catch(({ code, status }: SvcError) => [code, status])).toEqual(['entitlement_missing', 403]);
    expect((await client.rails.list()).items.length).toBeGreaterThan(0);
    expect((await client.railSettings.list()).items.length).toBeGreaterThan(0);
  });
});

describe('protect() against the service, bought by the unmodified @x402/fetch', () => {
  const w = new World();
  let merchant: Merchant;
  let agent: Agent;
  let product: { product_id: string };
  beforeAll(async () => {
    merchant = await w.merchant();
    product = await sellToAgents(w, merchant);
    agent = await newAgent(w);
  });

  function protectedApp(options: Partial<ProtectOptions<Context>> = {}, wire?: Wire) {
    const client = clientOf(w, merchant.key, wire);
    const state = { served: 0, fails: false };
    const app = new Hono<SvcEnv>();
    app.use('/forecast', protect({ client, product: product.product_id, ...options }));
    app.get('/forecast', (c) => {
      if (state.fails) throw new Error('model crashed');
      state.served++;
      return c.json({ payer: c.get('svc').payment?.payer });
    });
    const seen: { payment?: string } = {};
    const fetchApp = async (input: RequestInfo | URL, init?: RequestInit) => {
      const request = new Request(input, init);
      seen.payment = request.headers.get('PAYMENT-SIGNATURE') ?? seen.payment;
      return app.request(request);
    };
    const buy = (headers: Record<string, string> = {}) =>
      wrapFetchWithPayment(fetchApp as typeof fetch, agent.client)('https://weather.test/forecast', { headers });
    const again = (headers: Record<string, string> = {}) =>
      app.request('https://weather.test/forecast', { headers: { 'PAYMENT-SIGNATURE': seen.payment!, ...headers } });
    const ask = (headers: Record<string, string>) => app.request('https://weather.test/forecast', { headers });
    return { state, buy, again, ask, seen };
  }

  it('a payment is served once, and refused again under the same and another key, concurrently and later', async () => {
    const { state, buy, again } = protectedApp();
    const bought = await buy({ 'Idempotency-Key': 'agent-key-1' });
    expect([bought.status, await bought.json()]).toEqual([200, { payer: agent.wallet.address }]);
    expect(JSON.parse(atob(bought.headers.get('PAYMENT-RESPONSE')!))).toMatchObject({ success: true, payer: agent.wallet.address });
    const replays = [again(), again(), again({ 'Idempotency-Key': 'agent-key-1' }), again({ 'Idempotency-Key': 'agent-key-2' })];
    expect((await Promise.all(replays)).map(({ status }) => status)).toEqual([409, 409, 409, 409]);
    expect(state.served).toBe(1);
  });

  it.each(['the same process', 'another process'])(
    'one payment is served once although the answer to its replay is lost: %s',
    async (where) => {
      let lost = 0;
      const loses: Wire = async (request, send) => {
        const answer = await send();
        if (request.url.endsWith('/settle') && lost-- > 0) throw new TypeError('connection reset');
        return answer;
      };
      const first = protectedApp({}, loses);
      const second = where === 'the same process' ? first : protectedApp({}, loses);
      lost = 0;
      expect((await first.buy()).status).toBe(200);
      lost = 1;
      expect((await second.again({ 'PAYMENT-SIGNATURE': first.seen.payment! })).status).toBe(409);
      expect(first.state.served + (second === first ? 0 : second.state.served)).toBe(1);
    },
  );

  it('a request is served although the answer to its settlement was lost', async () => {
    let lost = 1;
    const { state, buy } = protectedApp({}, async (request, send) => {
      const answer = await send();
      if (request.url.endsWith('/settle') && lost-- > 0) throw new TypeError('connection reset');
      return answer;
    });
    expect((await buy()).status).toBe(200);
    expect(state.served).toBe(1);
  });

  it.each<Record<string, string>>([{}, { 'Idempotency-Key': 'agent-key-3' }])(
    'a throwing handler is refunded, and the same payment is then served once (%j)',
    async (headers) => {
      const { state, buy, again } = protectedApp();
      state.fails = true;
      expect((await buy(headers)).status).toBe(500);
      state.fails = false;
      expect((await again(headers)).status).toBe(200);
      expect((await again(headers)).status).toBe(409);
      expect(state.served).toBe(1);
    },
  );

  it('a second process that lost an answer does not serve a known customer’s request again', async () => {
    const customer = { customer_ref: 'ada' };
    await clientOf(w, merchant.key).entitlements.grant({ product_id: product.product_id, customer, units: 2, reason: 'welcome' });
    let lost = 0;
    const loses: Wire = async (_request, send) => {
      const answer = await send();
      if (lost-- > 0) throw new TypeError('connection reset');
      return answer;
    };
    const [first, second] = [protectedApp({ customer: () => customer }, loses), protectedApp({ customer: () => customer }, loses)];
    const ask = (one: typeof first, key: string) => one.ask({ 'Idempotency-Key': key });
    lost = 1;
    expect((await ask(first, 'order-0001')).status, 'its own lost answer is found again').toBe(200);
    lost = 1;
    expect((await ask(second, 'order-0001')).status).toBe(409);
    first.state.fails = true;
    expect((await ask(first, 'order-0002')).status).toBe(500);
    first.state.fails = false;
    expect((await ask(first, 'order-0002')).status, 'given back, under the same key').toBe(200);
    const denied = await ask(first, 'order-0003');
    expect(denied.status).toBe(402);
    const { resource } = JSON.parse(atob(denied.headers.get('PAYMENT-REQUIRED')!));
    expect(resource.url).toBe('https://weather.test/forecast');
    expect([first.state.served, second.state.served]).toEqual([2, 0]);
  });

  it('a paid request that died with its process is served after a refund of the id in the 409', async () => {
    const dead = protectedApp();
    expect((await dead.buy()).status).toBe(200);
    const payment = { 'PAYMENT-SIGNATURE': dead.seen.payment! };
    const alive = protectedApp();
    const refused = await alive.again(payment);
    const { code, consumption_id } = (await refused.json()) as { code: string; consumption_id: string };
    expect(code).toBe('payment_replayed');
    const options = { idempotencyKey: `refund-${consumption_id}` };
    await clientOf(w, merchant.key).entitlements.refund({ consumption_id, reason: 'never served' }, options);
    expect((await alive.again(payment)).status).toBe(200);
    expect((await alive.again(payment)).status).toBe(409);
  });

  it('a payment for another product is refused with 409', async () => {
    const { buy, again } = protectedApp();
    expect((await buy()).status).toBe(200);
    const first = product;
    product = await sellToAgents(w, merchant);
    const elsewhere = protectedApp({ product: product.product_id });
    expect((await elsewhere.buy()).status).toBe(200);
    product = first;
    expect((await again()).status).toBe(409);
  });

  it('a client in a loop pays to the daily limit, and then gets 429 without a challenge', async () => {
    const price = { asset: 'USDC', amount: '0.01' };
    const limited = await sellToAgents(w, merchant, { price, max_per_payer_per_day: { asset: 'USDC', amount: '0.02' } });
    const { buy, state } = protectedApp({ product: limited.product_id });
    const answers: Response[] = [];
    for (let round = 0; round < 4; round++) answers.push(await buy());
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429, 429]);
    const refused = answers.at(-1)!;
    expect(refused.headers.has('PAYMENT-REQUIRED')).toBe(false);
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: 'payer_limit_reached', paid: { amount: '0.02' } });
    expect(state.served).toBe(2);
  });

  it('a malformed payment gets a 402 with a new challenge', async () => {
    const { again, buy, state } = protectedApp();
    await buy();
    const refused = await again({ 'PAYMENT-SIGNATURE': btoa('{"x402Version":2}') });
    expect([refused.status, refused.headers.has('PAYMENT-REQUIRED')]).toEqual([402, true]);
    expect(state.served).toBe(1);
  });

  it('a wrong or revoked merchant key fails closed', async () => {
    const client = clientOf(w, `${merchant.key.slice(0, -1)}${merchant.key.endsWith('x') ? 'y' : 'x'}`);
    const app = new Hono().use('*', protect({ client, product: product.product_id })).get('/', (c) => c.text('served'));
    expect((await app.request('/')).status).toBe(503);
  });
});
