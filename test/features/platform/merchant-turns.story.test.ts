import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY, MINUTE, SECOND } from '#core/time.ts';
import { takeDueSessions } from '#features/metered/watch/due.store.ts';
import { channelWorld, fundChannels, LiveShop } from '../../support/chain/live-channel.ts';
import { multiply } from '../../support/fixtures/multiply.ts';
import { COLLECTING_KEYS, SubscriptionSeller } from '../../support/models/subscription-life.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { shardOf } from '../../support/runner/shards.ts';
import { firstRun } from '../../support/world.ts';

const FLOOD = 4_000;
const WITHIN_MS = MINUTE;

describe(`one due row behind ${FLOOD} rows of another merchant`, () => {
  const w = channelWorld({ SUBSCRIPTION_KEYS: COLLECTING_KEYS });
  beforeAll(() => fundChannels(w));
  afterAll(endSkips);

  /** Runs a sweep once with at most a thousand calls. Returns its duration and whether more is due. */
  async function runOnce(sweep: string): Promise<{ ms: number; hasMore: boolean }> {
    await w.env.DB.prepare('UPDATE sweeps SET due_at = 0, sent_at = 0, lease_until = 0 WHERE name = ?').bind(sweep).run();
    const from = performance.now();
    const sent = await w.runSweep(firstRun(sweep), w.env);
    return { ms: performance.now() - from, hasMore: sent.some((next) => next.sweep === sweep) };
  }
  const dueAt = (table: string, column: string, id: string) =>
    w.env.DB.prepare(`SELECT ${column} AS at FROM ${table} WHERE id = ?`).bind(id).first<number>('at');
  const expectSeen = async (sweep: string, table: string, column: string, id: string) => {
    const { ms, hasMore } = await runOnce(sweep);
    // The collections sweep only sends a message for each ten collections, so nothing is left to do.
    expect(hasMore).toBe(sweep !== 'collections');
    expect(ms).toBeLessThan(WITHIN_MS);
    expect(await dueAt(table, column, id)).toBeGreaterThan(Date.now());
  };

  it.each([
    ['closingChannels', 'closing'],
    ['activeChannels', 'open'],
    ['channelOpenings', 'created'],
    ['endedChannels', 'closed'],
  ])('the first run of the channel sweep %s takes the row', async (sweep, status) => {
    const flooded = await LiveShop.make(w);
    const shop = await LiveShop.make(w);
    for (const one of [flooded, shop]) {
      await one.pull();
      await w.env.DB.prepare('UPDATE metered_sessions SET status = ?1, channel_id = ?2, ended_at = ?3, next_check_at = ?4 WHERE id = ?5')
        .bind(status, one.buyer.channelId, status === 'closed' ? 1 : null, Date.now() - SECOND, one.session.session_id)
        .run();
    }
    await multiply(w.env.DB, 'metered_sessions', 'id', flooded.session.session_id, FLOOD, {
      id: `printf('ms_${status}%026d', i)`,
      channel_id: "substr(metered_sessions.channel_id, 1, 36) || replace(printf('%05d', i), '0', 'z')",
      next_check_at: String(Date.now() - DAY),
    });
    await expectSeen(sweep, 'metered_sessions', 'next_check_at', shop.session.session_id);
    await w.env.DB.prepare('UPDATE metered_sessions SET next_check_at = NULL').run();
  });

  it('a voucher that ends soon is taken before vouchers that have ended or are settled', async () => {
    const [shop, ended, settled] = [await LiveShop.make(w), await LiveShop.make(w), await LiveShop.make(w)];
    const sql = `UPDATE metered_sessions SET status = 'open', channel_id = ?1, cumulative = '5', settled = ?2, voucher_ends_at = ?3, next_check_at = ?4
      WHERE id = ?5`;
    for (const [one, units, endsAt] of [
      [shop, '0', Date.now() + MINUTE],
      [ended, '0', Date.now() - MINUTE],
      [settled, '5', Date.now() + SECOND],
    ] as const) {
      await one.pull();
      await w.env.DB.prepare(sql)
        .bind(one.buyer.channelId, units, endsAt, Date.now() - SECOND, one.session.session_id)
        .run();
    }
    const taken = await takeDueSessions(shardOf(w.env, shop.session.session_id), 'closing', 1);
    expect(taken.map(({ id }) => id)).toEqual([shop.session.session_id]);
    await w.env.DB.prepare('UPDATE metered_sessions SET next_check_at = NULL').run();
  });

  it.each([
    ['collections', 'collect_at', 'active'],
    ['subscriptionCheckouts', 'next_check_at', 'pending'],
    ['subscriptions', 'next_check_at', 'active'],
  ])('the first run of the subscription sweep %s takes the row', async (sweep, column, status) => {
    const [flooded, model] = [await (await SubscriptionSeller.open(w)).subscribe(), await (await SubscriptionSeller.open(w)).subscribe()];
    if (sweep === 'collections') {
      const { periodEndsAt } = await model.read();
      await skipTime(w.chain, Math.ceil((periodEndsAt! - Date.now() + 15 * MINUTE) / 1000));
    }
    const sql = `UPDATE subscription_authorizations SET status = ?, ${column} = ? WHERE id = ?`;
    await w.env.DB.prepare(sql)
      .bind(status, Date.now() - SECOND, model.id)
      .run();
    await multiply(w.env.DB, 'subscription_authorizations', 'id', flooded.id, FLOOD, {
      id: `'${sweep}-' || i`,
      payment_id: `'${sweep}-' || i`,
      subscription_address: `'${sweep}-' || i`,
      status: `'${status}'`,
      [column]: String(Date.now() - DAY),
    });
    w.queue.sent.length = 0;
    await expectSeen(sweep, 'subscription_authorizations', column, model.id);
    const jobs = w.queue.sent.splice(0).map(({ job }) => job);
    if (sweep === 'collections') {
      await w.deliver(jobs.filter((job) => job.kind === 'collectSubscriptions' && job.authorizationIds.includes(model.id)));
      await skipTime(w.chain, 15);
      await w.sweepAlone('settlements');
      expect((await model.payments()).map(({ status: paid }) => paid)).toEqual(['CONFIRMED', 'CONFIRMED']);
    }
    await w.env.DB.prepare('DELETE FROM subscription_authorizations').run();
  });
});
