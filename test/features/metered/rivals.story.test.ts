import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHANNEL_PROGRAMS } from '#solana/programs/payment-channels/channel.ts';
import { channelWorld, fundChannels, LiveShop } from '../../support/chain/live-channel.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';

const PROGRAMS = [['older'], ['current']] as const;
const refusal = ({ status, body }: { status: number; body: { meta?: { reason?: string } } }) => [status, body.meta?.reason];

describe.each(PROGRAMS)('vouchers and seals of a channel of the %s program', (generation) => {
  const w = channelWorld();
  const program = CHANNEL_PROGRAMS[generation];
  beforeAll(() => fundChannels(w));
  afterAll(endSkips);

  it('a stranger cannot close a session with the voucher of our settlement, the buyer can with a new one', async () => {
    const shop = await LiveShop.make(w, { program, body: { idle_timeout_seconds: 86_400 } });
    await shop.authorize(await shop.pull());
    await shop.use(40n, 40n);
    await shop.project();
    await w.chain.fault({ kind: 'http_503', method: 'sendTransaction', times: 4 });
    await skipTime(w.chain, 3_660);
    await shop.watch();
    await w.chain.call('local_clearFaults');
    expect((await shop.read()).settled.base_units).toBe('0');
    const close = { action: 'close', channelId: shop.buyer.channelId };
    const header = (await shop.authorize(null)).headers.get('WWW-Authenticate')!;
    expect(refusal(await shop.authorize({ ...close, voucher: shop.voucherOf(40n) }, header))).toEqual([402, 'voucher-required']);
    expect((await shop.read()).status).toBe('open');
    expect((await shop.authorize({ ...close, voucher: shop.voucherOf(41n) }, header)).status).toBe(200);
    expect((await shop.read()).status).not.toBe('open');
  });

  it('a channel is sealed within a grace period of 300 seconds though its first seal was lost', async () => {
    const shop = await LiveShop.make(w, { program, body: { idle_timeout_seconds: 86_400, grace_period_seconds: 300 } });
    expect((await shop.authorize(await shop.pull({ gracePeriodSeconds: 300 }))).status).toBe(200);
    await shop.use(70n, 70n);
    await shop.project();
    await shop.requestClose();
    await w.chain.fault({ kind: 'http_503', method: 'sendTransaction', times: 40 });
    for (let waited = 0; waited < 120; waited += 30) {
      await skipTime(w.chain, 30);
      await shop.watch();
      await w.sweepAlone('settlements');
    }
    await w.chain.call('local_clearFaults');
    expect(await shop.onChain()).toMatchObject({ status: 'closing' });
    for (let waited = 0; waited < 60; waited += 30) {
      await skipTime(w.chain, 30);
      await shop.watch();
    }
    expect(await shop.onChain()).not.toMatchObject({ status: 'closing' });
    for (let round = 0; round < 8 && (await shop.read()).status !== 'closed'; round++) {
      await skipTime(w.chain, 60);
      await w.sweepAlone('settlements');
      await shop.watch();
    }
    expect(await shop.read()).toMatchObject({ status: 'closed', settled: { base_units: '70' } });
    expect((await shop.payments()).map(({ units }) => units)).toEqual(['70']);
    expect(await w.chain.held(shop.merchant.wallet.address)).toBe(70n + 1n);
  });

  it('a lower voucher that is still valid is paid if the higher one has expired', async () => {
    const shop = await LiveShop.make(w, { program, body: { idle_timeout_seconds: 86_400 } });
    await shop.authorize(await shop.pull());
    const pay = async (amount: bigint, cumulative: bigint, seconds: number) => {
      const { body: directive } = await shop.announce(`${amount}`);
      const voucher = shop.buyer.voucher(cumulative, { program, expiresAt: Math.floor(Date.now() / 1000) + seconds });
      expect((await shop.commit({ deliveryId: directive.deliveryId, voucher })).status).toBe(200);
    };
    await pay(900_000n, 900_000n, 30 * 86_400);
    await pay(1n, 900_001n, 1_560);
    await shop.project();
    await skipTime(w.chain, 3_700);
    await shop.watch();
    expect((await shop.payments()).map(({ units }) => units)).toEqual(['900000']);
  });
});
