import { type Address, address, createNoopSigner, type Instruction } from '@solana/kit';
import { getApproveInstruction } from '@solana-program/token';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TOKEN_PROGRAM } from '#solana/assets.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import {
  cancelInstruction,
  initAuthorityInstruction,
  resumeInstruction,
  revokeInstruction,
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

describe('wallet actions outside the service', () => {
  const w = collectingWorld();
  let seller: SubscriptionSeller;
  let soldOnce: { slug: string };
  beforeAll(async () => {
    seller = await SubscriptionSeller.open(w);
    soldOnce = await w.product(seller.merchant);
  });
  afterAll(endSkips);

  const send = (life: SubscriptionLife, ...instructions: Instruction[]) => life.subscriber.send(...instructions);
  const runDailyCheck = async () => {
    await passDays(w, 1);
    await run(w);
  };
  /** Advances past the spread of the next period's collections. */
  const toNextPeriod = async (life: SubscriptionLife) => {
    const { paidThrough } = await life.read();
    await skipTime(w.chain, Math.ceil((paidThrough! - Date.now()) / 1000) + 660);
    await run(w);
    await life.settle();
  };
  const overwriteDelegate = async (life: SubscriptionLife) => {
    const { wallet } = life.subscriber;
    const approve = getApproveInstruction({
      source: address(await associatedTokenAccount(wallet.address, USDC)),
      delegate: seller.merchant.wallet.address,
      owner: createNoopSigner(wallet.address),
      amount: 1n,
    });
    return send(life, { ...approve, accounts: approve.accounts.map(({ address: at, role }) => ({ address: at, role })) } as Instruction);
  };
  const approveAgain = ({ subscriber }: SubscriptionLife) =>
    initAuthorityInstruction({ user: subscriber.wallet.address, mint: address(USDC), tokenProgram: TOKEN_PROGRAM as Address });

  it('a cancellation is detected within a day, and access and membership last to the end of the paid time', async () => {
    const life = await seller.subscribe();
    await send(life, cancelInstruction(life.subscriber.route));
    await runDailyCheck();
    const { paidThrough } = await life.read();
    expect(await life.read()).toMatchObject({ status: 'cancel_requested', nextAttemptAt: null, cancelEffectiveAt: paidThrough });
    expect(await life.membership()).toMatchObject({
      status: 'active',
      cancel_at_period_end: true,
      subscription_status: 'cancel_requested',
    });
    await toNextPeriod(life);
    expect(await life.read()).toMatchObject({ status: 'cancelled', endedAt: expect.any(Number), nextCheckAt: null });
    await w.sweepAlone('memberships');
    expect(await life.membership()).toMatchObject({ status: 'cancelled', cancel_at_period_end: false, subscription_status: 'cancelled' });
    expect(await life.eventTypes()).toEqual(['subscription.authorized', 'subscription.cancel_requested', 'subscription.cancelled']);
    expect(await life.payments()).toHaveLength(1);
  });

  it('a resumed cancellation continues the subscription unchanged', async () => {
    const life = await seller.subscribe();
    await send(life, cancelInstruction(life.subscriber.route));
    await runDailyCheck();
    await send(life, resumeInstruction(life.subscriber.route, address(USDC)));
    await runDailyCheck();
    expect(await life.read()).toMatchObject({ status: 'active', cancelledAt: null });
    await toNextPeriod(life);
    expect(await life.payments()).toHaveLength(2);
    expect(await life.eventTypes()).toEqual([
      'subscription.authorized',
      'subscription.cancel_requested',
      'subscription.authorized',
      'subscription.renewed',
    ]);
  });

  it('an approval overwritten by another app needs the buyer again and resumes once it is renewed', async () => {
    const life = await seller.subscribe();
    await overwriteDelegate(life);
    await toNextPeriod(life);
    expect(await life.read()).toMatchObject({
      status: 'requires_reapproval',
      lastCollection: { status: 'failed', code: 'subscription_requires_reapproval' },
    });
    expect(await life.payments()).toHaveLength(1);
    await send(life, approveAgain(life));
    await runDailyCheck();
    await runDailyCheck();
    await life.settle();
    expect(await life.read()).toMatchObject({ status: 'active' });
    expect(await life.payments()).toHaveLength(2);
    expect(await life.eventTypes()).toEqual([
      'subscription.authorized',
      'subscription.requires_reapproval',
      'subscription.authorized',
      'subscription.renewed',
    ]);
  });

  it('a subscription cancelled and revoked stays cancelled, and a new one at its address is separate', async () => {
    const life = await seller.subscribe();
    await send(life, cancelInstruction(life.subscriber.route));
    await toNextPeriod(life);
    await send(life, revokeInstruction(life.subscriber.route));
    await life.sign();
    await runDailyCheck();
    expect(await life.read()).toMatchObject({ status: 'cancelled' });
    expect(await life.payments()).toHaveLength(1);
  });

  it('three unpaid periods end the subscription, with at least two attempts each and no later collection', async () => {
    const life = await seller.subscribe({ usdc: PRICE });
    for (let period = 0; period < 3; period++) {
      await toPeriod(life, period + 1);
      await run(w);
      await skipTime(w.chain, 3700);
      await run(w);
    }
    expect(await life.read()).toMatchObject({ status: 'past_due' });
    await w.chain.call('local_fundUsdc', life.subscriber.wallet.address, (3n * PRICE).toString());
    await toPeriod(life, 4);
    await run(w);
    await life.settle();
    expect(await life.read()).toMatchObject({ status: 'expired', endedAt: expect.any(Number) });
    expect(await life.payments()).toHaveLength(1);
    expect(await w.chain.held(life.subscriber.wallet.address)).toBe(3n * PRICE);
    expect(await life.eventTypes()).toEqual(['subscription.authorized', 'subscription.past_due', 'subscription.cancelled']);
  });

  const toPeriod = async (life: SubscriptionLife, number: number) => {
    const { startedAt } = await life.read();
    await skipTime(w.chain, Math.ceil((startedAt! + number * 30 * 86_400_000 - Date.now()) / 1000) + 660);
  };

  it('a period collected by the plan owner becomes one payment with its receipt', async () => {
    const life = await seller.subscribe();
    const { paidThrough } = await life.read();
    await skipTime(w.chain, Math.ceil((paidThrough! - Date.now()) / 1000) + 5);
    const signature = await seller.pull(life);
    await skipTime(w.chain, 660);
    await Promise.all([run(w), run(w)]);
    await life.settle();
    const payments = await life.payments();
    expect(payments.map(({ txSignature }) => txSignature).slice(1)).toEqual([signature]);
    expect(await life.read()).toMatchObject({ status: 'active', paidThrough: paidThrough! + 30 * 86_400_000 });
    expect(await life.eventTypes()).toEqual(['subscription.authorized', 'subscription.renewed']);
  });

  it('a plan owner’s collection with the memo of an open checkout pays the period, not the checkout', async () => {
    const life = await seller.subscribe();
    const { paidThrough } = await life.read();
    await skipTime(w.chain, Math.ceil((paidThrough! - Date.now()) / 1000) + 5);
    const checkout = await w.connect(soldOnce);
    const signature = await seller.pull(life, { memos: [checkout.memo] });
    const { status, body } = await w.confirm(checkout.payment_id, signature);
    expect([status, body.code, body.meta]).toEqual([422, 'payment_mismatch', { reason: 'recipient_mismatch' }]);
    await skipTime(w.chain, 660);
    await run(w);
    await life.settle();
    expect((await life.payments()).at(-1)?.txSignature).toBe(signature);
    expect(await life.read()).toMatchObject({ status: 'active', paidThrough: paidThrough! + 30 * 86_400_000 });
  });
});
