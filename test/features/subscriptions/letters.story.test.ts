import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cancelInstruction } from '#solana/programs/subscriptions/instructions.ts';
import { collectingWorld, PRICE, passDays, run, SubscriptionSeller } from '../../support/models/subscription-life.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { mailConfig } from '../../support/servers/mail.ts';

const DAY = 86_400;

describe('letters to a subscriber who gave an address', () => {
  const w = collectingWorld(mailConfig());
  let seller: SubscriptionSeller;
  /** Of five days. */
  let brief: SubscriptionSeller;
  beforeAll(async () => {
    seller = await SubscriptionSeller.open(w);
    brief = await SubscriptionSeller.open(w, { periodDays: 5 });
  });
  afterAll(endSkips);

  const letters = async (email: string) =>
    (
      await w.env.DB.prepare("SELECT letter, facts FROM mails WHERE address = ? AND letter LIKE 'subscription%' ORDER BY rowid")
        .bind(email)
        .all<{ letter: string; facts: string }>()
    ).results.map(({ letter, facts }) => [letter, JSON.parse(facts)]);

  it('tell three days before of each period that is to come, once, and where the subscription can be ended', async () => {
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
    expect(await letters(email)).toEqual([]);
    await skipTime(w.chain, 61);
    await run(w);
    const told = {
      authorization_id: life.id,
      product: 'Weather API',
      seller: 'Ada’s weather',
      amount: { asset: 'USDC', amount: '5', base_units: '5000000' },
      at: new Date(paidThrough!).toISOString(),
    };
    expect(await letters(email)).toEqual([['subscription_renews', told]]);
    const receipt = await w.env.DB.prepare("SELECT facts FROM mails WHERE address = ? AND letter = 'buyer_receipt'")
      .bind(email)
      .first('facts');
    expect(JSON.parse(receipt as string).authorization_id).toBe(life.id);
    await daily(4);
    await life.settle();
    expect(await letters(email)).toHaveLength(1);
    await daily(26);
    expect((await letters(email)).slice(1)).toEqual([
      ['subscription_renews', { ...told, at: new Date((await life.read()).paidThrough!).toISOString() }],
    ]);
  });

  it('tell nothing of short periods, nor of one that its subscriber has ended', async () => {
    const [short, ended] = [await brief.subscribe({ email: 'short@example.com' }), await seller.subscribe({ email: 'ended@example.com' })];
    await ended.subscriber.send(cancelInstruction(ended.subscriber.route));
    for (let day = 0; day < 29; day++) {
      await passDays(w, 1);
      await run(w);
    }
    expect((await short.payments()).length).toBeGreaterThan(3);
    expect(await letters('short@example.com')).toEqual([]);
    expect((await letters('ended@example.com')).map(([letter]) => letter)).toEqual(['subscription_cancelled']);
  });

  it('tell of a period that could not be collected, once, and of the end of a subscription', async () => {
    const email = 'grace@example.com';
    const life = await seller.subscribe({ usdc: PRICE, email });
    await passDays(w, 30);
    for (const seconds of [660, 3700]) {
      await skipTime(w.chain, seconds);
      await run(w);
    }
    expect((await letters(email)).filter(([letter]) => letter !== 'subscription_renews')).toEqual([
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
    const [letter, facts] = (await letters(email)).at(-1) as [string, { through: string }];
    expect([letter, facts.through]).toEqual(['subscription_cancelled', new Date((await life.read()).paidThrough!).toISOString()]);
  });
});
