import { afterAll, expect, it } from 'vitest';
import { Budget, currentBudget, withBudget } from '#core/isolate/budget.ts';
import { MINUTE } from '#core/time.ts';
import { collectQueued } from '#features/subscriptions/sweep.ts';
import { collectingWorld, type SubscriptionLife, SubscriptionSeller } from '../../support/models/subscription-life.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { JOBS_BATCH } from '../../support/runner/queues.ts';
import { shardOf } from '../../support/runner/shards.ts';

const w = collectingWorld();
afterAll(endSkips);

it('a batch of messages that each collect ten periods fits the call limit of an invocation, in any lanes', async () => {
  const seller = await SubscriptionSeller.open(w);
  const lives = [await seller.subscribe(), await seller.subscribe(), await seller.subscribe(), await seller.subscribe()];
  const { periodEndsAt } = await lives[3]!.read();
  await skipTime(w.chain, Math.ceil((periodEndsAt! - Date.now() + 15 * MINUTE) / 1000));
  const countCalls = (collected: SubscriptionLife[]) =>
    withBudget(async () => {
      await collectQueued(shardOf(w.env, collected[0]!.id), { authorizationIds: collected.map(({ id }) => id) });
      return currentBudget().spent;
    });
  const one = await countCalls(lives.slice(0, 1));
  const each = ((await countCalls(lives.slice(1))) - one) / 2;
  expect(each).toBeGreaterThan(2);
  expect(JOBS_BATCH * (one + 9 * each)).toBeLessThan(new Budget().left);
  for (const life of lives) await life.settle();
  expect(await Promise.all(lives.map(async (life) => (await life.payments()).length))).toEqual([2, 2, 2, 2]);
});
