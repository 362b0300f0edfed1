import { type Address, address, addSignersToInstruction, type Instruction } from '@solana/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base64 } from '#core/encoding.ts';
import { TOKEN_PROGRAM } from '#solana/assets.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import {
  cancelInstruction,
  closeAuthorityInstruction,
  createPlanInstruction,
  deletePlanInstruction,
  initAuthorityInstruction,
  revokeInstruction,
  updatePlanInstruction,
} from '#solana/programs/subscriptions/instructions.ts';
import { USDC } from '../../support/chain/chain.ts';
import {
  collectingWorld,
  PRICE,
  passDays,
  run,
  type SubscriptionLife,
  SubscriptionSeller,
} from '../../support/models/subscription-life.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';

const DAY = 86_400;

describe('a world that is another than we remember', () => {
  const w = collectingWorld();
  let seller: SubscriptionSeller;
  beforeAll(async () => {
    seller = await SubscriptionSeller.open(w);
  });
  afterAll(endSkips);

  const asMerchant = ({ merchant }: SubscriptionSeller, ...instructions: Instruction[]) =>
    w.chain.send(
      merchant.wallet,
      instructions.map((one) => addSignersToInstruction([merchant.wallet], one) as Instruction),
    );
  /** Nobody subscribes any more; after so many days nothing is collected either. */
  const sunset = (shop: SubscriptionSeller, days: number) => {
    const { owner, planId, pullers, metadataUri } = shop.draft.plan;
    const endTs = BigInt(Math.floor(Date.now() / 1000) + days * DAY);
    return asMerchant(shop, updatePlanInstruction(owner, planId, { status: 'sunset', endTs, pullers, metadataUri }));
  };
  const closePlan = async (shop: SubscriptionSeller) => {
    // An end leaves room for one period at least, of which nobody looks here.
    await sunset(shop, 31);
    await passDays(w, 32);
    await asMerchant(shop, deletePlanInstruction(shop.draft.plan.owner, shop.draft.plan.planId));
  };
  const owner = ({ subscriber }: SubscriptionLife) => ({
    user: subscriber.wallet.address,
    mint: address(USDC),
    tokenProgram: TOKEN_PROGRAM as Address,
  });
  const setFrozen = async (life: SubscriptionLife, isFrozen: boolean) => {
    const ata = await associatedTokenAccount(life.subscriber.wallet.address, USDC);
    const [[at, by, data]] = (await w.chain.accounts([ata])) as [[string, string, string]];
    const bytes = Uint8Array.from(base64.decode(data));
    bytes[108] = isFrozen ? 2 : 1;
    await w.chain.putAccounts([[at, by, base64.encode(bytes)]]);
  };
  /** Into the next period, where it is collected or not, by two sweeps that race; then the looks of two more days. */
  const nextPeriod = async (life: SubscriptionLife) => {
    const { startedAt } = await life.read();
    const period = seller.periodDays * DAY;
    const passed = Math.floor((Date.now() - startedAt!) / 1000 / period);
    await skipTime(w.chain, Math.ceil((startedAt! + (passed + 1) * period * 1000 - Date.now()) / 1000) + 660);
    await Promise.all([run(w), run(w)]);
    await life.settle();
    for (let day = 0; day < 2; day++) {
      await passDays(w, 1);
      await Promise.all([run(w), run(w)]);
    }
    await life.settle();
  };
  const expectReapproval = async (life: SubscriptionLife, payments = 1) => {
    expect(await life.read()).toMatchObject({ status: 'requires_reapproval', nextAttemptAt: null });
    expect(await life.membership()).toMatchObject({ subscription_status: 'requires_reapproval' });
    expect((await life.eventTypes()).filter((type) => type !== 'subscription.renewed')).toEqual([
      'subscription.authorized',
      'subscription.requires_reapproval',
    ]);
    expect(await life.payments()).toHaveLength(payments);
  };

  it('a plan in sunset is collected like any other until it ends, and then needs its buyer again', async () => {
    const shop = await SubscriptionSeller.open(w);
    const life = await shop.subscribe();
    await sunset(shop, 65);
    await nextPeriod(life);
    expect(await life.read()).toMatchObject({ status: 'active' });
    expect(await life.eventTypes()).toEqual(['subscription.authorized', 'subscription.renewed']);
    await nextPeriod(life);
    await nextPeriod(life);
    await expectReapproval(life, 3);
    expect(await w.chain.held(life.subscriber.wallet.address)).toBe(997n * PRICE);
  });

  it('a plan that was closed needs its buyer again', async () => {
    const shop = await SubscriptionSeller.open(w);
    const life = await shop.subscribe();
    await closePlan(shop);
    await nextPeriod(life);
    await expectReapproval(life);
  });

  it('a plan that was closed and made again needs its buyer again, whatever its terms are', async () => {
    const shop = await SubscriptionSeller.open(w);
    const life = await shop.subscribe();
    await closePlan(shop);
    await asMerchant(shop, createPlanInstruction(shop.draft.plan, TOKEN_PROGRAM as Address));
    await nextPeriod(life);
    await expectReapproval(life);
    expect(await w.chain.held(life.subscriber.wallet.address)).toBe(999n * PRICE);
  });

  it('an authority that is gone, or was made again with another id, needs its buyer again', async () => {
    const [gone, renewed] = [await seller.subscribe(), await seller.subscribe()];
    await gone.subscriber.send(closeAuthorityInstruction(owner(gone)));
    await renewed.subscriber.send(closeAuthorityInstruction(owner(renewed)));
    await skipTime(w.chain, 2);
    await renewed.subscriber.send(initAuthorityInstruction(owner(renewed)));
    await nextPeriod(gone);
    await expectReapproval(gone);
    await expectReapproval(renewed);
  });

  it('a frozen account is a matter of money: past due, tried again while the period lasts, and paid once it is not', async () => {
    const life = await seller.subscribe();
    await setFrozen(life, true);
    await nextPeriod(life);
    expect(await life.read()).toMatchObject({ status: 'past_due', lastCollection: { status: 'failed', code: 'account_frozen' } });
    expect(await life.eventTypes()).toEqual(['subscription.authorized', 'subscription.past_due']);
    await setFrozen(life, false);
    await passDays(w, 1);
    await run(w);
    await life.settle();
    expect(await life.read()).toMatchObject({ status: 'active', failures: 0 });
    expect(await life.eventTypes()).toEqual(['subscription.authorized', 'subscription.past_due', 'subscription.renewed']);
    expect(await life.payments()).toHaveLength(2);
  });

  /** Nobody looks while the buyer acts and the period ends: the service was away. */
  const untilOver = async (life: SubscriptionLife) => {
    const { paidThrough } = await life.read();
    await skipTime(w.chain, Math.ceil((paidThrough! - Date.now()) / 1000) + 660);
  };

  it('one that was cancelled, and is over before anyone looked, is cancelled with one event', async () => {
    const life = await seller.subscribe();
    await life.subscriber.send(cancelInstruction(life.subscriber.route));
    await untilOver(life);
    await Promise.all([run(w), run(w)]);
    await passDays(w, 1);
    await run(w);
    expect(await life.read()).toMatchObject({
      status: 'cancelled',
      lastCollection: { status: 'failed', code: 'subscription_cancelled' },
      endedAt: expect.any(Number),
    });
    expect(await life.eventTypes()).toEqual(['subscription.authorized', 'subscription.cancelled']);
    expect(await life.payments()).toHaveLength(1);
  });

  it('one that was cancelled and revoked before anyone looked is gone from the chain, and needs its buyer again', async () => {
    const life = await seller.subscribe();
    await life.subscriber.send(cancelInstruction(life.subscriber.route));
    await untilOver(life);
    await life.subscriber.send(revokeInstruction(life.subscriber.route));
    await Promise.all([run(w), run(w)]);
    await passDays(w, 1);
    await run(w);
    await expectReapproval(life);
  });
});
