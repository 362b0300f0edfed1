import { address } from '@solana/kit';
import { getBurnInstruction, getCloseAccountInstruction } from '@solana-program/token';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DAY } from '#core/time.ts';
import { forgetEndedSessions } from '#features/metered/session.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { USDC } from '../../support/chain/chain.ts';
import { channelWorld, fundChannels, LiveShop } from '../../support/chain/live-channel.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { shardOf } from '../../support/runner/shards.ts';

const w = channelWorld();
beforeAll(() => fundChannels(w));
afterAll(endSkips);

it('a settlement after a foreign distribution is recorded with the amount that arrived, and so is the other part', async () => {
  const shop = await LiveShop.make(w, { body: { idle_timeout_seconds: 86_400 } });
  const { wallet } = shop.merchant;
  await shop.authorize(await shop.pull());
  await shop.use(25n, 25n);
  // A settlement without a merchant account pays nothing out, and anyone can distribute later.
  const account = address(await associatedTokenAccount(wallet.address, USDC));
  const amount = await w.chain.held(wallet.address);
  await w.chain.call('local_fundSol', wallet.address, '100000000');
  await w.chain.send(wallet, [
    getBurnInstruction({ account, mint: address(USDC), authority: wallet, amount }),
    getCloseAccountInstruction({ account, destination: wallet.address, owner: wallet }),
  ]);
  await shop.project();
  await skipTime(w.chain, 3_660);
  await shop.watch();
  expect(await shop.onChain()).toMatchObject({ settled: 25n, payoutWatermark: 0n });
  await w.chain.call('local_fundUsdc', wallet.address, '0');
  await shop.use(15n, 40n);
  await w.chain.fault({ kind: 'http_503', method: 'sendTransaction', times: 4 });
  expect((await shop.close()).body).toMatchObject({ status: 'closing' });
  await w.chain.call('local_clearFaults');
  await shop.distribute();
  await shop.project();
  await skipTime(w.chain, 35);
  await w.sweepAlone('settlements');
  await skipTime(w.chain, 10);
  await w.sweepAlone('settlements');
  await skipTime(w.chain, 60);
  await shop.watch();
  expect(await shop.read()).toMatchObject({ status: 'closed', settled: { base_units: '40' } });
  await shop.project();
  await skipTime(w.chain, 960);
  await shop.watch();
  expect(await w.chain.held(wallet.address)).toBe(40n);
  expect((await shop.payments()).map(({ units }) => units)).toEqual(['15', '25']);
});

it('a channel still open after its session ended, because its seal was dropped, is sealed again', async () => {
  const shop = await LiveShop.make(w);
  await shop.authorize(await shop.pull());
  await shop.use(9n, 9n);
  const object = w.env.METERED_SESSION.getByName(shop.session.session_id);
  await object.seen({ deposit: 1_000_000n, settled: 9n, now: Date.now() });
  await object.end({ now: Date.now() });
  await shop.project();
  expect(await shop.onChain()).toMatchObject({ status: 'open', settled: 0n });
  await skipTime(w.chain, 60);
  await shop.watch();
  expect(await shop.onChain()).toBe('tombstone');
  expect(await w.chain.held(shop.merchant.wallet.address)).toBe(9n + 1n);
  expect((await shop.payments()).map(({ units }) => units)).toEqual(['9']);
});

it('a session that ended 90 days ago is deleted with both objects, and an open one is not', async () => {
  const merchant = await w.merchant();
  const [over, open] = [await LiveShop.make(w, { merchant }), await LiveShop.make(w, { merchant })];
  for (const shop of [over, open]) {
    await shop.authorize(await shop.pull());
    await shop.use(9n, 9n);
  }
  await over.close();
  for (const shop of [over, open]) await shop.project();
  const findClaim = ({ buyer }: LiveShop) => w.env.METERED_SESSION.getByName(`channel:live:${buyer.channelId}`).findSession();
  const forget = async (before: string) => {
    await w.env.DB.prepare(`UPDATE metered_sessions SET ended_at = ended_at - ${before} WHERE id = ?`).bind(over.session.session_id).run();
    await w.sweepAlone('endedMeteredSessions');
  };
  await forget(String(89 * DAY));
  expect((await over.read()).status).toBe('closed');
  await forget(String(2 * DAY));
  expect((await w.call('GET', over.path, { key: over.key })).status).toBe(404);
  expect([await findClaim(over), await findClaim(open)]).toEqual([null, open.session.session_id]);
  expect(await w.env.METERED_SESSION.getByName(over.session.session_id).read({ now: Date.now() })).toEqual({
    ok: false,
    reason: 'unknown',
  });
  expect((await open.use(9n, 18n)).status).toBe(200);
  // Even a direct call cannot erase the object of a session that owes money.
  expect(await w.env.METERED_SESSION.getByName(open.session.session_id).erase()).toBe(false);
  expect((await open.close()).body).toMatchObject({ status: 'closed', settled: { base_units: '18' } });
});

it('a session with an object that cannot be erased is skipped, so that the sweep continues', async () => {
  const merchant = await w.merchant();
  const [open, over] = [await LiveShop.make(w, { merchant }), await LiveShop.make(w, { merchant })];
  for (const shop of [open, over]) {
    await shop.authorize(await shop.pull());
    await shop.use(9n, 9n);
  }
  await over.close();
  for (const shop of [open, over]) await shop.project();
  const end = (shop: LiveShop, endedAt: number | null) =>
    w.env.DB.prepare('UPDATE metered_sessions SET ended_at = ? WHERE id = ?').bind(endedAt, shop.session.session_id).run();
  await end(open, 1);
  await end(over, 2);
  expect(await forgetEndedSessions(shardOf(w.env, merchant.userId), 3, 2)).toBe(2);
  const left = await w.env.DB.prepare('SELECT id FROM metered_sessions WHERE ended_at <= 3').all();
  expect(left.results).toEqual([{ id: open.session.session_id }]);
  await end(open, null);
});

it('a voucher about to expire is settled before others, however many are due earlier', async () => {
  const merchant = await w.merchant();
  const shops: LiveShop[] = [];
  for (let i = 0; i < 13; i++) {
    const shop = await LiveShop.make(w, { merchant, body: { idle_timeout_seconds: 86_400 } });
    await shop.authorize(await shop.pull());
    const { body: directive } = await shop.announce('5');
    const voucher = shop.buyer.voucher(5n, i === 12 ? { expiresAt: Math.floor(Date.now() / 1000) + 3_660 + 700 } : {});
    expect((await shop.commit({ deliveryId: directive.deliveryId, voucher })).status).toBe(200);
    await shop.project();
    shops.push(shop);
  }
  await skipTime(w.chain, 3_660);
  for (const name of ['closingChannels', 'activeChannels']) await w.sweepAlone(name);
  const sql = "SELECT product_id AS product FROM payments WHERE merchant_id = ? AND terms ->> 'isMetered' ORDER BY rowid";
  const { results } = await w.env.DB.prepare(sql).bind(merchant.userId).all<{ product: string }>();
  const order = results.map(({ product }) => shops.findIndex(({ session }) => session.product_id === product));
  expect(order).toHaveLength(13);
  expect(order[0]).toBe(12);
});
