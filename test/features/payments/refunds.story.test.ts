import type { KeyPairSigner } from '@solana/kit';
import Papa from 'papaparse';
import { beforeAll, describe, expect, it } from 'vitest';
import { withFaults } from '../../support/faults/faults.ts';
import { sweepUntilBelieved } from '../../support/faults/finality.ts';
import { openShop } from '../../support/people/agent.ts';
import { type CallOptions, type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('refunds', () => {
  const w = new World();
  let ada: Merchant;
  let product: { slug: string; product_id: string };
  let buyer: KeyPairSigner;

  const prepare = (id: string, body?: object, options: CallOptions = {}) =>
    w.call('POST', `/v1/payments/${id}/refund-transaction`, { key: ada.key, ...(body ? { body } : {}), ...options });
  const confirm = (id: string, txSignature: string, options: CallOptions = {}) =>
    w.call('POST', `/v1/payments/${id}/refund-confirm`, { key: ada.key, body: { tx_signature: txSignature }, ...options });
  const read = async (id: string): Promise<Body> => (await w.call('GET', `/v1/payments/${id}`, { key: ada.key })).body;
  const land = async (transaction: string): Promise<string> =>
    w.chain.call('sendTransaction', await w.chain.sign(ada.wallet, transaction), { encoding: 'base64' });
  const paid = async (terms: Record<string, unknown> = {}): Promise<string> => {
    const payment = await w.connect(product, terms);
    await w.confirm(payment.payment_id, await w.chain.pay(buyer, payment));
    return payment.payment_id;
  };
  const balance = async (owner: string): Promise<bigint> => {
    const { value } = await w.chain.call<{ value: { account: { data: { parsed: Body } } }[] }>(
      'getTokenAccountsByOwner',
      owner,
      { programId: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' },
      { encoding: 'jsonParsed' },
    );
    return BigInt(value[0]?.account.data.parsed.info.tokenAmount.amount ?? 0);
  };

  beforeAll(async () => {
    ada = await w.merchant();
    ada.wallet = await w.chain.wallet(1_000_000_000n);
    product = await w.product(ada, { access_period_days: 30 });
    buyer = await w.chain.wallet();
  });

  it('a refund without an amount pays the full payment back to the wallet that paid', async () => {
    const id = await paid();
    const before = await balance(buyer.address);
    const { status, body } = await prepare(id);
    expect([status, Object.keys(body).sort()]).toEqual([200, ['expires_at', 'transaction']]);
    expect(Date.parse(body.expires_at)).toBeGreaterThan(Date.now() + 60_000);
    const signature = await land(body.transaction);
    const { body: payment } = await confirm(id, signature);
    expect(payment.refunded).toMatchObject([{ amount: { asset: 'USDC', amount: '5' }, tx_signature: signature }]);
    // Five versions: created, submitted, confirmed, refund prepared and refund seen.
    expect([payment.status, payment.version]).toEqual(['CONFIRMED', 5]);
    expect((await balance(buyer.address)) - before).toBe(5_000_000n);
    expect((await confirm(id, signature)).body).toEqual(payment);
    expect(await w.eventTypes(id)).toContain('payment.refunded');
    const { body: membership } = await w.call('GET', `/v1/memberships/lookup?payment_id=${id}`, { key: ada.key });
    expect(membership.status).toBe('active');
  });

  it('a refund is listed in the payment, and its event matches the published schema', async () => {
    const id = await paid();
    const { body } = await prepare(id, { amount: { asset: 'USDC', amount: '2' } });
    const signature = await land(body.transaction);
    await confirm(id, signature);
    const { body: events } = await w.call('GET', '/v1/webhooks/events?event_type=payment.refunded&per_page=100', { key: ada.key });
    const { data } = events.items.find(({ subject }: Body) => subject.id === id);
    expect(data.refund).toEqual(data.object.refunded[0]);
    expect([data.previous.refunded, data.refund.amount.amount]).toEqual([[], '2']);
  });

  it('refunds of a payment together never exceed what was paid', async () => {
    const id = await paid();
    for (const amount of ['5.000001', '0', '-1', '1e3', 'all', '0.0000001']) {
      const { status, body } = await prepare(id, { amount: { asset: 'USDC', amount } });
      expect([amount, status, body.detail[0]?.loc]).toEqual([amount, 422, ['body', 'amount']]);
    }
    expect((await prepare(id, { amount: { asset: 'SOL', amount: '1' } })).body.detail[0].loc).toEqual(['body', 'amount']);
    const first = await prepare(id, { amount: { asset: 'USDC', amount: '3' } });
    await confirm(id, await land(first.body.transaction));
    expect((await prepare(id, { amount: { asset: 'USDC', amount: '2.000001' } })).status).toBe(422);
    const rest = await prepare(id);
    await confirm(id, await land(rest.body.transaction));
    expect((await read(id)).refunded.map(({ amount }: Body) => amount.amount)).toEqual(['3', '2']);
    const { body: file } = await w.call<string>('GET', '/v1/receipts/export.csv', { key: ada.key });
    const { data } = Papa.parse<Record<string, string>>(file.trimEnd(), { header: true });
    expect(data.map(({ refunded }) => refunded)).toContain('5');
    const { status, body } = await prepare(id);
    expect([status, body.code, body.meta.reason]).toEqual([409, 'state_conflict', 'refunded']);
  });

  it('a refund without an amount includes an overpayment', async () => {
    const payment = await w.connect(product);
    await w.confirm(payment.payment_id, await w.chain.pay(buyer, payment, { units: 6_000_000n }));
    const { body } = await prepare(payment.payment_id);
    const { body: refunded } = await confirm(payment.payment_id, await land(body.transaction));
    expect(refunded.refunded[0].amount.amount).toBe('6');
  });

  it('a second refund is refused with in_flight while one may land, also when both are concurrent', async () => {
    const id = await paid();
    const both = await Promise.all([prepare(id), prepare(id)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const { status, body, headers } = await prepare(id);
    expect([status, body.code, body.meta.reason, body.retryable]).toEqual([409, 'state_conflict', 'in_flight', true]);
    expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
  });

  it('an unreported refund is found by the sweep', async () => {
    const id = await paid();
    const { body } = await prepare(id);
    const signature = await land(body.transaction);
    await w.sweepAlone('reference');
    await w.env.DB.prepare('UPDATE payment_candidates SET next_check_at = 0').run();
    await w.sweepAlone('candidates');
    expect((await read(id)).refunded[0].tx_signature).toBe(signature);
    expect(await w.count('payment_candidates', id)).toBe(0);
  });

  it('refund-confirm refuses another payer, a lower amount, another recipient and a wrong memo', async () => {
    const id = await paid();
    await prepare(id);
    const nonce = await w.env.DB.prepare('SELECT nonce FROM refunds WHERE payment_id = ?').bind(id).first<string>('nonce');
    const memo = `svc-refund:${nonce}`;
    const bill = { recipient: buyer.address, memo, price: { base_units: '5000000' }, references: [] };
    const stranger = await w.chain.wallet();
    for (const [payer, options, reason] of [
      [stranger, {}, 'payer_mismatch'],
      [ada.wallet, { units: 4_999_999n }, 'underpaid'],
      [ada.wallet, { recipient: stranger.address }, 'recipient_mismatch'],
      [ada.wallet, { memos: [] }, 'memo_missing'],
      [ada.wallet, { memos: [memo, memo] }, 'memo_missing'],
      [ada.wallet, { memos: ['svc-refund:11111111111111111111'] }, 'memo_mismatch'],
    ] as const) {
      const { status, body } = await confirm(id, await w.chain.pay(payer, bill, options as object));
      expect([status, body.code, body.meta.reason]).toEqual([422, 'payment_mismatch', reason]);
    }
    expect((await read(id)).refunded).toBeUndefined();
    const right = await w.chain.pay(ada.wallet, bill);
    expect((await confirm(id, right)).status).toBe(200);
    const { status, body } = await confirm(id, await w.chain.pay(ada.wallet, bill, { units: 5_000_001n }));
    expect([status, body.code]).toEqual([409, 'payment_transaction_conflict']);
  });

  it('a refund with revoke_access cancels membership and entitlement once it is seen', async () => {
    const shop = await openShop(w, { access_period_days: 30, usage_units: 10 });
    const [key, wallet] = [shop.merchant.key, shop.merchant.wallet];
    await w.chain.call('local_fundUsdc', wallet.address, '1000000000');
    await w.chain.call('local_fundSol', wallet.address, '1000000000');
    const customer = { customer_ref: 'refunded-one' };
    const payment = await w.connect(shop.product, customer);
    await w.confirm(payment.payment_id, await w.chain.pay(buyer, payment));
    await w.deliver();
    expect((await shop.consume({ customer })).status).toBe(200);
    const { body } = await prepare(payment.payment_id, { revoke_access: true }, { key });
    expect((await shop.consume({ customer })).status).toBe(200);
    const signature = await w.chain.call<string>('sendTransaction', await w.chain.sign(wallet, body.transaction), { encoding: 'base64' });
    await confirm(payment.payment_id, signature, { key });
    await w.deliver();
    const { body: membership } = await w.call('GET', `/v1/memberships/lookup?payment_id=${payment.payment_id}`, { key });
    expect(membership.status).toBe('cancelled');
    const denied = await shop.consume({ customer });
    expect([denied.status, denied.body.code, denied.body.meta.reason]).toEqual([403, 'entitlement_missing', 'revoked']);
  });

  it('a refund dropped by the chain restores payment and access, and emits payment.refunded again', async () => {
    const id = await paid({ customer_ref: 'dropped' });
    const { body } = await prepare(id, { revoke_access: true });
    const signature = await land(body.transaction);
    await confirm(id, signature);
    const status = async () => (await w.call('GET', '/v1/memberships/lookup?customer_ref=dropped', { key: ada.key })).body.status;
    expect(await status()).toBe('cancelled');
    await w.chain.fault({ kind: 'vanish', signature });
    await sweepUntilBelieved(w);
    const after = await read(id);
    expect([after.refunded, await status()]).toEqual([undefined, 'active']);
    expect((await w.eventTypes(id)).filter((type) => type === 'payment.refunded')).toHaveLength(2);
  });

  it('only the owner can refund a confirmed live payment', async () => {
    const open = await w.connect(product);
    const { status, body } = await prepare(open.payment_id);
    expect([status, body.code, body.meta.reason]).toEqual([409, 'state_conflict', 'not_confirmed']);
    const id = await paid();
    const eve = await w.merchant();
    for (const path of ['refund-transaction', 'refund-confirm']) {
      const asked = { body: path === 'refund-confirm' ? { tx_signature: '5'.repeat(88) } : {} };
      expect((await w.call('POST', `/v1/payments/${id}/${path}`, { key: eve.key, ...asked })).status).toBe(404);
      expect((await w.call('POST', `/v1/payments/${id}/${path}`, { key: ada.sandboxKey, ...asked })).status).toBe(404);
      expect((await w.call('POST', `/v1/payments/${id}/${path}`, asked)).status).toBe(401);
    }
  });

  it('an Idempotency-Key replays the prepared refund, and a failing node is answered with 503', async () => {
    const id = await paid();
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    await w.chain.fault({ kind: 'http_503', times: 1 });
    const [first, again] = [await prepare(id, {}, { headers }), await prepare(id, {}, { headers })];
    expect([503, 200]).toContain(first.status);
    const third = await prepare(id, {}, { headers });
    expect(third.body).toEqual(again.body);
    expect(third.headers.get('Idempotent-Replayed')).toBe('true');
  });

  it('a refund is recorded once if its confirmation is interrupted at any step', async () => {
    for (let failsAt = 1; failsAt <= 8; failsAt++) {
      const id = await paid();
      const { body } = await prepare(id);
      const signature = await land(body.transaction);
      const { env } = withFaults(w.env, { after: ({ number }) => number === failsAt });
      await confirm(id, signature, { env }).catch(() => null);
      const { status, body: payment } = await confirm(id, signature);
      expect([failsAt, status, payment.refunded.length]).toEqual([failsAt, 200, 1]);
      expect((await w.eventTypes(id)).filter((type) => type === 'payment.refunded')).toHaveLength(1);
    }
  });

  it('a refund counts in the analytics of the payment’s day', async () => {
    const eve = await w.merchant();
    const [key, shop] = [eve.key, await w.product(eve)];
    const { payment } = await w.purchase(shop, buyer);
    await w.sweepAlone('analytics');
    for (const [name, value] of [
      ['local_fundUsdc', '1'],
      ['local_fundSol', '1000000000'],
    ] as const)
      await w.chain.call(name, eve.wallet.address, value);
    const { body } = await prepare(payment.payment_id, { amount: { asset: 'USDC', amount: '2' } }, { key });
    const signed = await w.chain.sign(eve.wallet, body.transaction);
    await confirm(payment.payment_id, await w.chain.call<string>('sendTransaction', signed, { encoding: 'base64' }), { key });
    const { body: summary } = await w.call('GET', '/v1/account/summary', { key });
    expect(summary.totals.USDC).toEqual({ gross: '5', net: '3', fee: '0', refunded: '2' });
  });
});
