import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DAY, SECOND } from '#core/time.ts';
import { sweepDuePlans } from '#features/mail-delivery/due-plans.ts';
import { newCtx } from '#platform/context.ts';
import { letterToken, MailWorld } from '../../support/servers/mail.ts';
import { billing, TestProcessor } from '../../support/servers/processor.ts';
import type { Merchant } from '../../support/world.ts';

describe('the letter before a plan by card ends or renews', () => {
  let w: MailWorld;
  let stripe: TestProcessor;
  let ada: Merchant;
  let subscription: string;
  let periodEnd: number;

  /** What the owner is written once the sweep has run at an instant, twice. */
  const told = async (at: number) => {
    for (let time = 0; time < 2; time++)
      await sweepDuePlans(newCtx(w.env, { requestId: 'req_plans', now: at, wallNow: at, defer: (work) => void work }));
    const ofPlans = (await w.rows()).filter(({ account_id: id, letter }) => id === ada.userId && String(letter).startsWith('plan_'));
    return ofPlans.map(({ letter, facts }) => `${letter} ${JSON.parse(String(facts)).plan}`);
  };
  const act = async (what: string, asked: object = {}) => {
    for (const event of await stripe.act(what, { subscription, ...asked })) await stripe.deliver(event);
  };
  const buyTime = (plan: string, until: number) =>
    w.db.run(`UPDATE accounts SET plan = '${plan}', plan_through = ${until} WHERE id = '${ada.userId}'` as never);
  const endOf = async () => Date.parse((await billing(w, ada)).current_period_end);

  beforeAll(() => {
    w = new MailWorld();
    stripe = new TestProcessor(w);
  });
  beforeEach(async () => {
    ada = await w.merchant('free');
    await w.call('POST', '/v1/account/email/verify', { body: { token: await letterToken(w, ada.userId, 'verify') } });
    const bought = await stripe.buy(ada, 'growth');
    for (const event of bought.events) await stripe.deliver(event);
    ({ subscription } = bought);
    periodEnd = await endOf();
  });

  it('says three days before that the card is charged, once for each period', async () => {
    expect(await told(periodEnd - 3 * DAY - SECOND)).toEqual([]);
    expect(await told(periodEnd - 3 * DAY)).toEqual(['plan_renews Growth']);
    expect(await told(periodEnd - DAY)).toEqual(['plan_renews Growth']);
  });

  it('says that the plan ends where the card will not be charged again', async () => {
    await act('cancel', { at_period_end: true });
    expect(await told(periodEnd - 3 * DAY - SECOND)).toEqual([]);
    expect(await told(periodEnd - 2 * DAY)).toEqual(['plan_due Growth']);
  });

  it('says nothing of bought time that ends where a card goes on paying for a plan as high', async () => {
    const bought = Date.now() + 10 * DAY;
    await buyTime('starter', bought);
    expect(await told(bought - DAY)).toEqual([]);
    await buyTime('growth', bought);
    expect(await told(bought - DAY)).toEqual([]);
    await buyTime('scale', bought);
    expect(await told(bought - DAY)).toEqual(['plan_due Scale']);
  });

  it('says nothing of a card that ends where bought time goes on, and of bought time where the card ends with it', async () => {
    await act('cancel', { at_period_end: true });
    await buyTime('growth', periodEnd + 20 * DAY);
    expect(await told(periodEnd - DAY)).toEqual([]);
    await buyTime('growth', periodEnd);
    expect(await told(periodEnd - DAY)).toEqual(['plan_due Growth']);
  });

  it('says at once that a card could not be charged, and until when the plan is kept', async () => {
    await act('fail');
    await act('fail');
    await w.post();
    const [letter, ...others] = (await w.posted()).taken.filter(({ body }) => body.to[0] === ada.email);
    expect([letter?.body.subject, others]).toEqual(['Your Growth plan ends soon', []]);
  });
});
