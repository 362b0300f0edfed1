import { address, type KeyPairSigner } from '@solana/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base64 } from '#core/encoding.ts';
import { cancelInstruction, resumeInstruction } from '#solana/programs/subscriptions/instructions.ts';
import { USDC } from '../../support/chain/chain.ts';
import { signText } from '../../support/chain/wallet.ts';
import { PageBrowser } from '../../support/clients/page-browser.ts';
import { collectingWorld, type SubscriptionLife, SubscriptionSeller } from '../../support/models/subscription-life.ts';
import { newKey } from '../../support/people/agent.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';

describe('cancellation by the buyer', () => {
  const w = collectingWorld();
  let seller: SubscriptionSeller;
  beforeAll(async () => {
    seller = await SubscriptionSeller.open(w);
  });
  afterAll(endSkips);

  const signed = async (life: SubscriptionLife) => {
    const { body } = await life.cancelIntent();
    return w.chain.sign(life.subscriber.wallet, body.transaction);
  };
  const forge = async ({ keyPair }: KeyPairSigner, transaction: string): Promise<string> => {
    const wire = Uint8Array.from(base64.decode(transaction));
    wire.set(new Uint8Array(await crypto.subtle.sign('Ed25519', keyPair.privateKey, wire.slice(65))), 1);
    return base64.encode(wire);
  };
  const send = (wire: string) => w.chain.call<string>('sendTransaction', wire, { encoding: 'base64' });

  it('the service sends the signed cancellation, the account proves it, and a repetition gets the same answer', async () => {
    const life = await seller.subscribe();
    const { paidThrough } = await life.read();
    const intent = await life.cancelIntent();
    expect(intent).toMatchObject({ status: 200, body: { effective_at: new Date(paidThrough!).toISOString() } });
    expect(await life.read()).toMatchObject({ status: 'active', cancelledAt: null });
    const transaction = await w.chain.sign(life.subscriber.wallet, intent.body.transaction);
    const key = newKey();
    const confirmed = await life.cancelConfirm({ transaction }, key);
    expect(confirmed).toMatchObject({
      status: 200,
      body: { status: 'cancel_requested', cancel: { effective_at: new Date(paidThrough!).toISOString() } },
    });
    const again = await life.cancelConfirm({ transaction }, key);
    expect([again.status, again.body, again.headers.get('Idempotent-Replayed')]).toEqual([200, confirmed.body, 'true']);
    expect((await life.cancelConfirm({ transaction })).status).toBe(200);
    expect(await life.eventTypes()).toEqual(['subscription.authorized', 'subscription.cancel_requested']);
    expect(await life.cancelIntent()).toMatchObject({ status: 409, body: { code: 'subscription_cancelled' } });
    expect(await life.membership()).toMatchObject({ cancel_at_period_end: true });
  });

  it('the purchases of the buyer say when a cancelled subscription ends, and no longer offer to cancel it', async () => {
    const life = await seller.subscribe();
    const { wallet } = life.subscriber;
    const { body: nonce } = await w.call('POST', '/v1/buyer/wallet/nonce', { body: { wallet_address: wallet.address } });
    const browser = new PageBrowser(w);
    const signed_message = await signText(wallet, nonce.message);
    await browser.post('/me/wallet', { wallet_address: wallet.address, signed_message, message_nonce: nonce.message_nonce });
    await w.deliver();
    await w.sweepAlone('analytics');
    const page = `/s/${life.id}?locale=en`;
    expect((await browser.get('/me')).text).toContain(`${page}">See or cancel</a>`);
    await life.cancelConfirm({ transaction: await signed(life) });
    const { text } = await browser.get('/me');
    expect(text).toMatch(/<td data-name="Next charge">None\. Ends on \w+ \d+, \d+\.<\/td>/);
    expect(text).toContain(`${page}">See</a>`);
  });

  it('a buyer who sends the transaction alone confirms with its signature', async () => {
    const life = await seller.subscribe();
    const signature = await life.subscriber.send(cancelInstruction(life.subscriber.route));
    expect(await life.cancelConfirm({ tx_signature: signature })).toMatchObject({ status: 200, body: { status: 'cancel_requested' } });
  });

  it('another wallet gets 404, and a foreign or forged transaction gets 422 and changes nothing', async () => {
    const [life, other] = [await seller.subscribe(), await seller.subscribe()];
    expect((await life.cancelIntent(other.subscriber.wallet.address)).status).toBe(404);
    const [foreign, stranger] = [await signed(other), await w.chain.wallet()];
    expect(await life.cancelConfirm({ transaction: foreign })).toMatchObject({ status: 422, body: { code: 'payment_mismatch' } });
    const theirs = await send(foreign);
    expect(await life.cancelConfirm({ tx_signature: theirs })).toMatchObject({
      status: 422,
      body: { code: 'payment_mismatch', meta: { reason: 'foreign_subscription' } },
    });
    const forged = await forge(stranger, (await life.cancelIntent()).body.transaction);
    expect(await life.cancelConfirm({ transaction: forged })).toMatchObject({ status: 422, body: { code: 'payment_mismatch' } });
    expect(await life.read()).toMatchObject({ status: 'active' });
    expect((await life.subscriber.readSubscription()).subscription!.expiresAtTs).toBe(0n);
  });

  it('an old transaction does not cancel again after a resume', async () => {
    const life = await seller.subscribe();
    const signature = await life.subscriber.send(cancelInstruction(life.subscriber.route));
    await life.cancelConfirm({ tx_signature: signature });
    await life.subscriber.send(resumeInstruction(life.subscriber.route, address(USDC)));
    await life.show();
    await w.deliver();
    expect((await life.show()).body).toMatchObject({ status: 'active' });
    expect(await life.cancelConfirm({ tx_signature: signature })).toMatchObject({
      status: 422,
      body: { meta: { reason: 'not_cancelled' } },
    });
    expect(await life.read()).toMatchObject({ status: 'active' });
  });

  it('a cancellation succeeds for a checkout with an uncollected first period', async () => {
    const life = await seller.checkout({ usdc: 1n });
    await life.sign();
    await life.collectFirst();
    expect((await life.cancelConfirm({ transaction: await signed(life) })).status).toBe(200);
    expect((await life.subscriber.readSubscription()).subscription!.expiresAtTs).not.toBe(0n);
    expect(await life.collectFirst()).toMatchObject({ kind: 'waiting', reason: 'subscription_cancelled' });
  });

  it('only the merchant of the same mode reads the subscription, in its chain state once the queued read has run', async () => {
    const life = await seller.subscribe();
    const { key, sandboxKey } = await w.merchant();
    expect([
      (await life.show(key)).status,
      (await life.show(sandboxKey)).status,
      (await life.show(seller.merchant.sandboxKey)).status,
    ]).toEqual([404, 404, 404]);
    expect((await w.call('GET', life.path)).status).toBe(401);
    await life.subscriber.send(cancelInstruction(life.subscriber.route));
    expect((await life.show()).body.status).toBe('active');
    await w.deliver();
    const { body } = await life.show();
    expect(body).toMatchObject({ authorization_id: life.id, status: 'cancel_requested', period_hours: 720 });
    await skipTime(w.chain, 60);
    expect((await life.show()).body).toEqual(body);
  });

  it('cancel-confirm without an idempotency key and a malformed id are refused', async () => {
    const life = await seller.checkout();
    const body = { tx_signature: await life.subscriber.send() };
    expect(await w.call('POST', `${life.path}/cancel-confirm`, { body })).toMatchObject({
      status: 400,
      body: { code: 'idempotency_key_required' },
    });
    const elsewhere = '/v1/access/native-subscriptions/nsa_01KAJ3V5Y7H2Q8M4N6P9R1S3T5';
    expect((await w.call('GET', elsewhere, { key: seller.merchant.key })).status).toBe(404);
    const intent = { body: { wallet_address: life.subscriber.wallet.address } };
    expect((await w.call('POST', `${elsewhere}/cancel-intent`, intent)).status).toBe(404);
    expect((await life.cancelIntent()).body.code).toBe('subscription_requires_reapproval');
    expect((await life.cancelConfirm({})).status).toBe(422);
  });
});
