import { describe, expect, it } from 'vitest';
import { DAY, MINUTE } from '#core/time.ts';
import { ChannelBuyer, MeteredShop } from '../../support/clients/metered.ts';
import { newKey, withObjectFaults } from '../../support/people/agent.ts';
import { World } from '../../support/world.ts';

const w = new World();
const unopened = () => MeteredShop.open(w, { isOpen: false });
const channelClosed = [410, 'channel_closed'];
const said = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];
const setRow = (shop: MeteredShop, columns: string) =>
  w.env.DB.prepare(`UPDATE metered_sessions SET ${columns} WHERE id = ?`).bind(shop.session.session_id).run();

describe('unopened metered session', () => {
  it('the merchant can close it with nothing settled, and it cannot be opened afterwards', async () => {
    const shop = await unopened();
    const closed = await shop.close();
    expect([closed.status, closed.body]).toMatchObject([200, { status: 'closed', settled: { base_units: '0' }, version: 1 }]);
    expect(await shop.read()).toEqual(closed.body);
    const late = [await shop.authorize(null), await shop.authorize(shop.buyer.ephemeralOpen('1000000'))];
    expect(late.map(said)).toEqual([channelClosed, channelClosed]);
    const amount = { asset: 'USDC', amount: '0.001' };
    expect(said(await shop.deliver({ amount }))).toEqual(channelClosed);
    expect(said(await shop.commit({ deliveryId: 'page-1', voucher: shop.buyer.voucher(1n) }))).toEqual(channelClosed);
    expect((await shop.close()).body).toEqual(closed.body);
  });

  it('it expires by its row alone, and reads create no object', async () => {
    const shop = await unopened();
    expect((await shop.authorize(null)).status).toBe(402);
    await setRow(shop, `expires_at = ${Date.now() - 1000}, next_check_at = ${Date.now() - 1000}`);
    await w.sweepAlone('sandboxes');
    await w.deliver();
    expect(await shop.read()).toMatchObject({ status: 'expired', version: 1 });
    expect(said(await shop.authorize(shop.buyer.ephemeralOpen('1000000')))).toEqual(channelClosed);
    expect(await w.env.METERED_SESSION.getByName(shop.session.session_id).read({ now: Date.now() })).toEqual({
      ok: false,
      reason: 'unknown',
    });
    expect((await shop.close()).body.status).toBe('expired');
  });

  it('an opening that meets the expiry is refused and claims no channel', async () => {
    const shop = await unopened();
    const { env } = withObjectFaults(w.env, {
      after: async ({ verb }) => {
        if (verb === 'claimChannel') await setRow(shop, "status = 'expired', ended_at = 1, next_check_at = NULL, version = 1");
        return false;
      },
    });
    expect(said(await shop.authorize(shop.buyer.ephemeralOpen('1000000'), undefined, env))).toEqual(channelClosed);
    expect((await shop.read()).status).toBe('expired');
    expect(await w.env.METERED_SESSION.getByName(`channel:sandbox:${shop.buyer.channelId}`).findSession()).toBeNull();
  });

  it('a close is refused while an opening is pending, and accepted once it is lost', async () => {
    const shop = await unopened();
    const noted = new ChannelBuyer();
    const note = (ageMs: number) =>
      setRow(
        shop,
        `channel_id = '${noted.channelId}', authorized_signer = '${noted.authorizedSigner}', updated_at = ${Date.now() - ageMs}`,
      );
    await note(0);
    const refused = await shop.close();
    expect([refused.status, refused.body.meta.reason]).toEqual([409, 'opening-pending']);
    await note(8 * MINUTE);
    expect((await shop.close()).body.status).toBe('closed');
  });

  it('the answer of a close is stored for 30 days', async () => {
    const shop = await unopened();
    const headers = { 'Idempotency-Key': newKey() };
    const close = () => w.call('POST', `${shop.path}/close`, { key: shop.key, headers });
    const first = await close();
    const sql = 'SELECT expires_at AS at FROM claims WHERE instr(scope, ?) > 0';
    const at = await w.env.DB.prepare(sql).bind(`${shop.path}/close`).first<number>('at');
    expect(at! - Date.now()).toBeGreaterThan(29 * DAY);
    const again = await close();
    expect([again.body, again.headers.get('Idempotent-Replayed')]).toEqual([first.body, 'true']);
  });
});
