import { beforeAll, describe, expect, it } from 'vitest';
import { DAY } from '#core/time.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { USDC } from '../../support/chain/chain.ts';
import { tokenSignedIn } from '../../support/clients/session.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

interface Product extends Record<string, unknown> {
  product_id: string;
  slug: string;
  updated_at: string;
}

describe('PATCH /v1/products/{product_id}', () => {
  const w = new World();
  let ada: Merchant;
  const patch = (id: string, body: unknown, key: string | null = ada.key, query = '') =>
    w.call('PATCH', `/v1/products/${id}${query}`, { key, body });
  const read = async (id: string, key = ada.key): Promise<Product> => (await w.call('GET', `/v1/products/${id}`, { key })).body;
  const move = (id: string, verb: 'archive' | 'unarchive', key = ada.key) => w.call('POST', `/v1/products/${id}/${verb}`, { key });
  const readVersion = (id: string) => w.env.DB.prepare('SELECT version FROM products WHERE id = ?').bind(id).first<number>('version');
  const walletless = async (key: string): Promise<Product> =>
    (await w.call('POST', '/v1/products', { key, body: { name: 'Weather API', price: { asset: 'USDC', amount: '5' } } })).body;
  const freshWallet = async () => (await w.chain.wallet(0n)).address as string;
  const times = <T>(count: number, make: (index: number) => Promise<T>) => Promise.all(Array.from({ length: count }, (_, i) => make(i)));

  beforeAll(async () => {
    ada = await w.merchant();
  });

  it.each([
    ['name', '  Climate API ', 'Climate API'],
    ['price', { asset: 'USDC', amount: '6.50' }, { asset: 'USDC', amount: '6.5', base_units: '6500000' }],
    ['external_product_id', 'plan-7', 'plan-7'],
    ['description', 'All the weather', 'All the weather'],
    ['product_type', 'link', 'link'],
    ['billing_model', 'recurring', 'recurring'],
    ['access_period_days', 7, 7],
    ['usage_units', 1000, 1000],
    ['unit_name', 'call', 'call'],
    ['grace_hours', 0, 0],
    ['session_seconds', 300, 300],
    ['success_url', 'https://example.com/thanks', 'https://example.com/thanks'],
    ['cancel_url', 'https://example.com/basket', 'https://example.com/basket'],
    ['metadata', { tier: 'gold' }, { tier: 'gold' }],
    ['live_mode_confirmed', true, true],
  ])('a change of %s changes only that field', async (field, value, shown) => {
    const before: Product = await w.product(ada);
    const { status, body } = await patch(before.product_id, { [field]: value });
    expect(status).toBe(200);
    expect(body).toEqual({ ...before, [field]: shown, updated_at: body.updated_at });
    expect(Date.parse(body.updated_at)).toBeGreaterThanOrEqual(Date.parse(before.updated_at));
    expect(await read(before.product_id)).toEqual(body);
    expect(await readVersion(before.product_id)).toBe(2);
  });

  it('null clears optional fields and is 422 for required ones', async () => {
    const urls = { success_url: 'https://x.example', cancel_url: 'https://x.example' };
    const optional = { external_product_id: 'x', description: 'x', unit_name: 'x', session_seconds: 300, ...urls };
    const terms = { access_period_days: 7, usage_units: 9 };
    const product: Product = await w.product(ada, { ...optional, ...terms });
    for (const field of Object.keys(optional)) {
      const { status, body } = await patch(product.product_id, { [field]: null }, ada.token);
      expect([field, status, field in body]).toEqual([field, 200, false]);
    }
    for (const [field, value] of Object.entries(terms)) {
      const { status, body } = await patch(product.product_id, { [field]: null });
      expect([field, status, body[field]]).toEqual([field, 200, null]);
      await patch(product.product_id, { [field]: value });
    }
    for (const field of 'name price product_type billing_model grace_hours metadata live_mode_confirmed'.split(' '))
      expect([field, (await patch(product.product_id, { [field]: null })).status]).toEqual([field, 422]);
  });

  it('an update without a difference does not change the version', async () => {
    const metadata = { tier: 'gold', region: 'eu' };
    const before: Product = await w.product(ada, { description: 'x', metadata, access_period_days: 7 });
    const same = { name: ' Weather API ', price: { asset: 'USDC', amount: '5.00' }, description: 'x', metadata, access_period_days: 7 };
    const defaults = { renewal_mode: 'ONE_OFF', requires_identity: null, accepted_assets: ['USDC'], unit_name: null, grace_hours: 72 };
    for (const body of [{}, same, defaults, { payout_wallet: ada.wallet.address }]) {
      const answer = await patch(before.product_id, body);
      expect([answer.status, answer.body]).toEqual([200, before]);
    }
    const renamed = await patch(before.product_id, { slug: 'another-slug' });
    expect([renamed.status, renamed.body.code, await read(before.product_id)]).toEqual([422, 'unknown_field', before]);
    expect(await readVersion(before.product_id)).toBe(1);
  });

  it('metadata in another order does not change the version', async () => {
    const before: Product = await w.product(ada, { metadata: { tier: 'gold', region: 'eu' } });
    await patch(before.product_id, { metadata: { region: 'eu', tier: 'gold' } });
    expect(await readVersion(before.product_id)).toBe(1);
  });

  it('an update is refused for the same reasons as a new product, and changes nothing', async () => {
    const before: Product = await w.product(ada);
    for (const [body, status, code] of [
      [{ renewal_mode: 'AUTOMATIC' }, 422, 'validation_error'],
      [{ billing_model: 'one_off', renewal_mode: 'solana_native_subscription' }, 422, 'validation_error'],
      [{ billing_model: 'recurring', renewal_mode: 'AUTOMATIC' }, 422, 'validation_error'],
      [{ billing_model: 'recurring', renewal_mode: 'AUTOMATIC', access_period_days: 30 }, 409, 'setup_not_ready'],
      [{ billing_model: 'recurring', renewal_mode: 'solana_native_subscription', access_period_days: 30 }, 409, 'setup_not_ready'],
      [{ product_type: 'telegram', requires_identity: 'discord' }, 422, 'validation_error'],
      [{ product_type: 'telegram', delivery: { provider: 'telegram', chat_id: '-1' } }, 409, 'setup_not_ready'],
      [{ accepted_assets: ['SOL'] }, 422, 'validation_error'],
      [{ allowed_rails: ['solana_sol'] }, 422, 'validation_error'],
      [{ product_type: 'course' }, 400, 'invalid_product_type'],
      [{ price: { asset: 'USDC', amount: '0.0000001' } }, 422, 'validation_error'],
      [{ price: { asset: 'USDC', amount: '0' } }, 422, 'validation_error'],
      [{ name: '  ' }, 422, 'validation_error'],
      [{ success_url: 'http://example.com' }, 422, 'validation_error'],
      [{ payout_wallet: '' }, 422, 'invalid_wallet_address'],
      [{ payout_wallet: await associatedTokenAccount(ada.wallet.address, USDC) }, 422, 'invalid_wallet_address'],
    ] as const) {
      const answer = await patch(before.product_id, { description: 'new', ...body });
      expect([body, answer.status, answer.body.code]).toEqual([body, status, code]);
    }
    expect(await read(before.product_id)).toEqual(before);
    const byHand: Product = await w.product(ada, { billing_model: 'recurring', access_period_days: 30 });
    expect((await patch(byHand.product_id, { renewal_mode: 'AUTOMATIC' })).body.code).toBe('setup_not_ready');
    for (const renewal_mode of ['ONE_OFF', null]) expect((await patch(byHand.product_id, { renewal_mode })).status).toBe(200);
  });

  it('a taken external id is 409 state_conflict until its product releases it', async () => {
    const [taken, other]: Product[] = [await w.product(ada, { external_product_id: 'taken' }), await w.product(ada)];
    const answer = await patch(other!.product_id, { external_product_id: 'taken' });
    expect([answer.status, answer.body.code, answer.body.meta.reason]).toEqual([409, 'state_conflict', 'not_unique']);
    expect(await read(other!.product_id)).toEqual(other);
    // Changing or removing the external id of a live product needs a fresh sign-in.
    expect((await patch(taken!.product_id, { external_product_id: null })).status).toBe(403);
    await patch(taken!.product_id, { external_product_id: null }, ada.token);
    expect((await patch(other!.product_id, { external_product_id: 'taken' })).status).toBe(200);
  });

  it('open sessions retain their price, terms, recipient and redirect', async () => {
    const product: Product = await w.product(ada, { access_period_days: 7, success_url: 'https://example.com/old' });
    const session = await w.connect(product);
    const [{ token }, payout_wallet] = [ada, await freshWallet()];
    const terms = { name: 'New', price: { asset: 'USDC', amount: '9' }, access_period_days: 365, success_url: 'https://example.com/new' };
    expect((await patch(product.product_id, { ...terms, payout_wallet }, token)).status).toBe(200);
    const { body } = await w.confirm(session.payment_id, await w.chain.pay(await w.chain.wallet(), session));
    expect(body.payment).toMatchObject({ status: 'CONFIRMED', price: { amount: '5' }, recipient_wallet: ada.wallet.address });
    expect(body.redirect_url).toMatch(/^https:\/\/example\.com\/old\?/);
    const { body: membership } = await w.call('GET', `/v1/memberships/lookup?payment_id=${session.payment_id}`, { key: ada.key });
    expect(Date.parse(membership.paid_through) - Date.parse(membership.created_at)).toBe(7 * DAY);
    expect((await w.call('GET', `/v1/receipt/${body.receipt_id}`, { key: ada.key })).body.document.product_name).toBe('Weather API');
    expect(await w.connect(product)).toMatchObject({ price: { amount: '9' }, recipient: payout_wallet });
  });

  it('only the owner with the execute permission, in the mode of the product, changes a product', async () => {
    const product: Product = await w.product(ada);
    const stranger = await w.merchant();
    const created = await w.call('POST', '/v1/keys', { key: ada.token, body: { name: 'reader', permissions: ['read'] } });
    for (const verb of ['', '/archive', '/unarchive']) {
      const [method, options] = verb === '' ? ['PATCH', { body: { name: 'Stolen' } }] : ['POST', {}];
      const by = async (key: string | null, query = '') =>
        (await w.call(method as string, `/v1/products/${product.product_id}${verb}${query}`, { key, ...(options as object) })).status;
      expect([await by(created.body.raw_key), await by(null), await by(ada.key, '?mode=sandbox')]).toEqual([403, 401, 403]);
      const others = [by(stranger.key), by(stranger.token), by(ada.sandboxKey), by(ada.token, '?mode=sandbox')];
      expect(await Promise.all(others)).toEqual(Array(4).fill(404));
    }
    expect(await read(product.product_id)).toEqual(product);
  });

  it('twenty concurrent changes each succeed completely or are 409 state_conflict', async () => {
    const product: Product = await w.product(ada);
    const answers = await times(20, (i) => patch(product.product_id, { name: `Name ${i}`, description: `Text ${i}` }));
    const done = answers.filter(({ status }) => status === 200);
    for (const { status, body } of answers) if (status !== 200) expect([status, body.code]).toEqual([409, 'state_conflict']);
    expect(done.length).toBeGreaterThan(0);
    for (const { body } of done) expect(body.description).toBe(body.name.replace('Name', 'Text'));
    expect(await readVersion(product.product_id)).toBe(1 + done.length);
    expect(done.map(({ body }) => body)).toContainEqual(await read(product.product_id));
  });

  it.each(['PATCH', 'archive', 'unarchive'])('an update that loses every race is 409 state_conflict: %s', async (what) => {
    const { product_id: id }: Product = await w.product(ada);
    if (what === 'unarchive') await move(id, 'archive');
    const batch = async (statements: D1PreparedStatement[]) => {
      await testEnv.DB.prepare('UPDATE products SET version = version + 1 WHERE id = ?').bind(id).run();
      return w.env.DB.batch(statements);
    };
    const env = { ...w.env, DB: { prepare: (sql: string) => w.env.DB.prepare(sql), batch } as unknown as D1Database };
    const [method, path, body] = what === 'PATCH' ? ['PATCH', '', { body: { name: 'New' } }] : ['POST', `/${what}`, {}];
    const answer = await w.call(method as string, `/v1/products/${id}${path}`, { key: ada.key, env, ...(body as object) });
    expect([answer.status, answer.body.code, answer.body.meta.reason]).toEqual([409, 'state_conflict', 'contended']);
  });

  describe('payout wallet of a product', () => {
    const signedInAgo = (who: Merchant, minutes: number) => tokenSignedIn(w, who.userId, minutes);
    const payoutEvents = async (id: string) => {
      const sql = "SELECT data FROM events WHERE subject_id = ? AND type = 'payout.changed' ORDER BY seq";
      const { results } = await prepareOnEvents(w.env.DB, sql).bind(id).all<{ data: string }>();
      return results.map(({ data }) => JSON.parse(data) as { object: object; previous?: { payout_wallet: string | null } });
    };
    const expectSignIn = ({ status, body }: Awaited<ReturnType<typeof patch>>) =>
      expect([status, body.code, body.meta?.reason]).toEqual([403, 'invalid_authorization', 'sign_in_required']);

    it('a key can set the first payout wallet and cannot change it', async () => {
      const product = await walletless(ada.key);
      const first = await patch(product.product_id, { payout_wallet: ada.wallet.address });
      expect([first.status, first.body.payout_wallet]).toEqual([200, ada.wallet.address]);
      expectSignIn(await patch(product.product_id, { payout_wallet: await freshWallet(), name: 'Stolen' }));
      expect(await read(product.product_id)).toEqual(first.body);
      expect((await patch(product.product_id, { payout_wallet: ada.wallet.address, name: 'Mine' })).status).toBe(200);
    });

    it('five concurrent requests with a key set one first payout wallet', async () => {
      const bob = await w.merchant();
      const product = await walletless(bob.key);
      const wallets = await times(5, freshWallet);
      const answers = await Promise.all(wallets.map((payout_wallet) => patch(product.product_id, { payout_wallet }, bob.key)));
      const [winner, ...others] = answers.filter(({ status }) => status === 200);
      expect([others, (await read(product.product_id, bob.key)).payout_wallet]).toEqual([[], winner?.body.payout_wallet]);
      for (const answer of answers) if (answer !== winner) expectSignIn(answer);
    });

    it('a person with a fresh sign-in changes the wallet, and the event names the previous one', async () => {
      const product: Product = await w.product(ada);
      const [second, third] = await times(2, freshWallet);
      for (const [payout_wallet, token] of [
        [second, ada.token],
        [third, await signedInAgo(ada, 14)],
      ] as const)
        expect((await patch(product.product_id, { payout_wallet }, token)).body.payout_wallet).toBe(payout_wallet);
      const events = await payoutEvents(product.product_id);
      const { product_id } = product;
      expect(events.map(({ object }) => object)).toEqual([
        { payout_wallet: ada.wallet.address, product_id, by: 'person' },
        { payout_wallet: second, previous: ada.wallet.address, product_id, by: 'person' },
        { payout_wallet: third, previous: second, product_id, by: 'person' },
      ]);
      expect(events.map(({ previous }) => previous?.payout_wallet)).toEqual([null, ada.wallet.address, second]);
    });

    it('a person who signed in more than 15 minutes ago cannot change the wallet', async () => {
      const product: Product = await w.product(ada);
      for (const minutes of [16, 23 * 60])
        expectSignIn(await patch(product.product_id, { payout_wallet: await freshWallet() }, await signedInAgo(ada, minutes)));
      expect([await read(product.product_id), await payoutEvents(product.product_id)]).toEqual([product, [expect.anything()]]);
      expect((await patch(product.product_id, { name: 'Anything else' }, await signedInAgo(ada, 16))).status).toBe(200);
    });

    it('the sandbox needs no sign-in', async () => {
      const product = await walletless(ada.sandboxKey);
      for (const payout_wallet of await times(2, freshWallet))
        expect((await patch(product.product_id, { payout_wallet }, ada.sandboxKey)).body.payout_wallet).toBe(payout_wallet);
      const asPerson = await patch(product.product_id, { payout_wallet: ada.wallet.address }, await signedInAgo(ada, 600), '?mode=sandbox');
      expect(asPerson.status).toBe(200);
    });
  });
});

