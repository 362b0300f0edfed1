import { describe, expect, it } from 'vitest';
import { base64url, canonicalJson, utf8 } from '#core/encoding.ts';
import { claimChannel, sessionOfChannel } from '#features/metered/session.ts';
import { newCtx } from '#platform/context.ts';
import { ChannelBuyer, challengeIn, decoded, MeteredShop } from '../../support/clients/metered.ts';
import { World } from '../../support/world.ts';

const w = new World();

/** Returns the challenge that any caller with the session id gets. An announcement discloses the id. */
const challengeFor = async (shop: MeteredShop): Promise<string> => (await shop.authorize(null)).headers.get('WWW-Authenticate')!;
const reasonOf = ({ status, body }: { status: number; body: { meta?: { reason?: string } } }) => [status, body.meta?.reason];

describe('caller who knows only a channel address and its session', () => {
  it('a stranger cannot close a session without a valid voucher or its opening challenge', async () => {
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

  it('the challenge changes with the opening, so only the opening one closes the session', async () => {
    const shop = await MeteredShop.open(w, { isOpen: false });
    const header = await challengeFor(shop);
    expect((await shop.authorize(shop.buyer.ephemeralOpen('1000000'), header)).body.status).toBe('open');
    expect(await challengeFor(shop)).not.toBe(header);
    expect((await shop.authorize({ action: 'close', channelId: shop.buyer.channelId }, header)).body.status).toBe('closed');
  });

  it('each caller gets a different challenge, and an expanded opaque value is accepted', async () => {
    const shop = await MeteredShop.open(w, { isOpen: false });
    const headers = await Promise.all(Array.from({ length: 8 }, () => challengeFor(shop)));
    expect(new Set([...headers, shop.session.challenge.header]).size).toBe(9);
    // Earlier clients send `opaque` expanded.
    const { opaque, ...rest } = challengeIn(headers[0]!);
    const shown = { challenge: { ...rest, opaque: decoded(opaque!) }, payload: shop.buyer.ephemeralOpen('1000000') };
    const Authorization = `Payment ${base64url.encode(utf8(canonicalJson(shown)))}`;
    expect((await w.call('POST', `${shop.path}/authorize`, { headers: { Authorization } })).body.status).toBe('open');
  });

  it('a repeated opening needs our challenge, and answers do not disclose the customer', async () => {
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

  it('a repeated opening with a later challenge is refused with already-open', async () => {
    const shop = await MeteredShop.open(w);
    const { channelId, authorizedSigner } = shop.buyer;
    const opening = { ...shop.buyer.ephemeralOpen('1000000'), channelId, authorizedSigner };
    expect(reasonOf(await shop.authorize(opening, await challengeFor(shop)))).toEqual([402, 'already-open']);
    expect((await shop.authorize(opening)).body.status).toBe('open');
  });

  it('an opening of a closed session answers 410 channel_closed', async () => {
    const shop = await MeteredShop.open(w);
    await shop.close();
    const late = await shop.authorize({ ...shop.buyer.ephemeralOpen('1000000') });
    expect([late.status, late.body.code]).toEqual([410, 'channel_closed']);
  });

  it('announcements never displace what the merchant reserves, under any id', async () => {
    const shop = await MeteredShop.open(w);
    for (const next of [1, 2, 3]) await shop.announce('1000', `${shop.buyer.channelId}:${next}`);
    await shop.announce('1', 'page-1');
    const amount = { asset: 'USDC', amount: '0.001' };
    expect((await shop.deliver({ delivery_id: 'page-1', amount })).body.amount).toBe('1000');
    expect((await shop.deliver({ amount })).status).toBe(201);
    expect((await shop.read()).reserved.base_units).toBe('2000');
  });

  it('a channel address resolves to its live session before a sandbox session', async () => {
    const shop = await MeteredShop.open(w);
    const { channelId } = shop.buyer;
    const ctx = newCtx(w.env, { requestId: 'req_lookups', defer: () => {} });
    expect(await sessionOfChannel(ctx, channelId)).toBe(shop.session.session_id);
    const live = `ms_${'1'.repeat(26)}`;
    expect(await claimChannel(ctx, { sessionId: live, livemode: true }, channelId)).toBe(true);
    expect(await sessionOfChannel(ctx, channelId)).toBe(live);
  });

  it('a sandbox claim of a channel address does not block the live claim', async () => {
    const shop = await MeteredShop.open(w);
    const { session_id: sessionId } = shop.session;
    const live = { sessionId: `ms_${'0'.repeat(26)}`, livemode: true };
    const ctx = newCtx(w.env, { requestId: 'req_claims', defer: () => {} });
    expect(await claimChannel(ctx, { sessionId, livemode: false }, shop.buyer.channelId)).toBe(true);
    expect(await claimChannel(ctx, live, shop.buyer.channelId)).toBe(true);
    expect(await claimChannel(ctx, { ...live, sessionId }, shop.buyer.channelId)).toBe(false);
  });

  it('the buyer can close with the opening challenge, with a last voucher or with the highest one again', async () => {
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
