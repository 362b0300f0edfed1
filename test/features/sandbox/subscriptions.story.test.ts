import { beforeAll, describe, expect, it } from 'vitest';
import { DAY, MINUTE } from '#core/time.ts';
import { callTesting } from '../../support/clients/sandbox.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { SUBSCRIPTION_SWEEPS } from '../../support/models/subscription-life.ts';
import { newKey } from '../../support/people/agent.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('subscription sold with a sandbox key', () => {
  const w = new World();
  let ada: Merchant;
  let eve: Merchant;
  let product: Body;
  beforeAll(async () => {
    [ada, eve] = await Promise.all([w.merchant(), w.merchant()]);
    product = await sell(ada);
  });

  const write = (path: string, body: object, key = ada.sandboxKey) =>
    w.call('POST', `/v1/access/${path}`, { key, body, headers: { 'Idempotency-Key': newKey() } });
  const pay = (body: object, merchant = ada) => callTesting(w, merchant, 'POST', 'pay', body);
  const planPath = ({ product_id }: Body) => `products/${product_id}/subscription-plan`;

  async function sell(merchant: Merchant, terms: object = {}): Promise<Body> {
    const { status, body } = await w.call('POST', '/v1/products', {
      key: merchant.sandboxKey,
      body: {
        name: 'Renewing',
        price: { asset: 'USDC', amount: '5' },
        renewal_mode: 'AUTOMATIC',
        access_period_days: 30,
        usage_units: null,
        ...terms,
      },
    });
    expect(status).toBe(201);
    const prepared = await write(planPath(body), {}, merchant.sandboxKey);
    expect(prepared.body.status).toBe('unpublished');
    const signed = await pay({ transaction: prepared.body.transaction }, merchant);
    expect(signed.body.payer_wallet).toBe(prepared.body.terms.destination);
    const confirmed = await write(`${planPath(body)}/confirm`, { tx_signature: signed.body.tx_signature }, merchant.sandboxKey);
    expect([confirmed.status, confirmed.body.status]).toEqual([200, 'published']);
    return body;
  }

  const readTestWallet = async (label: string): Promise<string> => {
    const begun = await w.connect(await w.product({ ...ada, key: ada.sandboxKey }));
    return (await pay({ payment_id: begun.payment_id, outcome: 'declined', wallet: label })).body.payer_wallet;
  };
  async function begin(label: string, wishes: object = {}): Promise<Body> {
    return w.connect(product, { wallet_address: await readTestWallet(label), ...wishes });
  }
  const read = async (paymentId: string): Promise<Body> => (await w.call('GET', `/v1/payments/${paymentId}`, { key: ada.sandboxKey })).body;
  const stepsLeft = async (paymentId: string): Promise<Body[]> =>
    (await w.call('GET', `/v1/payments/${paymentId}`)).body.subscription.steps;
  const readSubscription = async (id: string): Promise<Body> =>
    (await w.call('GET', `/v1/access/native-subscriptions/${id}`, { key: ada.sandboxKey })).body;
  async function subscribe(label: string, wishes: object = {}): Promise<Body> {
    const begun = await begin(label, wishes);
    const paid = await pay({ payment_id: begun.payment_id, wallet: label });
    expect(paid.status).toBe(200);
    const { body } = await w.confirm(begun.payment_id, paid.body.tx_signature);
    expect(body.payment.status).toBe('CONFIRMED');
    return (await read(begun.payment_id)).authorization_id;
  }
  const runAt = async <T>(at: number, run: () => Promise<T>): Promise<T> => {
    setTime(at);
    try {
      return await run();
    } finally {
      letTimeRun();
    }
  };
  const sweep = async () => {
    await w.deliver([{ kind: 'sweepSandbox', merchantId: ada.userId }]);
    for (let i = 0; i < 3; i++) await w.deliver();
  };

  it('a test wallet pays the first period, which is collected at its price and shown as in live mode', async () => {
    const id = await subscribe('anna', { customer_ref: 'anna' });
    const subscription = await readSubscription(id);
    expect(subscription).toMatchObject({
      status: 'active',
      livemode: false,
      amount: { asset: 'USDC', amount: '5', base_units: '5000000' },
      period_hours: 720,
      last_collection: { status: 'collected' },
    });
    const length = Date.parse(subscription.current_period_end) - Date.parse(subscription.current_period_start);
    expect([length, subscription.paid_through]).toEqual([30 * DAY, subscription.current_period_end]);
    const listed = await w.call('GET', '/v1/receipts', { key: ada.sandboxKey });
    expect(listed.body.items[0].document ?? listed.body.items[0]).toMatchObject({ livemode: false });
  });

  it('the wallet named by the checkout signs if the call names none, and another one is refused', async () => {
    const begun = await begin('bert');
    const wrong = await pay({ payment_id: begun.payment_id, wallet: 'another' });
    expect([wrong.status, wrong.body.meta.reason]).toEqual([422, 'not_a_signer']);
    const { address } = await w.chain.wallet(0n);
    const other = await w.connect(product, { wallet_address: address });
    const paid = await pay({ payment_id: other.payment_id });
    expect([paid.status, paid.body.payer_wallet]).toEqual([200, address]);
    expect((await w.confirm(other.payment_id, paid.body.tx_signature)).body.payment.status).toBe('CONFIRMED');
    const again = await pay({ payment_id: other.payment_id });
    expect([again.status, again.body.code]).toEqual([409, 'state_conflict']);
  });

  it('the steps are signed one by one, the next after the previous one landed', async () => {
    const begun = await begin('carl');
    expect(begun.subscription.steps.map(({ kind }: Body) => kind)).toEqual(['approve', 'subscribe']);
    const approved = await pay({ transaction: begun.subscription.steps[0].transaction, wallet: 'carl' });
    expect(approved.body.tx_signature).toBeTypeOf('string');
    const left = await stepsLeft(begun.payment_id);
    expect(left.map(({ kind }) => kind)).toEqual(['subscribe']);
    const consent = await pay({ transaction: left[0].transaction, wallet: 'carl' });
    const sent = await w.call('POST', `/v1/payments/${begun.payment_id}/transaction`, { body: { transaction: consent.body.transaction } });
    expect(sent.status).toBe(200);
    expect((await w.confirm(begun.payment_id, consent.body.tx_signature)).body.payment.status).toBe('CONFIRMED');
  });

  it('an underfunded wallet leaves the checkout waiting, a declined or late one pays nothing, and overpaying gets 422', async () => {
    const begun = await begin('dora');
    const named = { payment_id: begun.payment_id, wallet: 'dora' };
    expect((await pay({ ...named, outcome: 'declined' })).body.tx_signature).toBeUndefined();
    const over = await pay({ ...named, outcome: 'overpaid' });
    expect([over.status, over.body.detail[0].loc]).toEqual([422, ['body', 'outcome']]);
    const short = await pay({ ...named, outcome: 'underpaid' });
    await w.confirm(begun.payment_id, short.body.tx_signature);
    const stored = await w.env.DB.prepare('SELECT last_collection AS last FROM subscription_authorizations WHERE payment_id = ?')
      .bind(begun.payment_id)
      .first<string>('last');
    expect([(await read(begun.payment_id)).status, JSON.parse(stored!).code]).toEqual(['PENDING_CONFIRMATION', 'insufficient_funds']);
    const late = await begin('emil');
    const came = await pay({ payment_id: late.payment_id, wallet: 'emil', outcome: 'late' });
    await w.confirm(late.payment_id, came.body.tx_signature);
    expect((await read(late.payment_id)).status).toBe('FAILED');
  });

  it('only the sweep of the merchant’s sandbox collects, once per period', async () => {
    const begun = await begin('fred');
    await pay({ payment_id: begun.payment_id, wallet: 'fred' });
    for (const name of SUBSCRIPTION_SWEEPS) await w.sweepAlone(name);
    expect((await read(begun.payment_id)).status).toBe('PENDING_SIGNATURE');
    await sweep();
    await runAt(Date.now() + 5_000, sweep);
    const { status, authorization_id: id } = await read(begun.payment_id);
    expect(status).toBe('CONFIRMED');
    const end = Date.parse((await readSubscription(id)).paid_through);
    const renewals = async () =>
      (await prepareOnEvents(w.env.DB, "SELECT type FROM events WHERE type = 'subscription.renewed' AND subject_id = ?").bind(id).all())
        .results;
    for (const minutes of [11, 12, 13, 14]) await runAt(end + minutes * MINUTE, sweep);
    expect(await renewals()).toHaveLength(1);
    expect(Date.parse((await readSubscription(id)).paid_through)).toBe(end + 30 * DAY);
  });

  it('the buyer’s wallet cancels as in live mode, and a second cancel intent gets 409', async () => {
    const id = await subscribe('gerd');
    const wallet_address = (await readSubscription(id)).subscriber_wallet;
    const intent = await w.call('POST', `/v1/access/native-subscriptions/${id}/cancel-intent`, { body: { wallet_address } });
    const confirm = (body: object) =>
      w.call('POST', `/v1/access/native-subscriptions/${id}/cancel-confirm`, { body, headers: { 'Idempotency-Key': newKey() } });
    const signed = await pay({ transaction: intent.body.transaction, wallet: 'gerd' });
    const cancelled = await confirm({ tx_signature: signed.body.tx_signature });
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancel_requested']);
    expect(cancelled.body.cancel.effective_at).toBe(cancelled.body.paid_through);
    const second = await w.call('POST', `/v1/access/native-subscriptions/${id}/cancel-intent`, { body: { wallet_address } });
    expect([second.status, second.body.code]).toEqual([409, 'subscription_cancelled']);
  });

  it('each merchant has a chain without the plans, wallets and transactions of other merchants', async () => {
    const foreign = await sell(eve);
    const [mine, theirs] = [await write(planPath(product), {}), await write(planPath(foreign), {}, eve.sandboxKey)];
    expect([mine.body.plan_address === theirs.body.plan_address, theirs.body.status]).toEqual([false, 'published']);
    const begun = await begin('hans');
    const signed = await pay({ transaction: begun.subscription.steps[0].transaction, wallet: 'hans' }, eve);
    expect([signed.status, signed.body.meta.reason]).toEqual([422, 'not_a_signer']);
    expect((await stepsLeft(begun.payment_id)).map(({ kind }) => kind)).toEqual(['approve', 'subscribe']);
  });

  it('two contradictory transactions run one after the other, and each is stored completely or not at all', async () => {
    const ids = await Promise.all(['ina', 'jan'].map((label) => subscribe(label)));
    const cancel = async (id: string, label: string) => {
      const wallet_address = (await readSubscription(id)).subscriber_wallet;
      const { transaction } = (await w.call('POST', `/v1/access/native-subscriptions/${id}/cancel-intent`, { body: { wallet_address } }))
        .body;
      return Promise.all([pay({ transaction, wallet: label }), pay({ transaction, wallet: label })]);
    };
    for (const [index, id] of ids.entries()) {
      const answers = await cancel(id, index === 0 ? 'ina' : 'jan');
      expect(answers.some(({ status }) => status === 200)).toBe(true);
      await sweep();
      expect((await readSubscription(id)).status).toBe('cancel_requested');
    }
  });
});
