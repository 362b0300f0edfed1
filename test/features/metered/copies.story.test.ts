import { beforeAll, describe, expect, it } from 'vitest';
import { findTrouble } from '#features/operations/trouble.ts';
import { newCtx } from '#platform/context.ts';
import { channelWorld, fundChannels, LiveShop } from '../../support/chain/live-channel.ts';
import { MeteredShop, untilTold } from '../../support/clients/metered.ts';
import { testEnv } from '../../support/runner/env.ts';

const w = channelWorld();
beforeAll(() => fundChannels(w));

const rowOf = (shop: MeteredShop) =>
  testEnv.DB.prepare('SELECT status, channel_id, version FROM metered_sessions WHERE id = ?').bind(shop.session.session_id).first();
const eventsOf = async ({ session }: MeteredShop) =>
  (
    await testEnv.DB.prepare('SELECT type FROM events WHERE subject_id = ? ORDER BY seq').bind(session.session_id).all<{ type: string }>()
  ).results.map(({ type }) => type);

describe('a sandbox session that names a live channel', () => {
  it('leaves the live session its copy and its events, whichever is stored first', async () => {
    const live = await LiveShop.make(w);
    const opening = await live.pull();
    const { channelId } = live.buyer;
    const copied = await MeteredShop.open(w, { isOpen: false });
    copied.buyer.channelId = channelId;
    expect((await copied.authorize(copied.buyer.ephemeralOpen('1000000'))).body.status).toBe('open');
    await untilTold(w, copied.session.session_id);
    expect((await live.authorize(opening)).body.status).toBe('open');
    await live.project();
    for (const shop of [copied, live]) expect(await rowOf(shop)).toMatchObject({ status: 'open', channel_id: channelId });
    expect(await eventsOf(live)).toContain('metered_session.opened');
    expect(await testEnv.DB.prepare('SELECT count(*) AS n FROM parked_messages').first('n')).toBe(0);
  });
});

describe('a copy that a constraint refuses', () => {
  it('is parked once with an alarm, and the events of its batch are stored', async () => {
    const [kept, refused] = [await MeteredShop.open(w), await MeteredShop.open(w)];
    await untilTold(w, kept.session.session_id);
    await testEnv.DB.prepare("UPDATE metered_sessions SET channel_id = NULL, status = 'created' WHERE id = ?")
      .bind(refused.session.session_id)
      .run();
    await testEnv.DB.prepare('UPDATE metered_sessions SET channel_id = ? WHERE id = ?')
      .bind(refused.buyer.channelId, kept.session.session_id)
      .run();
    await untilTold(w, refused.session.session_id);
    await refused.authorize({ action: 'voucher', voucher: refused.buyer.voucher(5n) });
    await untilTold(w, refused.session.session_id);
    expect(await rowOf(refused)).toMatchObject({ status: 'created', channel_id: null });
    expect(await eventsOf(refused)).toContain('metered_session.opened');
    const { results: parked } = await testEnv.DB.prepare('SELECT id, queue, kind, reason FROM parked_messages').all();
    expect(parked).toEqual([
      { id: `refused_${refused.session.session_id}`, queue: 'svc-sandbox-dead', kind: 'projectMeteredSession', reason: 'failed' },
    ]);
    const ctx = newCtx(w.env, { requestId: 'req_trouble', defer: () => {} });
    expect((await findTrouble(ctx)).map(({ name }) => name)).toContain('dead_letters');
  });
});
