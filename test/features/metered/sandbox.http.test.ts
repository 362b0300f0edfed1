import { beforeAll, describe, expect, it } from 'vitest';
import { CHANNEL_PROGRAMS } from '#solana/programs/payment-channels/channel.ts';
import { ChannelBuyer, challengeIn, credential, decoded, MeteredShop } from '../../support/clients/metered.ts';
import { newKey } from '../../support/people/agent.ts';
import { type Merchant, World } from '../../support/world.ts';

const w = new World();
const usdc = (amount: string) => ({ asset: 'USDC', amount });

describe('POST /v1/access/metered-sessions', () => {
  it('a session has a challenge that the public client understands, and repeats it under its key', async () => {
    const shop = await MeteredShop.open(w, { isOpen: false, body: { unit_price: usdc('0.001'), customer: { customer_ref: 'reader-7' } } });
    const { session } = shop;
    expect(session).toMatchObject({
      session_id: expect.stringMatching(/^ms_[0-9A-Z]{26}$/),
      status: 'created',
      customer: { customer_ref: 'reader-7' },
      cap: { asset: 'USDC', amount: '1', base_units: '1000000' },
      cumulative: { base_units: '0' },
      authorize_url: expect.stringContaining(`${shop.path}/authorize`),
      livemode: false,
      version: 0,
    });
    const challenge = challengeIn(session.challenge.header);
    expect([challenge.method, challenge.intent]).toEqual(['solana', 'session']);
    expect(decoded(challenge.request!)).toEqual(session.challenge.request);
    expect(session.challenge.request).toMatchObject({
      cap: '1000000',
      modes: ['pull', 'push'],
      pullVoucherStrategy: 'clientVoucher',
      externalId: session.session_id,
      programId: CHANNEL_PROGRAMS.older.address,
    });
  });

  it.each([
    ['a cap of nothing', { cap: usdc('0') }],
    ['a cap in SOL', { cap: { asset: 'SOL', amount: '1' } }],
    ['a program that is none of ours', { channel_program: '11111111111111111111111111111111' }],
    ['a grace period that clients of the older program never use', { grace_period_seconds: 901 }],
    ['a least step above the cap', { min_voucher_delta: usdc('2') }],
  ])('a session with %s is refused with 422', async (_, change) => {
    const shop = await MeteredShop.open(w, { isOpen: false });
    const body = { product_id: shop.session.product_id, cap: usdc('1'), ...change };
    const headers = { 'Idempotency-Key': newKey() };
    expect((await w.call('POST', '/v1/access/metered-sessions', { key: shop.key, body, headers })).status).toBe(422);
  });
});

