import { describe, expect, it } from 'vitest';
import { DAY, HOUR } from '#core/time.ts';
import { findTrouble } from '#features/operator/health-checks.ts';
import { type Env, newCtx } from '#platform/context.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { billing, TestProcessor } from '../../support/servers/processor.ts';
import { type Merchant, World } from '../../support/world.ts';

type Sold = { merchant: Merchant; customer: string; subscription: string };

function newShop() {
  const w = new World();
  const stripe = new TestProcessor(w);
  const call = (what: string, merchant: Merchant, { body, env }: { body?: object; env?: Env } = {}) =>
    w.call('POST', `/v1/billing/${what}/processor`, { key: merchant.token, ...(body ? { body } : {}), ...(env ? { env } : {}) });
  const subscribe = async (plan: string): Promise<Sold> => {
    const merchant = await w.merchant('free');
    const { events, ...bought } = await stripe.buy(merchant, plan);
    for (const event of events) await stripe.deliver(event);
    return { merchant, ...bought };
  };
  const troubles = async (env: Env = w.env) => {
    const found = await findTrouble(newCtx(env, { requestId: 'req_trouble', defer: () => {} }));
    return found.filter(({ name }) => /^(?:card|processor)_/.test(name)).map(({ name }) => name);
  };
  return { w, stripe, call, subscribe, troubles };
}

describe('card subscription with a changed price', () => {
  const shop = newShop();
  const { w, stripe, call, subscribe } = shop;
  const renewed = async ({ subscription }: Sold, env: Env) => {
    for (const event of await stripe.act('renew', { subscription })) expect((await stripe.deliver(event, { env })).status).toBe(200);
  };

  it.each([
    ['stands behind the new one', 'price_of_today,price_growth'],
    ['is no longer configured', 'price_of_today'],
    ['has no successor', ''],
  ])('a plan survives the next renewal if its price %s', async (_, PROCESSOR_PRICE_GROWTH) => {
    const sold = await subscribe('growth');
    const env = { ...w.env, PROCESSOR_PRICE_GROWTH } as Env;
    await renewed(sold, env);
    expect(await billing(w, sold.merchant)).toMatchObject({ plan: 'growth', status: 'active' });
    expect((await call('refresh', sold.merchant, { env })).body).toMatchObject({ plan: 'growth', status: 'active' });
    const again = await call('checkout', sold.merchant, { body: { plan: 'growth' }, env });
    expect([again.status, again.body.code, again.body.meta.reason]).toEqual([409, 'state_conflict', 'plan_held']);
    expect(await shop.troubles(env)).toEqual([]);
  });

  it('checkout sells at the first price of the list', async () => {
    const PROCESSOR_PRICE_GROWTH = 'price_scale,price_growth';
    const merchant = await w.merchant('free');
    await call('checkout', merchant, { body: { plan: 'growth' }, env: { ...w.env, PROCESSOR_PRICE_GROWTH } as Env });
    const [newest] = (await stripe.requests())
      .filter(({ method, path }) => method === 'POST' && path === '/checkout/sessions')
      .toReversed();
    expect(newest!.form['line_items[0][price]']).toBe('price_scale');
  });

  it('a price unknown to the configuration gives the plan of its lookup key', async () => {
    const { customer, merchant } = await subscribe('starter');
    const price = await stripe.newPrice('svc_scale_19900');
    const [event] = await stripe.act('buy', { customer, price });
    await stripe.deliver(event!);
    expect(await billing(w, merchant)).toMatchObject({ plan: 'scale', status: 'active' });
  });

  it('a subscription moved to an unknown price retains its plan and alarms the operator until it is named', async () => {
    const sold = await subscribe('growth');
    const before = await shop.troubles();
    const [event] = await stripe.act('change', { subscription: sold.subscription, price: 'price_unheard_of' });
    expect((await stripe.deliver(event!)).status).toBe(200);
    expect(await billing(w, sold.merchant)).toMatchObject({ plan: 'growth', status: 'active' });
    expect(await shop.troubles()).toEqual([...before, 'card_price_unknown'].sort());
    const env = { ...w.env, PROCESSOR_PRICE_SCALE: 'price_scale,price_unheard_of' } as Env;
    expect((await call('refresh', sold.merchant, { env })).body).toMatchObject({ plan: 'scale', status: 'active' });
    expect(await shop.troubles()).toEqual(before);
  });

  it('a running subscription of an unknown price is changed, and no second one is sold', async () => {
    const merchant = await w.merchant('free');
    await call('checkout', merchant, { body: { plan: 'starter' } });
    const own = await w.env.DB.prepare('SELECT customer_id FROM billing_customers WHERE account_id = ?')
      .bind(merchant.userId)
      .first<string>('customer_id');
    await stripe.act('buy', { customer: own, price: 'price_nobody_knows' });
    expect((await call('refresh', merchant)).body).toMatchObject({ plan: 'free', status: 'active' });
    expect(await shop.troubles()).toContain('card_price_unknown');
    const change = await call('checkout', merchant, { body: { plan: 'growth' } });
    expect(change.status).toBe(200);
    expect((await stripe.openPages(own!)).length).toBe(0);
    const [event] = await stripe.act('pay', { session: change.body.checkout_url.split('/').at(-1) });
    expect(event!.type).toBe('customer.subscription.updated');
  });

  it('subscriptions are read and changed without the price settings, but none is sold', async () => {
    const sold = await subscribe('starter');
    const env = { ...w.env, PROCESSOR_PRICE_STARTER: '', PROCESSOR_PRICE_GROWTH: '', PROCESSOR_PRICE_SCALE: '' } as Env;
    expect((await call('portal', sold.merchant, { env })).status).toBe(200);
    expect((await call('refresh', sold.merchant, { env })).body).toMatchObject({ plan: 'starter' });
    const refused = await call('checkout', sold.merchant, { body: { plan: 'growth' }, env });
    expect([refused.status, refused.body.code]).toEqual([503, 'billing_not_configured']);
    for (const event of await stripe.act('cancel', { subscription: sold.subscription })) await stripe.deliver(event, { env });
    expect(await billing(w, sold.merchant)).toMatchObject({ plan: 'free', status: 'cancelled' });
  });

  it('a missing processor key alarms the operator while subscriptions exist', async () => {
    await subscribe('starter');
    expect(await shop.troubles()).not.toContain('processor_missing');
    expect(await shop.troubles({ ...w.env, PROCESSOR_API_KEY: '' } as Env)).toContain('processor_missing');
  });
});

