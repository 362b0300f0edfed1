import { address } from '@solana/kit';
import { getBurnInstruction, getCloseAccountInstruction } from '@solana-program/token';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { admissionIdOf } from '#core/ids.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { memoInstruction, USDC } from '../../support/chain/chain.ts';
import { channelWorld, fundChannels, LiveShop } from '../../support/chain/live-channel.ts';
import { type Trip, withFaults } from '../../support/faults/faults.ts';
import { withObjectFaults } from '../../support/people/agent.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { testEnv } from '../../support/runner/env.ts';
import type { Merchant } from '../../support/world.ts';

const w = channelWorld();
beforeAll(() => fundChannels(w));
afterAll(endSkips);

/** Makes two sessions of one merchant for one buyer with one voucher key. */
async function twins(): Promise<[LiveShop, LiveShop]> {
  const merchant = await w.merchant();
  const [one, other] = [await LiveShop.make(w, { merchant }), await LiveShop.make(w, { merchant })];
  return [one, Object.assign(other, { buyer: one.buyer, wallet: one.wallet })];
}

const readRows = async (shops: LiveShop[]) => {
  const ids = JSON.stringify(shops.map(({ session }) => session.session_id));
  const sql = 'SELECT id, status, channel_id AS channel FROM metered_sessions WHERE id IN (SELECT value FROM json_each(?))';
  const { results } = await w.env.DB.prepare(sql).bind(ids).all<{ id: string; status: string; channel: string | null }>();
  return new Map(results.map(({ id, status, channel }) => [id, [status, channel]]));
};

async function readStates(shops: LiveShop[]) {
  for (const shop of shops) await shop.project();
  const rows = await readRows(shops);
  const states = [];
  for (const shop of shops) {
    const { status, channel_id: channel = null } = await shop.read();
    expect(rows.get(shop.session.session_id)).toEqual([status, channel]);
    states.push(status);
  }
  return states;
}

it('one opening for two concurrent sessions opens one of them, and rows and objects agree', async () => {
  const shops = await twins();
  const opening = await shops[0].pull();
  // Both have been simulated before either claims the channel: what one broadcasts makes the simulation of the other fail.
  const both = Promise.withResolvers<void>();
  let claims = 0;
  const { env } = withObjectFaults(w.env, {
    before: async ({ verb }) => {
      if (verb === 'claimChannel' && ++claims === 2) both.resolve();
      if (verb === 'claimChannel') await both.promise;
      return false;
    },
  });
  const answers = await Promise.all(shops.map((shop) => shop.authorize(opening, undefined, env)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 402]);
  expect(answers.find(({ status }) => status === 402)?.body.meta.reason).toBe('channel-mismatch');
  expect((await readStates(shops)).sort()).toEqual(['created', 'open']);
});

it('an opening that one session has sent cannot open a rival that finds its channel first', async () => {
  const [sender, rival] = await twins();
  const opening = await sender.pull();
  const impatient = { ...w.env, SETTLE_PATIENCE_MS: '0' };
  expect((await sender.authorize(opening, undefined, impatient)).status).toBe(503);
  await skipTime(w.chain, 2);
  const refused = await rival.authorize(opening);
  expect([refused.status, refused.body.meta.reason]).toEqual([402, 'channel-mismatch']);
  expect((await sender.authorize(opening)).body.status).toBe('open');
  expect(await readStates([sender, rival])).toEqual(['open', 'created']);
});

const feesLeft = async ({ userId }: Merchant): Promise<number> => {
  const asked = { fees: 0, max: null, isKnownPayer: true, rateMultiplier: 1, now: Date.now() };
  return (await testEnv.ADMISSION.getByName(`account:${admissionIdOf(userId)}`).spendFees(asked)).left;
};

it('each sent variant of an opening costs its merchant a fee, and the first one the price of an opening', async () => {
  const shop = await LiveShop.make(w);
  const impatient = { ...w.env, SETTLE_PATIENCE_MS: '0', RATE_MULTIPLIER: '1' };
  // The node takes none of them, so the channel does not exist and each is sent.
  await w.chain.fault({ kind: 'http_503', method: 'sendTransaction', times: 40 });
  const left = [await feesLeft(shop.merchant)];
  for (const text of ['first', 'second', 'third']) {
    const variant = await shop.pull({}, { extra: [memoInstruction(text)] });
    expect((await shop.authorize(variant, undefined, impatient)).status).toBe(503);
    left.push(await feesLeft(shop.merchant));
  }
  await w.chain.call('local_clearFaults');
  expect(left.slice(1).map((now, i) => left[i]! - now)).toEqual([10, 1, 1]);
});

