import { beforeEach, describe, expect, it } from 'vitest';
import { HOUR } from '#core/time.ts';
import { sweepDuePlans } from '#features/email-delivery/due-plans.ts';
import { newCtx } from '#platform/context.ts';
import { runScenario } from '../../support/clients/sandbox.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { landRefund, refundable } from '../../support/fixtures/refund.ts';
import { type Consumer, consumer, emit, flip, pass, waiting } from '../../support/people/consumer.ts';
import { emailedToken, MailWorld } from '../../support/servers/mail.ts';
import type { Merchant } from '../../support/world.ts';

const DAY = 24 * HOUR;

describe('emails caused by events', () => {
  let w: MailWorld;
  let ada: Merchant;
  let product: { slug: string; product_id: string };

  beforeEach(async () => {
    w = new MailWorld({ ALLOW_INSECURE_WEBHOOKS: 'true' });
    ada = await w.merchant();
    await w.db.run('DELETE FROM mails' as never);
    const body = { token: await emailedToken(w, ada.userId, 'verify') };
    expect((await w.call('POST', '/v1/account/email/verify', { body })).status).toBe(200);
    product = await w.product(ada);
  });

  /** Delivers all queued messages, each of them twice. */
  async function follow(env = w.env): Promise<void> {
    for (let jobs = w.queue.sent.splice(0); jobs.length > 0; jobs = w.queue.sent.splice(0))
      await w.deliver(
        [...jobs, ...jobs].map(({ job }) => job),
        env,
      );
    await w.post();
  }
  const subjects = async (to = ada.email) =>
    (await w.posted()).taken.filter(({ body }) => body.to[0] === to).map(({ body }) => body.subject);
  const readEmails = async (email: string) => (await w.rows()).filter((row) => row.template === email);
  const prefer = (notification_prefs: Record<string, boolean>) =>
    w.call('PATCH', '/v1/account/me', { key: ada.token, body: { notification_prefs } });

  it('a failing endpoint causes an email after 24 hours, after 72, and when it is disabled', async () => {
    const failing: Consumer = await consumer(w, ada, 'flip');
    await flip(failing, 500);
    const fails = async (hours: number) => {
      await pass(failing, hours * HOUR);
      w.queue.sent.length = 0;
      w.attempts.length = 0;
      await emit(w, ada);
      await w.deliver();
      await w.attempt(await waiting(w, failing));
      await follow();
    };
    await follow();
    const notices: [number, string[]][] = [];
    for (const hours of [0, 20, 5, 20, 30, 5, 60]) {
      await fails(hours);
      notices.push([hours, (await subjects()).filter((subject) => subject.includes('endpoint'))]);
    }
    const [failed, disabled] = ['A webhook endpoint is failing', 'A webhook endpoint was disabled'];
    expect(notices).toEqual([
      [0, []],
      [20, []],
      [5, [failed]],
      [20, [failed]],
      [30, [failed, failed]],
      [5, [failed, failed]],
      [60, [failed, failed, disabled]],
    ]);
  });

  it('unmatched money causes at most one email an hour', async () => {
    for (let index = 0; index < 3; index++) {
      const { payment } = await w.purchase(product, await w.chain.wallet());
      const second = await w.chain.pay(await w.chain.wallet(), payment, { units: BigInt(payment.price.base_units) + BigInt(index) });
      await w.confirm(payment.payment_id, second);
      await follow();
    }
    expect((await subjects()).filter((subject) => subject === 'Money arrived that pays no order')).toHaveLength(1);
    await w.db.run(`UPDATE mails SET created_at = created_at - ${HOUR + 1}` as never);
    const { payment } = await w.purchase(product, await w.chain.wallet());
    await w.confirm(payment.payment_id, await w.chain.pay(await w.chain.wallet(), payment, { units: 7_000_000n }));
    await follow();
    expect((await subjects()).filter((subject) => subject === 'Money arrived that pays no order')).toHaveLength(2);
  });

  it('a refund causes one email once it is on chain, and none if payout emails are off', async () => {
    const notices = async () => (await subjects()).filter((subject) => subject.startsWith('A refund of '));
    const payBack = async () => {
      const paid = await refundable(w, ada);
      const tx_signature = await landRefund(w, ada, paid);
      const confirm = () => w.call('POST', `${paid.path}/refund-confirm`, { key: ada.key, body: { tx_signature } });
      expect([(await confirm()).status, (await confirm()).status]).toEqual([200, 200]);
      await follow();
      return paid;
    };
    const { id } = await payBack();
    expect(await notices()).toHaveLength(1);
    const { body } = (await w.posted()).taken.find(({ body }) => body.subject.startsWith('A refund of '))!;
    expect(body.text).toContain(id);
    await prefer({ payouts: false });
    await payBack();
    expect(await notices()).toHaveLength(1);
  });

  it('a buyer gets the receipt in the language of the purchase, unless the merchant switched it off', async () => {
    await w.purchase(product, await w.chain.wallet(), { email: 'Grace@Example.com', locale: 'de' });
    await w.purchase(product, await w.chain.wallet());
    await follow();
    const [email, ...others] = (await w.posted()).taken.filter(({ body }) => /grace/i.test(body.to[0]!));
    expect([email!.body.subject, others]).toEqual(['Ihre Quittung: Weather API', []]);
    expect(email!.body.text).toMatch(/https:\/\/svc\.test\/r\/[0-9a-f-]{36}/);
    await prefer({ buyer_receipts: false });
    await w.purchase(product, await w.chain.wallet(), { email: 'grace@example.com' });
    await follow();
    expect((await readEmails('buyer_receipt')).map(({ status }) => status)).toEqual(['sent', 'dropped']);
  });

  it('a fault at any database trip neither loses nor duplicates the email of an event', async () => {
    await follow();
    const before = (await subjects()).length;
    for (let trip = 0; trip < 16; trip++) {
      const address = `trip-${trip}@example.com`;
      await w.purchase(product, await w.chain.wallet(), { email: address });
      const jobs = w.queue.sent.splice(0).map(({ job }) => job);
      const cut = ({ number }: { number: number }) => number === (trip >> 1) + 1;
      await w.deliver(jobs, withFaults(w.env, trip % 2 === 0 ? { before: cut } : { after: cut }).env);
      await w.deliver(jobs);
      await follow();
      await w.sweepAlone('mails');
      await w.post();
      const receipts = (await w.posted()).taken.slice(before).filter(({ body }) => body.to[0] === address);
      expect([trip, receipts.length]).toEqual([trip, 1]);
    }
  });

  it('sandbox events cause no email', async () => {
    await follow();
    const before = await w.rows();
    const seller = { ...ada, key: ada.sandboxKey };
    const tested = await w.product(seller);
    const { payment_id } = await w.connect(tested, { email: 'grace@example.com' });
    const { body } = await w.call('POST', '/v1/testing/pay', { key: ada.sandboxKey, body: { payment_id } });
    expect((await w.confirm(payment_id, body.tx_signature)).body.payment.status).toBe('CONFIRMED');
    await runScenario(w, ada, 'payment_duplicate_signature');
    await follow();
    await w.sweep();
    await follow();
    expect(await w.rows()).toEqual(before);
  });
});