describe('POST /authorize', () => {
  it('a call without a credential gets 402 with a session challenge', async () => {
    const shop = await MeteredShop.open(w, { isOpen: false });
    const asked = await shop.authorize(null);
    expect([asked.status, asked.body.code]).toEqual([402, 'payment_required']);
    expect(challengeIn(asked.headers.get('WWW-Authenticate')!).intent).toBe('session');
  });

  it('an opening succeeds once, a repeat gets the same answer, and a second channel is refused', async () => {
    const shop = await MeteredShop.open(w, { isOpen: false });
    const opening = shop.buyer.ephemeralOpen('1000000');
    for (const _ of ['first', 'again']) {
      const opened = await shop.authorize(opening);
      expect([opened.status, opened.body.status, opened.body.version]).toEqual([200, 'open', 1]);
      expect(decoded(opened.headers.get('Payment-Receipt')!)).toMatchObject({
        method: 'solana',
        status: 'success',
        reference: shop.buyer.channelId,
      });
    }
    const second = await shop.authorize(new ChannelBuyer().ephemeralOpen('1000000'));
    expect([second.status, second.body.meta.reason]).toEqual([402, 'already-open']);
    expect(second.headers.has('WWW-Authenticate')).toBe(true);
  });

  it('a credential that was not offered for this session is refused and changes nothing', async () => {
    const [shop, other] = [await MeteredShop.open(w, { isOpen: false }), await MeteredShop.open(w, { isOpen: false })];
    const opening = shop.buyer.ephemeralOpen('1000000');
    const refusals = {
      'invalid-challenge': () => shop.authorize(opening, other.session.challenge.header),
      'exceeds-cap': () => shop.authorize({ ...opening, deposit: '1000001' }),
      'invalid-deposit': () => shop.authorize({ ...opening, deposit: '0' }),
      'invalid-payload': () => shop.authorize({ ...opening, action: 'use' }),
      'not-open': () => shop.authorize({ action: 'voucher', voucher: shop.buyer.voucher(1n) }),
      'signer-mismatch': () => shop.authorize({ ...opening, authorizedSigner: '11111111111111111111111111111111' }),
    };
    for (const [reason, refused] of Object.entries(refusals))
      expect([(await refused()).body.meta.reason, (await shop.read()).version]).toEqual([reason, 0]);
    const garbage = await w.call('POST', `${shop.path}/authorize`, { headers: { Authorization: 'Payment no-credential' } });
    expect([garbage.status, garbage.body.meta.reason]).toEqual([402, 'malformed-credential']);
  });

  it('the sandbox accepts both voucher forms, top-ups, and one close with a last voucher', async () => {
    const shop = await MeteredShop.open(w);
    expect((await shop.authorize({ action: 'voucher', voucher: shop.buyer.voucher(100n) })).body.cumulative.base_units).toBe('100');
    const newer = shop.buyer.voucher(200n, { program: CHANNEL_PROGRAMS.current });
    expect((await shop.authorize({ action: 'voucher', voucher: newer })).body.cumulative.base_units).toBe('200');
    const last = { action: 'close', channelId: shop.buyer.channelId, voucher: shop.buyer.voucher(300n) };
    for (const _ of ['first', 'again']) {
      const closed = await shop.authorize(last);
      expect([closed.status, closed.body.status, closed.body.settled.base_units]).toEqual([200, 'closed', '300']);
    }
    const late = await shop.authorize({ action: 'voucher', voucher: shop.buyer.voucher(400n) });
    expect([late.status, late.body.code]).toEqual([410, 'channel_closed']);
  });

  it('a close with a voucher for reserved amounts settles them', async () => {
    const shop = await MeteredShop.open(w);
    await shop.deliver({ amount: usdc('0.6') });
    const all = shop.buyer.voucher(1_000_000n);
    expect((await shop.authorize({ action: 'voucher', voucher: all })).body.meta.reason).toBe('exceeds-deposit');
    const beyond = { action: 'close', channelId: shop.buyer.channelId, voucher: shop.buyer.voucher(1_000_001n) };
    expect((await shop.authorize(beyond)).body.meta.reason).toBe('exceeds-deposit');
    expect(await shop.read()).toMatchObject({ status: 'open', reserved: { base_units: '600000' } });
    expect((await shop.authorize({ ...beyond, voucher: all })).body).toMatchObject({
      status: 'closed',
      settled: { base_units: '1000000' },
    });
  });

  it('a commit through authorize returns the delivery receipt', async () => {
    const shop = await MeteredShop.open(w);
    const { body: directive } = await shop.announce('40');
    const committed = await shop.authorize({ action: 'commit', deliveryId: directive.deliveryId, voucher: shop.buyer.voucher(40n) });
    expect(committed.body).toMatchObject({ amount: '40', cumulative: '40', status: 'committed', sessionId: shop.buyer.channelId });
  });
});

describe('deliveries', () => {
  let shop: MeteredShop;
  let stranger: Merchant;
  beforeAll(async () => {
    shop = await MeteredShop.open(w, { body: { unit_price: usdc('0.001') } });
    stranger = await w.merchant();
  });

  it('a delivery reserves its amount and is idempotent by key and by id', async () => {
    const idempotencyKey = newKey();
    const first = await shop.deliver({ delivery_id: 'page-1', amount: usdc('0.25') }, { idempotencyKey });
    expect([first.status, first.body]).toEqual([
      201,
      {
        amount: '250000',
        currency: expect.any(String),
        deliveryId: 'page-1',
        expiresAt: expect.any(Number),
        sequence: expect.any(Number),
        sessionId: shop.buyer.channelId,
        commitUrl: shop.session.commits_url,
        session_id: shop.session.session_id,
      },
    ]);
    const again = await shop.deliver({ delivery_id: 'page-1', amount: usdc('0.25') }, { idempotencyKey });
    expect([again.headers.get('Idempotent-Replayed'), again.body]).toEqual(['true', first.body]);
    expect((await shop.deliver({ delivery_id: 'page-1', amount: usdc('0.25') })).body).toEqual(first.body);
    expect((await shop.deliver({ delivery_id: 'page-1', amount: usdc('0.3') }, { idempotencyKey })).body.code).toBe('idempotency_conflict');
    const other = await shop.deliver({ delivery_id: 'page-1', amount: usdc('0.3') });
    expect([other.status, other.body.code, other.body.meta.reason]).toEqual([409, 'state_conflict', 'delivery-conflict']);
    const much = await shop.deliver({ amount: usdc('0.8') });
    expect([much.status, much.body.meta.reason]).toEqual([409, 'exceeds-deposit']);
    expect((await shop.read()).reserved.base_units).toBe('250000');
  });

  it('units are priced by the session, and refused without a unit price', async () => {
    expect((await shop.deliver({ units: 3 })).body.amount).toBe('3000');
    expect((await (await MeteredShop.open(w)).deliver({ units: 3 })).status).toBe(422);
  });

  it('another merchant or mode cannot create deliveries', async () => {
    expect((await shop.deliver({ amount: usdc('0.1') }, { key: stranger.sandboxKey })).status).toBe(404);
    expect((await shop.deliver({ amount: usdc('0.1') }, { key: shop.merchant.key })).status).toBe(404);
  });

  it('a delivery is refused before the session opens and after it closed', async () => {
    const early = await (await MeteredShop.open(w, { isOpen: false })).deliver({ amount: usdc('0.1') });
    expect([early.status, early.body.meta.reason]).toEqual([409, 'not-open']);
    const over = await MeteredShop.open(w);
    await over.close();
    expect([(await over.deliver({ amount: usdc('0.1') })).body.code, (await over.announce('1')).body.code]).toEqual([
      'channel_closed',
      'channel_closed',
    ]);
  });
});