describe('cardPlans sweep', () => {
  const { w, stripe, subscribe } = newShop();
  const at = async <T>(ms: number, act: () => Promise<T>): Promise<T> => {
    setTime(ms);
    try {
      return await act();
    } finally {
      letTimeRun();
    }
  };
  const planAt = (ms: number, { merchant }: Sold) => at(ms, () => billing(w, { ...merchant, token: merchant.key }));
  const reads = async ({ customer }: Sold) =>
    (await stripe.requests()).filter(({ path, form }) => path === '/subscriptions' && form.customer === customer).length;

  it('a renewal without an event counts before the plan ends, and the processor is not called earlier', async () => {
    const sold = await subscribe('growth');
    const end = Date.now() + 30 * DAY;
    await stripe.act('renew', { subscription: sold.subscription, at: Math.floor(end / 1000) });
    const before = await reads(sold);
    await at(end + DAY, () => w.sweepAlone('cardPlans'));
    expect(await reads(sold)).toBe(before);
    await at(end + 2 * DAY + HOUR, () => w.sweepAlone('cardPlans'));
    expect(await reads(sold)).toBe(before + 1);
    expect(await planAt(end + 10 * DAY, sold)).toMatchObject({ plan: 'growth', status: 'active' });
  });

  it('a failed read is repeated an hour later and does not block other accounts', async () => {
    const [first, second] = [await subscribe('starter'), await subscribe('starter')];
    const end = Date.now() + 30 * DAY;
    for (const { subscription } of [first, second]) await stripe.act('renew', { subscription, at: Math.floor(end / 1000) });
    // The client retries once by itself, so two faults are needed.
    await stripe.fault(2);
    const due = end + 2 * DAY + HOUR;
    await at(due, () => w.sweepAlone('cardPlans'));
    const plans = await Promise.all([first, second].map((sold) => planAt(due + 2 * DAY, sold)));
    expect(plans.map(({ plan }) => plan).sort()).toEqual(['free', 'starter']);
    await at(due + 2 * HOUR, () => w.sweepAlone('cardPlans'));
    for (const sold of [first, second]) expect(await planAt(due + 2 * DAY, sold)).toMatchObject({ plan: 'starter' });
  });

  it('a plan cancelled at the processor ends even without an event', async () => {
    const sold = await subscribe('growth');
    const end = Date.now() + 30 * DAY;
    await stripe.act('cancel', { subscription: sold.subscription });
    await at(end + 2 * DAY + HOUR, () => w.sweepAlone('cardPlans'));
    expect(await planAt(end + 2 * DAY + HOUR, sold)).toMatchObject({ plan: 'free', status: 'cancelled' });
  });
});

