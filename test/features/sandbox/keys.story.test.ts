import { beforeAll, describe, expect, it } from 'vitest';
import { callTesting, runScenario } from '../../support/clients/sandbox.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { newKey } from '../../support/people/agent.ts';
import { type Merchant, World } from '../../support/world.ts';

const w = new World();
let ada: Merchant;
beforeAll(async () => {
  ada = await w.merchant();
});

const sell = (terms: object = {}) => w.product({ ...ada, key: ada.sandboxKey }, { ...terms });

const CALLS: Record<string, () => Promise<{ path: string; body: Record<string, unknown>; other: Record<string, unknown> }>> = {
  sessions: async () => ({ path: 'sessions', body: { scenario: 'payment_failed' }, other: { scenario: 'payment_expired' } }),
  advance: async () => {
    const { session_id: id } = await runScenario(w, ada, 'payment_failed');
    return { path: `sessions/${id}/advance`, body: { seconds: 60 }, other: { seconds: 61 } };
  },
  pay: async () => {
    const { payment_id } = await w.connect(await sell());
    return { path: 'pay', body: { payment_id }, other: { payment_id, outcome: 'declined' } };
  },
  identity: async () => {
    const { slug } = await sell({ requires_identity: 'telegram' });
    const { body } = await w.call('POST', `/v1/products/p/${slug}/identity`, { body: {} });
    const identity_session_id = body.identity_session_id;
    return {
      path: 'identity',
      body: { identity_session_id, provider_user_id: '1' },
      other: { identity_session_id, provider_user_id: '2' },
    };
  },
};

describe.each(Object.entries(CALLS))('POST /v1/testing/…: %s with an idempotency key', (_, make) => {
  it('the call runs once, replays the same answer, and conflicts with another body', async () => {
    const { path, body, other } = await make();
    const headers = { 'Idempotency-Key': newKey() };
    const send = (sent: object) => w.call('POST', `/v1/testing/${path}`, { key: ada.sandboxKey, body: sent, headers });
    const first = await send(body);
    expect(first.status, JSON.stringify(first.body)).toBeLessThan(300);
    const again = await send(body);
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect([first, again].map((answer) => answer.headers.get('Idempotent-Replayed'))).toEqual([null, 'true']);
    const conflict = await send(other);
    expect([conflict.status, conflict.body.code]).toEqual([409, 'idempotency_conflict']);
  });
});

describe.each(['sessions', 'advance', 'pay', 'identity'])('POST /v1/testing/…: %s with a lost database answer', (name) => {
  it('the call has run once, and a repetition replays its result', async () => {
    const { path, body } = await CALLS[name]!();
    const headers = { 'Idempotency-Key': newKey() };
    const lossy = withFaults(w.env, { after: ({ kind }) => kind === 'batch' }).env;
    const count = async () => (await callTesting(w, ada, 'GET', 'sessions?limit=100')).body.items.length;
    const before = await count();
    const first = await w.call('POST', `/v1/testing/${path}`, { key: ada.sandboxKey, body, headers, env: lossy });
    const again = await w.call('POST', `/v1/testing/${path}`, { key: ada.sandboxKey, body, headers });
    expect([again.status, again.headers.get('Idempotent-Replayed')], JSON.stringify(again.body)).toEqual([
      name === 'sessions' ? 201 : 200,
      'true',
    ]);
    expect([first.status, first.body]).toEqual([again.status, again.body]);
    expect(await count()).toBe(before + (name === 'sessions' ? 1 : 0));
  });
});

it('two starts of a session under one key create one session', async () => {
  const before = (await callTesting(w, ada, 'GET', 'sessions?limit=100')).body.items.length;
  const headers = { 'Idempotency-Key': newKey() };
  const body = { scenario: 'payment_failed' };
  await Promise.all([1, 2].map(() => w.call('POST', '/v1/testing/sessions', { key: ada.sandboxKey, body, headers })));
  await w.call('POST', '/v1/testing/sessions', { key: ada.sandboxKey, body, headers });
  expect((await callTesting(w, ada, 'GET', 'sessions?limit=100')).body.items).toHaveLength(before + 1);
});

