import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHANNEL_PROGRAMS } from '#solana/programs/payment-channels/channel.ts';
import { channelWorld, fundChannels, LiveShop, operatorOf } from '../../support/chain/live-channel.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';

const PROGRAMS = [['older'], ['current']] as const;
const units = (money: { base_units: string }) => BigInt(money.base_units);

describe.each(PROGRAMS)('channel of the %s program', (generation) => {
  const w = channelWorld();
  const program = CHANNEL_PROGRAMS[generation];
  const sweep = async (shop: LiveShop) => {
    await shop.project();
    await skipTime(w.chain, 60);
    await shop.watch();
  };
  beforeAll(() => fundChannels(w));
  afterAll(endSkips);

  it('a co-signed channel is opened, used, topped up and closed, and every balance is exact', async () => {
    const shop = await LiveShop.make(w, { program });
    const opened = await shop.authorize(await shop.pull({ deposit: 600_000n }));
    expect([opened.status, opened.body.status, units(opened.body.deposit)]).toEqual([200, 'open', 600_000n]);
    expect((await shop.use(1_234n, 1_234n)).body).toMatchObject({ status: 'committed', cumulative: '1234' });
    await shop.addDeposit(400_000n);
    const more = await shop.authorize({
      action: 'topUp',
      channelId: shop.buyer.channelId,
      newDeposit: '1000000',
      signature: '1'.repeat(64),
    });
    expect([more.status, units(more.body.deposit)]).toEqual([200, 1_000_000n]);
    const last = await shop.authorize({ action: 'close', channelId: shop.buyer.channelId, voucher: shop.voucherOf(900_001n) });
    expect([last.status, last.body.status, units(last.body.settled)]).toEqual([200, 'closed', 900_001n]);
    expect(await w.chain.held(shop.merchant.wallet.address)).toBe(900_001n + 1n);
    expect(await w.chain.held(shop.wallet.address)).toBe(5_000_000n - 900_001n);
    expect(await shop.payments()).toEqual([
      { id: expect.any(String), units: '900001', payer: shop.wallet.address, receipt: expect.any(String), kind: 'metered' },
    ]);
    await shop.project();
    expect(await shop.readEventTypes()).toEqual(['metered_session.opened', 'metered_session.committed', 'metered_session.closed']);
    const [payment] = await shop.payments();
    expect(await w.eventTypes(payment!.id!)).toEqual(['payment.confirmed', 'receipt.created']);
    const about = { key: shop.key };
    const { body: shown } = await w.call('GET', `/v1/payments/${payment!.id}`, about);
    expect(shown).toMatchObject({ kind: 'metered', rail_id: 'mpp_solana_usdc', status: 'CONFIRMED', price: { base_units: '900001' } });
    const { body: listed } = await w.call('GET', `/v1/payments?product_id=${shop.session.product_id}`, about);
    expect(listed.items.map(({ kind }: { kind: string }) => kind)).toEqual(['metered']);
    const { body: timeline } = await w.call('GET', `/v1/webhooks/timeline?payment_id=${payment!.id}`, about);
    expect(timeline.items.map(({ type }: { type: string }) => type)).toEqual(['payment.confirmed', 'receipt.created']);
  });

  it('a channel opened by its payer is settled when much or old value is due, and the merchant closes it', async () => {
    const shop = await LiveShop.make(w, { program, body: { cap: { asset: 'USDC', amount: '3' }, idle_timeout_seconds: 86_400 } });
    expect((await shop.authorize(await shop.push({ deposit: 3_000_000n }))).body.status).toBe('open');
    await shop.use(5n, 5n);
    await sweep(shop);
    expect(await shop.payments()).toEqual([]);
    await shop.use(1_000_000n, 1_000_005n);
    await sweep(shop);
    expect((await shop.payments()).map((payment) => payment.units)).toEqual(['1000005']);
    expect(units((await shop.read()).settled)).toBe(1_000_005n);
    await shop.use(10n, 1_000_015n);
    await skipTime(w.chain, 3_600);
    await sweep(shop);
    await shop.use(1n, 1_000_016n);
    await sweep(shop);
    expect((await shop.payments()).map((payment) => payment.units)).toEqual(['1000005', '10']);
    expect((await shop.close()).body).toMatchObject({ status: 'closed', settled: { base_units: '1000016' } });
    expect((await shop.payments()).map((payment) => payment.units)).toEqual(['1000005', '10', '1']);
    expect(await w.chain.held(shop.merchant.wallet.address)).toBe(1_000_016n + 1n);
    expect(await w.chain.held(shop.wallet.address)).toBe(5_000_000n - 1_000_016n);
  });

  it('a channel with a close request is sealed with its best voucher', async () => {
    const shop = await LiveShop.make(w, { program });
    await shop.authorize(await shop.pull());
    await shop.use(70n, 70n);
    await shop.requestClose();
    await shop.use(7n, 77n);
    await sweep(shop);
    expect(await shop.read()).toMatchObject({ status: 'closed', settled: { base_units: '77' } });
    expect(await w.chain.held(shop.wallet.address)).toBe(5_000_000n - 77n);
    expect((await shop.announce('1')).status).toBe(410);
  });

  it('a lost last settlement is sent again by the sweeps, pays once and closes the session', async () => {
    const shop = await LiveShop.make(w, { program });
    await shop.authorize(await shop.pull());
    await shop.use(9n, 9n);
    await shop.project();
    await w.chain.fault({ kind: 'http_503', method: 'sendTransaction', times: 4 });
    expect((await shop.close()).body).toMatchObject({ status: 'closing', settled: { base_units: '0' } });
    expect(await shop.payments()).toEqual([]);
    await w.chain.call('local_clearFaults');
    await skipTime(w.chain, 35);
    await w.sweepAlone('settlements');
    await skipTime(w.chain, 10);
    await w.sweepAlone('settlements');
    await sweep(shop);
    expect((await shop.read()).status).toBe('closed');
    expect((await shop.payments()).map((payment) => payment.units)).toEqual(['9']);
    expect(await w.chain.held(shop.merchant.wallet.address)).toBe(9n + 1n);
  });

  it('an idle channel is closed, and its rent returns if the program refunds it', async () => {
    const shop = await LiveShop.make(w, { program, body: { idle_timeout_seconds: 60 } });
    await shop.authorize(await shop.pull());
    await shop.use(3n, 3n);
    await sweep(shop);
    expect((await shop.read()).status).toBe('closed');
    expect(await shop.onChain()).toEqual(generation === 'older' ? 'tombstone' : expect.objectContaining({ status: 'distributed' }));
    const before = await w.chain.call<{ value: number }>('getBalance', operatorOf(w));
    await skipTime(w.chain, 900);
    await sweep(shop);
    const after = await w.chain.call<{ value: number }>('getBalance', operatorOf(w));
    expect(await shop.onChain()).toBe(generation === 'older' ? 'tombstone' : 'gone');
    expect(Math.sign(after.value - before.value)).toBe(generation === 'older' ? 0 : 1);
    await sweep(shop);
    await sweep(shop);
    const row = await w.env.DB.prepare('SELECT next_check_at AS at FROM metered_sessions WHERE id = ?')
      .bind(shop.session.session_id)
      .first('at');
    expect(row).toBeNull();
  });

  it('an idle session stays open while a delivery is reserved, and its voucher is paid', async () => {
    const shop = await LiveShop.make(w, { program, body: { idle_timeout_seconds: 60 } });
    await shop.authorize(await shop.pull());
    const amount = { asset: 'USDC', amount: '0.000003' };
    const reserved = await shop.deliver({ delivery_id: 'page-1', amount, expires_in: 600 });
    const left = await shop.deliver({ delivery_id: 'page-2', amount, expires_in: 900 });
    expect([reserved.status, left.status]).toEqual([201, 201]);
    for (let round = 0; round < 2; round++) await sweep(shop);
    expect(await shop.read()).toMatchObject({ status: 'open', reserved: { base_units: '6' } });
    const paid = await shop.commit({ deliveryId: 'page-1', voucher: shop.voucherOf(3n) });
    expect([paid.status, paid.body.status]).toEqual([200, 'committed']);
    await sweep(shop);
    expect(await shop.read()).toMatchObject({ status: 'open', reserved: { base_units: '3' } });
    await skipTime(w.chain, 900);
    await sweep(shop);
    expect(await shop.read()).toMatchObject({ status: 'closed', settled: { base_units: '3' } });
  });

  it('an abandoned opening that landed opens its session, and a session without a channel expires', async () => {
    const [landed, lost] = [await LiveShop.make(w, { program }), await LiveShop.make(w, { program })];
    const impatient = { ...w.env, SETTLE_PATIENCE_MS: '0' };
    const asked = await landed.authorize(await landed.pull(), undefined, impatient);
    expect([asked.status, asked.body.code]).toEqual([503, 'temporarily_unavailable']);
    await skipTime(w.chain, 3_700);
    for (const sweep of ['channelOpenings', 'unopenedSessions']) await w.sweepAlone(sweep);
    expect([(await landed.read()).status, (await lost.read()).status]).toEqual(['open', 'expired']);
    const late = await lost.commit({ deliveryId: 'page-1', voucher: lost.buyer.voucher(1n) });
    expect([late.status, late.body.code]).toEqual([410, 'channel_closed']);
  });
});
