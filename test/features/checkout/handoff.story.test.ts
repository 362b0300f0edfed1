// @module-tag quick
import { generateKeyPairSigner } from '@solana/kit';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { base64url } from '#core/encoding.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { type CallOptions, type Merchant, World } from '../../support/world.ts';

const SEED = (fill: number) => base64url.encode(new Uint8Array(32).fill(fill));

describe('hand-off', () => {
  const w = new World();
  let ada: Merchant;
  let product: { product_id: string; slug: string };
  beforeAll(async () => {
    ada = await w.merchant();
    product = await w.product(ada, { success_url: 'https://shop.example.com/thanks' });
  });
  afterEach(() => vi.restoreAllMocks());

  const create = (body: unknown = {}, options: CallOptions = {}, of = product) =>
    w.call('POST', `/v1/products/${of.product_id}/handoffs`, { key: ada.key, body, ...options });
  const token = async (body: unknown = {}): Promise<string> => (await create(body)).body.handoff_token;
  const resolve = (handoff: string, of = product, options: CallOptions = {}) =>
    w.call('GET', `/v1/products/p/${of.slug}/handoff/${encodeURIComponent(handoff)}`, options);
  const connect = (handoff_token: string, body: object = {}, of = product, options: CallOptions = {}) =>
    w.call('POST', `/v1/products/p/${of.slug}/connect`, { body: { handoff_token, ...body }, ...options });
  const said = ({ status, body }: { status: number; body: { code: string; meta: { reason?: string } } }) => [
    status,
    body.code,
    body.meta.reason,
  ];

  it('a hand-off is a link for ten minutes that does not disclose the customer', async () => {
    const { status, body } = await create({ customer_ref: 'user-4711', email: 'Ada.Lovelace@example.com', metadata: { order: '7' } });
    expect(status).toBe(201);
    expect(body).toEqual({
      handoff_token: expect.stringMatching(/^ho_[\w-]{48}$/),
      url: `https://svc.test/p/${product.slug}?handoff=${body.handoff_token}`,
      expires_at: body.expires_at,
    });
    expect(Math.abs(Date.parse(body.expires_at) - Date.now() - 600_000)).toBeLessThan(2000);
    const inside = new TextDecoder('latin1').decode(base64url.decode(body.handoff_token.slice(3)));
    expect(inside).not.toMatch(/4711|ada/i);
  });

  it.each([
    [{ email: 'ada.lovelace@mail.example.com', customer_ref: 'user-4711' }, 'ad…@ma….com'],
    [{ customer_ref: 'user-4711' }, 'us…11'],
    [{ customer_ref: 'bob' }, '…'],
    [{ customer_ref: 'user-471' }, '…'],
    [{}, undefined],
  ])('a hand-off can be read repeatedly without being used, and its label is shortened: %j', async (input, label) => {
    const handoff = await token(input);
    for (let i = 0; i < 3; i++) {
      const { status, body, headers } = await resolve(handoff);
      expect([status, body.customer_label, body.product_id, body.slug]).toEqual([200, label, product.product_id, product.slug]);
      expect(headers.get('Cache-Control')).toBe('no-store');
      expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
    }
    expect((await connect(handoff)).status).toBe(200);
  });

  it('the buyer becomes the customer named by the merchant and returns to the named page', async () => {
    const handoff = await token({
      customer_ref: 'user-1',
      email: 'One@example.com',
      success_url: 'https://shop.example.com/orders/7',
      metadata: { order: '7' },
    });
    const { body: payment } = await connect(handoff, { customer_ref: 'somebody-else', email: 'else@example.com' });
    const buyer = await w.chain.wallet();
    const { body } = await w.confirm(payment.payment_id, await w.chain.pay(buyer, payment));
    expect(body.redirect_url).toBe(`https://shop.example.com/orders/7?payment_id=${payment.payment_id}&status=CONFIRMED`);
    const owner = await w.call('GET', `/v1/payments/${payment.payment_id}`, { key: ada.key });
    expect(owner.body).toMatchObject({ customer_ref: 'user-1', metadata: { order: '7' } });
    const anybody = await w.call('GET', `/v1/payments/${payment.payment_id}`);
    expect(['customer_ref', 'metadata'].filter((field) => field in anybody.body)).toEqual([]);
    const membership = await w.call('GET', '/v1/memberships/lookup?customer_ref=user-1', { key: ada.key });
    expect(membership.body.customer).toEqual({ customer_ref: 'user-1', wallet_address: buyer.address, email: 'one@example.com' });
  });

  it('a named wallet is a hint: its transaction is prepared, and the buyer may choose another', async () => {
    const [named, chosen] = [await w.chain.wallet(), await w.chain.wallet()];
    const { body } = await connect(await token({ wallet_address: named.address }));
    const wire = await w.chain.sign(named, body.transaction);
    expect((await w.call('POST', `/v1/payments/${body.payment_id}/transaction`, { body: { transaction: wire } })).status).toBe(200);
    const other = await connect(await token({ wallet_address: named.address }), { wallet_address: chosen.address });
    expect(other.body.transaction).not.toBe(body.transaction);
    expect((await resolve(await token({ wallet_address: named.address }))).body.customer_label).toBe(
      `${named.address.slice(0, 4)}…${named.address.slice(-4)}`,
    );
  });

  it('a hint that names the payout wallet is ignored', async () => {
    const { status, body } = await connect(await token({ wallet_address: ada.wallet.address }));
    expect([status, 'transaction' in body]).toEqual([200, false]);
    const self = await connect(await token(), { wallet_address: ada.wallet.address });
    expect([self.status, self.body.code]).toEqual([422, 'invalid_wallet_address']);
  });

  it('a hand-off is used once, and a used one names its payment', async () => {
    const handoff = await token();
    const { body: payment } = await connect(handoff);
    for (const again of [await connect(handoff), await resolve(handoff)]) {
      expect(said(again)).toEqual([410, 'handoff_expired', 'used']);
      expect(again.body.meta).toMatchObject({ payment_id: payment.payment_id, status_url: payment.status_url });
    }
  });

  it('one of twelve concurrent connects uses the hand-off', async () => {
    const handoff = await token({ customer_ref: 'racer' });
    const answers = await Promise.all(Array.from({ length: 12 }, () => connect(handoff)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    for (const lost of answers.filter(({ status }) => status !== 200)) {
      expect(said(lost)).toEqual([410, 'handoff_expired', 'used']);
      expect(lost.body.meta.payment_id).toBe(won[0]!.body.payment_id);
    }
    const rows = await w.env.DB.prepare("SELECT count(*) AS n FROM payments WHERE customer_ref = 'racer'").first<{ n: number }>();
    expect(rows!.n).toBe(1);
  });

  it('a failed connect does not use the hand-off, and a lost answer does not lose it', async () => {
    const handoff = await token();
    expect((await connect(handoff, { wallet_address: 'garbage' })).status).toBe(422);
    await w.chain.fault({ kind: 'http_503', times: 2 });
    expect((await connect(handoff, { wallet_address: (await generateKeyPairSigner()).address })).status).toBe(503);
    const { env } = withFaults(w.env, { after: ({ kind }) => kind === 'batch' });
    const { status, body } = await connect(handoff, {}, product, { env });
    expect(status).toBe(200);
    expect((await connect(handoff)).body.meta.payment_id).toBe(body.payment_id);
  });

  it('an expired hand-off answers 410, used or not', async () => {
    const [old, used] = [await token(), await token()];
    await connect(used);
    const now = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => now + 600_001);
    for (const answer of [await connect(old), await resolve(old)]) expect(said(answer)).toEqual([410, 'handoff_expired', 'expired']);
    expect(said(await connect(used))).toEqual([410, 'handoff_expired', 'used']);
    await w.env.DB.prepare('DELETE FROM handoffs').run();
    expect(said(await connect(old))).toEqual([410, 'handoff_expired', 'expired']);
  });

  it('a forged hand-off or one of another product is refused with 403', async () => {
    const handoff = await token();
    const other = await w.product(ada);
    const foreign = await w.product(await w.merchant());
    const flipped = `${handoff.slice(0, -1)}${handoff.endsWith('A') ? 'B' : 'A'}`;
    const bytes = base64url.decode(handoff.slice(3));
    bytes[19]! += 1;
    const prolonged = `ho_${base64url.encode(bytes)}`;
    for (const forged of [
      flipped,
      prolonged,
      handoff.slice(3),
      `${handoff}A`,
      'x',
      'ho_',
      '%00',
      'ü'.repeat(20),
      '../../x',
      "' OR 1=1 --",
    ]) {
      expect([forged, ...said(await resolve(forged)).slice(0, 2)]).toEqual([forged, 403, 'handoff_secret_mismatch']);
      expect((await connect(forged)).body.code).toBe('handoff_secret_mismatch');
    }
    for (const elsewhere of [other, foreign]) expect((await connect(handoff, {}, elsewhere)).body.code).toBe('handoff_secret_mismatch');
    expect((await resolve(handoff, { ...product, slug: 'nowhere' })).status).toBe(404);
    expect((await connect(handoff)).status).toBe(200);
  });

  it('a hand-off is valid while its secret is in rotation and refused once the secret is removed', async () => {
    const handoff = await token();
    const rotated = { ...w.env, HANDOFF_SECRETS: `${SEED(20)},${SEED(9)}` };
    expect((await resolve(handoff, product, { env: rotated })).status).toBe(200);
    const newer = (await create({}, { env: rotated })).body.handoff_token;
    expect((await resolve(newer)).body.code).toBe('handoff_secret_mismatch');
    const gone = { ...w.env, HANDOFF_SECRETS: SEED(20) };
    expect((await resolve(handoff, product, { env: gone })).body.code).toBe('handoff_secret_mismatch');
    expect((await resolve(newer, product, { env: gone })).status).toBe(200);
  });

  it('a deployment without a secret answers 503 handoff_not_configured', async () => {
    const handoff = await token();
    const env = { ...w.env, HANDOFF_SECRETS: '' };
    const answers = [await create({}, { env }), await resolve(handoff, product, { env }), await connect(handoff, {}, product, { env })];
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual(Array(3).fill([503, 'handoff_not_configured']));
  });

  it('an archived product and an invalid wallet are refused before the configuration is checked', async () => {
    const env = { ...w.env, HANDOFF_SECRETS: '' };
    const archived = await w.product(ada);
    await w.call('POST', `/v1/products/${archived.product_id}/archive`, { key: ada.key });
    expect(said(await create({}, { env }, archived))).toEqual([409, 'state_conflict', 'product_active']);
    expect((await create({ wallet_address: 'no-wallet' }, { env })).body.code).toBe('invalid_wallet_address');
  });

  it('only the owner can create a hand-off, for a product on sale', async () => {
    const stranger = await w.merchant();
    for (const key of [stranger.key, ada.sandboxKey]) expect((await create({}, { key })).status).toBe(404);
    const archived = await w.product(ada);
    await w.call('POST', `/v1/products/${archived.product_id}/archive`, { key: ada.key });
    expect(said(await create({}, {}, archived))).toEqual([409, 'state_conflict', 'product_active']);
    const sandbox = await w.call('POST', '/v1/products', {
      key: ada.sandboxKey,
      body: { name: 'x', price: { asset: 'USDC', amount: '1' } },
    });
    const made = await create({}, { key: ada.sandboxKey }, sandbox.body);
    expect(made.status).toBe(201);
    expect((await connect(made.body.handoff_token, {}, sandbox.body)).status).toBe(200);
  });

  it.each([
    ['customer_ref', ' outer space'],
    ['customer_ref', ''],
    ['email', 'nobody'],
    ['success_url', 'http://shop.example.com'],
    ['success_url', 'javascript:alert(1)'],
    ['metadata', { order: 7 }],
  ])('a hand-off with %s of %j is refused with 422', async (field, value) => {
    const { status, body } = await create({ [field]: value });
    expect([status, body.code, body.detail[0].loc.slice(0, 2)]).toEqual([422, 'validation_error', ['body', field]]);
  });

  it('an invalid wallet is refused, and the sweep deletes hand-offs a day after their expiry', async () => {
    expect(said(await create({ wallet_address: 'garbage' })).slice(0, 2)).toEqual([422, 'invalid_wallet_address']);
    await token({ email: 'forget@example.com' });
    await w.env.DB.prepare('UPDATE handoffs SET expires_at = expires_at - 100000000').run();
    // Exceeds the limit of one DELETE statement.
    await w.env.DB.prepare(
      `INSERT INTO handoffs (id, merchant_id, livemode, product_id, expires_at, created_at)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 520) SELECT 'old-' || i, 'm', 1, 'p', 1, 1 FROM n`,
    ).run();
    const left = () => w.env.DB.prepare('SELECT count(*) AS n FROM handoffs').first<number>('n');
    expect(await left()).toBeGreaterThan(520);
    await w.sweepAll();
    expect(await left()).toBe(0);
  });
});