describe('plan end email', () => {
  it('the email comes three days before the end, once per end, and not if renewal emails are off', async () => {
    const w = new MailWorld();
    const ada = await w.merchant('growth');
    await w.call('POST', '/v1/account/email/verify', { body: { token: await emailedToken(w, ada.userId, 'verify') } });
    const end = Date.now() + 30 * DAY;
    const endsAt = (at: number) => w.db.run(`UPDATE accounts SET plan_through = ${at} WHERE id = '${ada.userId}'` as never);
    await endsAt(end);
    const sweepAt = async (now: number) => {
      await sweepDuePlans(newCtx(w.env, { requestId: 'req_plans', now, wallNow: Date.now(), defer: (work) => void work }));
      await w.post();
      return (await w.posted()).taken.filter(({ body }) => body.to[0] === ada.email).map(({ body }) => body.subject);
    };
    const notices = 'Your Growth plan ends soon';
    expect(await sweepAt(end - 3 * DAY - 1000)).toEqual([]);
    expect(await sweepAt(end - 3 * DAY)).toEqual([notices]);
    expect(await sweepAt(end - DAY)).toEqual([notices]);
    await endsAt(end + 30 * DAY);
    expect(await sweepAt(end - DAY)).toEqual([notices]);
    expect(await sweepAt(end + 28 * DAY)).toEqual([notices, notices]);
    await w.call('PATCH', '/v1/account/me', { key: ada.token, body: { notification_prefs: { renewals: false } } });
    await endsAt(end + 60 * DAY);
    expect(await sweepAt(end + 58 * DAY)).toEqual([notices, notices]);
  });
});
