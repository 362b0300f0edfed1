import { beforeAll, describe, expect, it } from 'vitest';
import { findTrouble } from '#features/operator/health-checks.ts';
import { newCtx } from '#platform/context.ts';
import { channelWorld, fundChannels, LiveShop } from '../../support/chain/live-channel.ts';
import { MeteredShop, waitForProjection } from '../../support/clients/metered.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { testEnv } from '../../support/runner/env.ts';

const w = channelWorld();
beforeAll(() => fundChannels(w));

const readRow = (shop: MeteredShop) =>
  testEnv.DB.prepare('SELECT status, channel_id, version FROM metered_sessions WHERE id = ?').bind(shop.session.session_id).first();
const readEvents = async ({ session }: MeteredShop) =>
  (
    await prepareOnEvents(testEnv.DB, 'SELECT type FROM events WHERE subject_id = ? ORDER BY seq')
      .bind(session.session_id)
      .all<{ type: string }>()
  ).results.map(({ type }) => type);

describe('sandbox session that names a live channel', () => {
  it('the live session is stored with its events, whichever is stored first', async () => {
    const live = await LiveShop.make(w);
    const opening = await live.pull();
    const { channelId } = live.buyer;
    const copied = await MeteredShop.open(w, { isOpen: false });
    copied.buyer.channelId = channelId;
    expect((await copied.authorize(copied.buyer.ephemeralOpen('1000000'))).body.status).toBe('open');
    await waitForProjection(w, copied.session.session_id);
    expect((await live.authorize(opening)).body.status).toBe('open');
    await live.project();
    for (const shop of [copied, live]) expect(await readRow(shop)).toMatchObject({ status: 'open', channel_id: channelId });
    expect(await readEvents(live)).toContain('metered_session.opened');
    expect(await testEnv.DB.prepare('SELECT count(*) AS n FROM parked_messages').first('n')).toBe(0);
  });
});

describe('copy that violates a constraint', () => {
  it('the copy is parked once with an alarm, and the events of its batch are stored', async () => {
    const [stored, refused] = [await MeteredShop.open(w), await MeteredShop.open(w)];
    await waitForProjection(w, stored.session.session_id);
    await testEnv.DB.prepare("UPDATE metered_sessions SET channel_id = NULL, status = 'created' WHERE id = ?")
      .bind(refused.session.session_id)
      .run();
    await testEnv.DB.prepare('UPDATE metered_sessions SET channel_id = ? WHERE id = ?')
      .bind(refused.buyer.channelId, stored.session.session_id)
      .run();
    await waitForProjection(w, refused.session.session_id);
    await refused.authorize({ action: 'voucher', voucher: refused.buyer.voucher(5n) });
    await waitForProjection(w, refused.session.session_id);
    expect(await readRow(refused)).toMatchObject({ status: 'created', channel_id: null });
    expect(await readEvents(refused)).toContain('metered_session.opened');
    const { results: parked } = await testEnv.DB.prepare('SELECT id, queue, kind, reason FROM parked_messages').all();
    expect(parked).toEqual([
      { id: `refused_${refused.session.session_id}`, queue: 'svc-sandbox-dead', kind: 'projectMeteredSession', reason: 'failed' },
    ]);
    const ctx = newCtx(w.env, { requestId: 'req_trouble', defer: () => {} });
    expect((await findTrouble(ctx)).map(({ name }) => name)).toContain('dead_letters');
  });
});