describe('open checkout pages of one customer', () => {
  const shop = newShop();
  const { w, stripe, call } = shop;
  const page = (merchant: Merchant, plan: string, body: object = {}) => call('checkout', merchant, { body: { plan, ...body } });
  const sessionOf = ({ body }: { body: { checkout_url: string } }) => body.checkout_url.split('/').at(-1)!;
  const readCustomer = async ({ userId }: Merchant) =>
    (await w.env.DB.prepare('SELECT customer_id FROM billing_customers WHERE account_id = ?').bind(userId).first<string>('customer_id'))!;
  const openIds = async (merchant: Merchant) => (await stripe.openPages(await readCustomer(merchant))).map(({ id }) => id);

  it('a repeated request returns the same page, and another plan closes the first', async () => {
    const merchant = await w.merchant('free');
    const [first, second] = [await page(merchant, 'growth'), await page(merchant, 'growth')];
    expect(second.body).toEqual(first.body);
    const other = await page(merchant, 'scale');
    expect(await openIds(merchant)).toEqual([sessionOf(other)]);
    expect(await stripe.act('pay', { session: sessionOf(first) })).toEqual([]);
    const back = await page(merchant, 'growth');
    expect(await openIds(merchant)).toEqual([sessionOf(back)]);
    const elsewhere = await page(merchant, 'growth', { success_url: 'https://svc.test/dashboard#paid' });
    expect(await openIds(merchant)).toEqual([sessionOf(elsewhere)]);
  });

  it('four concurrent requests for one plan get one page', async () => {
    const merchant = await w.merchant('free');
    const answers = await Promise.all([1, 2, 3, 4].map(() => page(merchant, 'starter')));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(answers.map(sessionOf)).size).toBe(1);
    expect(await openIds(merchant)).toEqual([sessionOf(answers[0]!)]);
  });

  it('four concurrent requests for several plans leave one page open', async () => {
    const merchant = await w.merchant('free');
    const answers = await Promise.all(['starter', 'growth', 'scale', 'growth'].map((plan) => page(merchant, plan)));
    for (const { status, body } of answers)
      expect([status, body.code ?? 'page']).toEqual(status === 200 ? [200, 'page'] : [503, 'temporarily_unavailable']);
    expect((await openIds(merchant)).length).toBe(1);
  });

  it('an expired page is replaced by a new one, and a paid page by a 409', async () => {
    const merchant = await w.merchant('free');
    const first = await page(merchant, 'growth');
    await stripe.expire(sessionOf(first));
    const second = await page(merchant, 'growth');
    expect(sessionOf(second)).not.toBe(sessionOf(first));
    await stripe.act('pay', { session: sessionOf(second) });
    const third = await page(merchant, 'growth');
    expect([third.status, third.body.meta.reason]).toEqual([409, 'plan_held']);
  });

  it('a page that is paid while it is replaced sells no second subscription', async () => {
    const merchant = await w.merchant('free');
    const first = await page(merchant, 'growth');
    const [, second] = await Promise.all([stripe.act('pay', { session: sessionOf(first) }), page(merchant, 'scale')]);
    expect(second.status).toBe(200);
    await stripe.act('pay', { session: sessionOf(second) });
    const running = (await stripe.subscriptions(await readCustomer(merchant))).filter(({ status }) => status === 'active');
    expect(running.length).toBe(1);
  });

  it('a customer with two subscriptions alarms the operator', async () => {
    const merchant = await w.merchant('free');
    const { events, customer } = await stripe.buy(merchant, 'starter');
    for (const event of events) await stripe.deliver(event);
    expect(await shop.troubles()).toEqual([]);
    const [event] = await stripe.act('buy', { customer, price: 'price_growth' });
    await stripe.deliver(event!);
    expect(await shop.troubles()).toEqual(['card_subscribed_twice']);
    expect(await billing(w, merchant)).toMatchObject({ plan: 'growth' });
  });
});

describe('processor without customer search', () => {
  it('plans are sold, and concurrent checkouts succeed', async () => {
    const { w, stripe, call } = newShop();
    await stripe.refuseSearch();
    const merchant = await w.merchant('free');
    const answers = await Promise.all([1, 2, 3].map(() => call('checkout', merchant, { body: { plan: 'starter' } })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { events } = await stripe.buy(merchant, 'starter');
    for (const event of events) await stripe.deliver(event);
    expect(await billing(w, merchant)).toMatchObject({ plan: 'starter', status: 'active' });
  });
});
