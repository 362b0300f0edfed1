import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHANNEL_KEYS, fundChannels, LiveShop } from '../../support/chain/live-channel.ts';
import { newAgent, sellToAgents, stall } from '../../support/people/agent.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { emailedToken, MailWorld } from '../../support/servers/mail.ts';
import type { Merchant } from '../../support/world.ts';

const PASSWORD = 'battery staple 9';

describe('account claim by email: metered sessions', () => {
  const w = new MailWorld({ CHANNEL_KEYS });
  beforeAll(() => fundChannels(w));
  afterAll(endSkips);

  async function claim({ userId, email }: Merchant): Promise<string> {
    const body = { token: await emailedToken(w, userId, 'reset'), new_password: PASSWORD };
    expect((await w.call('POST', '/v1/auth/password/reset', { body })).status).toBe(200);
    const { body: session } = await w.call('POST', '/v1/auth/login', { body: { email, password: PASSWORD } });
    const { body: made } = await w.call('POST', '/v1/keys', { key: session.token, body: { name: 'new' } });
    return made.raw_key;
  }
  const sweep = async (...shops: LiveShop[]) => {
    await skipTime(w.chain, 60);
    for (const name of ['closingChannels', 'activeChannels', 'unopenedSessions']) await w.sweepAlone(name);
    for (const shop of shops) await shop.project();
  };

  it('a claim expires unopened sessions that would pay the previous owner, and settles and closes the open one', async () => {
    const squatter = await w.merchant();
    const body = { idle_timeout_seconds: 86_400 };
    const [open, waiting] = [await LiveShop.make(w, { merchant: squatter, body }), await LiveShop.make(w, { merchant: squatter, body })];
    const credential = await waiting.pull();
    expect((await open.authorize(await open.pull())).body.status).toBe('open');
    await open.use(700n, 700n);
    await open.project();
    const key = await claim(squatter);
    await sweep(open, waiting);
    const shown = async ({ path }: LiveShop) => (await w.call('GET', path, { key })).body;
    expect(await shown(open)).toMatchObject({ status: 'closed', settled: { base_units: '700' } });
    expect((await shown(waiting)).status).toBe('expired');
    const refused = [await waiting.authorize(credential), await open.announce('1'), await waiting.authorize(null)];
    expect(refused.map(({ status, body: { code } }) => [status, code])).toEqual(Array(3).fill([410, 'channel_closed']));
    expect(await w.chain.held(open.wallet.address)).toBe(5_000_000n - 700n);
    expect(await w.chain.held(waiting.wallet.address)).toBe(5_000_000n);
  });

  it('sessions of other accounts stay open', async () => {
    const [squatter, bystander] = [await w.merchant(), await w.merchant()];
    const theirs = await LiveShop.make(w, { merchant: bystander });
    expect((await theirs.authorize(await theirs.pull())).body.status).toBe('open');
    await theirs.project();
    await claim(squatter);
    await sweep(theirs);
    expect((await theirs.read()).status).toBe('open');
  });

  it('a challenge that names a wallet from before the claim settles no payment, one from before a wallet change does', async () => {
    const squatter = await w.merchant();
    const shop = stall(w, squatter, await sellToAgents(w, squatter), await newAgent(w));
    const [before, other] = [await shop.pay(), await shop.pay()];
    const next = (await w.chain.wallet(0n)).address;
    const change = { key: squatter.token, body: { payout_wallet: next } };
    expect((await w.call('PATCH', `/v1/products/${shop.product.product_id}`, change)).status).toBe(200);
    expect((await shop.settle(before)).status).toBe(200);
    const had = await w.chain.held(squatter.wallet.address);
    const key = await claim(squatter);
    for (const own of [null, (await w.chain.wallet(1n)).address]) {
      if (own !== null) {
        const { body } = await w.call('POST', '/v1/auth/login', { body: { email: squatter.email, password: PASSWORD } });
        const named = { key: body.token, body: { payout_wallet: own } };
        expect((await w.call('PATCH', `/v1/products/${shop.product.product_id}`, named)).status).toBe(200);
      }
      const { status, body } = await shop.settle(other, {}, { key });
      expect([own, status, body.code, body.meta.reason]).toEqual([own, 422, 'payment_mismatch', 'invalid_payment_requirements']);
    }
    expect(await w.chain.held(squatter.wallet.address)).toBe(had);
  });
});
