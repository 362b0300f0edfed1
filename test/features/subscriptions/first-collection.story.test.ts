import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SECOND } from '#core/time.ts';
import { expirePayment } from '#features/payments/watch/expire.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import {
  collectingWorld,
  PRICE,
  passDays,
  run,
  SUBSCRIPTION_SWEEPS,
  SubscriptionLife,
  SubscriptionSeller,
} from '../../support/models/subscription-life.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { shardOf } from '../../support/runner/shards.ts';

describe('first period of a subscription', () => {
  const w = collectingWorld();
  let seller: SubscriptionSeller;
  beforeAll(async () => {
    seller = await SubscriptionSeller.open(w);
  });
  afterAll(endSkips);

  it('subscribing collects the period and confirms the checkout: payment, membership, receipt, authorization', async () => {
    const life = await seller.checkout();
    expect(await life.collectFirst()).toMatchObject({ kind: 'waiting', reason: 'not_subscribed' });
    expect(await life.payment()).toMatchObject({ status: 'PENDING_SIGNATURE' });
    await life.sign();
    expect(await life.collectFirst()).toMatchObject({ kind: 'sent' });
    await life.settle();
    const { subscription } = await life.subscriber.readSubscription();
    const startsAt = Number(subscription!.currentPeriodStartTs) * SECOND;
    const endsAt = startsAt + 30 * 86_400_000;
    expect(await life.payment()).toMatchObject({ status: 'CONFIRMED', payerWallet: life.subscriber.wallet.address });
    expect(await life.read()).toMatchObject({ status: 'active', paidThrough: endsAt, startedAt: startsAt, periodEndsAt: endsAt });
    expect(await life.eventTypes()).toEqual(['subscription.authorized']);
    expect(await life.membership()).toMatchObject({
      status: 'active',
      paid_through: new Date(endsAt).toISOString(),
      authorization_id: life.id,
      subscription_status: 'active',
      cancel_at_period_end: false,
    });
    expect(await w.chain.held(life.subscriber.wallet.address)).toBe(999n * PRICE);
    const [payment, ...more] = await life.payments();
    expect(more).toEqual([]);
    expect(payment).toMatchObject({ status: 'CONFIRMED', periodEndsAt: endsAt, receiptId: expect.any(String) });
    const { results } = await prepareOnEvents(w.env.DB, "SELECT data FROM events WHERE payment_id = ? AND type = 'payment.submitted'")
      .bind(payment!.id)
      .all<{ data: string }>();
    expect(results.map(({ data }) => JSON.parse(data).object.tx_signature)).toEqual([payment!.txSignature]);
  });

  it('the sweep finds a buyer who subscribed with a library and did not call the service', async () => {
    const life = await seller.checkout();
    await life.sign();
    await skipTime(w.chain, 20);
    await run(w);
    await life.settle();
    expect(await life.read()).toMatchObject({ status: 'active' });
    expect(await life.payment()).toMatchObject({ status: 'CONFIRMED' });
  });

  it('a first collection by the plan owner pays the checkout without a second transfer', async () => {
    const life = await seller.checkout();
    await life.sign();
    const signature = await seller.pull(life);
    expect(await life.collectFirst()).toMatchObject({ kind: 'collected', payment: { txSignature: signature } });
    const submitted = "SELECT count(*) AS n FROM events WHERE payment_id = ? AND type = 'payment.submitted'";
    const { id } = await life.payment();
    expect(await prepareOnEvents(w.env.DB, submitted).bind(id).first('n')).toBe(1);
    expect(await life.read()).toMatchObject({ status: 'active' });
    expect(await w.chain.held(life.subscriber.wallet.address)).toBe(999n * PRICE);
  });

  it('the period is not collected if the checkout ended after it was read', async () => {
    const life = await seller.checkout();
    const before = await life.payment();
    await life.sign();
    await w.env.DB.prepare("UPDATE payments SET status = 'FAILED', failure_code = 'replaced', version = version + 1 WHERE id = ?")
      .bind(before.id)
      .run();
    expect(await life.collectFirst(w.env, before)).toMatchObject({ kind: 'over', payment: { status: 'FAILED' } });
    expect(await w.chain.held(life.subscriber.wallet.address)).toBe(1000n * PRICE);
  });

  it('an uncollectable period leaves the checkout waiting until its end, then fails it and its authorization', async () => {
    const life = await seller.checkout({ usdc: PRICE - 1n });
    await life.sign();
    expect(await life.collectFirst()).toMatchObject({ kind: 'waiting', reason: 'insufficient_funds' });
    expect(await life.payment()).toMatchObject({ status: 'PENDING_CONFIRMATION' });
    expect(await life.read()).toMatchObject({ status: 'pending', lastCollection: { status: 'failed', code: 'insufficient_funds' } });
    await skipTime(w.chain, 40 * 60);
    await w.sweep();
    await life.settle();
    await skipTime(w.chain, 10 * 60);
    await run(w);
    expect(await life.payment()).toMatchObject({ status: 'FAILED', failureCode: 'collection_failed' });
    expect(await life.read()).toMatchObject({ status: 'expired', endedAt: expect.any(Number) });
    expect(await life.eventTypes()).toEqual([]);
  });

  it('the period is collected as soon as the wallet is funded, while the checkout lasts', async () => {
    const life = await seller.checkout({ usdc: PRICE - 1n });
    await life.sign();
    await life.collectFirst();
    await w.chain.call('local_fundUsdc', life.subscriber.wallet.address, '1');
    await skipTime(w.chain, 20);
    await run(w);
    await life.settle();
    expect(await life.read()).toMatchObject({ status: 'active', lastCollection: { status: 'collected' } });
  });
});

