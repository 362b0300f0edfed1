import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccountId } from '#core/ids.ts';
import { chargeCall, currentBudget, withBudget } from '#core/isolate/budget.ts';
import { auditPayments, readRecorded } from '#features/audit/payments.ts';
import { samplePayments } from '#features/audit/store.ts';
import { watchSessions } from '#features/metered/watch/watch-channels.ts';
import { findReceiptOfTransaction } from '#features/receipts/store.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { CHANNEL_PROGRAMS } from '#solana/programs/payment-channels/channel.ts';
import { memoInstruction, USDC } from '../../support/chain/chain.ts';
import { channelWorld, fundChannels, type LiveShop } from '../../support/chain/live-channel.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { FIRST_CHECK } from '../../support/faults/finality.ts';
import { payoutLife } from '../../support/models/payout-life.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { shardOf } from '../../support/runner/shards.ts';

const PROGRAMS = [['older'], ['current']] as const;

describe.each(PROGRAMS)('reading of foreign payouts from a channel of the %s program', (generation) => {
  const w = channelWorld();
  const { open, sweep, leave, beginMinute, unitsOf } = payoutLife(w, CHANNEL_PROGRAMS[generation]);
  const scopeOf = ({ merchant }: LiveShop) => ({
    ...shardOf(w.env, merchant.userId),
    merchantId: merchant.userId as AccountId,
    livemode: true,
  });
  beforeAll(() => fundChannels(w));
  afterAll(endSkips);

  it('a payout is found even if the channel no longer exists', async () => {
    const shop = await open();
    await shop.use(40n, 40n);
    await shop.payOut(25n);
    await shop.requestClose();
    await skipTime(w.chain, 901);
    await shop.sealAndDistribute();
    await sweep(shop);
    await sweep(shop);
    expect((await shop.read()).status).toBe('closed');
    await leave(shop);
    expect(await unitsOf(shop)).toEqual(['25']);
  });

  it('a payout that a node does not list is found by the next check', async () => {
    const shop = await open();
    await shop.use(30n, 30n);
    const signature = await shop.payOut(30n);
    const unlisted = { kind: 'unlisted', signature, times: 0 } as const;
    for (const fault of [unlisted, { kind: 'http_503', method: 'getSignaturesForAddress', times: 20 } as const]) {
      await shop.project();
      await skipTime(w.chain, 60);
      await w.chain.fault(fault);
      await shop.watch();
      await w.chain.call('local_clearFaults');
      expect(await unitsOf(shop)).toEqual([]);
    }
    await sweep(shop);
    expect(await unitsOf(shop)).toEqual(['30']);
  });

  it('a payout beyond the call budget of an invocation is found by the next check', async () => {
    const shop = await open();
    await shop.use(30n, 30n);
    await shop.payOut(30n);
    await shop.project();
    await skipTime(w.chain, 60);
    await withBudget(async () => {
      while (currentBudget().left > 40) chargeCall();
      await watchSessions(shardOf(w.env, shop.session.session_id), [shop.session.session_id]);
    });
    expect(await unitsOf(shop)).toEqual([]);
    await sweep(shop);
    expect(await unitsOf(shop)).toEqual(['30']);
  });

  it('thirty payouts within a minute are one payment and one receipt, found by each signature', async () => {
    const shop = await open();
    await shop.use(30n, 30n);
    await beginMinute();
    const signatures: string[] = [];
    for (let units = 1n; units <= 30n; units++) signatures.push(await shop.payOut(units));
    await shop.project();
    await skipTime(w.chain, 31);
    await shop.watch();
    expect(await unitsOf(shop)).toEqual([]);
    await sweep(shop);
    await sweep(shop);
    const [payment, ...more] = await shop.payments();
    expect([payment, more]).toEqual([expect.objectContaining({ units: '30', kind: 'metered' }), []]);
    expect(await w.eventTypes(payment!.id!)).toEqual(['payment.confirmed', 'receipt.created']);
    const { body: receipt } = await w.call('GET', `/v1/receipt/${payment!.receipt}`, { key: shop.key });
    expect(receipt).toMatchObject({ tx_sig: signatures.at(-1), document: { amount: { base_units: '30' } } });
    const { body: summary } = await w.call('GET', '/v1/account/summary', { key: shop.key });
    expect([summary.confirmed_payments, summary.totals.USDC.gross]).toEqual([1, '0.00003']);
    for (const signature of [signatures[0]!, signatures[14]!, signatures.at(-1)!]) {
      for (const query of [`tx_signature=${signature}`, `q=${signature.slice(0, 20)}`]) {
        const { body: list } = await w.call('GET', `/v1/payments?${query}`, { key: shop.key });
        expect(list.items.map(({ payment_id: id }: { payment_id: string }) => id)).toEqual([payment!.id]);
      }
      expect((await findReceiptOfTransaction(scopeOf(shop), signature))?.id).toBe(payment!.receipt);
    }
    await skipTime(w.chain, FIRST_CHECK);
    await w.sweepAlone('finality');
    const shard = shardOf(w.env, payment!.id!);
    const sample = (await samplePayments(shard.db, '', 300)).filter(({ claim }) => claim.subjectId === payment!.id);
    expect(await auditPayments(shard, await Promise.all(sample.map((one) => readRecorded(shard, one))))).toEqual([null]);
    expect((await shop.close()).body).toMatchObject({ status: 'closed', settled: { base_units: '30' } });
    await leave(shop);
    expect(await unitsOf(shop)).toEqual(['30']);
    expect(await w.chain.held(shop.merchant.wallet.address)).toBe(30n + 1n);
  });

  it('payouts in two minutes are two payments', async () => {
    const shop = await open();
    await shop.use(30n, 30n);
    for (const units of [7n, 20n]) {
      await beginMinute();
      for (const step of [units, units + 2n, units + 3n]) await shop.payOut(step);
    }
    await sweep(shop);
    await sweep(shop);
    expect(await unitsOf(shop)).toEqual(['10', '13']);
  });

  it('a payout and our own settlement in the same minute are counted once, and the next step is found', async () => {
    const shop = await open();
    await shop.use(100n, 100n);
    await skipTime(w.chain, 3600);
    await beginMinute();
    await shop.payOut(10n);
    for (let round = 0; round < 4; round++) {
      await shop.project();
      await shop.watch();
      await skipTime(w.chain, 25);
    }
    expect((await unitsOf(shop)).toSorted()).toEqual(['10', '90']);
    await shop.use(5n, 105n);
    await shop.payOut(105n);
    await sweep(shop);
    await sweep(shop);
    expect((await unitsOf(shop)).toSorted()).toEqual(['10', '5', '90']);
  });

  it('a payout that is not final is no payment, and none if the chain drops it', async () => {
    const shop = await open();
    await shop.use(30n, 30n);
    await beginMinute();
    const accounts = await Promise.all(
      [shop.buyer.channelId, shop.merchant.wallet.address].map((owner) => associatedTokenAccount(owner, USDC)),
    );
    await shop.payOut(10n);
    await skipTime(w.chain, 54);
    const before = await w.chain.accounts([shop.buyer.channelId, ...accounts]);
    const dropped = await shop.payOut(25n);
    await shop.project();
    await skipTime(w.chain, 8);
    await shop.watch();
    expect(await unitsOf(shop)).toEqual([]);
    await w.chain.fault({ kind: 'vanish', signature: dropped });
    await w.chain.putAccounts(before);
    await shop.payOut(12n);
    await sweep(shop);
    await sweep(shop);
    expect(await unitsOf(shop)).toEqual(['10', '2']);
    expect(await w.chain.held(shop.merchant.wallet.address)).toBe(12n + 1n);
  });

  it('a check cut at any database trip records the payout once', async () => {
    const shop = await open();
    await shop.use(30n, 30n);
    await beginMinute();
    for (const units of [10n, 20n, 30n]) await shop.payOut(units);
    await shop.project();
    await skipTime(w.chain, 90);
    let cuts = 0;
    for (let cut = 1; cuts === cut - 1; cut++)
      for (const side of ['before', 'after'] as const) {
        await w.env.DB.prepare("UPDATE metered_sessions SET payout_seen = '0', payout_seen_tx = NULL, next_check_at = 1").run();
        const { env, trips } = withFaults(w.env, { [side]: ({ number }: { number: number }) => number === cut });
        await watchSessions(shardOf(env, shop.session.session_id), [shop.session.session_id]).catch(() => null);
        if (trips.length >= cut) cuts = cut;
      }
    // The fifth trip is the batch that stores the payment.
    expect(cuts).toBe(5);
    expect(await unitsOf(shop)).toEqual(['30']);
  });

  it('a payout becomes final and passes the daily audit', async () => {
    const one = await open();
    const other = await open(one.merchant);
    await one.use(11n, 11n);
    await other.use(22n, 22n);
    const txSignature = await w.chain.send(one.wallet, [...one.payout(11n), ...other.payout(22n)]);
    await sweep(one, other);
    await one.use(5n, 16n);
    await one.close();
    await skipTime(w.chain, FIRST_CHECK);
    await w.sweepAlone('finality');
    const shard = shardOf(w.env, one.merchant.userId);
    const paid = [...(await one.payments()), ...(await other.payments())].map(({ id }) => id);
    const sample = (await samplePayments(shard.db, '', 300)).filter(({ claim }) => paid.includes(claim.subjectId));
    expect(sample).toHaveLength(3);
    const recorded = await Promise.all(sample.map((one) => readRecorded(shard, one)));
    expect(await auditPayments(shard, recorded)).toEqual([null, null, null]);
    const claimed = await w.call('GET', `/v1/payments/${paid[0]}`, { key: one.key });
    expect([claimed.body.tx_signature, claimed.body.finalized_at]).toEqual([txSignature, expect.any(String)]);
  });

  it('a payout with the memo of a checkout does not pay the checkout', async () => {
    const shop = await open();
    const product = await w.product(shop.merchant, { price: { asset: 'USDC', amount: '0.0005' } });
    const payment = await w.connect(product);
    await shop.use(500n, 500n);
    const txSignature = await shop.payOut(500n, [memoInstruction(payment.memo)]);
    const confirmed = await w.confirm(payment.payment_id, txSignature);
    expect([confirmed.status, confirmed.body.code, confirmed.body.meta.reason]).toEqual([422, 'payment_mismatch', 'recipient_mismatch']);
    await sweep(shop);
    expect(await unitsOf(shop)).toEqual(['500']);
  });
});
