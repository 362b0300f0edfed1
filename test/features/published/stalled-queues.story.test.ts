import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MINUTE } from '#core/time.ts';
import { findTrouble } from '#features/operator/health-checks.ts';
import { newCtx } from '#platform/context.ts';
import { channelWorld, fundChannels, LiveShop } from '../../support/chain/live-channel.ts';
import { COLLECTING_KEYS, SubscriptionSeller } from '../../support/models/subscription-life.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';

describe('health with stalled work', () => {
  const w = channelWorld({ SUBSCRIPTION_KEYS: COLLECTING_KEYS });
  beforeAll(() => fundChannels(w));
  afterAll(endSkips);

  const queueHealth = async () => (await w.call('GET', '/health', { env: { ...w.env } })).body.checks.queue;
  const lateWork = async () => {
    const trouble = await findTrouble(newCtx(w.env, { requestId: 'req_late', defer: () => {} }));
    return trouble.map(({ name }) => name).filter((name) => name === 'late_collection' || name === 'late_closing_channel');
  };

  it('late collections make the queue check fail', async () => {
    const model = await (await SubscriptionSeller.open(w)).subscribe();
    const { periodEndsAt } = await model.read();
    // Past the jitter of the next collections.
    await skipTime(w.chain, Math.ceil((periodEndsAt! - Date.now() + 15 * MINUTE) / 1000));
    expect(await queueHealth()).toBe('ok');
    for (let sweeps = 0; sweeps < 4; sweeps++) {
      await skipTime(w.chain, 8 * 60);
      await w.sweepAlone('collections');
      // The queue delivers nothing, and the sweep has leased the rows of its messages.
      w.queue.sent.length = 0;
    }
    const { nextAttemptAt, collectAt } = await model.read();
    expect([nextAttemptAt! < Date.now() - 30 * MINUTE, collectAt! > Date.now()]).toEqual([true, true]);
    expect([await queueHealth(), await lateWork()]).toEqual(['failing', ['late_collection']]);
    await skipTime(w.chain, 6 * 60);
    await w.sweepAlone('collections');
    await w.deliver();
    await skipTime(w.chain, 15);
    await w.sweepAlone('settlements');
    expect([await queueHealth(), await lateWork()]).toEqual(['ok', []]);
  });

  it('a closing channel that is not sealed makes the queue check fail', async () => {
    const shop = await LiveShop.make(w);
    await shop.authorize(await shop.pull());
    await shop.use(40n, 40n);
    await w.chain.fault({ kind: 'http_503', method: 'sendTransaction', times: 1000 });
    expect((await shop.close()).body).toMatchObject({ status: 'closing' });
    await shop.project();
    expect([await queueHealth(), await lateWork()]).toEqual(['ok', []]);
    for (let rounds = 0; rounds < 4; rounds++) {
      await skipTime(w.chain, 8 * 60);
      await w.sweepAlone('closingChannels');
    }
    expect([await queueHealth(), await lateWork()]).toEqual(['failing', ['late_closing_channel']]);
    await w.chain.call('local_clearFaults');
    for (let rounds = 0; rounds < 3; rounds++) {
      await skipTime(w.chain, 60);
      await w.sweepAlone('settlements');
      await shop.watch();
    }
    expect((await shop.read()).status).toBe('closed');
    expect([await queueHealth(), await lateWork()]).toEqual(['ok', []]);
  });
});