describe('commits', () => {
  it('commits are accepted in the four forms of the public clients', async () => {
    const shop = await MeteredShop.open(w);
    const forms: ((deliveryId: string, voucher: object) => [object, Record<string, string>?])[] = [
      (deliveryId, voucher) => [
        { amount: '10', deliveryId },
        { Authorization: credential(shop.session.challenge.header, { action: 'commit', deliveryId, voucher }) },
      ],
      (deliveryId, voucher) => [{ deliveryId, voucher }, { Authorization: 'Bearer of-the-app-itself' }],
      (deliveryId, voucher) => [{ amount: '10', deliveryId, voucher }],
      (deliveryId, voucher) => [{ deliveryId, voucher }],
    ];
    for (const [i, form] of forms.entries()) {
      const { body: directive } = await shop.announce('10');
      const [body, headers] = form(directive.deliveryId, shop.buyer.voucher(BigInt(10 * (i + 1))));
      const first = await shop.commit(body, headers);
      expect([first.status, first.body]).toEqual([
        200,
        {
          amount: '10',
          cumulative: String(10 * (i + 1)),
          deliveryId: directive.deliveryId,
          sessionId: shop.buyer.channelId,
          status: 'committed',
          session_id: shop.session.session_id,
        },
      ]);
      expect((await shop.commit(body, headers)).body).toEqual({ ...first.body, status: 'replayed' });
    }
  });

  it('a voucher that does not pay is refused with its reason and changes nothing', async () => {
    const shop = await MeteredShop.open(w);
    await shop.authorize({ action: 'voucher', voucher: shop.buyer.voucher(100n) });
    const { body: directive } = await shop.announce('50');
    const { deliveryId } = directive;
    const { version } = await shop.read();
    const good = shop.buyer.voucher(150n);
    const refusals: [string, object, Record<string, string>?][] = [
      ['channel-mismatch', { deliveryId, voucher: shop.buyer.voucher(150n, { channelId: new ChannelBuyer().channelId }) }],
      ['unknown-delivery', { deliveryId: 'never-announced', voucher: good }],
      ['cumulative-not-monotonic', { deliveryId, voucher: shop.buyer.voucher(99n) }],
      ['exceeds-reservation', { deliveryId, voucher: shop.buyer.voucher(151n) }],
      ['invalid-signature', { deliveryId, voucher: { ...good, signature: shop.buyer.voucher(149n).signature } }],
      ['expired', { deliveryId, voucher: shop.buyer.voucher(150n, { expiresAt: 1_000 }) }],
      [
        'voucher-mismatch',
        { deliveryId, voucher: good },
        { Authorization: credential(shop.session.challenge.header, { action: 'commit', deliveryId, voucher: shop.buyer.voucher(149n) }) },
      ],
    ];
    for (const [reason, body, headers] of refusals) {
      const refused = await shop.commit(body, headers);
      expect([refused.status, refused.body.code, refused.body.meta.reason]).toEqual([422, 'payment_mismatch', reason]);
    }
    expect((await shop.read()).version).toBe(version);
    expect((await shop.commit({ deliveryId, voucher: good })).status).toBe(200);
    const other = await shop.commit({ deliveryId, voucher: shop.buyer.voucher(151n) });
    expect(other.body.meta.reason).toBe('delivery-conflict');
  });

  it('a closed session replays a repeated commit and answers 410 to a new one', async () => {
    const shop = await MeteredShop.open(w);
    const { body: directive } = await shop.announce('10');
    const body = { deliveryId: directive.deliveryId, voucher: shop.buyer.voucher(10n) };
    await shop.commit(body);
    expect((await shop.close()).body.status).toBe('closed');
    expect((await shop.commit(body)).body.status).toBe('replayed');
    const late = await shop.commit({ deliveryId: 'other', voucher: shop.buyer.voucher(20n) });
    expect([late.status, late.body.code]).toEqual([410, 'channel_closed']);
  });

  it('concurrent commits of one step have one winner', async () => {
    const shop = await MeteredShop.open(w);
    const announced = await Promise.all(Array.from({ length: 8 }, () => shop.announce('10')));
    const answers = await Promise.all(
      announced.flatMap(({ body: { deliveryId } }) => {
        const body = { deliveryId, voucher: shop.buyer.voucher(10n) };
        return [shop.commit(body), shop.commit(body)];
      }),
    );
    expect(answers.filter(({ body }) => body.status === 'committed')).toHaveLength(1);
    expect(answers.filter(({ body }) => body.status === 'replayed')).toHaveLength(1);
    expect((await shop.read()).cumulative.base_units).toBe('10');
  });
});
