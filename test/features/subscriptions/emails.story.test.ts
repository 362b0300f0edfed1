import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cancelInstruction } from '#solana/programs/subscriptions/instructions.ts';
import { collectingWorld, PRICE, passDays, run, SubscriptionSeller } from '../../support/models/subscription-life.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { mailConfig } from '../../support/servers/mail.ts';

const DAY = 86_400;

describe('emails to subscribers', () => {
  const w = collectingWorld(mailConfig());
  let seller: SubscriptionSeller;
  let brief: SubscriptionSeller;
  beforeAll(async () => {
    seller = await SubscriptionSeller.open(w);
    brief = await SubscriptionSeller.open(w, { periodDays: 5 });
  });
  afterAll(endSkips);

  const readEmails = async (email: string) =>
    (
      await w.env.DB.prepare("SELECT template, facts FROM mails WHERE address = ? AND template LIKE 'subscription%' ORDER BY rowid")
        .bind(email)
        .all<{ template: string; facts: string }>()
    ).results.map(({ template, facts }) => [template, JSON.parse(facts)]);

  it('a renewal email is sent once three days before each period, with the link to end the subscription', async () => {
    const email = 'ada@example.com';
    const life = await seller.subscribe({ email });
    const { paidThrough } = await life.read();
    const daily = async (days: number) => {
      for (let day = 0; day < days; day++) {
        await passDays(w, 1);
        await Promise.all([run(w), run(w)]);
      }
    };
    await skipTime(w.chain, Math.ceil((paidThrough! - Date.now()) / 1000) - 3 * DAY - 60);
    await run(w);
    expect(await readEmails(email)).toEqual([]);
    await skipTime(w.chain, 61);
    await run(w);
    const renewalFacts = {
      authorization_id: life.id,
      product: 'Weather API',
      seller: 'Ada’s weather',
      amount: { asset: 'USDC', amount: '5', base_units: '5000000' },
      at: new Date(paidThrough!).toISOString(),
    };
    expect(await readEmails(email)).toEqual([['subscription_renews', renewalFacts]]);
    const receipt = await w.env.DB.prepare("SELECT facts FROM mails WHERE address = ? AND template = 'buyer_receipt'")
      .bind(email)
      .first('facts');
    expect(JSON.parse(receipt as string).authorization_id).toBe(life.id);
    await daily(4);
    await life.settle();
    expect(await readEmails(email)).toHaveLength(1);
    await daily(26);
    expect((await readEmails(email)).slice(1)).toEqual([
      ['subscription_renews', { ...renewalFacts, at: new Date((await life.read()).paidThrough!).toISOString() }],
    ]);
  });

  it('short periods and a period that the subscriber has cancelled send no renewal email', async () => {
    const [short, ended] = [await brief.subscribe({ email: 'short@example.com' }), await seller.subscribe({ email: 'ended@example.com' })];
    await ended.subscriber.send(cancelInstruction(ended.subscriber.route));
    for (let day = 0; day < 29; day++) {
      await passDays(w, 1);
      await run(w);
    }
    expect((await short.payments()).length).toBeGreaterThan(3);
    expect(await readEmails('short@example.com')).toEqual([]);
    expect((await readEmails('ended@example.com')).map(([template]) => template)).toEqual(['subscription_cancelled']);
  });

  it('a failed collection and the end of a subscription send one email each', async () => {
    const email = 'grace@example.com';
    const life = await seller.subscribe({ usdc: PRICE, email });
    await passDays(w, 30);
    for (const seconds of [660, 3700]) {
      await skipTime(w.chain, seconds);
      await run(w);
    }
    expect((await readEmails(email)).filter(([template]) => template !== 'subscription_renews')).toEqual([
      [
        'subscription_past_due',
        {
          slug: seller.slug,
          authorization_id: life.id,
          product: 'Weather API',
          seller: 'Ada’s weather',
          amount: expect.any(Object),
        },
      ],
    ]);
    await life.subscriber.send(cancelInstruction(life.subscriber.route));
    await passDays(w, 1);
    await run(w);
    const [template, facts] = (await readEmails(email)).at(-1) as [string, { through: string }];
    expect([template, facts.through]).toEqual(['subscription_cancelled', new Date((await life.read()).paidThrough!).toISOString()]);
  });
});