describe('archived product', () => {
  const w = new World();
  const move = (id: string, verb: 'archive' | 'unarchive', key: string) => w.call('POST', `/v1/products/${id}/${verb}`, { key });

  it('an archived product is off sale, its running session confirms, and it can be restored', async () => {
    const ada = await w.merchant();
    const product: Product = await w.product(ada);
    const session = await w.connect(product);
    const archived = await move(product.product_id, 'archive', ada.key);
    expect([archived.status, archived.body]).toEqual([200, { ...product, status: 'archived', updated_at: archived.body.updated_at }]);
    expect((await move(product.product_id, 'archive', ada.key)).body).toEqual(archived.body);
    expect((await w.call('GET', `/v1/products/p/${product.slug}`)).status).toBe(404);
    expect((await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: {} })).status).toBe(404);
    const { body } = await w.confirm(session.payment_id, await w.chain.pay(await w.chain.wallet(), session));
    expect([body.payment.status, typeof body.receipt_id]).toEqual(['CONFIRMED', 'string']);
    const back = await move(product.product_id, 'unarchive', ada.token);
    expect([back.status, back.body.status]).toEqual([200, 'active']);
    expect((await move(product.product_id, 'unarchive', ada.key)).body).toEqual(back.body);
    expect((await w.call('GET', `/v1/products/p/${product.slug}`)).status).toBe(200);
    expect((await w.purchase(product, await w.chain.wallet())).confirmed.payment.status).toBe('CONFIRMED');
  });

  it('archived products do not count against the plan, and concurrent restores stop at its limit', async () => {
    const free = await w.merchant('free');
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) {
      const product: Product = await w.product(free);
      ids.push(product.product_id);
      expect((await move(product.product_id, 'archive', free.key)).status).toBe(200);
    }
    const answers = await Promise.all(ids.map((id) => move(id, 'unarchive', free.key)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(3).fill(200), ...Array(17).fill(429)]);
    for (const { body, headers } of answers.filter(({ status }) => status === 429))
      expect([body.code, body.meta, headers.get('Retry-After')]).toEqual(['plan_limit_reached', { limit: 3, used: 3, plan: 'free' }, null]);
    const { body } = await w.call('GET', '/v1/products?per_page=100', { key: free.key });
    expect(body.items.filter(({ status }: Product) => status === 'active')).toHaveLength(3);
    const won = answers.findIndex(({ status }) => status === 200);
    expect((await move(ids[won]!, 'unarchive', free.key)).status).toBe(200);
    await move(ids[won]!, 'archive', free.key);
    expect((await move(ids[answers.findIndex(({ status }) => status === 429)]!, 'unarchive', free.key)).status).toBe(200);
  });
});
