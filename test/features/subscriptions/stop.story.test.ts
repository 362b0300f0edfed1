import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COLLECTING_KEYS, passDays, run, type SubscriptionLife, SubscriptionSeller } from '../../support/models/subscription-life.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { emailedToken, MailWorld } from '../../support/servers/mail.ts';
import type { Body } from '../../support/world.ts';

describe('POST /v1/access/native-subscriptions/{id}/stop', () => {
  const w = new MailWorld({ SUBSCRIPTION_KEYS: COLLECTING_KEYS });
  let seller: SubscriptionSeller;
  beforeAll(async () => {
    seller = await SubscriptionSeller.open(w);
  });
  afterAll(endSkips);

  /** Days pass in these tests, so each call needs a fresh session. */
  const signIn = async ({ merchant }: SubscriptionSeller): Promise<string> => {
    const body = { email: merchant.email, password: 'correct horse battery' };
    return (await w.call('POST', '/v1/auth/login', { body })).body.token;
  };
  const stop = async ({ path }: SubscriptionLife, key?: string, headers: Record<string, string> = {}) =>
    w.call('POST', `${path}/stop`, { key: key ?? (await signIn(seller)), headers });

  it('a stop ends collection permanently, whatever the chain allows, and preserves paid time', async () => {
    const life = await seller.subscribe();
    const { paidThrough } = await life.read();
    const [first, again] = [await stop(life), await stop(life)];
    expect([first.status, again.status, again.body.version]).toEqual([200, 200, first.body.version]);
    expect(first.body).toMatchObject({
      status: 'cancelled',
      stopped_at: expect.any(String),
      paid_through: new Date(paidThrough!).toISOString(),
    });
    for (let days = 0; days < 62; days += 31) {
      await passDays(w, 31);
      await run(w);
    }
    expect((await life.payments()).length).toBe(1);
    expect((await life.show()).body.status).toBe('cancelled');
    expect(await life.eventTypes()).toEqual(['subscription.authorized', 'subscription.cancelled']);
  });

  it('a stop that is repeated under its key has one effect and one answer, and its key does not stop another one', async () => {
    const [life, other] = [await seller.subscribe(), await seller.subscribe()];
    const headers = { 'Idempotency-Key': 'stop-of-a-subscription' };
    const [first, again] = [await stop(life, undefined, headers), await stop(life, undefined, headers)];
    expect([first.status, again.status, again.headers.get('Idempotent-Replayed')]).toEqual([200, 200, 'true']);
    expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body));
    expect((await stop(other, undefined, headers)).body).toMatchObject({ status: 'cancelled', authorization_id: other.id });
    expect(await life.eventTypes()).toEqual(['subscription.authorized', 'subscription.cancelled']);
  });

  it('the audit log shows the reason of a stop, if one is given', async () => {
    const [life, other] = [await seller.subscribe(), await seller.subscribe()];
    const key = await signIn(seller);
    const answer = await w.call('POST', `${life.path}/stop`, { key, body: { reason: 'The wallet is not mine' } });
    expect([answer.status, (await stop(other)).status]).toEqual([200, 200]);
    const { items } = (await w.call('GET', '/v1/account/audit-log?action=subscription.stopped', { key })).body;
    const reasons = new Map(items.map(({ subject, reason }: Body) => [subject.id, reason]));
    expect([reasons.get(life.id), reasons.get(other.id)]).toEqual(['The wallet is not mine', undefined]);
    expect((await w.call('POST', `${other.path}/stop`, { key, body: { reason: 'x'.repeat(501) } })).status).toBe(422);
  });

  it('a stop emails the subscriber how to end the consent on the chain, and the link continues to work', async () => {
    const life = await seller.subscribe({ email: 'grace@example.com' });
    expect((await stop(life)).status).toBe(200);
    await w.deliver();
    await w.post();
    const emails = (await w.posted()).taken.filter(({ body }) => body.to[0] === 'grace@example.com');
    const stopEmail = emails.find(({ body }) => body.subject === 'Your subscription was ended by its seller: Weather API')!;
    expect(stopEmail.body.text).toContain(`/s/${life.id}`);
    const { body } = await life.cancelIntent();
    const transaction = await w.chain.sign(life.subscriber.wallet, body.transaction);
    expect((await life.cancelConfirm({ transaction })).body.status).toBe('cancelled');
  });

  it('a stop by a key, another merchant or an old session, and one during the checkout, is refused', async () => {
    const life = await seller.subscribe();
    const eve = await w.merchant();
    const begun = await seller.checkout();
    const refused = [await stop(life, seller.merchant.key), await stop(life, eve.token), await stop(begun)];
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual([
      [403, 'invalid_authorization'],
      [404, 'not_found'],
      [409, 'state_conflict'],
    ]);
    const old = await signIn(seller);
    await passDays(w, 1);
    const late = await stop(life, (await w.call('POST', '/v1/auth/refresh', { body: { token: old } })).body.token);
    expect([late.status, late.body.meta.reason]).toEqual([403, 'sign_in_required']);
    expect((await life.read()).status).toBe('active');
  });

  it('a stop of an authorization that expired with its checkout answers 200 expired and sends no event', async () => {
    const life = await seller.checkout({ usdc: 1n });
    await skipTime(w.chain, 40 * 60);
    await w.sweep();
    await life.settle();
    await skipTime(w.chain, 10 * 60);
    await run(w);
    expect(await life.read()).toMatchObject({ status: 'expired', endedAt: expect.any(Number) });
    const [first, again] = [await stop(life), await stop(life)];
    expect([first.status, first.body.status, again.body]).toEqual([200, 'expired', first.body]);
    expect(await life.eventTypes()).toEqual([]);
  });

  it('a claim of the account stops its subscriptions for good, each with its event and email', async () => {
    const squatted = await SubscriptionSeller.open(w);
    const life = await squatted.subscribe({ email: 'grace.claimed@example.com' });
    const { merchant } = squatted;
    const body = { token: await emailedToken(w, merchant.userId, 'reset'), new_password: 'correct horse battery' };
    expect((await w.call('POST', '/v1/auth/password/reset', { body })).status).toBe(200);
    const change = { key: await signIn(squatted), body: { payout_wallet: merchant.wallet.address } };
    expect((await w.call('PATCH', `/v1/products/${squatted.productId}`, change)).status).toBe(200);
    for (let days = 0; days < 62; days += 31) {
      await passDays(w, 31);
      await run(w);
    }
    expect(await life.read()).toMatchObject({ status: 'cancelled', stoppedAt: expect.any(Number), endedAt: expect.any(Number) });
    expect((await life.payments()).length).toBe(1);
    expect(await life.eventTypes()).toEqual(['subscription.authorized', 'subscription.cancelled']);
    await w.deliver();
    await w.post();
    const emails = (await w.posted()).taken.filter(({ body }) => body.to[0] === 'grace.claimed@example.com');
    expect(emails.filter(({ body }) => body.subject === 'Your subscription was ended by its seller: Weather API').length).toBe(1);
  });

  it('a stop notifies a subscriber who had already cancelled at the end of the period', async () => {
    const life = await seller.subscribe({ email: 'grace.leaving@example.com' });
    const { body } = await life.cancelIntent();
    const transaction = await w.chain.sign(life.subscriber.wallet, body.transaction);
    expect((await life.cancelConfirm({ transaction })).body.status).toBe('cancel_requested');
    expect((await stop(life)).body.status).toBe('cancelled');
    await w.deliver();
    await w.post();
    const emails = (await w.posted()).taken.filter(({ body }) => body.to[0] === 'grace.leaving@example.com');
    expect(emails.map(({ body }) => body.subject)).toContain('Your subscription was ended by its seller: Weather API');
  });

  it('a refund that revokes the access of a period stops the subscription once, with one email', async () => {
    const life = await seller.subscribe({ email: 'ada.refunded@example.com' });
    const { key, wallet } = seller.merchant;
    const path = `/v1/payments/${life.paymentId}`;
    const prepared = await w.call('POST', `${path}/refund-transaction`, { key, body: { revoke_access: true } });
    const wire = await w.chain.sign(wallet, prepared.body.transaction);
    const tx_signature = await w.chain.call<string>('sendTransaction', wire, { encoding: 'base64' });
    for (let times = 0; times < 2; times++)
      expect((await w.call('POST', `${path}/refund-confirm`, { key, body: { tx_signature } })).status).toBe(200);
    expect((await life.show()).body).toMatchObject({ status: 'cancelled', stopped_at: expect.any(String) });
    expect(await life.membership()).toMatchObject({ status: 'cancelled', subscription_status: 'cancelled' });
    await w.deliver();
    await w.post();
    const emails = (await w.posted()).taken.filter(
      ({ body }) => body.to[0] === 'ada.refunded@example.com' && body.subject.startsWith('Your subscription'),
    );
    expect(emails.map(({ body }) => body.text.includes(`/s/${life.id}`))).toEqual([true]);
    await passDays(w, 31);
    await run(w);
    expect((await life.payments()).length).toBe(1);
    expect(await life.eventTypes()).toEqual(['subscription.authorized', 'subscription.cancelled']);
  });
});
