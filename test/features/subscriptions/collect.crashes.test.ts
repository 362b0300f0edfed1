import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { followUp } from '#features/subscriptions/collect-renewal.ts';
import { lookAtSubscriptions } from '#features/subscriptions/look.ts';
import { seededRandom, withFaults } from '../../support/faults/faults.ts';
import { collectingWorld, PRICE, run, type SubscriptionLife, SubscriptionSeller, shardOf } from '../../support/models/subscription-life.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { SEED } from '../../support/runner/env.ts';

const PERIOD_MS = 30 * 86_400_000;

describe('a service that dies while it collects', () => {
  const w = collectingWorld();
  let seller: SubscriptionSeller;
  beforeAll(async () => {
    seller = await SubscriptionSeller.open(w);
  });
  afterAll(endSkips);

  /** To where the next period is due, past the spread of its collections. */
  const toNextPeriod = async (life: SubscriptionLife) => {
    const { paidThrough } = await life.read();
    await skipTime(w.chain, Math.ceil((paidThrough! - Date.now()) / 1000) + 660);
  };
  /** All that was begun comes to its end. */
  const recover = async (life: SubscriptionLife) => {
    for (let round = 0; round < 3; round++) {
      await skipTime(w.chain, 400);
      await run(w);
    }
    await life.settle();
  };
  const expectPeriods = async (life: SubscriptionLife, count: number) => {
    const { startedAt } = await life.read();
    const payments = await life.payments();
    expect(payments.map(({ periodEndsAt }) => periodEndsAt)).toEqual(
      Array.from({ length: count }, (_, n) => startedAt! + (n + 1) * PERIOD_MS),
    );
    expect(await w.chain.held(life.subscriber.wallet.address)).toBe((1_000n - BigInt(count)) * PRICE);
    expect((await life.eventTypes()).filter((type) => type === 'subscription.renewed')).toHaveLength(count - 1);
    expect(await life.read()).toMatchObject({ status: 'active', paidThrough: startedAt! + count * PERIOD_MS });
  };
  /** How many round trips to the database a whole collection takes. */
  const countTrips = async (life: SubscriptionLife) => {
    await toNextPeriod(life);
    const { env, trips } = withFaults(w.env);
    await run(w, env);
    await recover(life);
    return trips.length;
  };

  it.each(['before', 'after'] as const)('at each step of it, the database cut %s, collects the period once', async (when) => {
    const life = await seller.subscribe();
    const trips = await countTrips(life);
    let periods = 2;
    // Every third step in one story: others start elsewhere by the seed.
    for (let cut = 1 + (SEED % 3); cut <= trips; cut += 3) {
      await toNextPeriod(life);
      const { env } = withFaults(w.env, { [when]: ({ number }: { number: number }) => number >= cut });
      await run(w, env).catch(() => {});
      await recover(life);
      periods++;
    }
    await expectPeriods(life, periods);
  });

  it('at random moments, over twelve periods, with two sweeps that race, collects each of them once', async () => {
    const life = await seller.subscribe();
    const random = seededRandom(SEED);
    for (let period = 1; period < 12; period++) {
      await toNextPeriod(life);
      const dies = () => {
        const cut = 1 + Math.floor(random() * 40);
        const isLost = random() < 0.5;
        return withFaults(w.env, { [isLost ? 'after' : 'before']: ({ number }: { number: number }) => number >= cut }).env;
      };
      await Promise.all([run(w, dies()).catch(() => {}), run(w, dies()).catch(() => {})]);
      await recover(life);
    }
    await expectPeriods(life, 12);
  });

  it('and a change of the authorization since it was read claims nothing and sends nothing', async () => {
    const life = await seller.subscribe();
    await toNextPeriod(life);
    const [stale, [look]] = [await life.read(), await lookAtSubscriptions(shardOf(w.env), [await life.route()])];
    await w.env.DB.prepare("UPDATE subscription_authorizations SET status = 'cancel_requested', version = version + 1 WHERE id = ?")
      .bind(life.id)
      .run();
    await followUp(shardOf(w.env), stale, look!);
    expect(await w.chain.held(life.subscriber.wallet.address)).toBe(999n * PRICE);
    const { claimed } = (await w.env.DB.prepare('SELECT count(*) AS claimed FROM subscription_collections WHERE authorization_id = ?')
      .bind(life.id)
      .first<{ claimed: number }>())!;
    expect(claimed).toBe(1);
  });

  it.each(['drop', 'fail_after_broadcast'])(
    'and a node that loses the transaction, or its answer (%s), collects the period once',
    async (kind) => {
      const life = await seller.subscribe();
      await toNextPeriod(life);
      await w.chain.fault({ kind, method: 'sendTransaction', times: 1 });
      await run(w);
      await recover(life);
      await expectPeriods(life, 2);
    },
  );
});
