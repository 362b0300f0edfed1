import { describe, expect, it } from 'vitest';
import { base64url, canonicalJson, utf8 } from '#core/encoding.ts';
import { claimChannel, sessionOfChannel } from '#features/metered/session.ts';
import { newCtx } from '#platform/context.ts';
import { ChannelBuyer, challengeIn, decoded, MeteredShop } from '../../support/clients/metered.ts';
import { World } from '../../support/world.ts';

const w = new World();

/** The challenge that anybody is told who asks for the session, whose id an announcement at the channel's public address tells. */
const challengeFor = async (shop: MeteredShop): Promise<string> => (await shop.authorize(null)).headers.get('WWW-Authenticate')!;
const reasonOf = ({ status, body }: { status: number; body: { meta?: { reason?: string } } }) => [status, body.meta?.reason];

describe('who knows no more than a channel’s address and its session', () => {
  it('cannot close it: that takes a voucher of its signer, or the challenge that opened it', async () => {
    const shop = await MeteredShop.open(w);
    const close = { action: 'close', channelId: shop.buyer.channelId };
    const foreign = new ChannelBuyer().voucher(10n, { channelId: shop.buyer.channelId });
    const header = await challengeFor(shop);
    expect(reasonOf(await shop.authorize(close, header))).toEqual([402, 'voucher-required']);
    expect(reasonOf(await shop.authorize({ ...close, voucher: foreign }, header))).toEqual([402, 'invalid-signature']);
    const forged = shop.session.challenge.header.replace(/id="[^"]*"/, `id="${'A'.repeat(43)}"`);
    expect(reasonOf(await shop.authorize(close, forged))).toEqual([402, 'voucher-required']);
    expect((await shop.read()).status).toBe('open');
  });

  it('is told no challenge that closes it, however soon after the opening', async () => {
    const shop = await MeteredShop.open(w, { isOpen: false });
    const header = await challengeFor(shop);
    expect((await shop.authorize(shop.buyer.ephemeralOpen('1000000'), header)).body.status).toBe('open');
    expect(await challengeFor(shop)).not.toBe(header);
    expect((await shop.authorize({ action: 'close', channelId: shop.buyer.channelId }, header)).body.status).toBe('closed');
  });

  it('is told another challenge than the next caller, also in the same second', async () => {
    const shop = await MeteredShop.open(w, { isOpen: false });
    const headers = await Promise.all(Array.from({ length: 8 }, () => challengeFor(shop)));
    expect(new Set([...headers, shop.session.challenge.header]).size).toBe(9);
    // Earlier clients echo what `opaque` holds, expanded.
    const { opaque, ...rest } = challengeIn(headers[0]!);
    const shown = { challenge: { ...rest, opaque: decoded(opaque!) }, payload: shop.buyer.ephemeralOpen('1000000') };
    const Authorization = `Payment ${base64url.encode(utf8(canonicalJson(shown)))}`;
    expect((await w.call('POST', `${shop.path}/authorize`, { headers: { Authorization } })).body.status).toBe('open');
  });

  it('is told nothing of whom it was made for, and opens nothing again without a challenge of ours', async () => {
    const shop = await MeteredShop.open(w, { body: { customer: { customer_ref: 'reader-7' } } });
    const { channelId, authorizedSigner } = shop.buyer;
    const opening = { ...shop.buyer.ephemeralOpen('1'), channelId, authorizedSigner };
    const made = shop.session.challenge.header.replace(/id="[^"]*"/, `id="${'A'.repeat(43)}"`);
    expect(reasonOf(await shop.authorize(opening, made))).toEqual([402, 'invalid-challenge']);
    const other = await MeteredShop.open(w, { merchant: shop.merchant });
    expect(reasonOf(await shop.authorize(opening, await challengeFor(other)))).toEqual([402, 'invalid-challenge']);
    const topUp = { action: 'topUp', channelId, newDeposit: '0', signature: '1'.repeat(64) };
    const { status, body } = await shop.authorize(topUp, await challengeFor(shop));
    expect([status, body.status, body.customer]).toEqual([200, 'open', undefined]);
    expect((await shop.read()).customer).toEqual({ customer_ref: 'reader-7' });
  });

  it('is not taken for its buyer by saying channel and signer again, with a challenge that came after the opening', async () => {
    const shop = await MeteredShop.open(w);
    const { channelId, authorizedSigner } = shop.buyer;
    const opening = { ...shop.buyer.ephemeralOpen('1000000'), channelId, authorizedSigner };
    expect(reasonOf(await shop.authorize(opening, await challengeFor(shop)))).toEqual([402, 'already-open']);
    // Who opened it has the one that came before.
    expect((await shop.authorize(opening)).body.status).toBe('open');
  });

  it('is told that a closed session is closed where its opening comes again', async () => {
    const shop = await MeteredShop.open(w);
    await shop.close();
    const late = await shop.authorize({ ...shop.buyer.ephemeralOpen('1000000') });
    expect([late.status, late.body.code]).toEqual([410, 'channel_closed']);
  });

  it('takes the place of nothing that its merchant reserves, under whatever id', async () => {
    const shop = await MeteredShop.open(w);
    for (const next of [1, 2, 3]) await shop.announce('1000', `${shop.buyer.channelId}:${next}`);
    await shop.announce('1', 'page-1');
    const amount = { asset: 'USDC', amount: '0.001' };
    expect((await shop.deliver({ delivery_id: 'page-1', amount })).body.amount).toBe('1000');
    expect((await shop.deliver({ amount })).status).toBe(201);
    expect((await shop.read()).reserved.base_units).toBe('2000');
  });

  it('does not have the buyer’s client announce to a sandbox session that names the same address', async () => {
    const shop = await MeteredShop.open(w);
    const { channelId } = shop.buyer;
    const ctx = newCtx(w.env, { requestId: 'req_lookups', defer: () => {} });
    expect(await sessionOfChannel(ctx, channelId)).toBe(shop.session.session_id);
    const live = `ms_${'1'.repeat(26)}`;
    expect(await claimChannel(ctx, { sessionId: live, livemode: true }, channelId)).toBe(true);
    expect(await sessionOfChannel(ctx, channelId)).toBe(live);
  });

  it('does not keep a channel’s address from a buyer in live mode by naming it in the sandbox', async () => {
    const shop = await MeteredShop.open(w);
    const { session_id: sessionId } = shop.session;
    const live = { sessionId: `ms_${'0'.repeat(26)}`, livemode: true };
    const ctx = newCtx(w.env, { requestId: 'req_claims', defer: () => {} });
    expect(await claimChannel(ctx, { sessionId, livemode: false }, shop.buyer.channelId)).toBe(true);
    expect(await claimChannel(ctx, live, shop.buyer.channelId)).toBe(true);
    expect(await claimChannel(ctx, { ...live, sessionId }, shop.buyer.channelId)).toBe(false);
  });

  it('leaves its buyer free to close with the challenge alone, with a last voucher, or with the highest one shown again', async () => {
    const [bare, last, again] = [await MeteredShop.open(w), await MeteredShop.open(w), await MeteredShop.open(w)];
    const closeOf = ({ buyer }: MeteredShop) => ({ action: 'close', channelId: buyer.channelId });
    expect((await bare.authorize(closeOf(bare))).body.status).toBe('closed');
    const raised = { ...closeOf(last), voucher: last.buyer.voucher(7n) };
    const header = await challengeFor(last);
    for (const _ of ['first', 'again'])
      expect((await last.authorize(raised, header)).body).toMatchObject({ status: 'closed', settled: { base_units: '7' } });
    await again.authorize({ action: 'voucher', voucher: again.buyer.voucher(9n) });
    const shown = { ...closeOf(again), voucher: again.buyer.voucher(9n) };
    expect((await again.authorize(shown, await challengeFor(again))).body).toMatchObject({
      status: 'closed',
      settled: { base_units: '9' },
    });
  });
});
