import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UNOPENED_SESSIONS_MAX } from '#core/limits.ts';
import { HOUR, MINUTE } from '#core/time.ts';
import { newCtx } from '#platform/context.ts';
import { isStalled, readVitalSigns, waitingMs } from '#platform/db/due/vital-signs.ts';
import { channelWorld, fundChannels, LiveShop } from '../../support/chain/live-channel.ts';
import { multiply } from '../../support/fixtures/multiply.ts';
import { newKey } from '../../support/people/agent.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';

const FLOOD = 10_000;
const SWEEPS = ['closingChannels', 'activeChannels', 'channelOpenings', 'endedChannels', 'unopenedSessions'];

describe('sweep classes of metered sessions', () => {
  const w = channelWorld();
  beforeAll(() => fundChannels(w));
  afterAll(endSkips);

  const open = async (body: object = {}): Promise<LiveShop> => {
    const shop = await LiveShop.make(w, { body: { idle_timeout_seconds: 86_400, ...body } });
    expect((await shop.authorize(await shop.pull())).status).toBe(200);
    await shop.project();
    return shop;
  };
  const objectOf = (shop: LiveShop) => w.env.METERED_SESSION.getByName(shop.session.session_id);
  const loseAlarm = (shop: LiveShop) => runInDurableObject(objectOf(shop), (_, { storage }) => storage.deleteAlarm());
  const readAlarm = (shop: LiveShop) => runInDurableObject(objectOf(shop), (_, { storage }) => storage.getAlarm());
  const readRow = (shop: LiveShop) =>
    w.env.DB.prepare('SELECT status, next_check_at AS dueAt FROM metered_sessions WHERE id = ?')
      .bind(shop.session.session_id)
      .first<{ status: string; dueAt: number | null }>();
  const countSessions = (status: string, productId: string) =>
    w.env.DB.prepare('SELECT count(*) AS n FROM metered_sessions WHERE status = ? AND product_id = ?').bind(status, productId).first('n');
  const flood = async (): Promise<LiveShop> => {
    const shop = await LiveShop.make(w);
    await multiply(w.env.DB, 'metered_sessions', 'id', shop.session.session_id, FLOOD, {
      id: "printf('ms_%026d', i)",
      expires_at: '1',
      next_check_at: '1',
    });
    return shop;
  };

  it(`a closing channel is sealed within a minute, before ${FLOOD} unopened sessions`, async () => {
    const shop = await open();
    await shop.use(70n, 70n);
    const flooded = await flood();
    await shop.requestClose();
    await skipTime(w.chain, 60);
    // Each invocation fails beyond a thousand calls over all bindings.
    await shop.watch();
    expect(await shop.read()).toMatchObject({ status: 'closed', settled: { base_units: '70' } });
    expect(await countSessions('created', flooded.session.product_id)).toBe(FLOOD + 1);
    await w.sweepAlone('unopenedSessions');
    expect(await countSessions('expired', flooded.session.product_id)).toBe(FLOOD);
    expect(await countSessions('created', flooded.session.product_id)).toBe(1);
  });

  it('a late check of a closing channel stalls health, and each late class is named', async () => {
    const shop = await open();
    const late = async (status: string) => {
      await w.env.DB.prepare('UPDATE metered_sessions SET status = ?1, next_check_at = ?2, seal_due_at = ?2 WHERE id = ?3')
        .bind(status, Date.now() - 20 * MINUTE, shop.session.session_id)
        .run();
      const ctx = newCtx(w.env, { requestId: 'req_signs', defer: () => {} });
      const { waiting } = await readVitalSigns(ctx, {});
      const isHeldUp = await ctx.db.get<{ held: number }>(sql`SELECT ${isStalled({ now: ctx.now - 10 * MINUTE, wallNow: 0 })} AS held`);
      return [waitingMs(ctx, waiting).flatMap(({ name, isLate }) => (isLate && name.endsWith('channel') ? [name] : [])), isHeldUp!.held];
    };
    expect(await late('open')).toEqual([['open_channel'], 0]);
    expect(await late('closing')).toEqual([['closing_channel'], 1]);
    await w.env.DB.prepare("UPDATE metered_sessions SET status = 'open' WHERE id = ?").bind(shop.session.session_id).run();
  });

  it.each([
    ['expiring_voucher', "status = 'open', cumulative = '5', settled = '0', voucher_ends_at = ?1 + 600000", 1],
    ['channel_opening', "status = 'created', voucher_ends_at = NULL", 0],
    ['unopened_session', "status = 'created', channel_id = NULL", 0],
    ['ended_channel', "status = 'closed', ended_at = 1", 0],
  ])('vital signs state how long a check of the class %s is overdue', async (name, columns, held) => {
    const shop = await open();
    await w.env.DB.prepare(`UPDATE metered_sessions SET ${columns}, next_check_at = ?2 WHERE id = ?3`)
      .bind(Date.now(), Date.now() - 7 * HOUR, shop.session.session_id)
      .run();
    const ctx = newCtx(w.env, { requestId: 'req_signs', defer: () => {} });
    const { waiting } = await readVitalSigns(ctx, {});
    expect(waitingMs(ctx, waiting)).toContainEqual({ name, ms: expect.closeTo(7 * HOUR, -4), isLate: true });
    const stalled = sql`SELECT ${isStalled({ now: ctx.now - 10 * MINUTE, wallNow: 0 })} AS held`;
    expect(await ctx.db.get<{ held: number }>(stalled)).toEqual({ held });
    await w.env.DB.prepare('DELETE FROM metered_sessions WHERE id = ?').bind(shop.session.session_id).run();
  });

  it('a separate sweep seals a closing channel in time if its object lost its alarm', async () => {
    const shop = await open();
    await shop.use(70n, 70n);
    await shop.project();
    await shop.requestClose();
    await loseAlarm(shop);
    await skipTime(w.chain, 180);
    await w.sweepAlone('activeChannels');
    expect(await shop.read()).toMatchObject({ status: 'closed', settled: { base_units: '70' } });
  });

  it('sweeps leave a session alone that its own alarm has checked', async () => {
    const shop = await open();
    await skipTime(w.chain, 60);
    await shop.watch();
    const before = await readRow(shop);
    for (const sweep of SWEEPS) await w.sweepAlone(sweep);
    expect(await readRow(shop)).toEqual(before);
    expect(await readAlarm(shop)).toBeLessThanOrEqual(Date.now() + MINUTE);
  });

  it('a channel with the shortest grace period is checked more often', async () => {
    const shop = await open({ grace_period_seconds: 300 });
    expect(await readAlarm(shop)).toBeLessThanOrEqual(Date.now() + MINUTE / 2);
  });

  it('the object schedules the next check after a lost one', async () => {
    const shop = await open();
    await skipTime(w.chain, 60);
    await runDurableObjectAlarm(objectOf(shop));
    expect(await readAlarm(shop)).toBeGreaterThan(Date.now() - MINUTE);
  });

  it(`session ${UNOPENED_SESSIONS_MAX + 1} of a product closes its oldest unopened session`, async () => {
    const shop = await LiveShop.make(w);
    await multiply(w.env.DB, 'metered_sessions', 'id', shop.session.session_id, UNOPENED_SESSIONS_MAX - 1, {
      id: "printf('ms_9%025d', i)",
    });
    const request = { product_id: shop.session.product_id, cap: { asset: 'USDC', amount: '1' } };
    const made = await w.call('POST', '/v1/access/metered-sessions', {
      key: shop.key,
      body: request,
      headers: { 'Idempotency-Key': newKey() },
    });
    expect(made.status).toBe(201);
    expect([await countSessions('created', request.product_id), await countSessions('closed', request.product_id)]).toEqual([
      UNOPENED_SESSIONS_MAX,
      1,
    ]);
  });
});
