import { beforeAll, describe, expect, it } from 'vitest';
import { PAGE_ASSETS } from '../../../worker/pages/assets.ts';
import { getPage } from '../../support/clients/page.ts';
import { expireNow } from '../../support/faults/expire-now.ts';
import { openSession } from '../../support/people/sale.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('/p/{slug}?ps={payment_session_id}', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });
  const open = async (product: Body, input: object = {}): Promise<Body> => {
    const { status, body } = await openSession(w, ada, { product_id: product.product_id, ...input });
    expect(status).toBe(201);
    return body;
  };
  const sell = (terms: object = {}): Promise<Body> => w.product(ada, { live_mode_confirmed: true, ...terms });
  const connect = async (product: Body, { payment_session_id }: Body): Promise<Body> =>
    (await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: { payment_session_id } })).body;
  const readPage = async ({ checkout_url }: Body) => {
    const { pathname, search } = new URL(checkout_url);
    const { status, html } = await getPage(w, `${pathname}${search}`);
    const facts = /id="facts"[^>]*>(.*?)<\/script>/s.exec(html)?.[1];
    return { status, html, facts: facts ? JSON.parse(facts) : null };
  };
  const endAt = (table: string, id: string, at: number) =>
    w.env.DB.prepare(`UPDATE ${table} SET expires_at = ? WHERE id = ?`).bind(at, id).run();

  it('the page shows the price of the session, even after a price change', async () => {
    const product = await sell({ price: { asset: 'USDC', amount: '5' } });
    const session = await open(product);
    await w.call('PATCH', `/v1/products/${product.product_id}`, { key: ada.key, body: { price: { asset: 'USDC', amount: '9' } } });
    const { html, facts } = await readPage(session);
    expect(html).toContain('5.00<span>\u00a0USDC');
    expect(facts).toMatchObject({ price: { amount: '5' }, paymentSessionId: session.payment_session_id, begun: null });
    expect((await connect(product, session)).price.amount).toBe('5');
  });

  it('the buyer can choose the asset, and the asset of the session comes first', async () => {
    const product = await sell({ accepted_assets: ['USDC', 'SOL'] });
    const assets = async (input: object) => (await readPage(await open(product, input))).facts.assets;
    expect(await assets({})).toEqual(['USDC', 'SOL']);
    expect(await assets({ rail_id: 'solana_sol' })).toEqual(['SOL', 'USDC']);
  });

  it('the page continues the payment of the session in any browser and shows a paid one as paid', async () => {
    const product = await sell();
    const session = await open(product);
    const bill = await connect(product, session);
    expect((await readPage(session)).facts.begun).toEqual({
      ...bill,
      now: expect.any(String),
      poll_after_ms: expect.any(Number),
      tx_signature: null,
    });
    const signature = await w.chain.pay(await w.chain.wallet(), bill);
    await w.confirm(bill.payment_id, signature);
    await w.call('POST', `/v1/products/${product.product_id}/archive`, { key: ada.key });
    await endAt('payment_sessions', session.payment_session_id, Date.now() - 1000);
    const { status, html, facts } = await readPage(session);
    expect([status, facts.begun.payment_id, facts.begun.tx_signature]).toEqual([200, bill.payment_id, signature]);
    expect(html).toContain(PAGE_ASSETS.checkout);
  });

  it('a new payment can begin after a failed one until the session ends', async () => {
    const product = await sell();
    const session = await open(product);
    const bill = await connect(product, session);
    await expireNow(w, bill.payment_id);
    expect((await readPage(session)).facts).toMatchObject({ begun: null, isPayable: true });
    await endAt('payment_sessions', session.payment_session_id, Date.now() - 1000);
    const { status, html, facts } = await readPage(session);
    expect([status, facts.isPayable]).toEqual([200, false]);
    expect(html).toContain('This payment link is over.');
    // A buyer who paid late or short still finds the payment here.
    expect(html).toContain(PAGE_ASSETS.checkout);
  });

  it('another product, an unknown session and an unused session of an archived product answer 404', async () => {
    const [product, other] = [await sell(), await sell()];
    const session = await open(product);
    const elsewhere = session.checkout_url.replace(product.slug, other.slug);
    const unknown = session.checkout_url.replace(session.payment_session_id, crypto.randomUUID());
    const nonsense = session.checkout_url.replace(session.payment_session_id, '"><script>');
    for (const checkout_url of [elsewhere, unknown, nonsense]) expect((await readPage({ checkout_url })).status).toBe(404);
    await w.call('POST', `/v1/products/${product.product_id}/archive`, { key: ada.key });
    expect((await readPage(session)).status).toBe(404);
  });
});
