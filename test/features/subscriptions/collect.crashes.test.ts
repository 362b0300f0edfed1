import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { followUp } from '#features/subscriptions/collect-renewal.ts';
import { readSubscriptions } from '#features/subscriptions/read-subscriptions.ts';
import { seededRandom, withFaults } from '../../support/faults/faults.ts';
import { collectingWorld, PRICE, run, type SubscriptionLife, SubscriptionSeller } from '../../support/models/subscription-life.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { SEED } from '../../support/runner/env.ts';
import { shardOf } from '../../support/runner/shards.ts';

const PERIOD_MS = 30 * 86_400_000;

describe('collection by a crashing service', () => {
  const w = collectingWorld();
  let seller: SubscriptionSeller;
  beforeAll(async () => {
    seller = await SubscriptionSeller.open(w);
  });
  afterAll(endSkips);

  /** Advances past the spread of the next period's collections. */
  const toNextPeriod = async (life: SubscriptionLife) => {
    const { paidThrough } = await life.read();
    await skipTime(w.chain, Math.ceil((paidThrough! - Date.now()) / 1000) + 660);
  };
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
  const countTrips = async (life: SubscriptionLife) => {
    await toNextPeriod(life);
    const { env, trips } = withFaults(w.env);
    await run(w, env);
    await recover(life);
    return trips.length;
  };

  it.each(['before', 'after'] as const)('each step cut %s its database trip still collects the period once', async (when) => {
    const life = await seller.subscribe();
    const trips = await countTrips(life);
    let periods = 2;
    // Each run cuts every third step, from a start given by the seed.
    for (let cut = 1 + (SEED % 3); cut <= trips; cut += 3) {
      await toNextPeriod(life);
      const { env } = withFaults(w.env, { [when]: ({ number }: { number: number }) => number >= cut });
      await run(w, env).catch(() => {});
      await recover(life);
      periods++;
    }
    await expectPeriods(life, periods);
  });

  it('crashes at random moments over twelve periods with two racing sweeps collect each period once', async () => {
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

  it('an authorization changed since it was read is neither claimed nor collected', async () => {
    const life = await seller.subscribe();
    await toNextPeriod(life);
    const [stale, [reading]] = [await life.read(), await readSubscriptions(shardOf(w.env, life.id), [await life.route()])];
    await w.env.DB.prepare("UPDATE subscription_authorizations SET status = 'cancel_requested', version = version + 1 WHERE id = ?")
      .bind(life.id)
      .run();
    await followUp(shardOf(w.env, life.id), stale, reading!);
    expect(await w.chain.held(life.subscriber.wallet.address)).toBe(999n * PRICE);
    const { claimed } = (await w.env.DB.prepare('SELECT count(*) AS claimed FROM subscription_collections WHERE authorization_id = ?')
      .bind(life.id)
      .first<{ claimed: number }>())!;
    expect(claimed).toBe(1);
  });

  it.each(['drop', 'fail_after_broadcast'])(
    'a node that loses the transaction or its answer (%s) still leads to one collection',
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
