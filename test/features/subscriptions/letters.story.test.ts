import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cancelInstruction } from '#solana/programs/subscriptions/instructions.ts';
import { endSkips, skipTime } from '../../world/clock.ts';
import { mailConfig } from '../../world/mail.ts';
import { collectingWorld, PRICE, passDays, run, SubscriptionSeller } from '../../world/subscription-life.ts';

describe('letters to a subscriber who gave an address', () => {
  const w = collectingWorld(mailConfig());
  let seller: SubscriptionSeller;
  beforeAll(async () => {
    seller = await SubscriptionSeller.open(w);
  });
  afterAll(endSkips);

  const letters = async (email: string) =>
    (
      await w.env.DB.prepare("SELECT letter, facts FROM mails WHERE address = ? AND letter LIKE 'subscription%' ORDER BY rowid")
        .bind(email)
        .all<{ letter: string; facts: string }>()
    ).results.map(({ letter, facts }) => [letter, JSON.parse(facts)]);

  it('tell of a period that could not be collected, once, and of the end of a subscription', async () => {
    const email = 'grace@example.com';
    const life = await seller.subscribe({ usdc: PRICE, email });
    await passDays(w, 30);
    for (const seconds of [660, 3700]) {
      await skipTime(w.chain, seconds);
      await run(w);
    }
    expect(await letters(email)).toEqual([
      ['subscription_past_due', { slug: seller.slug, product: 'Weather API', seller: 'Ada’s weather', amount: expect.any(Object) }],
    ]);
    await life.subscriber.send(cancelInstruction(life.subscriber.route));
    await passDays(w, 1);
    await run(w);
    const [, [letter, facts]] = (await letters(email)) as [unknown, [string, { through: string }]];
    expect([letter, facts.through]).toEqual(['subscription_cancelled', new Date((await life.read()).paidThrough!).toISOString()]);
  });
});
