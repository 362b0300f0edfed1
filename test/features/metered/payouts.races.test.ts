import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { CHANNEL_PROGRAMS } from '#solana/programs/payment-channels/channel.ts';
import { USDC } from '../../support/chain/chain.ts';
import { channelWorld, fundChannels } from '../../support/chain/live-channel.ts';
import { FIRST_CHECK, SECOND_PROOF } from '../../support/faults/finality.ts';
import { payoutLife } from '../../support/models/payout-life.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';

const PROGRAMS = [['older'], ['current']] as const;

/** Each payout of a channel becomes one payment, by whichever party's transaction. */
describe.each(PROGRAMS)('payout of a channel of the %s program by another party', (generation) => {
  const w = channelWorld();
  const program = CHANNEL_PROGRAMS[generation];
  beforeAll(() => fundChannels(w));
  afterAll(endSkips);

  const { open, sweep, leave, unitsOf } = payoutLife(w, program);

  it('a payout becomes one payment with receipt and events at the next check', async () => {
    const shop = await open();
    await shop.use(30n, 30n);
    const txSignature = await shop.payOut(30n);
    await sweep(shop);
    const [payment, ...more] = await shop.payments();
    expect([payment, more]).toEqual([
      { id: expect.any(String), units: '30', payer: shop.wallet.address, receipt: expect.any(String), kind: 'metered' },
      [],
    ]);
    expect(await w.eventTypes(payment!.id!)).toEqual(['payment.confirmed', 'receipt.created']);
    const { body: shown } = await w.call('GET', `/v1/payments/${payment!.id}`, { key: shop.key });
    expect(shown).toMatchObject({ kind: 'metered', status: 'CONFIRMED', tx_signature: txSignature, payer_wallet: shop.wallet.address });
    const { body: receipt } = await w.call('GET', `/v1/receipt/${payment!.receipt}`, { key: shop.key });
    expect(receipt).toMatchObject({ tx_sig: txSignature, document: { memo: '', amount: { base_units: '30' } } });
    await Promise.all([sweep(shop), w.sweepAlone('activeChannels')]);
    await shop.use(5n, 35n);
    expect((await shop.close()).body).toMatchObject({ status: 'closed', settled: { base_units: '35' } });
    await leave(shop);
    expect(await unitsOf(shop)).toEqual(['30', '5']);
    expect(await w.chain.held(shop.merchant.wallet.address)).toBe(35n + 1n);
  });

  it('a payout of several channels in one transaction is one payment each, under concurrent sweeps', async () => {
    const one = await open();
    const other = await open(one.merchant);
    await one.use(11n, 11n);
    await other.use(22n, 22n);
    await w.chain.send(one.wallet, [...one.payout(11n), ...other.payout(22n)]);
    for (const shop of [one, other]) await shop.project();
    await skipTime(w.chain, 60);
    const due = () => w.env.DB.prepare('UPDATE metered_sessions SET next_check_at = 0, payout_seen = ?').bind('0').run();
    for (let i = 0; i < 2; i++) {
      await due();
      const first = w.sweepAlone('activeChannels');
      await due();
      await Promise.all([first, w.sweepAlone('activeChannels')]);
    }
    expect([await unitsOf(one), await unitsOf(other)]).toEqual([['11'], ['22']]);
    expect(await w.chain.held(one.merchant.wallet.address)).toBe(33n + 2n);
  });

  it('a payout just before our own settlement is the payment, and the settlement is none', async () => {
    const shop = await open();
    await shop.use(40n, 40n);
    await w.chain.fault({ kind: 'http_503', method: 'sendTransaction', times: 4 });
    expect((await shop.close()).body).toMatchObject({ status: 'closing' });
    await w.chain.call('local_clearFaults');
    await shop.payOut(40n);
    await shop.project();
    for (let round = 0; round < 4; round++) {
      await skipTime(w.chain, 35);
      await w.sweepAlone('settlements');
      await sweep(shop);
    }
    expect(await shop.read()).toMatchObject({ status: 'closed', settled: { base_units: '40' } });
    await leave(shop);
    expect(await unitsOf(shop)).toEqual(['40']);
    expect(await w.chain.held(shop.merchant.wallet.address)).toBe(40n + 1n);
    expect(await w.chain.held(shop.wallet.address)).toBe(5_000_000n - 40n);
  });

  it('a dropped payout is orphaned, and its replacement is a payment of its own', async () => {
    const shop = await open();
    await shop.use(30n, 30n);
    const channel = shop.buyer.channelId;
    const accounts = await Promise.all([channel, shop.merchant.wallet.address].map((owner) => associatedTokenAccount(owner, USDC)));
    const before = await w.chain.accounts([channel, ...accounts]);
    const signature = await shop.payOut(30n);
    await sweep(shop);
    expect(await unitsOf(shop)).toEqual(['30']);
    await w.chain.fault({ kind: 'vanish', signature });
    await w.chain.putAccounts(before);
    for (const seconds of [FIRST_CHECK, SECOND_PROOF]) {
      await skipTime(w.chain, seconds);
      await w.sweepAlone('finality');
    }
    expect((await shop.close()).body).toMatchObject({ status: 'closed', settled: { base_units: '30' } });
    await leave(shop);
    const [dropped, paid, ...more] = await shop.payments();
    expect([dropped!.units, paid!.units, more]).toEqual(['30', '30', []]);
    expect(await w.eventTypes(dropped!.id!)).toEqual(['payment.confirmed', 'receipt.created', 'payment.orphaned']);
    expect(await w.eventTypes(paid!.id!)).not.toContain('payment.orphaned');
    expect(await w.chain.held(shop.merchant.wallet.address)).toBe(30n + 1n);
  });
});
