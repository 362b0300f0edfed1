import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CHANNEL_KEYS, fundChannels, LiveShop } from '../../support/chain/live-channel.ts';
import { withRivalAt } from '../../support/faults/faults.ts';
import { COLLECTING_KEYS, passDays, run, SubscriptionSeller } from '../../support/models/subscription-life.ts';
import { addMember } from '../../support/people/team.ts';
import { endSkips, letTimeRun, setTime } from '../../support/runner/clock.ts';
import { MailWorld, verifyAddress } from '../../support/servers/mail.ts';
import type { Merchant } from '../../support/world.ts';

describe('POST /v1/account/payouts/disown (F6: a wallet of before is paid on)', () => {
  const w = new MailWorld({ SUBSCRIPTION_KEYS: COLLECTING_KEYS, CHANNEL_KEYS });
  let ada: Merchant;
  /** Wallet of somebody who held the session for an hour. */
  let foreign: string;
  beforeAll(() => fundChannels(w));
  beforeEach(async () => {
    ada = await w.merchant();
    await w.product(ada);
    foreign = (await w.chain.wallet(0n)).address;
  });
  afterEach(letTimeRun);
  afterAll(endSkips);

  const disown = (key: string, wallet_address = foreign, headers: Record<string, string> = {}) =>
    w.call('POST', '/v1/account/payouts/disown', { key, body: { wallet_address }, headers });
  const setRail = (key: string, payout_wallet: string | null, rail = 'x402_solana_usdc') =>
    w.call('PUT', `/v1/access/rail-settings/${rail}`, {
      key,
      body: { payout_wallet },
      headers: { 'Idempotency-Key': crypto.randomUUID() },
    });
  const knownRows = async () =>
    (await w.env.DB.prepare('SELECT count(*) AS n FROM payout_wallets WHERE wallet = ? AND disowned_at IS NULL')
      .bind(foreign)
      .first('n')) as number;
  const log = async () => (await w.call('GET', '/v1/account/audit-log?action=payout.disowned', { key: ada.token })).body.items;

  it('the wallet leaves each product and rail, open sales to it end, and a key cannot set it again', async () => {
    const stolen = await w.product(ada);
    const other = await w.product(ada);
    const change = { key: ada.token, body: { payout_wallet: foreign } };
    expect((await w.call('PATCH', `/v1/products/${stolen.product_id}`, change)).status).toBe(200);
    expect((await setRail(ada.token, foreign)).status).toBe(200);
    const [begun, safe] = await Promise.all(
      [stolen, other].map(async ({ slug }) => (await w.call('POST', `/v1/products/p/${slug}/connect`, { body: {} })).body),
    );
    expect([begun.recipient, safe.recipient]).toEqual([foreign, ada.wallet.address]);
    const { status, body } = await disown(ada.token);
    expect([status, body]).toEqual([
      200,
      { cleared: { account: false, rails: 1, products: 1 }, stopped_authorizations: 0, ended_sessions: 1 },
    ]);
    const showEnd = async ({ payment_id }: typeof begun) => (await w.call('GET', `/v1/payments/${payment_id}`)).body.expires_at;
    expect([Date.parse(await showEnd(begun)) <= Date.now(), await showEnd(safe)]).toEqual([true, safe.expires_at]);
    const readPayout = async ({ product_id }: typeof other) =>
      (await w.call('GET', `/v1/products/${product_id}`, { key: ada.key })).body.payout_wallet ?? null;
    expect([await readPayout(stolen), await readPayout(other)]).toEqual([null, ada.wallet.address]);
    const refused = [
      await setRail(ada.key, foreign),
      await w.call('PATCH', `/v1/products/${other.product_id}`, { ...change, key: ada.key }),
    ];
    expect(refused.map(({ status, body }) => [status, body.meta.reason])).toEqual(Array(2).fill([403, 'sign_in_required']));
    expect(await log()).toMatchObject([{ before: { payout_wallet: foreign }, after: { payout_wallet: null } }]);
  });

  it('two wallets that are disowned at once both leave their product', async () => {
    for (let trip = 1, hasRun = true; hasRun; trip++) {
      const wallets = [(await w.chain.wallet(0n)).address, (await w.chain.wallet(0n)).address] as const;
      const sold = await Promise.all(
        wallets.map(async (payout_wallet) => {
          const { product_id } = await w.product(ada);
          expect((await w.call('PATCH', `/v1/products/${product_id}`, { key: ada.token, body: { payout_wallet } })).status).toBe(200);
          return product_id;
        }),
      );
      const rival = withRivalAt(w.env, trip, () => disown(ada.token, wallets[1]));
      const { status } = await w.call('POST', '/v1/account/payouts/disown', {
        key: ada.token,
        body: { wallet_address: wallets[0] },
        env: rival.env,
      });
      hasRun = rival.hasRun();
      if (!hasRun) await disown(ada.token, wallets[1]);
      const left = sold.map(async (id) => (await w.call('GET', `/v1/products/${id}`, { key: ada.key })).body.payout_wallet ?? null);
      expect([trip, status, await Promise.all(left)]).toEqual([trip, 200, [null, null]]);
    }
  });

  it('after the only wallet is disowned, a key sets no first one, and a person who has just signed in does', async () => {
    expect((await disown(ada.token, ada.wallet.address)).body.cleared).toEqual({ account: false, rails: 0, products: 1 });
    for (const wallet of [foreign, ada.wallet.address])
      expect((await setRail(ada.key, wallet)).body).toMatchObject({ code: 'invalid_authorization', meta: { reason: 'sign_in_required' } });
    expect((await setRail(ada.token, ada.wallet.address)).status).toBe(200);
    expect((await setRail(ada.key, ada.wallet.address, 'solana_usdc')).status).toBe(200);
  });

  it('a repeated call changes nothing, and its key replays the first answer', async () => {
    expect((await setRail(ada.token, foreign)).status).toBe(200);
    const key = { 'Idempotency-Key': 'disown-once' };
    const [first, replayed, again] = [
      await disown(ada.token, foreign, key),
      await disown(ada.token, foreign, key),
      await disown(ada.token),
    ];
    expect([replayed.body, replayed.headers.get('Idempotent-Replayed')]).toEqual([first.body, 'true']);
    expect(again.body).toEqual({ cleared: { account: false, rails: 0, products: 0 }, stopped_authorizations: 0, ended_sessions: 0 });
    expect((await log()).length).toBe(1);
  });

  it('parallel calls, and a rail that is set to the wallet meanwhile, leave it unknown and in no setting, with one entry', async () => {
    expect((await setRail(ada.token, foreign)).status).toBe(200);
    const answers = await Promise.all([disown(ada.token), disown(ada.token), setRail(ada.key, foreign, 'solana_usdc'), disown(ada.token)]);
    for (const { status } of answers) expect([200, 403, 409]).toContain(status);
    const { body } = await w.call('GET', '/v1/access/rail-settings', { key: ada.key });
    expect(JSON.stringify(body)).not.toContain(foreign);
    expect([await knownRows(), (await log()).length]).toEqual([0, 1]);
  });

  it('a key, a developer, an old session, another account and an unknown wallet are refused, and nothing changes', async () => {
    await verifyAddress(w, ada);
    expect((await setRail(ada.token, foreign)).status).toBe(200);
    const [dan, eve] = [await addMember(w, ada, 'developer'), await w.merchant()];
    const answers = [await disown(ada.key), await disown(dan.token), await disown(eve.token), await disown(ada.token, eve.wallet.address)];
    setTime(Date.now() + 16 * 60_000);
    answers.push(await disown(ada.token));
    expect(answers.map(({ status, body }) => [status, body.code, body.meta?.reason])).toEqual([
      [403, 'invalid_authorization', 'token_required'],
      [403, 'invalid_authorization', 'role'],
      [404, 'not_found', undefined],
      [404, 'not_found', undefined],
      [403, 'invalid_authorization', 'sign_in_required'],
    ]);
    expect([await knownRows(), await log()]).toEqual([1, []]);
  });

  it('the verified owner gets an email that names the wallet', async () => {
    await verifyAddress(w, ada);
    expect((await disown(ada.token, ada.wallet.address)).status).toBe(200);
    await w.post();
    const emails = (await w.posted()).taken.filter(({ body }) => body.to[0] === ada.email && body.text.includes(ada.wallet.address));
    expect(emails.length).toBe(1);
  });

  it('an open metered session to the wallet expires, and its channel pays what was promised', async () => {
    const shop = await LiveShop.make(w, { merchant: ada });
    expect((await shop.authorize(await shop.pull())).body.status).toBe('open');
    await shop.use(700n, 700n);
    await shop.project();
    expect((await disown(ada.token, ada.wallet.address)).body).toMatchObject({ ended_sessions: 1 });
    for (const name of ['closingChannels', 'activeChannels']) await w.sweepAlone(name);
    await shop.project();
    expect((await w.call('GET', shop.path, { key: ada.key })).body).toMatchObject({ status: 'closed', settled: { base_units: '700' } });
  });

  it('a subscription that pays the wallet is stopped with its event, and one to another wallet continues', async () => {
    const [robbed, fine] = [await SubscriptionSeller.open(w), await SubscriptionSeller.open(w)];
    const [life, other] = [await robbed.subscribe({ email: 'grace.robbed@example.com' }), await fine.subscribe()];
    const begun = await robbed.checkout();
    const { token, wallet } = robbed.merchant;
    expect((await disown(token, wallet.address)).body).toMatchObject({ stopped_authorizations: 2, ended_sessions: 1 });
    expect(await life.read()).toMatchObject({ status: 'active', stoppedAt: expect.any(Number), nextAttemptAt: null });
    await begun.sign();
    await begun.collectFirst();
    await passDays(w, 31);
    await w.sweep();
    await run(w);
    await Promise.all([life, other, begun].map((each) => each.settle()));
    expect([(await life.payments()).length, (await other.payments()).length]).toEqual([1, 2]);
    expect(await begun.read()).toMatchObject({ status: 'expired', startedAt: null });
    expect((await life.show()).body).toMatchObject({ status: 'cancelled', stopped_at: expect.any(String) });
    expect(await life.eventTypes()).toEqual(['subscription.authorized', 'subscription.cancelled']);
    await w.deliver();
    await w.post();
    const subjects = (await w.posted()).taken
      .filter(({ body }) => body.to[0] === 'grace.robbed@example.com')
      .map(({ body }) => body.subject);
    expect(subjects).toContain('Your subscription was ended by its seller: Weather API');
  });
});
