import { beforeEach, describe, expect, it } from 'vitest';
import { customerIdOf } from '#core/ids.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { newKey } from '../../support/people/agent.ts';
import { watchCopy } from '../../support/people/entitlement-copy.ts';
import { completeErasures, findWord } from '../../support/people/erased-customer.ts';
import { addApp } from '../../support/people/factors.ts';
import { addMember } from '../../support/people/team.ts';
import { type Body, type Merchant, World } from '../../support/world.ts';

const ERASED_REF = /^erased:[0-9a-f]{8}$/;

describe('POST /v1/customers/{customer_id}/erase', () => {
  let w: World;
  let ada: Merchant;
  let product: Body;
  let storeCopy: () => Promise<void>;
  /** Part of every text that names the customer. */
  let word: string;
  let ref: string;
  beforeEach(async () => {
    w = new World();
    ada = await w.merchant();
    product = await w.product(ada, { access_period_days: 30 });
    word = `planted${crypto.randomUUID().slice(0, 8)}`;
    ref = `${word}-ref`;
    storeCopy = await watchCopy(w, ada, product.product_id, { customerRef: ref });
  });
  const idOf = (customerRef: string, { userId }: Merchant = ada) => customerIdOf(userId, true, { customerRef });
  const id = () => idOf(ref);
  const get = async (path: string, key = ada.key) => (await w.call('GET', `/v1/${path}`, { key })).body as Body;
  const erase = (body: object = { end_access: true }, options: object = {}, customerId = id()) =>
    w.call('POST', `/v1/customers/${customerId}/erase`, { key: ada.token, body, ...options });
  const settle = async () => {
    for (let round = 0; round < 4; round++) {
      while (w.queue.sent.length > 0) await w.deliver();
      await storeCopy();
    }
    await w.sweepAlone('analytics');
  };
  const buy = async (input: object = {}) => {
    const sale = await w.purchase(product, await w.chain.wallet(), { customer_ref: ref, email: `${word}@example.com`, ...input });
    await settle();
    return sale.confirmed;
  };
  const stateOf = (customer_ref = ref) => w.call('GET', `/v1/customers/state?customer_ref=${customer_ref}`, { key: ada.key });
  const consume = (customer_ref = ref) =>
    w.call('POST', '/v1/access/entitlements/consume', {
      key: ada.key,
      headers: { 'Idempotency-Key': newKey() },
      body: { product_id: product.product_id, customer: { customer_ref } },
    });
  const write = async (method: string, path: string, body: object, key = ada.key) => {
    const answer = await w.call(method, `/v1/${path}`, { key, headers: { 'Idempotency-Key': newKey() }, body });
    expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    return answer.body as Body;
  };
  const portal = async (customer_ref = ref): Promise<string> => {
    const { url } = await write('POST', 'customers/portal-sessions', { customer: { customer_ref } });
    return new URL(url).searchParams.get('token')!;
  };
  const redeem = (token: string) => w.call('POST', '/v1/buyer/portal-link/redeem', { body: { token } });
  /** Names the customer in every text that a merchant or buyer can store. */
  const plant = async () => {
    const sold = await buy();
    const { product_id } = product;
    const named = { email: `${word}-note@example.com`, name: `${word} Name`, company: { name: `${word} Ltd` } };
    await write('PATCH', `customers/${id()}`, { ...named, metadata: { k: word } });
    await write('PATCH', `receipt/${sold.payment.receipt_id}/invoice-metadata`, { bill_to: { name: `${word} Payer` } });
    await write('POST', `products/${product_id}/handoffs`, { customer_ref: ref, email: `${word}@example.com`, metadata: { k: word } });
    await write('POST', 'access/payment-sessions', { product_id, customer_ref: ref, metadata: { k: word } });
    await write('POST', 'access/entitlements/grant', { product_id, customer: { customer_ref: ref }, days: 10, reason: 'test' });
    await w.connect(product, { customer_ref: ref, email: `${word}@example.com` });
    // A month after its end, an unpaid checkout has a row of its own.
    await w.env.DB.prepare(
      `INSERT INTO ended_sessions (id, merchant_id, livemode, product_id, nonce, reference, asset, price_amount, recipient_wallet, customer_ref,
        expires_at, late_grace_seconds, created_at, updated_at, version)
      SELECT randomblob(16), merchant_id, livemode, product_id, nonce || 'x', reference, asset, price_amount, recipient_wallet, customer_ref,
        expires_at, 0, created_at, updated_at, 1 FROM payments WHERE customer_ref = ? LIMIT 1`,
    )
      .bind(ref)
      .run();
    const { body } = await redeem(await portal());
    await w.call('PUT', '/v1/buyer/invoice-details', { key: body.token, body: { name: `${word} Buyer` } });
    await write('POST', 'customers', { customer_ref: `${word}-alias`, name: `${word} Alias` });
    await write('POST', `customers/${id()}/merge`, { from: idOf(`${word}-alias`) });
    await settle();
    return sold;
  };

  it('erases every text that names the customer, and retains payments, receipts and the wallet', async () => {
    const sold = await plant();
    const receipt = await get(`receipt/${sold.payment.receipt_id}`);
    expect((await findWord(word)).length).toBeGreaterThan(8);
    const { status, body } = await erase();
    expect([status, body.status, body.customer_id]).toEqual([202, 'erasing', id()]);
    await completeErasures(w);
    expect(await findWord(word)).toEqual([]);
    const customer = await get(`customers/${id()}`);
    expect(customer).toMatchObject({ customer_id: id(), status: 'erased', emails: [], metadata: {}, access: { active: 0 } });
    expect(customer.customer_ref).toMatch(ERASED_REF);
    expect(customer.wallets).toEqual(body.wallets);
    expect(customer.totals).toEqual(body.totals);
    const payment = await get(`payments/${sold.payment.payment_id}`);
    expect(payment).toMatchObject({ customer_ref: customer.customer_ref, tx_signature: sold.payment.tx_signature });
    const after = await get(`receipt/${sold.payment.receipt_id}`);
    expect({ ...after, invoice_metadata: null }).toEqual({ ...receipt, invoice_metadata: null });
    expect(after.invoice_metadata ?? {}).toEqual({});
    const [event] = (await get('webhooks/events?event_type=customer.erased')).items;
    expect(event.data.object.customer_id).toBe(id());
    const [entry] = (await w.call('GET', '/v1/account/audit-log?action=customer.erased', { key: ada.token })).body.items;
    expect(entry).toMatchObject({ subject: { type: 'customer', id: id() } });
  });

  it('a reference that is used again names a new customer without access, and a second erasure another one', async () => {
    await buy();
    await erase();
    await completeErasures(w);
    const ids = [id()];
    for (let round = 0; round < 2; round++) {
      expect((await stateOf()).status).toBe(404);
      expect((await consume()).status).toBe(403);
      await write('POST', `products/${product.product_id}/handoffs`, { customer_ref: ref });
      const named = (await stateOf()).body;
      expect(named.products).toEqual([]);
      await buy({ email: 'again@example.com' });
      const { body } = await stateOf();
      expect(body.products).toMatchObject([{ access: true }]);
      expect(body.customer_id).toBe(named.customer_id);
      expect(ids).not.toContain(body.customer_id);
      ids.push(body.customer_id);
      const { items } = await get(`customers?customer_ref=${ref}`);
      expect(items.map(({ customer_id, totals }: Body) => [customer_id, totals.payments])).toEqual([[body.customer_id, 1]]);
      expect((await consume()).status).toBe(200);
      await settle();
      expect((await erase({ end_access: true }, {}, body.customer_id)).status).toBe(202);
      await completeErasures(w);
    }
    expect((await get('webhooks/events?event_type=customer.erased')).items).toHaveLength(3);
    expect((await get('customers')).items).toHaveLength(3);
  });

  it('access that runs is refused unless the call ends it, and a repeated call changes nothing', async () => {
    await buy();
    const refused = await erase({});
    expect([refused.status, refused.body.meta]).toEqual([409, { reason: 'active_access' }]);
    expect((await get(`customers/${id()}`)).status).toBe('active');
    const headers = { 'Idempotency-Key': newKey() };
    const [first, again] = [await erase(undefined, { headers }), await erase(undefined, { headers })];
    expect([first.status, again.status, again.body]).toEqual([202, 202, first.body]);
    expect((await erase()).status).toBe(202);
    for (const [method, path, body] of [
      ['PATCH', `/v1/customers/${id()}`, { name: 'Ada' }],
      ['POST', `/v1/customers/${id()}/merge`, { from: idOf('other') }],
    ] as const) {
      await w.call('POST', '/v1/customers', { key: ada.key, body: { customer_ref: 'other' } });
      const { status, body: said } = await w.call(method, path, { key: ada.key, body });
      expect([status, said.meta?.reason]).toEqual([409, 'erasing']);
    }
    await completeErasures(w);
    expect((await get('webhooks/events?event_type=customer.erased')).items).toHaveLength(1);
    const { body } = await w.call('PATCH', `/v1/customers/${id()}`, { key: ada.key, body: { name: 'Ada' } });
    expect(body.meta).toEqual({ reason: 'erased' });
  });

  it('leaves another merchant, the other mode and another customer alone', async () => {
    const eve = await w.merchant();
    const maps = await w.product(eve, { access_period_days: 30 });
    await w.purchase(maps, await w.chain.wallet(), { customer_ref: ref, email: `${word}@example.com` });
    for (const key of [ada.sandboxKey, ada.key])
      await w.call('POST', '/v1/customers', { key, body: { customer_ref: key === ada.key ? 'other' : ref, name: word } });
    await buy();
    await w.purchase(product, await w.chain.wallet(), { customer_ref: 'other', email: `${word}@example.com` });
    await settle();
    const read = async () => [
      await get('payments', eve.key),
      await get('customers', eve.key),
      await get('customers', ada.sandboxKey),
      await get(`customers/${idOf('other')}`),
      await get('payments?customer_ref=other'),
    ];
    const before = await read();
    expect((await erase()).status).toBe(202);
    await completeErasures(w);
    expect(await read()).toEqual(before);
    expect((await erase({}, { key: eve.token })).status).toBe(404);
  });

  it('refuses keys, and roles without access to privacy', async () => {
    await buy();
    const refused = await erase({}, { key: ada.key });
    expect([refused.status, refused.body.meta]).toEqual([403, { reason: 'token_required' }]);
    for (const role of ['developer', 'finance', 'support', 'viewer'] as const)
      expect((await erase({}, { key: (await addMember(w, ada, role)).token })).status, role).toBe(403);
    expect((await erase({ end_access: true }, { key: (await addMember(w, ada, 'admin')).token })).status).toBe(202);
  });

  it('ends portal links and sessions of the customer', async () => {
    await buy();
    const [link, other] = [await portal(), await portal()];
    const { token } = (await redeem(link)).body;
    const read = () => w.call('GET', '/v1/buyer', { key: token });
    expect((await read()).status).toBe(200);
    await erase();
    for (let round = 0; round < 2; round++) {
      expect((await read()).body.meta).toEqual({ reason: 'session_ended' });
      expect((await redeem(other)).status).toBe(410);
      await completeErasures(w);
    }
  });

  it('needs a recent proof of a person with a factor', async () => {
    await buy();
    await addApp(w, ada.token);
    const { token } = ada;
    const { status, body } = await erase({ end_access: true }, { key: token });
    expect([status, body.meta.reason]).toEqual([403, 'step_up_required']);
  });

  it.each(['before', 'after'] as const)('completes although each trip to the database once failed %s its effect', async (moment) => {
    await plant();
    await erase();
    for (let number = 1, trips = 1; number <= trips; number++) {
      const faulty = withFaults(w.env, { [moment]: (trip: { number: number }) => trip.number === number });
      await completeErasures(w, faulty.env, 1);
      trips = Math.max(trips, faulty.trips.length);
    }
    await completeErasures(w);
    expect(await findWord(word)).toEqual([]);
    expect((await get('webhooks/events?event_type=customer.erased')).items).toHaveLength(1);
    expect((await stateOf()).status).toBe(404);
  });

  it('a wallet retains its id, and a further purchase makes it active', async () => {
    const wallet = await w.chain.wallet();
    storeCopy = await watchCopy(w, ada, product.product_id, { walletAddress: wallet.address });
    await w.purchase(product, wallet, { email: `${word}@example.com` });
    await settle();
    const walletId = customerIdOf(ada.userId, true, { walletAddress: wallet.address });
    expect((await erase(undefined, {}, walletId)).status).toBe(202);
    await completeErasures(w);
    expect(await findWord(word)).toEqual([]);
    expect(await get(`customers/${walletId}`)).toMatchObject({ status: 'erased', emails: [], wallets: [{ address: wallet.address }] });
    expect((await erase(undefined, {}, walletId)).body.status).toBe('erased');
    await w.purchase(product, wallet, { email: 'unfolded@example.com' });
    expect((await erase(undefined, {}, walletId)).body.status).toBe('erasing');
    for (let round = 0; round < 3; round++) await storeCopy();
    await completeErasures(w);
    expect(await findWord('unfolded')).toEqual([]);
    await w.purchase(product, wallet, { email: 'again@example.com' });
    await settle();
    const [back, state] = [await get(`customers/${walletId}`), await get(`customers/${walletId}/state`)];
    expect(back).toMatchObject({ status: 'active', emails: [{ email: 'again@example.com' }], totals: { payments: 3 } });
    expect(state.products).toMatchObject([{ access: true }]);
  });
});
