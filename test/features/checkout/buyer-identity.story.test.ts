// @module-tag quick
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { expireNow } from '../../support/faults/expire-now.ts';
import { CONNECTOR_SECRETS } from '../../support/runner/env.ts';
import { PAYMENT_SWEEPS } from '../../support/runner/sweeps.ts';
import { type CallOptions, type Merchant, World } from '../../support/world.ts';

const NOWHERE = '01900000-0000-7000-8000-000000000000';

describe('buyer identity', () => {
  const w = new World();
  let ada: Merchant;
  let product: { product_id: string; slug: string };
  beforeAll(async () => {
    ada = await w.merchant();
    product = await w.product(ada, { requires_identity: 'telegram', access_period_days: 30 });
  });
  afterEach(() => vi.restoreAllMocks());

  const open = (of = product, options: CallOptions = {}) => w.call('POST', `/v1/products/p/${of.slug}/identity`, options);
  const connect = (identity_session_id?: string, body: object = {}, of = product) =>
    w.call('POST', `/v1/products/p/${of.slug}/connect`, { body: { identity_session_id, ...body } });
  const complete = (
    identity_session_id: string,
    { secret = CONNECTOR_SECRETS.telegram[0] as string | null, provider = 'telegram', user = '4711', body = {}, env = w.env } = {},
  ) =>
    w.call('POST', `/v1/integrations/connectors/${provider}/identity`, {
      headers: secret === null ? {} : { 'X-Svc-Connector-Secret': secret },
      body: { identity_session_id, provider_user_id: user, username: 'ada', ...body },
      env,
    });
  const said = ({ status, body }: { status: number; body: { code: string } }) => [status, body.code];
  const opened = async (of = product): Promise<string> => (await open(of)).body.identity_session_id;

  const ask = async (of: { product_id: string }, provider: string | null) => {
    const { status } = await w.call('PATCH', `/v1/products/${of.product_id}`, { key: ada.key, body: { requires_identity: provider } });
    expect(status).toBe(200);
  };
  const sweepCandidates = async () => {
    await w.sweepEach(PAYMENT_SWEEPS);
    await w.env.DB.prepare('UPDATE payment_candidates SET next_check_at = 0').run();
    await w.sweepEach(PAYMENT_SWEEPS);
  };

  it('connect asks for the identity before a payment begins, with a link to the platform', async () => {
    const offer = await w.call('GET', `/v1/products/p/${product.slug}`);
    expect(offer.body.requires_identity).toBe('telegram');
    expect((await connect()).body).toEqual({ identity: { required: true, provider: 'telegram' } });
    const { status, body } = await open();
    expect(status).toBe(201);
    expect(body).toMatchObject({ provider: 'telegram', deep_link: `https://t.me/svc_test_bot?start=${body.identity_session_id}` });
    expect(Math.abs(Date.parse(body.expires_at) - Date.now() - 600_000)).toBeLessThan(2000);
    expect((await connect(body.identity_session_id)).body).toEqual({ identity: { required: true, provider: 'telegram' } });
    const payments = await w.call('GET', `/v1/payments?product_id=${product.product_id}`, { key: ada.key });
    expect(payments.body.total).toBe(0);
  });

  it('a confirmed identity lets the buyer pay, and only the merchant sees it', async () => {
    const session = await opened();
    const done = await complete(session);
    expect(done.status).toBe(200);
    expect(done.body).toMatchObject({ identity_session_id: session, provider: 'telegram', provider_user_id: '4711', status: 'completed' });
    const { body: payment } = await connect(session);
    expect('identity' in payment).toBe(false);
    const { body } = await w.confirm(payment.payment_id, await w.chain.pay(await w.chain.wallet(), payment));
    expect(body.payment.status).toBe('CONFIRMED');
    const owner = await w.call('GET', `/v1/payments/${payment.payment_id}`, { key: ada.key });
    expect(owner.body.buyer_identity).toEqual({ provider: 'telegram', provider_user_id: '4711', username: 'ada' });
    expect('buyer_identity' in (await w.call('GET', `/v1/payments/${payment.payment_id}`)).body).toBe(false);
  });

  it('a product can require the other platform', async () => {
    const elsewhere = await w.product(ada, { requires_identity: 'discord' });
    const { body } = await open(elsewhere);
    const link = new URL(body.deep_link);
    expect(link.origin + link.pathname).toBe('https://discord.com/oauth2/authorize');
    expect(Object.fromEntries(link.searchParams)).toEqual({
      response_type: 'code',
      client_id: '123456789012345678',
      scope: 'identify guilds.join',
      redirect_uri: 'https://connector.example.com/discord',
      state: body.identity_session_id,
    });
    expect(said(await complete(body.identity_session_id))).toEqual([422, 'validation_error']);
    const { status } = await complete(body.identity_session_id, { provider: 'discord', secret: CONNECTOR_SECRETS.discord[1] });
    expect(status).toBe(200);
    expect((await connect(body.identity_session_id, {}, elsewhere)).body.payment_id).toBeDefined();
  });

  it('only our own connectors can confirm an identity', async () => {
    const session = await opened();
    for (const secret of [null, '', 'wrong', `${CONNECTOR_SECRETS.telegram[0]}x`, CONNECTOR_SECRETS.telegram.join(), ada.key])
      expect([secret, ...said(await complete(session, { secret }))]).toEqual([secret, 401, 'connector_secret_invalid']);
    for (const secret of CONNECTOR_SECRETS.discord)
      expect(said(await complete(session, { secret }))).toEqual([403, 'handoff_secret_mismatch']);
    // Other callers do not even learn about errors in the body.
    expect(said(await complete('garbage', { secret: 'wrong' }))).toEqual([401, 'connector_secret_invalid']);
    expect((await connect(session)).body.identity).toBeDefined();
    expect((await complete(session, { secret: CONNECTOR_SECRETS.telegram[1] })).status).toBe(200);
  });

  it.each(['', 'ada', '1'.repeat(21), '../../channels/1', '\u0661\u0662', '4711 '])(
    'the provider user id %j is refused before the session is read: an id is 1 to 20 digits',
    async (user) => {
      const { status, body } = await complete(NOWHERE, { user });
      expect([status, body.detail[0].loc, body.detail[0].msg]).toEqual([422, ['body', 'provider_user_id'], 'Expected 1 to 20 digits']);
    },
  );

  it('a deployment without connectors answers 503 handoff_not_configured', async () => {
    const session = await opened();
    const env = { ...w.env, TELEGRAM_CONNECTOR_SECRETS: '' };
    for (const secret of [CONNECTOR_SECRETS.telegram[0]!, CONNECTOR_SECRETS.discord[0]!, 'wrong', null])
      expect([secret, ...said(await complete(session, { env, secret }))]).toEqual([secret, 503, 'handoff_not_configured']);
    const refused = await open(product, { env });
    expect([...said(refused), refused.body.meta.missing]).toEqual([503, 'handoff_not_configured', ['TELEGRAM_CONNECTOR_SECRETS']]);
    const botless = await open(product, { env: { ...w.env, TELEGRAM_BOT_USERNAME: '' } });
    expect(botless.body.meta.missing).toEqual(['TELEGRAM_BOT_USERNAME']);
  });

  it('a repeated confirmation gets the same answer, and another user is refused, also concurrently', async () => {
    const session = await opened();
    const first = await complete(session);
    expect((await complete(session)).body).toEqual(first.body);
    expect(said(await complete(session, { user: '4712' }))).toEqual([409, 'state_conflict']);
    const contested = await opened();
    const answers = await Promise.all(['1', '2', '3', '4', '5', '6'].map((user) => complete(contested, { user })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    const same = await opened();
    expect((await Promise.all([1, 2, 3].map(() => complete(same)))).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('an identity session expires after ten minutes: 410 for connector and buyer', async () => {
    const [unseen, seen] = [await opened(), await opened()];
    await complete(seen);
    const now = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => now + 600_001);
    expect(said(await complete(unseen))).toEqual([410, 'identity_expired']);
    for (const session of [unseen, seen]) expect(said(await connect(session))).toEqual([410, 'identity_expired']);
    await w.env.DB.prepare('UPDATE identity_sessions SET expires_at = expires_at - 100000000').run();
    await w.sweepAll();
    expect(await w.env.DB.prepare('SELECT count(*) AS n FROM identity_sessions').first('n')).toBe(0);
    expect(said(await complete(seen))).toEqual([422, 'validation_error']);
  });

  it('an identity session is valid for its own product only', async () => {
    const session = await opened();
    await complete(session);
    const sibling = await w.product(ada, { requires_identity: 'telegram' });
    const stranger = await w.product(await w.merchant(), { requires_identity: 'telegram' });
    for (const other of [sibling, stranger]) expect(said(await connect(session, {}, other))).toEqual([422, 'validation_error']);
    expect(said(await connect(NOWHERE))).toEqual([422, 'validation_error']);
    expect(said(await complete(NOWHERE))).toEqual([422, 'validation_error']);
    expect((await connect('not-a-uuid')).status).toBe(422);
  });

  it('an unknown identity session is refused, also by a product that needs none and with a replacement', async () => {
    const open = await w.product(ada);
    const refused = await connect(NOWHERE, {}, open);
    expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ['body', 'identity_session_id']]);
    const payment = await w.connect(open);
    expect(said(await connect(NOWHERE, { replaces_payment_id: payment.payment_id }, open))).toEqual([422, 'validation_error']);
  });

  it('while a product requires identity, a payment begun before cannot be sent, prepared or confirmed', async () => {
    const plain = await w.product(ada);
    const buyer = await w.chain.wallet();
    const payment = await w.connect(plain, { wallet_address: buyer.address });
    await ask(plain, 'telegram');
    const transaction = await w.chain.sign(buyer, payment.transaction);
    const sent = await w.call('POST', `/v1/payments/${payment.payment_id}/transaction`, { body: { transaction } });
    const prepared = await w.call('POST', `/v1/pay/${payment.payment_id}/solana-pay`, { body: { account: buyer.address } });
    expect(await w.count('payment_candidates', payment.payment_id)).toBe(0);
    const signature = await w.chain.pay(buyer, payment);
    const confirmed = await w.confirm(payment.payment_id, signature);
    const unmatched = async () => (await w.call('GET', `/v1/payments/${payment.payment_id}`, { key: ada.key })).body.unmatched;
    expect(await unmatched()).toMatchObject([{ tx_signature: signature, reason: 'identity_missing', status: 'open' }]);
    const claimed = await w.call('POST', '/v1/receipt', { key: ada.key, body: { tx_sig: signature } });
    for (const refused of [sent, prepared, confirmed, claimed])
      expect([...said(refused), refused.body.meta.provider]).toEqual([422, 'identity_verification_required', 'telegram']);
    await sweepCandidates();
    expect((await w.call('GET', `/v1/payments/${payment.payment_id}`)).body.status).toBe('PENDING_SIGNATURE');
    await ask(plain, null);
    expect((await w.confirm(payment.payment_id, signature)).body.payment.status).toBe('CONFIRMED');
    expect(await unmatched()).toMatchObject([{ status: 'accepted', recovered_payment_id: payment.payment_id }]);
  });

  it('money found by the cursor without an identity is recorded as unmatched and stays so after the session ends', async () => {
    const plain = await w.product(ada);
    const payment = await w.connect(plain);
    await ask(plain, 'discord');
    const signature = await w.chain.pay(await w.chain.wallet(), payment);
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await w.eventTypes(payment.payment_id)).toEqual(['payment.created', 'payment.unmatched']);
    const now = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => now + 26 * 3_600_000);
    await w.sweepEach(PAYMENT_SWEEPS);
    const { body } = await w.call('GET', `/v1/payments/${payment.payment_id}`, { key: ada.key });
    expect(body).toMatchObject({ status: 'FAILED', unmatched: [{ tx_signature: signature, reason: 'identity_missing', status: 'open' }] });
  });

  it('unmatched money without an identity can be accepted only by the merchant once the payment has ended', async () => {
    const plain = await w.product(ada);
    const payment = await w.connect(plain);
    await ask(plain, 'discord');
    const signature = await w.chain.pay(await w.chain.wallet(), payment);
    expect(said(await w.confirm(payment.payment_id, signature))).toEqual([422, 'identity_verification_required']);
    await expireNow(w, payment.payment_id);
    await sweepCandidates();
    const { body } = await w.call('GET', `/v1/payments/${payment.payment_id}`, { key: ada.key });
    expect(body).toMatchObject({ status: 'FAILED', unmatched: [{ tx_signature: signature, reason: 'identity_missing', status: 'open' }] });
    // A change of the requirement does not confirm the payment without the merchant.
    await ask(plain, null);
    const again = await w.confirm(payment.payment_id, signature);
    expect([...said(again), again.body.meta.recovered_payment_id]).toEqual([410, 'session_expired', undefined]);
    const accept = { key: ada.key, body: { tx_signature: signature } };
    const accepted = await w.call('POST', `/v1/payments/${payment.payment_id}/accept-unmatched`, accept);
    expect(accepted.body.status).toBe('CONFIRMED');
  });

  it('an identity of one platform does not confirm a payment once the product requires the other', async () => {
    const own = await w.product(ada, { requires_identity: 'telegram' });
    const session = await opened(own);
    await complete(session);
    const { body: payment } = await connect(session, {}, own);
    const signature = await w.chain.pay(await w.chain.wallet(), payment);
    await ask(own, 'discord');
    expect((await w.confirm(payment.payment_id, signature)).body.meta.provider).toBe('discord');
    await ask(own, 'telegram');
    expect((await w.confirm(payment.payment_id, signature)).body.payment.status).toBe('CONFIRMED');
  });

  it('a product without the requirement asks for none, and a sandbox call can confirm a test identity', async () => {
    const plain = await w.product(ada);
    const refused = await open(plain);
    expect([...said(refused), refused.body.meta.reason]).toEqual([409, 'setup_not_ready', 'identity_not_required']);
    expect((await connect(undefined, {}, plain)).body.payment_id).toBeDefined();
    const body = { name: 'x', price: { asset: 'USDC', amount: '1' }, requires_identity: 'telegram' };
    const sandbox = await w.call('POST', '/v1/products', { key: ada.sandboxKey, body });
    const session = (await open(sandbox.body)).body.identity_session_id;
    const came = { identity_session_id: session, provider_user_id: '77' };
    const shown = (key: string) => w.call('POST', '/v1/testing/identity', { key, body: came });
    expect((await shown((await w.merchant()).sandboxKey)).status).toBe(422);
    expect((await shown(ada.sandboxKey)).body).toEqual({ ...came, provider: 'telegram', status: 'completed' });
    expect((await connect(session, {}, sandbox.body)).body.status).toBe('PENDING_SIGNATURE');
    expect((await open({ ...product, slug: 'nowhere' })).status).toBe(404);
  });

  it('requires_identity excludes the x402 rail and can be changed', async () => {
    const { body } = await w.call('GET', `/v1/products/${product.product_id}`, { key: ada.key });
    expect(body).toMatchObject({ requires_identity: 'telegram', allowed_rails: ['solana_usdc'] });
    const create = (terms: object) =>
      w.call('POST', '/v1/products', { key: ada.key, body: { name: 'x', price: { asset: 'USDC', amount: '1' }, ...terms } });
    expect((await create({ requires_identity: 'telegram', allowed_rails: ['x402_solana_usdc'] })).status).toBe(422);
    expect((await create({ requires_identity: 'passport' })).status).toBe(422);
    const made = (await create({ requires_identity: 'discord' })).body;
    const changed = await w.call('PATCH', `/v1/products/${made.product_id}`, { key: ada.key, body: { requires_identity: null } });
    expect(changed.body).toMatchObject({ requires_identity: null, allowed_rails: ['solana_usdc', 'x402_solana_usdc'] });
  });

  it('a hand-off buyer is asked too, and asking does not use up the hand-off', async () => {
    const { body } = await w.call('POST', `/v1/products/${product.product_id}/handoffs`, {
      key: ada.key,
      body: { customer_ref: 'user-9' },
    });
    const { handoff_token } = body;
    expect((await connect(undefined, { handoff_token })).body.identity).toEqual({ required: true, provider: 'telegram' });
    const session = await opened();
    await complete(session);
    expect((await connect(session, { handoff_token })).body.payment_id).toBeDefined();
    expect(said(await connect(session, { handoff_token }))).toEqual([410, 'handoff_expired']);
  });

  it.each([
    [{ provider_user_id: '' }, 'provider_user_id'],
    [{ provider_user_id: 'a b' }, 'provider_user_id'],
    [{ provider_user_id: '../../channels/4711' }, 'provider_user_id'],
    [{ provider_user_id: '٤٧١١' }, 'provider_user_id'],
    [{ provider_user_id: '1'.repeat(21) }, 'provider_user_id'],
    [{ provider_user_id: 4711 }, 'provider_user_id'],
    [{ username: '' }, 'username'],
    [{ identity_session_id: 'x' }, 'identity_session_id'],
  ])('the connector body %j is refused with 422', async (body, field) => {
    const answer = await complete(NOWHERE, { body });
    expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ['body', field]]);
  });

  it('an unknown platform answers 404, with or without a secret', async () => {
    for (const provider of ['myspace', 'Telegram', 'toString'])
      for (const secret of [null, CONNECTOR_SECRETS.telegram[0]])
        expect(said(await complete(NOWHERE, { provider, secret }))).toEqual([404, 'not_found']);
  });
});
