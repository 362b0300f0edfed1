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

describe('chain state that differs from the database', () => {
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
  /** Stops new subscriptions, and collections after this many days. */
  const sunset = (shop: SubscriptionSeller, days: number) => {
    const { owner, planId, pullers, metadataUri } = shop.draft.plan;
    const endTs = BigInt(Math.floor(Date.now() / 1000) + days * DAY);
    return asMerchant(shop, updatePlanInstruction(owner, planId, { status: 'sunset', endTs, pullers, metadataUri }));
  };
  const closePlan = async (shop: SubscriptionSeller) => {
    // An end must leave at least one period.
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
  /** Runs two racing sweeps in the next period, then the checks of two more days. */
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

  it('a plan in sunset is collected until it ends, and then needs its buyer again', async () => {
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

  it('a closed plan needs its buyer again', async () => {
    const shop = await SubscriptionSeller.open(w);
    const life = await shop.subscribe();
    await closePlan(shop);
    await nextPeriod(life);
    await expectReapproval(life);
  });

  it('a plan closed and recreated needs its buyer again, with any terms', async () => {
    const shop = await SubscriptionSeller.open(w);
    const life = await shop.subscribe();
    await closePlan(shop);
    await asMerchant(shop, createPlanInstruction(shop.draft.plan, TOKEN_PROGRAM as Address));
    await nextPeriod(life);
    await expectReapproval(life);
    expect(await w.chain.held(life.subscriber.wallet.address)).toBe(999n * PRICE);
  });

  it('an authority that is gone or recreated with another id needs its buyer again', async () => {
    const [gone, renewed] = [await seller.subscribe(), await seller.subscribe()];
    await gone.subscriber.send(closeAuthorityInstruction(owner(gone)));
    await renewed.subscriber.send(closeAuthorityInstruction(owner(renewed)));
    await skipTime(w.chain, 2);
    await renewed.subscriber.send(initAuthorityInstruction(owner(renewed)));
    await nextPeriod(gone);
    await expectReapproval(gone);
    await expectReapproval(renewed);
  });

  it('a frozen account is past_due, retried within the period, and paid once it is unfrozen', async () => {
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

  /** Advances to the end of the period without any sweep, as in an outage. */
  const untilOver = async (life: SubscriptionLife) => {
    const { paidThrough } = await life.read();
    await skipTime(w.chain, Math.ceil((paidThrough! - Date.now()) / 1000) + 660);
  };

  it('a subscription cancelled and over before the first check is cancelled with one event', async () => {
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

  it('a subscription cancelled and revoked before the first check is missing on chain and needs its buyer again', async () => {
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
