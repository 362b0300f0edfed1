import { beforeEach, describe, expect, it } from 'vitest';
import { HOUR } from '#core/time.ts';
import { sweepDuePlans } from '#features/mail-delivery/due-plans.ts';
import { newCtx } from '#platform/context.ts';
import { runScenario } from '../../support/clients/sandbox.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { landRefund, refundable } from '../../support/fixtures/refund.ts';
import { type Consumer, consumer, emit, flip, pass, waiting } from '../../support/people/consumer.ts';
import { letterToken, MailWorld } from '../../support/servers/mail.ts';
import type { Merchant } from '../../support/world.ts';

const DAY = 24 * HOUR;

describe('a letter that follows an event', () => {
  let w: MailWorld;
  let ada: Merchant;
  let product: { slug: string; product_id: string };

  beforeEach(async () => {
    w = new MailWorld({ ALLOW_INSECURE_WEBHOOKS: 'true' });
    ada = await w.merchant();
    await w.db.run('DELETE FROM mails' as never);
    const body = { token: await letterToken(w, ada.userId, 'verify') };
    expect((await w.call('POST', '/v1/account/email/verify', { body })).status).toBe(200);
    product = await w.product(ada);
  });

  /** Everything that follows, each message once more than it has to come. */
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
  const lettersOf = async (letter: string) => (await w.rows()).filter((row) => row.letter === letter);
  const prefer = (notification_prefs: Record<string, boolean>) =>
    w.call('PATCH', '/v1/account/me', { key: ada.token, body: { notification_prefs } });

  it('tells of an endpoint that fails after 24 hours, after 72, and when it is disabled, each once', async () => {
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
    const told: [number, string[]][] = [];
    for (const hours of [0, 20, 5, 20, 30, 5, 60]) {
      await fails(hours);
      told.push([hours, (await subjects()).filter((subject) => subject.includes('endpoint'))]);
    }
    const [failed, disabled] = ['A webhook endpoint is failing', 'A webhook endpoint was disabled'];
    expect(told).toEqual([
      [0, []],
      [20, []],
      [5, [failed]],
      [20, [failed]],
      [30, [failed, failed]],
      [5, [failed, failed]],
      [60, [failed, failed, disabled]],
    ]);
  });

  it('tells of money that pays nothing at most once an hour, however much a stranger sends', async () => {
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

  it('tells of a refund once the network shows it, once however often it is named, and not where payouts are switched off', async () => {
    const told = async () => (await subjects()).filter((subject) => subject.startsWith('A refund of '));
    const payBack = async () => {
      const paid = await refundable(w, ada);
      const tx_signature = await landRefund(w, ada, paid);
      const confirm = () => w.call('POST', `${paid.path}/refund-confirm`, { key: ada.key, body: { tx_signature } });
      expect([(await confirm()).status, (await confirm()).status]).toEqual([200, 200]);
      await follow();
      return paid;
    };
    const { id } = await payBack();
    expect(await told()).toHaveLength(1);
    expect((await w.posted()).taken.at(-1)!.body.text).toContain(id);
    await prefer({ payouts: false });
    await payBack();
    expect(await told()).toHaveLength(1);
  });

  it('brings a buyer the receipt in the language they bought in, unless the merchant switched that off', async () => {
    await w.purchase(product, await w.chain.wallet(), { email: 'Grace@Example.com', locale: 'de' });
    await w.purchase(product, await w.chain.wallet());
    await follow();
    const [letter, ...others] = (await w.posted()).taken.filter(({ body }) => /grace/i.test(body.to[0]!));
    expect([letter!.body.subject, others]).toEqual(['Ihre Quittung: Weather API', []]);
    expect(letter!.body.text).toMatch(/https:\/\/svc\.test\/r\/[0-9a-f-]{36}/);
    await prefer({ buyer_receipts: false });
    await w.purchase(product, await w.chain.wallet(), { email: 'grace@example.com' });
    await follow();
    expect((await lettersOf('buyer_receipt')).map(({ status }) => status)).toEqual(['sent', 'dropped']);
  });

  it('is written with what follows the event, or the event comes again: no fault between loses one or doubles it', async () => {
    await follow();
    const before = (await subjects()).length;
    for (let trip = 0; trip < 16; trip++) {
      const address = `trip-${trip}@example.com`;
      await w.purchase(product, await w.chain.wallet(), { email: address });
      const jobs = w.queue.sent.splice(0).map(({ job }) => job);
      const cut = ({ number }: { number: number }) => number === (trip >> 1) + 1;
      await w.deliver(jobs, withFaults(w.env, trip % 2 === 0 ? { before: cut } : { after: cut }).env);
      // What failed comes again, and so does what did not.
      await w.deliver(jobs);
      await follow();
      await w.sweepAlone('mails');
      await w.post();
      const receipts = (await w.posted()).taken.slice(before).filter(({ body }) => body.to[0] === address);
      expect([trip, receipts.length]).toEqual([trip, 1]);
    }
  });

  it('is not written for what happens in a sandbox, with an address or without', async () => {
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

describe('the letter before a plan ends', () => {
  it('comes three days before, once for each end, and not where renewals are switched off', async () => {
    const w = new MailWorld();
    const ada = await w.merchant('growth');
    await w.call('POST', '/v1/account/email/verify', { body: { token: await letterToken(w, ada.userId, 'verify') } });
    const end = Date.now() + 30 * DAY;
    const endsAt = (at: number) => w.db.run(`UPDATE accounts SET plan_through = ${at} WHERE id = '${ada.userId}'` as never);
    await endsAt(end);
    const sweepAt = async (now: number) => {
      await sweepDuePlans(newCtx(w.env, { requestId: 'req_plans', now, wallNow: Date.now(), defer: (work) => void work }));
      await w.post();
      return (await w.posted()).taken.filter(({ body }) => body.to[0] === ada.email).map(({ body }) => body.subject);
    };
    const told = 'Your Growth plan ends soon';
    expect(await sweepAt(end - 3 * DAY - 1000)).toEqual([]);
    expect(await sweepAt(end - 3 * DAY)).toEqual([told]);
    expect(await sweepAt(end - DAY)).toEqual([told]);
    await endsAt(end + 30 * DAY);
    expect(await sweepAt(end - DAY)).toEqual([told]);
    expect(await sweepAt(end + 28 * DAY)).toEqual([told, told]);
    await w.call('PATCH', '/v1/account/me', { key: ada.token, body: { notification_prefs: { renewals: false } } });
    await endsAt(end + 60 * DAY);
    expect(await sweepAt(end + 58 * DAY)).toEqual([told, told]);
  });
});