it('a test wallet with a lost answer has broadcast once, and a repetition broadcasts nothing', async () => {
  const { payment_id } = await w.connect(await sell());
  const headers = { 'Idempotency-Key': newKey() };
  const send = (env = w.env) => w.call('POST', '/v1/testing/pay', { key: ada.sandboxKey, body: { payment_id }, headers, env });
  const sent = async () =>
    (
      await w.env.DB.prepare("SELECT tx_signature FROM sandbox_transactions WHERE merchant_id = ? AND session_id = '' AND created_at >= ?")
        .bind(ada.userId, since)
        .all<{ tx_signature: string }>()
    ).results.map(({ tx_signature }) => tx_signature);
  const since = Date.now();
  // The process ends before each of its database calls in turn, then after it.
  for (let n = 1; n <= 12; n++)
    for (const when of ['before', 'after']) await send(withFaults(w.env, { [when]: ({ number }: { number: number }) => number === n }).env);
  const { status, body } = await send();
  expect(status).toBe(200);
  expect(await sent()).toEqual([body.tx_signature]);
});

it('the paid test wallet signs and lands a refund, and no wallet signs another transaction without being named', async () => {
  const pay = async (body: object) => (await w.call('POST', '/v1/testing/pay', { key: ada.sandboxKey, body })).body;
  const read = async (id: string) => (await w.call('GET', `/v1/payments/${id}`, { key: ada.sandboxKey })).body;
  const body = { name: 'API', price: { asset: 'USDC', amount: '1' } };
  const { body: product } = await w.call('POST', '/v1/products', { key: ada.sandboxKey, body });
  const { payment_id: id } = (await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: {} })).body;
  const { tx_signature } = await pay({ payment_id: id });
  await w.call('POST', '/v1/pay/confirm', { body: { payment_id: id, tx_signature } });
  const { recipient_wallet } = await read(id);
  const { body: prepared } = await w.call('POST', `/v1/payments/${id}/refund-transaction`, { key: ada.sandboxKey, body: {} });
  const declined = await pay({ transaction: prepared.transaction, outcome: 'declined' });
  expect(declined).toEqual({ payer_wallet: recipient_wallet });
  const short = await pay({ transaction: prepared.transaction, outcome: 'underpaid' });
  expect([short.code, short.detail[0].loc]).toEqual(['validation_error', ['body', 'outcome']]);
  const signed = await pay({ transaction: prepared.transaction });
  expect(signed).toMatchObject({ payer_wallet: recipient_wallet, tx_signature: expect.any(String) });
  const confirm = { key: ada.sandboxKey, body: { tx_signature: signed.tx_signature } };
  expect((await w.call('POST', `/v1/payments/${id}/refund-confirm`, confirm)).status).toBe(200);
  expect((await read(id)).refunded).toMatchObject([{ amount: { amount: '1' }, tx_signature: signed.tx_signature }]);

  const buyer = (await w.chain.wallet(0n)).address;
  const other = (await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: { wallet_address: buyer } })).body;
  expect(await pay({ transaction: other.transaction })).toMatchObject({ code: 'payment_mismatch', meta: { reason: 'not_a_signer' } });
});

it('a test wallet refuses to sign bytes that are no transaction', async () => {
  const sign = async (transaction: string) =>
    (await w.call('POST', '/v1/testing/pay', { key: ada.sandboxKey, body: { transaction } })).body;
  expect(await sign(btoa('nothing'))).toMatchObject({ code: 'payment_mismatch', meta: { reason: 'undecodable' } });
  for (const text of ['AB==', 'AAF=', 'AAAA=', 'A', '']) expect(await sign(text)).toMatchObject({ code: 'validation_error' });
});
