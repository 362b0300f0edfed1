import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectQueued } from '#features/subscriptions/sweep.ts';
import type { Env } from '#platform/context.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { COLLECTING_KEYS, passDays, run, type SubscriptionLife, SubscriptionSeller } from '../../support/models/subscription-life.ts';
import { endSkips } from '../../support/runner/clock.ts';
import { shardOf } from '../../support/runner/shards.ts';
import { MailWorld } from '../../support/servers/mail.ts';

describe('refund that revokes the access of a period', () => {
  const w = new MailWorld({ SUBSCRIPTION_KEYS: COLLECTING_KEYS });
  afterAll(endSkips);
  let seller: SubscriptionSeller;
  const emailOf = (life: SubscriptionLife) => `${life.id}@example.com`.toLowerCase();
  beforeAll(async () => {
    seller = await SubscriptionSeller.open(w);
  });
  const subscribe = async () => {
    const life = await seller.subscribe({ email: 'buyer@example.com' });
    await w.env.DB.prepare('UPDATE subscription_authorizations SET email = ? WHERE id = ?').bind(emailOf(life), life.id).run();
    return life;
  };

  const prepareRefund = async (life: SubscriptionLife) => {
    const { key, wallet } = seller.merchant;
    const path = `/v1/payments/${life.paymentId}`;
    const { body } = await w.call('POST', `${path}/refund-transaction`, { key, body: { revoke_access: true } });
    const wire = await w.chain.sign(wallet, body.transaction);
    const tx_signature = await w.chain.call<string>('sendTransaction', wire, { encoding: 'base64' });
    return (env: Env = w.env) => w.call('POST', `${path}/refund-confirm`, { key, body: { tx_signature }, env });
  };
  const begunPeriods = (life: SubscriptionLife) =>
    w.env.DB.prepare('SELECT count(*) AS n FROM subscription_collections WHERE authorization_id = ?').bind(life.id).first<number>('n');

  async function expectEndedOnce(life: SubscriptionLife, periods: number, at: string): Promise<void> {
    await life.settle();
    await passDays(w, 31);
    await run(w);
    await life.settle();
    expect((await life.payments()).length, at).toBe(periods);
    expect((await life.read()).status, at).toBe('cancelled');
    const types = await life.eventTypes();
    expect(
      types.filter((type) => type === 'subscription.cancelled'),
      at,
    ).toEqual(['subscription.cancelled']);
    await w.deliver();
    await w.post();
    const emails = (await w.posted()).taken.filter(({ body }) => body.to[0] === emailOf(life) && body.subject.includes('was ended'));
    expect(emails.length, at).toBe(1);
  }

  it('no collection starts after the refund, between any two steps of a collection', async () => {
    const periods: number[] = [];
    for (let n = 1; ; n++) {
      const life = await subscribe();
      await passDays(w, 31);
      const confirm = await prepareRefund(life);
      let begun: number | null = null;
      const rival = async () => {
        expect((await confirm()).status).toBe(200);
        begun = await begunPeriods(life);
      };
      const faulty = withFaults(w.env, { before: async ({ number }) => number === n && Boolean(await rival()) && false });
      await collectQueued(shardOf(faulty.env, life.id), { authorizationIds: [life.id] });
      if (begun === null) break;
      periods.push(begun);
      await expectEndedOnce(life, begun, `before step ${n}`);
    }
    // The claim of the period is the last step.
    expect(periods.length).toBeGreaterThan(1);
    expect(new Set(periods)).toEqual(new Set([1]));
  }, 120_000);

  it('a refund during a collection in flight ends the subscription with that collection as the last payment', async () => {
    const life = await subscribe();
    await passDays(w, 31);
    const confirm = await prepareRefund(life);
    await collectQueued(shardOf(w.env, life.id), { authorizationIds: [life.id] });
    expect(await begunPeriods(life)).toBe(2);
    expect((await confirm()).status).toBe(200);
    await expectEndedOnce(life, 2, 'sent');
  });

  it('a refund and a cancellation by the buyer end the subscription once, between any two steps', async () => {
    for (let n = 1; ; n++) {
      const life = await subscribe();
      const confirm = await prepareRefund(life);
      const { body } = await life.cancelIntent();
      const transaction = await w.chain.sign(life.subscriber.wallet, body.transaction);
      let isCut = false;
      const rival = async () => {
        isCut = true;
        expect([200, 409]).toContain((await life.cancelConfirm({ transaction })).status);
      };
      const faulty = withFaults(w.env, { before: async ({ number }) => number === n && Boolean(await rival()) && false });
      expect((await confirm(faulty.env)).status).toBe(200);
      if (!isCut) break;
      await expectEndedOnce(life, 1, `before step ${n}`);
    }
  }, 120_000);
});
