import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chargeCall, currentBudget, withBudget } from '#core/isolate/budget.ts';
import { auditPayments, readWhole } from '#features/audit/payments.ts';
import { samplePayments } from '#features/audit/store.ts';
import { watchSessions } from '#features/metered/watch/watch-channels.ts';
import { CHANNEL_PROGRAMS } from '#solana/programs/payment-channels/channel.ts';
import { memoInstruction } from '../../world/chain.ts';
import { endSkips, skipTime } from '../../world/clock.ts';
import { FIRST_LOOK } from '../../world/fate.ts';
import { channelWorld, fundChannels } from '../../world/live-channel.ts';
import { payoutLife } from '../../world/payout-life.ts';
import { shardOf } from '../../world/subscription-life.ts';

const PROGRAMS = [['older'], ['current']] as const;

describe.each(PROGRAMS)('what somebody else had a channel of the %s program pay out', (generation) => {
  const w = channelWorld();
  const { open, sweep, leave, unitsOf } = payoutLife(w, CHANNEL_PROGRAMS[generation]);
  beforeAll(() => fundChannels(w));
  afterAll(endSkips);

  it('at the end of a channel that nothing is left of is found all the same', async () => {
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

  it('is looked up again where a node did not tell, and none is lost', async () => {
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

  it('is left to the next look where an invocation may make no more calls, and none is lost', async () => {
    const shop = await open();
    await shop.use(30n, 30n);
    await shop.payOut(30n);
    await shop.project();
    await skipTime(w.chain, 60);
    await withBudget(async () => {
      while (currentBudget().left > 40) chargeCall();
      await watchSessions(shardOf(w.env), [shop.session.session_id]);
    });
    expect(await unitsOf(shop)).toEqual([]);
    await sweep(shop);
    expect(await unitsOf(shop)).toEqual(['30']);
  });

  it('is final in its time, and stands up to the daily audit as our own settlements do', async () => {
    const one = await open();
    const other = await open(one.merchant);
    await one.use(11n, 11n);
    await other.use(22n, 22n);
    const txSignature = await w.chain.send(one.wallet, [...one.payout(11n), ...other.payout(22n)]);
    await sweep(one, other);
    await one.use(5n, 16n);
    await one.close();
    await skipTime(w.chain, FIRST_LOOK);
    await w.sweepAlone('finality');
    const shard = shardOf(w.env);
    const paid = [...(await one.payments()), ...(await other.payments())].map(({ id }) => id);
    const sample = (await samplePayments(shard.db, '', 300)).filter(({ claim }) => paid.includes(claim.subjectId));
    expect(sample).toHaveLength(3);
    const whole = await Promise.all(sample.map((one) => readWhole(shard, one)));
    expect(await auditPayments(shard, whole)).toEqual([null, null, null]);
    const claimed = await w.call('GET', `/v1/payments/${paid[0]}`, { key: one.key });
    expect([claimed.body.tx_signature, claimed.body.finalized_at]).toEqual([txSignature, expect.any(String)]);
  });

  it('pays no checkout that a memo beside it names', async () => {
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