describe('first period found after the checkout failed', () => {
  const w = collectingWorld();
  let seller: SubscriptionSeller;
  beforeAll(async () => {
    seller = await SubscriptionSeller.open(w);
  });
  afterAll(endSkips);

  async function fail(life: SubscriptionLife): Promise<void> {
    await life.sign();
    expect(await life.collectFirst()).toMatchObject({ kind: 'sent' });
    await expirePayment(shardOf(w.env, life.paymentId), life.paymentId, 'session_expired');
    await skipTime(w.chain, 20);
    for (const sweep of SUBSCRIPTION_SWEEPS) await w.sweepAlone(sweep);
    expect(await life.read()).toMatchObject({ status: 'expired', endedAt: expect.any(Number) });
  }

  it('the found collection starts the subscription, which renews with the next period', async () => {
    const life = await seller.checkout();
    await fail(life);
    await life.settle();
    const [failed, recovered, ...more] = await life.payments();
    expect([failed, recovered, more]).toMatchObject([{ status: 'FAILED' }, { status: 'CONFIRMED' }, []]);
    const begun = await life.read();
    expect(begun).toMatchObject({
      status: 'active',
      endedAt: null,
      paidThrough: recovered!.periodEndsAt,
      nextAttemptAt: expect.any(Number),
    });
    const membership = async () =>
      (await w.call('GET', `/v1/memberships/lookup?payment_id=${recovered!.id}`, { key: seller.merchant.key })).body;
    expect(await membership()).toMatchObject({
      membership_id: begun.membershipId,
      status: 'active',
      paid_through: new Date(begun.paidThrough!).toISOString(),
      subscription_status: 'active',
    });
    expect(await life.eventTypes()).toEqual(['subscription.authorized']);
    await passDays(w, 31);
    await life.settle();
    expect(await life.eventTypes()).toEqual(['subscription.authorized', 'subscription.renewed']);
    expect((await life.payments()).filter(({ status }) => status === 'CONFIRMED')).toHaveLength(2);
    expect((await membership()).paid_through).toBe(new Date(begun.paidThrough! + 30 * 86_400_000).toISOString());
  });

  it('a late collection starts the subscription once the merchant accepts it', async () => {
    const life = await seller.checkout();
    await fail(life);
    const late = 'UPDATE payments SET expires_at = expires_at - 7200000, created_at = created_at - 7200000 WHERE id = ?';
    await w.env.DB.prepare(late).bind(life.paymentId).run();
    await life.settle();
    const { key } = seller.merchant;
    const { body: failed } = await w.call('GET', `/v1/payments/${life.paymentId}`, { key });
    expect(failed).toMatchObject({ status: 'FAILED', unmatched: [{ reason: 'late', status: 'open' }] });
    const body = { tx_signature: failed.unmatched[0].tx_signature };
    const accept = () => w.call('POST', `/v1/payments/${life.paymentId}/accept-unmatched`, { key, body });
    await w.chain.fault({ kind: 'http_503', method: 'getTransaction', times: 20 });
    expect((await accept()).body.code).toBe('rpc_unavailable');
    await w.chain.call('local_clearFaults');
    const accepted = await accept();
    expect(accepted).toMatchObject({ status: 200, body: { status: 'CONFIRMED', authorization_id: life.id } });
    expect((await accept()).body.payment_id).toBe(accepted.body.payment_id);
    const begun = await life.read();
    expect(begun).toMatchObject({ status: 'active', endedAt: null, paidThrough: expect.any(Number), nextAttemptAt: expect.any(Number) });
    expect(await life.eventTypes()).toEqual(['subscription.authorized']);
    await passDays(w, 31);
    await life.settle();
    expect(await life.eventTypes()).toEqual(['subscription.authorized', 'subscription.renewed']);
  });

  it('a late acceptance after several periods collects only the running one', async () => {
    const life = await seller.checkout();
    await fail(life);
    const late = 'UPDATE payments SET expires_at = expires_at - 7200000, created_at = created_at - 7200000 WHERE id = ?';
    await w.env.DB.prepare(late).bind(life.paymentId).run();
    await life.settle();
    const { key } = seller.merchant;
    const { body: failed } = await w.call('GET', `/v1/payments/${life.paymentId}`, { key });
    const body = { tx_signature: failed.unmatched[0].tx_signature };
    await passDays(w, 100);
    const accepted = await w.call('POST', `/v1/payments/${life.paymentId}/accept-unmatched`, { key, body });
    expect(accepted.body).toMatchObject({ status: 'CONFIRMED', authorization_id: life.id });
    for (let rounds = 0; rounds < 3; rounds++) await life.settle();
    const paid = (await life.payments()).filter(({ status }) => status === 'CONFIRMED');
    expect(paid).toHaveLength(2);
    const { periodStartsAt, periodEndsAt, paidThrough } = await life.read();
    expect([periodStartsAt! <= Date.now(), periodEndsAt! > Date.now(), paidThrough]).toEqual([true, true, periodEndsAt]);
    expect(await life.eventTypes()).toEqual(['subscription.authorized', 'subscription.renewed']);
  });

  it('a newer subscription of the wallet stays unchanged', async () => {
    const life = await seller.checkout();
    await fail(life);
    const next = await SubscriptionLife.begin(seller, life.subscriber.wallet, { customerRef: null, email: null });
    await w.env.DB.prepare(
      "UPDATE subscription_authorizations SET status = 'active', started_at = created_at, next_check_at = NULL WHERE id = ?",
    )
      .bind(next.id)
      .run();
    await life.settle();
    expect((await life.payments()).map(({ status }) => status)).toEqual(['FAILED', 'CONFIRMED']);
    expect([(await life.read()).status, (await next.read()).status]).toEqual(['expired', 'active']);
  });
});
