import { beforeAll, describe, expect, it } from 'vitest';
import { DAY, SECOND } from '#core/time.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { testEnv } from '../../support/runner/env.ts';
import { billing, TestProcessor } from '../../support/servers/processor.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

const later = async <T>(ms: number, act: () => Promise<T>): Promise<T> => {
  setTime(Date.now() + ms);
  try {
    return await act();
  } finally {
    letTimeRun();
  }
};

describe('card plan', () => {
  const w = new World();
  const stripe = new TestProcessor(w);
  let ada: Merchant;

  const checkout = (plan: string, body: object = {}, merchant = ada, key = merchant.token) =>
    w.call('POST', '/v1/billing/checkout/processor', { key, body: { plan, ...body } });
  const portal = (body: object = {}, merchant = ada) => w.call('POST', '/v1/billing/portal/processor', { key: merchant.token, body });
  const refresh = (merchant = ada) => w.call('POST', '/v1/billing/refresh/processor', { key: merchant.token });
  const subscribed = async (plan: string) => {
    const merchant = await w.merchant('free');
    const bought = await stripe.buy(merchant, plan);
    for (const event of bought.events) await stripe.deliver(event);
    return { merchant, ...bought };
  };

  beforeAll(async () => {
    ada = await w.merchant('free');
  });

  it('a purchase at the processor takes effect with its events, on the next request', async () => {
    expect(await billing(w, ada)).toMatchObject({
      plan: 'free',
      status: 'none',
      source: 'free',
      current_period_end: null,
      limits: { keys: 2 },
    });
    const { events, customer } = await stripe.buy(ada, 'growth');
    expect(await billing(w, ada)).toMatchObject({ plan: 'free' });
    for (const event of events) expect((await stripe.deliver(event)).body).toEqual({ received: true, duplicate: false });
    const summary = await billing(w, ada);
    expect(summary).toMatchObject({ plan: 'growth', status: 'active', source: 'processor', cancel_at_period_end: false });
    expect(summary.usage).toEqual({ keys: 1, products: 0, endpoints: 0 });
    expect(summary.limits).toEqual({ keys: 20, products: 250, endpoints: 20 });
    expect(Date.parse(summary.current_period_end) - Date.now()).toBeGreaterThan(29 * DAY);
    const { headers } = await w.call('GET', '/v1/keys', { key: ada.key, env: { ...w.env, RATE_MULTIPLIER: '1' } });
    expect(headers.get('X-RateLimit-Limit')).toBe('1000');
    const requests = await stripe.requests();
    expect(requests.find(({ method, path }) => method === 'POST' && path === '/checkout/sessions')?.form).toMatchObject({
      mode: 'subscription',
      customer,
      'metadata[account_id]': ada.userId,
      'subscription_data[metadata][account_id]': ada.userId,
    });
    expect(requests.find(({ path }) => path === '/customers')?.form['metadata[account_id]']).toBe(ada.userId);
  });

  it('the held plan is refused with 409, and another plan changes the existing subscription', async () => {
    const { merchant, subscription } = await subscribed('starter');
    const { status, body } = await checkout('starter', {}, merchant);
    expect([status, body.code, body.meta.reason]).toEqual([409, 'state_conflict', 'plan_held']);
    const change = await checkout('growth', {}, merchant);
    const [event] = await stripe.act('pay', { session: change.body.checkout_url.split('/').at(-1) });
    expect([event!.type, JSON.parse(event!.body).data.object.id]).toEqual(['customer.subscription.updated', subscription]);
    await stripe.deliver(event!);
    expect(await billing(w, merchant)).toMatchObject({ plan: 'growth', status: 'active' });
  });

  it('a plan is not sold again before its event arrives or under a higher bought plan', async () => {
    const merchant = await w.merchant('free');
    await stripe.buy(merchant, 'starter');
    const second = await checkout('starter', {}, merchant);
    expect([second.status, second.body.code, second.body.meta.reason]).toEqual([409, 'state_conflict', 'plan_held']);
    const bought = testEnv.DB.prepare("UPDATE accounts SET plan = 'scale', plan_through = ? WHERE id = ?");
    await bought.bind(Date.now() + 10 * DAY, merchant.userId).run();
    const under = await checkout('starter', {}, merchant);
    expect([under.status, under.body.code, under.body.meta.reason]).toEqual([409, 'state_conflict', 'plan_held']);
    expect((await checkout('growth', {}, merchant)).status).toBe(200);
  });

  it('concurrent checkouts create one customer per account', async () => {
    const merchant = await w.merchant('free');
    const answers = await Promise.all(Array.from({ length: 4 }, () => checkout('starter', {}, merchant)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const sessions = (await stripe.requests()).filter(
      ({ path, form }) => path === '/checkout/sessions' && form['metadata[account_id]'] === merchant.userId,
    );
    expect(new Set(sessions.map(({ form }) => form.customer)).size).toBe(1);
  });

  it('an unknown plan, a foreign URL and sandbox mode are refused', async () => {
    const merchant = await w.merchant('free');
    for (const plan of ['free', 'gold', '']) expect([plan, (await checkout(plan, {}, merchant)).status]).toEqual([plan, 422]);
    const foreign = [
      'https://evil.example/',
      'http://svc.test/',
      '//evil.example',
      'https://svc.test.evil.example',
      'https://svc.test@evil.example',
      'x',
      '',
    ];
    for (const field of ['success_url', 'cancel_url'])
      for (const url of foreign) {
        const { status, body } = await checkout('starter', { [field]: url }, merchant);
        expect([url, status, body.detail?.[0]?.loc]).toEqual([url, 422, ['body', field]]);
      }
    expect((await checkout('starter', { success_url: 'https://svc.test/dashboard#paid' }, merchant)).status).toBe(200);
    const { status, body } = await w.call('POST', '/v1/billing/checkout/processor?mode=sandbox', {
      key: merchant.token,
      body: { plan: 'starter' },
    });
    expect([status, body.code, body.meta.reason]).toEqual([403, 'invalid_authorization', 'mode']);
  });

  it('the portal opens only for an existing customer', async () => {
    const { status, body } = await portal({}, await w.merchant('free'));
    expect([status, body.code]).toEqual([409, 'state_conflict']);
    const { merchant } = await subscribed('starter');
    expect((await portal({}, merchant)).body.portal_url).toMatch(/^http:\/\/127\.0\.0\.1/);
    expect((await portal({ return_url: 'https://evil.example/' }, merchant)).status).toBe(422);
  });

  it('the plan follows the processor’s current state, in any order of events and with duplicates', async () => {
    const { merchant, subscription, events: bought } = await subscribed('starter');
    const [failed] = await stripe.act('fail', { subscription });
    const [recovered] = await stripe.act('recover', { subscription });
    const [changed] = await stripe.act('change', { subscription, price: 'price_scale' });
    for (const event of [changed!, failed!, recovered!, ...bought]) await stripe.deliver(event);
    expect(await billing(w, merchant)).toMatchObject({ plan: 'scale', status: 'active' });
    expect((await stripe.deliver(failed!)).body).toEqual({ received: true, duplicate: true });
    const asked = (await stripe.requests()).length;
    await Promise.all(Array.from({ length: 5 }, () => stripe.deliver(failed!)));
    expect((await stripe.requests()).length).toBe(asked);
  });

  it('an event that is delivered three times at once is recorded once', async () => {
    const { subscription } = await subscribed('starter');
    const [event] = await stripe.act('change', { subscription, price: 'price_growth' });
    const answers = await Promise.all([1, 2, 3].map(() => stripe.deliver(event!)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const rows = testEnv.DB.prepare('SELECT count(*) AS n FROM processor_events WHERE id = ?').bind(event!.id);
    expect(await rows.first('n')).toBe(1);
  });

  it('a past-due plan ends three days after the first sign, a cancelled one with its period or at once', async () => {
    const { merchant, subscription } = await subscribed('growth');
    const at = Math.floor(Date.now() / SECOND);
    const events = await stripe.act('fail', { subscription, at: at + 60 });
    for (const event of events) await stripe.deliver(event);
    expect(await billing(w, merchant)).toMatchObject({ plan: 'growth', status: 'past_due' });
    const again = await stripe.act('fail', { subscription, at: at + 2 * 86_400 });
    for (const event of again) await stripe.deliver(event);
    expect(await later(3 * DAY - 60 * SECOND, () => billing(w, { ...merchant, token: merchant.key }))).toMatchObject({ plan: 'growth' });
    expect(await later(3 * DAY + 120 * SECOND, () => billing(w, { ...merchant, token: merchant.key }))).toMatchObject({
      plan: 'free',
      source: 'free',
    });
    const second = await subscribed('starter');
    for (const event of await stripe.act('cancel', { subscription: second.subscription, at_period_end: true })) await stripe.deliver(event);
    expect(await billing(w, second.merchant)).toMatchObject({ plan: 'starter', cancel_at_period_end: true });
    expect(await later(31 * DAY, () => billing(w, { ...second.merchant, token: second.merchant.key }))).toMatchObject({ plan: 'free' });
    for (const event of await stripe.act('cancel', { subscription: second.subscription })) await stripe.deliver(event);
    expect(await billing(w, second.merchant)).toMatchObject({ plan: 'free', status: 'cancelled' });
  });

  it('objects above the quota of a lower plan stay, and new ones are refused', async () => {
    const { merchant, subscription } = await subscribed('starter');
    for (let i = 0; i < 4; i++) await w.product(merchant);
    for (const event of await stripe.act('cancel', { subscription })) await stripe.deliver(event);
    expect(await billing(w, merchant)).toMatchObject({ plan: 'free', usage: { products: 4 }, limits: { products: 3 } });
    const body = { name: 'One more', price: { asset: 'USDC', amount: '1' }, payout_wallet: merchant.wallet.address };
    expect((await w.call('POST', '/v1/products', { key: merchant.key, body })).body.code).toBe('plan_limit_reached');
  });

  it('a refresh reads the subscription without an event', async () => {
    const merchant = await w.merchant('free');
    expect((await refresh(merchant)).body).toMatchObject({ plan: 'free' });
    await stripe.buy(merchant, 'starter');
    expect((await refresh(merchant)).body).toMatchObject({ plan: 'starter', status: 'active' });
    expect((await refresh(merchant)).body).toMatchObject({ plan: 'starter' });
  });

  it('a forged or stale event and one about a foreign customer grant no plan', async () => {
    const { merchant, subscription, customer } = await subscribed('starter');
    const [event] = await stripe.act('change', { subscription, price: 'price_scale' });
    const { body } = event!;
    const at = Math.floor(Date.now() / SECOND);
    const signatures = [
      '',
      'garbage',
      't=1,v1=',
      await stripe.sign({ body, secret: 'whsec_of_somebody_else' }),
      await stripe.sign({ body, at: at - 301 }),
      await stripe.sign({ body, at: at + 310 }),
      await stripe.sign({ body: `${body} ` }),
    ];
    for (const signature of signatures) {
      const answer = await stripe.deliver({ ...event!, signature });
      expect([signature, answer.status, answer.body.code]).toEqual([signature, 401, 'webhook_signature_failed']);
    }
    expect((await w.call('POST', '/v1/billing/webhooks/processor', { raw: body })).status).toBe(401);
    expect(await billing(w, merchant)).toMatchObject({ plan: 'starter' });
    const older = await stripe.sign({ body, secret: 'whsec_of_an_older_time' });
    expect((await stripe.deliver({ ...event!, signature: older }, { header: 'Processor-Signature' })).status).toBe(200);
    expect(await billing(w, merchant)).toMatchObject({ plan: 'scale' });
    const poor = await w.merchant('free');
    const [foreign] = await stripe.act('buy', { customer: 'cus_of_others', price: 'price_scale', metadata: { account_id: poor.userId } });
    expect((await stripe.deliver(foreign!)).body).toEqual({ received: true, duplicate: false });
    expect(await billing(w, poor)).toMatchObject({ plan: 'free' });
    const [misnamed] = await stripe.act('buy', { customer, price: 'price_scale', metadata: { account_id: poor.userId } });
    await stripe.deliver(misnamed!);
    expect(await billing(w, poor)).toMatchObject({ plan: 'free' });
  });

  it('unknown event types are accepted, and unreadable bodies are refused', async () => {
    const unknown = JSON.stringify({
      id: 'evt_x',
      object: 'event',
      created: 1,
      type: 'charge.refunded',
      data: { object: { customer: 'cus_x' } },
    });
    const answer = await stripe.deliver({ id: 'evt_x', type: '', body: unknown, signature: await stripe.sign({ body: unknown }) });
    expect([answer.status, answer.body]).toEqual([200, { received: true, duplicate: false }]);
    for (const body of ['null', '{}', '[]', '{"type":"invoice.paid","data":null}', 'not json']) {
      const { status } = await stripe.deliver({ id: '', type: '', body, signature: await stripe.sign({ body }) });
      expect([body, status]).toEqual([body, 401]);
    }
  });

  it('an event is not recorded while the processor is down: 503, and a repeat succeeds', async () => {
    const { merchant, subscription } = await subscribed('starter');
    const [event] = await stripe.act('change', { subscription, price: 'price_growth' });
    await stripe.fault(2);
    const refused = await stripe.deliver(event!);
    expect([refused.status, refused.body.code, refused.headers.has('Retry-After')]).toEqual([503, 'temporarily_unavailable', true]);
    expect(await billing(w, merchant)).toMatchObject({ plan: 'starter' });
    expect((await stripe.deliver(event!)).body).toEqual({ received: true, duplicate: false });
    expect(await billing(w, merchant)).toMatchObject({ plan: 'growth' });
  });

  it('an unconfigured processor answers 503 with the missing settings, except for the summary', async () => {
    const env = { ...w.env, PROCESSOR_API_KEY: '', PROCESSOR_PRICE_SCALE: '' };
    const answers = await Promise.all([
      w.call('POST', '/v1/billing/checkout/processor', { key: ada.token, body: { plan: 'scale' }, env }),
      w.call('POST', '/v1/billing/portal/processor', { key: ada.token, env }),
      w.call('POST', '/v1/billing/refresh/processor', { key: ada.token, env }),
      w.call('POST', '/v1/billing/webhooks/processor', { raw: '{}', env }),
    ]);
    for (const { status, body: said } of answers)
      expect([status, said.code, said.meta.missing]).toEqual([
        503,
        'billing_not_configured',
        ['PROCESSOR_API_KEY', 'PROCESSOR_PRICE_SCALE'],
      ]);
    expect((await w.call('GET', '/v1/billing/summary', { key: ada.key, env })).status).toBe(200);
  });

  it('deletion of the account deletes the customer at the processor, with retries', async () => {
    const { merchant, customer } = await subscribed('starter');
    expect((await w.call('DELETE', '/v1/account/account', { key: merchant.token })).status).toBe(200);
    const later = await subscribed('starter');
    expect((await w.call('DELETE', '/v1/account/account', { key: later.merchant.token })).status).toBe(200);
    const waitingSince = (id: string) =>
      testEnv.DB.prepare('SELECT erasing_since FROM billing_customers WHERE customer_id = ?').bind(id).first<number>('erasing_since');
    const behind = (await waitingSince(later.customer))!;
    await stripe.fault(2);
    await w.sweepAlone('customers');
    // The failed deletion is queued behind the account deleted later, which is already done.
    expect(await waitingSince(customer)).toBeGreaterThan(behind);
    expect(await waitingSince(later.customer)).toBeNull();
    const left = testEnv.DB.prepare('SELECT count(*) AS n FROM billing_customers WHERE customer_id = ?').bind(customer);
    expect(await left.first('n')).toBe(1);
    await w.sweepAlone('customers');
    expect(await left.first('n')).toBe(0);
    expect(
      (await stripe.requests()).filter((one: Body) => one.method === 'DELETE' && one.path === `/customers/${customer}`).length,
    ).toBeGreaterThan(0);
  });
});
