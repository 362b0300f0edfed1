import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DAY, SECOND } from '#core/time.ts';
import { sweepDuePlans } from '#features/email-delivery/due-plans.ts';
import { newCtx } from '#platform/context.ts';
import { emailedToken, MailWorld } from '../../support/servers/mail.ts';
import { billing, TestProcessor } from '../../support/servers/processor.ts';
import type { Merchant } from '../../support/world.ts';

describe('plan emails of card subscriptions', () => {
  let w: MailWorld;
  let stripe: TestProcessor;
  let ada: Merchant;
  let subscription: string;
  let periodEnd: number;

  /** Runs the sweep twice at an instant and returns the plan emails of the owner. */
  const listPlanEmails = async (at: number) => {
    for (let time = 0; time < 2; time++)
      await sweepDuePlans(newCtx(w.env, { requestId: 'req_plans', now: at, wallNow: at, defer: (work) => void work }));
    const ofPlans = (await w.rows()).filter(
      ({ account_id: id, template: email }) => id === ada.userId && String(email).startsWith('plan_'),
    );
    return ofPlans.map(({ template: email, facts }) => `${email} ${JSON.parse(String(facts)).plan}`);
  };
  const act = async (what: string, asked: object = {}) => {
    for (const event of await stripe.act(what, { subscription, ...asked })) await stripe.deliver(event);
  };
  const buyTime = (plan: string, until: number) =>
    w.db.run(`UPDATE accounts SET plan = '${plan}', plan_through = ${until} WHERE id = '${ada.userId}'` as never);
  const readEnd = async () => Date.parse((await billing(w, ada)).current_period_end);

  beforeAll(() => {
    w = new MailWorld();
    stripe = new TestProcessor(w);
  });
  beforeEach(async () => {
    ada = await w.merchant('free');
    await w.call('POST', '/v1/account/email/verify', { body: { token: await emailedToken(w, ada.userId, 'verify') } });
    const bought = await stripe.buy(ada, 'growth');
    for (const event of bought.events) await stripe.deliver(event);
    ({ subscription } = bought);
    periodEnd = await readEnd();
  });

  it('an email three days before renewal announces the charge, once per period', async () => {
    expect(await listPlanEmails(periodEnd - 3 * DAY - SECOND)).toEqual([]);
    expect(await listPlanEmails(periodEnd - 3 * DAY)).toEqual(['plan_renews Growth']);
    expect(await listPlanEmails(periodEnd - DAY)).toEqual(['plan_renews Growth']);
  });

  it('an email announces the end if the card will not be charged again', async () => {
    await act('cancel', { at_period_end: true });
    expect(await listPlanEmails(periodEnd - 3 * DAY - SECOND)).toEqual([]);
    expect(await listPlanEmails(periodEnd - 2 * DAY)).toEqual(['plan_due Growth']);
  });

  it('no email announces the end of bought time while a card pays for an equal or higher plan', async () => {
    const bought = Date.now() + 10 * DAY;
    await buyTime('starter', bought);
    expect(await listPlanEmails(bought - DAY)).toEqual([]);
    await buyTime('growth', bought);
    expect(await listPlanEmails(bought - DAY)).toEqual([]);
    await buyTime('scale', bought);
    expect(await listPlanEmails(bought - DAY)).toEqual(['plan_due Scale']);
  });

  it('no email announces the end of a card plan while bought time continues, and one does if both end', async () => {
    await act('cancel', { at_period_end: true });
    await buyTime('growth', periodEnd + 20 * DAY);
    expect(await listPlanEmails(periodEnd - DAY)).toEqual([]);
    await buyTime('growth', periodEnd);
    expect(await listPlanEmails(periodEnd - DAY)).toEqual(['plan_due Growth']);
  });

  it('a failed charge causes one email at once', async () => {
    await act('fail');
    await act('fail');
    await w.post();
    const [email, ...others] = (await w.posted()).taken.filter(({ body }) => body.to[0] === ada.email);
    expect([email?.body.subject, others]).toEqual(['Your Growth plan ends soon', []]);
  });
});
