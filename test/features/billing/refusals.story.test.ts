import { describe, expect, it } from 'vitest';
import { tokenSignedIn } from '../../support/clients/session.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { testEnv } from '../../support/runner/env.ts';
import { billing, TestProcessor } from '../../support/servers/processor.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('payment processor errors', () => {
  const w = new World();
  const stripe = new TestProcessor(w);
  const call = (what: string, merchant: Merchant, { body, env }: { body?: object; env?: typeof w.env } = {}) =>
    w.call('POST', `/v1/billing/${what}/processor`, { key: merchant.token, ...(body ? { body } : {}), ...(env ? { env } : {}) });
  const findCustomer = (merchant: Merchant) =>
    testEnv.DB.prepare('SELECT customer_id FROM billing_customers WHERE account_id = ?').bind(merchant.userId).first<string>('customer_id');
  const subscribed = async (): Promise<Merchant & { customer: string }> => {
    const merchant = await w.merchant('free');
    const { events, customer } = await stripe.buy(merchant, 'starter');
    for (const event of events) await stripe.deliver(event);
    return { ...merchant, customer };
  };
  const CALLS = [
    ['checkout', { plan: 'growth' }],
    ['portal', undefined],
    ['refresh', undefined],
  ] as const;

  it.each(CALLS)('a refused key at %s answers billing_not_configured, and an outage answers a retryable 503', async (what, body) => {
    const merchant = await subscribed();
    for (const status of [401, 403]) {
      await stripe.fault(1, status);
      const refused = await call(what, merchant, { body });
      expect([refused.status, refused.body.code, refused.body.meta.reason]).toEqual([503, 'billing_not_configured', 'key_refused']);
      expect([refused.body.retryable, refused.headers.has('Retry-After')]).toEqual([false, false]);
    }
    for (const [times, status] of [
      [2, 500],
      [1, 429],
      [2, 409],
    ] as const) {
      await stripe.fault(times, status);
      const away = await call(what, merchant, { body });
      expect([status, away.status, away.body.code, away.headers.get('Retry-After')]).toEqual([status, 503, 'temporarily_unavailable', '5']);
    }
    await stripe.fault(1, 400);
    if (what === 'portal') {
      // The test world throws on every 500, with its body.
      await expect(call(what, merchant, { body })).rejects.toThrow(/"internal_error".*"retryable":false/);
    } else {
      // Checkout and refresh read the subscription first, so the error leaves it for a later read.
      const unread = await call(what, merchant, { body });
      expect([unread.status, unread.body.code, unread.headers.get('Retry-After')]).toEqual([503, 'temporarily_unavailable', '5']);
    }
    expect((await call(what, merchant, { body })).status).toBe(200);
  });

  it('an event is left for a retry if its subscription cannot be read, on any error', async () => {
    const merchant = await subscribed();
    const { events } = await stripe.buy(merchant, 'growth');
    for (const status of [400, 404, 402, 401, 500]) {
      await stripe.fault(status === 500 ? 2 : 1, status);
      const { status: said, body } = await stripe.deliver(events[0]!);
      const code = status === 401 ? 'billing_not_configured' : 'temporarily_unavailable';
      expect([status, said, body.code]).toEqual([status, 503, code]);
      expect(await billing(w, merchant)).toMatchObject({ plan: 'starter' });
    }
    expect((await stripe.deliver(events[0]!)).body).toEqual({ received: true, duplicate: false });
    expect(await billing(w, merchant)).toMatchObject({ plan: 'growth', status: 'active' });
  });

  it('an unconfigured portal answers 503 portal_unknown, for plan changes too', async () => {
    const merchant = await subscribed();
    const env = { ...w.env, PROCESSOR_PORTAL_CONFIGURATION: '' };
    for (const [what, body] of [
      ['portal', undefined],
      ['checkout', { plan: 'growth' }],
    ] as const) {
      const { status, body: said } = await call(what, merchant, { body, env });
      expect([status, said.code, said.meta.reason]).toEqual([503, 'billing_not_configured', 'portal_unknown']);
    }
  });

  it('an unknown price answers 503 price_unknown', async () => {
    const merchant = await w.merchant('free');
    const { status, body } = await call('checkout', merchant, {
      body: { plan: 'scale' },
      env: { ...w.env, PROCESSOR_PRICE_SCALE: 'price_of_nothing' },
    });
    expect([status, body.code, body.meta.reason]).toEqual([503, 'billing_not_configured', 'price_unknown']);
  });

  it('a customer deleted at the processor gives no plan, and the next checkout creates another', async () => {
    const merchant = await subscribed();
    await stripe.deleteCustomer(merchant.customer);
    const portal = await call('portal', merchant);
    expect([portal.status, portal.body.code, portal.body.meta.reason]).toEqual([409, 'state_conflict', 'no_customer']);
    expect((await call('refresh', merchant)).body).toMatchObject({ plan: 'free' });
    const answers = await Promise.all([1, 2].map(() => call('checkout', merchant, { body: { plan: 'starter' } })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await findCustomer(merchant)).not.toBe(merchant.customer);
    const { events } = await stripe.buy(merchant, 'starter');
    for (const event of events) await stripe.deliver(event);
    expect(await billing(w, merchant)).toMatchObject({ plan: 'starter', status: 'active' });
  });

  it('an unknown customer gives no plan, and the next checkout creates another', async () => {
    const merchant = await subscribed();
    await stripe.forget(merchant.customer);
    expect((await call('refresh', merchant)).body).toMatchObject({ plan: 'free', status: 'none' });
    expect((await call('checkout', merchant, { body: { plan: 'starter' } })).status).toBe(200);
    expect(await findCustomer(merchant)).not.toBe(merchant.customer);
  });

  it('a customer that was created and never stored is found again instead of created twice', async () => {
    const merchant = await w.merchant('free');
    const made = async () =>
      (await stripe.requests()).filter(
        ({ method, path, form }) => method === 'POST' && path === '/customers' && form['metadata[account_id]'] === merchant.userId,
      );
    const before = (await made()).length;
    const { env } = withFaults(w.env, { before: ({ kind }) => kind === 'write' });
    const crashed = await call('checkout', merchant, { body: { plan: 'starter' }, env });
    expect(crashed.status).toBe(503);
    expect([(await made()).length - before, await findCustomer(merchant)]).toEqual([1, null]);
    await stripe.forget();
    expect((await call('checkout', merchant, { body: { plan: 'starter' } })).status).toBe(200);
    expect((await made()).length - before).toBe(1);
  });

  describe('card checkout and portal (F5: a server key at the card portal)', () => {
    it.each([
      ['checkout', { plan: 'growth' }],
      ['portal', {}],
    ])('%s refuses keys before any other check, and a sign-in 16 minutes old', async (what, body) => {
      const { userId, key, sandboxKey, token } = await subscribed();
      const ask = (by: string, options: object) => w.call('POST', `/v1/billing/${what}/processor`, { key: by, ...options });
      const refused = { status: 403, body: { code: 'invalid_authorization', meta: { reason: 'token_required' } } };
      for (const by of [key, sandboxKey])
        for (const wrong of [body, { plan: 'none' }, { success_url: 'https://evil.example/' }])
          expect(await ask(by, { body: wrong, env: { ...w.env, PROCESSOR_API_KEY: '' } })).toMatchObject(refused);
      const stale = await ask(await tokenSignedIn(w, userId, 16), { body });
      expect(stale).toMatchObject({ status: 403, body: { meta: { reason: 'sign_in_required' } } });
      expect((await ask(token, { body })).status).toBe(200);
    });
  });

  it('a refused processor key degrades /health', async () => {
    const health = async (env = w.env) => (await w.call('GET', '/health', { env })).body;
    expect((await health()).checks.processor).toBe('ok');
    expect(await health({ ...w.env, PROCESSOR_API_KEY: 'sk_live_refused' })).toMatchObject({
      status: 'degraded',
      checks: { processor: 'failing' },
    });
  });

  describe('POST /v1/billing/webhooks/processor', () => {
    const BYTES_MAX = 256 * 1024;
    const eventOf = (padding: number) =>
      JSON.stringify({
        id: 'evt_padded',
        object: 'event',
        type: 'unknown.type',
        created: 1,
        data: { object: {} },
        padding: 'x'.repeat(padding),
      });
    const send = async (body: string, headers: Record<string, string> = {}) =>
      w.call('POST', '/v1/billing/webhooks/processor', {
        raw: body,
        headers: { 'Stripe-Signature': await stripe.sign({ body }), ...headers },
      });

    it('a body above 256 KB is refused with 413, signed or forged, and one just below is accepted', async () => {
      const { status, body } = await send(eventOf(BYTES_MAX));
      expect([status, body.code]).toEqual([413, 'payload_too_large']);
      expect((await send(eventOf(BYTES_MAX), { 'Stripe-Signature': 't=1,v1=00' })).status).toBe(413);
      expect((await send(eventOf(BYTES_MAX - 200))).body).toEqual({ received: true, duplicate: false });
    });

    it('a body of a type other than JSON is refused with 415', async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
        const { status, body } = await send(eventOf(1), { 'Content-Type': type });
        expect([type, status, body.code]).toEqual([type, 415, 'unsupported_media_type']);
      }
    });
  });
});
