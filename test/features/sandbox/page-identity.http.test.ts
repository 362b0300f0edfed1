import { beforeAll, describe, expect, it } from 'vitest';
import { callTesting } from '../../support/clients/sandbox.ts';
import { type Merchant, World } from '../../support/world.ts';

/** No platform is configured, as on a new deployment. */
const w = new World({
  TELEGRAM_BOT_USERNAME: '',
  TELEGRAM_CONNECTOR_SECRETS: '',
  DISCORD_CLIENT_ID: '',
  DISCORD_REDIRECT_URI: '',
  DISCORD_CONNECTOR_SECRETS: '',
});
let ada: Merchant;
beforeAll(async () => {
  ada = await w.merchant();
});

interface Identified {
  product_id: string;
  slug: string;
}
const sell = (key: string, provider = 'telegram'): Promise<Identified> => w.product({ ...ada, key }, { requires_identity: provider });
const open = async ({ slug }: Identified) => (await w.call('POST', `/v1/products/p/${slug}/identity`)).body;
const connect = async ({ slug }: Identified, identity_session_id?: string) =>
  (await w.call('POST', `/v1/products/p/${slug}/connect`, { body: { identity_session_id } })).body;
const follow = (link: string, locale = 'en') => w.call<string>('GET', `${new URL(link).pathname}?locale=${locale}`);

describe('test identity page', () => {
  it.each(['telegram', 'discord'])(
    'a buyer passes the identity check of a %s sandbox product without a configured platform',
    async (provider) => {
      const product = await sell(ada.sandboxKey, provider);
      expect(await connect(product)).toEqual({ identity: { required: true, provider } });
      const { identity_session_id: id, deep_link: link } = await open(product);
      expect(await connect(product, id)).toEqual({ identity: { required: true, provider } });
      const { status, body } = await follow(link);
      expect([status, body]).toEqual([200, expect.stringContaining('You are known as a test buyer')]);
      expect(body).toContain('This is a test.');
      const payment = await connect(product, id);
      const { body: paid } = await callTesting(w, ada, 'POST', 'pay', { payment_id: payment.payment_id });
      const { body: confirmed } = await w.confirm(payment.payment_id, paid.tx_signature);
      expect(confirmed.payment.status).toBe('CONFIRMED');
      const owned = await w.call('GET', `/v1/payments/${payment.payment_id}`, { key: ada.sandboxKey });
      expect(owned.body.buyer_identity).toEqual({ provider, provider_user_id: `test-${id}`, username: 'test_buyer' });
    },
  );

  it('the page works twice and in each language, and does not replace an identity set through the API', async () => {
    const product = await sell(ada.sandboxKey);
    const { identity_session_id: id, deep_link: link } = await open(product);
    const named = { identity_session_id: id, provider_user_id: '4711' };
    expect((await callTesting(w, ada, 'POST', 'identity', named)).status).toBe(200);
    for (const locale of ['en', 'es', 'de', 'fr', 'pt-BR', 'ja']) expect((await follow(link, locale)).status).toBe(200);
    const payment = await connect(product, id);
    const owned = await w.call('GET', `/v1/payments/${payment.payment_id}`, { key: ada.sandboxKey });
    expect(owned.body.buyer_identity.provider_user_id).toBe('4711');
  });

  it('the page answers 404 for live products, ended sessions and unknown sessions', async () => {
    const live = await sell(ada.key);
    const refused = await w.call('POST', `/v1/products/p/${live.slug}/identity`);
    expect([refused.status, refused.body.code]).toEqual([503, 'handoff_not_configured']);
    const configured = new World();
    const opened = (await configured.call('POST', `/v1/products/p/${live.slug}/identity`)).body;
    expect(opened.deep_link).toMatch(/^https:\/\/t\.me\//);
    const testPage = (id: string) => `https://svc.test/p/${live.slug}/test-identity/${id}`;
    expect((await follow(testPage(opened.identity_session_id))).status).toBe(404);
    expect((await follow(testPage(crypto.randomUUID()))).status).toBe(404);
    expect((await follow(testPage('nothing'))).status).toBe(404);
    const over = await open(await sell(ada.sandboxKey));
    await w.env.DB.prepare('UPDATE identity_sessions SET expires_at = ? WHERE id = ?')
      .bind(Date.now() - 1, over.identity_session_id)
      .run();
    expect((await follow(over.deep_link)).status).toBe(404);
  });
});