it('a refused second opening of a session costs its merchant no fees', async () => {
  const shop = await LiveShop.make(w);
  const impatient = { ...w.env, SETTLE_PATIENCE_MS: '0', RATE_MULTIPLIER: '1' };
  await w.chain.fault({ kind: 'http_503', method: 'sendTransaction', times: 40 });
  const before = await feesLeft(shop.merchant);
  await shop.authorize(await shop.pull(), undefined, impatient);
  const refused = await shop.authorize(await shop.pull({ salt: 8n }), undefined, impatient);
  expect([refused.status, refused.body.meta.reason]).toEqual([402, 'already-open']);
  expect(before - (await feesLeft(shop.merchant))).toBe(10);
  await w.chain.call('local_clearFaults');
});

it('an opening with a lost database answer costs its fees, and a repeat sends it for one more', async () => {
  const shop = await LiveShop.make(w);
  const patient = { ...w.env, RATE_MULTIPLIER: '1' };
  const before = await feesLeft(shop.merchant);
  let isLost = false;
  const lose = ({ kind }: Trip): boolean => {
    if (kind !== 'batch' || isLost) return false;
    isLost = true;
    return true;
  };
  const opening = await shop.pull();
  expect((await shop.authorize(opening, undefined, withFaults(patient, { after: lose }).env)).status).toBeGreaterThanOrEqual(500);
  expect([isLost, before - (await feesLeft(shop.merchant)), await shop.onChain()]).toEqual([true, 10, 'gone']);
  expect((await shop.authorize(opening, undefined, patient)).body.status).toBe('open');
  expect(before - (await feesLeft(shop.merchant))).toBe(11);
});

const findSession = (channelId: string) => w.env.METERED_SESSION.getByName(`channel:live:${channelId}`).findSession();

it('a channel pushed while its opening is about to be sent opens its session once, and no second one', async () => {
  const [shop, rival] = await twins();
  const impatient = { ...w.env, SETTLE_PATIENCE_MS: '0' };
  await w.chain.fault({ kind: 'http_503', method: 'sendTransaction', times: 40 });
  expect((await shop.authorize(await shop.pull(), undefined, impatient)).status).toBe(503);
  await w.chain.call('local_clearFaults');
  const lost = await shop.pull();
  const pushed: Awaited<ReturnType<LiveShop['authorize']>>[] = [];
  const { env } = withObjectFaults(w.env, {
    after: async ({ verb }) => {
      if (verb === 'claimChannel' && pushed.length === 0) pushed.push(await shop.authorize(await shop.push()));
      return false;
    },
  });
  const sent = await shop.authorize(lost, undefined, env);
  expect([pushed[0]!.body.status, sent.status, sent.body.status]).toEqual(['open', 200, 'open']);
  expect(await findSession(shop.buyer.channelId)).toBe(shop.session.session_id);
  const { channelId } = shop.buyer;
  const again = await rival.authorize({ ...lost, mode: 'push', channelId });
  expect([again.status, again.body.meta.reason]).toEqual([402, 'channel-mismatch']);
});

it('a pushed channel of a payer without a token account is refused until the account exists', async () => {
  const shop = await LiveShop.make(w);
  const opening = await shop.push();
  const account = address(await associatedTokenAccount(shop.wallet.address, USDC));
  const amount = await w.chain.held(shop.wallet.address);
  await w.chain.send(shop.wallet, [
    getBurnInstruction({ account, mint: address(USDC), authority: shop.wallet, amount }),
    getCloseAccountInstruction({ account, destination: shop.wallet.address, owner: shop.wallet }),
  ]);
  const refused = await shop.authorize(opening);
  expect([refused.status, refused.body.meta.reason]).toEqual([402, 'payer-account-missing']);
  expect((await shop.read()).version).toBe(0);
  await w.chain.call('local_fundUsdc', shop.wallet.address, '0');
  expect((await shop.authorize(opening)).body.status).toBe('open');
});

it('a channel that our node shows later is awaited, and one that does not exist is refused', async () => {
  const shop = await LiveShop.make(w);
  const pushed = { ...(await shop.pull()), mode: 'push', signature: '1'.repeat(64), transaction: undefined };
  const asked = shop.authorize(pushed);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await shop.push();
  expect((await asked).body.status).toBe('open');
  const nowhere = await LiveShop.make(w);
  const refused = await nowhere.authorize({ ...(await nowhere.pull()), mode: 'push', signature: '1'.repeat(64), transaction: undefined });
  expect([refused.status, refused.body.meta.reason]).toEqual([402, 'channel-not-found']);
});
