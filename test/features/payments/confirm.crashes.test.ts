import type { KeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { withFaults } from '../../support/faults/faults.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('commit with a lost answer', REPEATED, () => {
  const w = new World();
  let merchant: Merchant;
  let buyer: KeyPairSigner;
  beforeAll(async () => {
    merchant = await w.merchant();
    buyer = await w.chain.wallet();
  });
  const answerLost = () => {
    let lost = false;
    return withFaults(w.env, {
      after: ({ kind }) => {
        if (kind === 'read' || lost) return false;
        lost = true;
        return true;
      },
    }).env;
  };

  it('a registration is answered 201 and its account can sign in', async () => {
    const body = { email: `lost-${crypto.randomUUID()}@example.com`, password: 'correct horse', display_name: 'Lost' };
    expect((await w.call('POST', '/v1/auth/register', { body, env: answerLost() })).status).toBe(201);
    const { display_name: _, ...proof } = body;
    expect((await w.call('POST', '/v1/auth/login', { body: proof })).status).toBe(200);
  });

  it('a new key is still handed out and works', async () => {
    const { status, body } = await w.call('POST', '/v1/keys', { key: merchant.token, body: { name: 'lost' }, env: answerLost() });
    expect(status).toBe(201);
    expect((await w.call('GET', '/v1/account/me', { key: body.raw_key })).status).toBe(200);
  });

  it('a new product exists exactly once', async () => {
    const name = `Lost ${crypto.randomUUID()}`;
    const body = { name, price: { asset: 'USDC', amount: '1' }, external_product_id: name };
    expect((await w.call('POST', '/v1/products', { key: merchant.key, body, env: answerLost() })).status).toBe(201);
    const { body: page } = await w.call('GET', '/v1/products?per_page=100', { key: merchant.key });
    expect(page.items.filter((item: { name: string }) => item.name === name)).toHaveLength(1);
  });

  it('connect still opens one session', async () => {
    const product = await w.product(merchant);
    const { status, body } = await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: {}, env: answerLost() });
    expect(status).toBe(200);
    expect(await w.eventTypes(body.payment_id)).toEqual(['payment.created']);
  });

  it('a confirmation is found by reading again and has all its events once', async () => {
    const payment = await w.connect(await w.product(merchant), { wallet_address: buyer.address });
    const signature = await w.chain.pay(buyer, payment);
    let batches = 0;
    const { env } = withFaults(w.env, { after: ({ kind }) => kind === 'batch' && ++batches === 2 });
    const { status, body } = await w.confirm(payment.payment_id, signature, { env });
    expect([status, body.payment.status]).toEqual([200, 'CONFIRMED']);
    expect(await w.eventTypes(payment.payment_id)).toEqual([
      'payment.created',
      'payment.submitted',
      'payment.confirmed',
      'membership.activated',
      'receipt.created',
    ]);
  });

  it('a broadcast with a failed record retains the candidate, and the payment still confirms', async () => {
    const payment = await w.connect(await w.product(merchant), { wallet_address: buyer.address });
    const transaction = await w.chain.sign(buyer, payment.transaction);
    const { env } = withFaults(w.env, { before: ({ number }) => number >= 3 });
    const sent = await w.call('POST', `/v1/payments/${payment.payment_id}/transaction`, { body: { transaction }, env });
    expect(sent).toMatchObject({ status: 503, body: { code: 'temporarily_unavailable', retryable: true } });
    await w.deliver();
    expect((await w.call('GET', `/v1/payments/${payment.payment_id}`)).body.status).toBe('CONFIRMED');
  });

  it('a key revocation can be repeated', async () => {
    const { body } = await w.call('POST', '/v1/keys', { key: merchant.token, body: { name: 'gone' } });
    const lost = await w.call('DELETE', `/v1/keys/${body.key.id}`, { key: merchant.token, env: answerLost() });
    expect([204, 503]).toContain(lost.status);
    expect((await w.call('GET', '/v1/account/me', { key: body.raw_key })).status).toBe(401);
    expect((await w.call('DELETE', `/v1/keys/${body.key.id}`, { key: merchant.token })).status).toBe(204);
  });
});

describe('confirm without a database', REPEATED, () => {
  const w = new World();
  it('a database outage before the commit answers 503 and stores nothing, and the same request works afterwards', async () => {
    const merchant = await w.merchant();
    const payment = await w.connect(await w.product(merchant));
    const signature = await w.chain.pay(await w.chain.wallet(), payment);
    let batches = 0;
    const { env } = withFaults(w.env, { before: ({ kind }) => kind === 'batch' && ++batches >= 2 });
    const failed = await w.confirm(payment.payment_id, signature, { env });
    expect(failed).toMatchObject({ status: 503, body: { code: 'temporarily_unavailable', retryable: true } });
    expect(await w.eventTypes(payment.payment_id)).toEqual(['payment.created']);
    expect((await w.confirm(payment.payment_id, signature)).body.payment.status).toBe('CONFIRMED');
  });
});

describe('confirm with a faulty node', REPEATED, () => {
  const w = new World();
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant();
  });
  const paid = async () => {
    const payment = await w.connect(await w.product(merchant));
    return { id: payment.payment_id as string, signature: await w.chain.pay(await w.chain.wallet(), payment) };
  };

  it('a signature that the node does not show yet is stored and confirmed without another request', async () => {
    const { id, signature } = await paid();
    for (const method of ['getSignatureStatuses', 'getTransaction']) await w.chain.fault({ kind: 'null_first', method, times: 1 });
    expect((await w.confirm(id, signature)).body.payment.status).toBe('PENDING_SIGNATURE');
    expect(w.queue.sent.at(-1)).toMatchObject({ job: { paymentId: id, attempt: 0 }, delaySeconds: 2 });
    await w.deliver();
    expect((await w.call('GET', `/v1/payments/${id}`)).body.status).toBe('CONFIRMED');
  });

  it('a broadcast that is seen but not confirmed is PENDING_CONFIRMATION and grants nothing', async () => {
    await w.chain.call('local_commitment', { confirmedAfterSlots: 1_000_000, finalizedAfterSlots: 1_000_000 });
    const buyer = await w.chain.wallet();
    const payment = await w.connect(await w.product(merchant), { wallet_address: buyer.address });
    const id: string = payment.payment_id;
    const transaction = await w.chain.sign(buyer, payment.transaction);
    // Simulates a process that dies right after the broadcast: only the first batch was stored.
    let batches = 0;
    const { env } = withFaults(w.env, { before: ({ kind }) => kind === 'batch' && ++batches > 1 });
    await w.call('POST', `/v1/payments/${id}/transaction`, { body: { transaction }, env });
    expect(await w.eventTypes(id)).toEqual(['payment.created']);
    await w.deliver();
    const { body } = await w.call('GET', `/v1/payments/${id}`);
    expect(body).toMatchObject({ status: 'PENDING_CONFIRMATION', tx_signature: expect.any(String) });
    expect(await w.eventTypes(id)).toEqual(['payment.created', 'payment.submitted']);
    await w.chain.call('local_commitment', { confirmedAfterSlots: 0, finalizedAfterSlots: 32 });
    await w.deliver();
    expect(await w.eventTypes(id)).toEqual([
      'payment.created',
      'payment.submitted',
      'payment.confirmed',
      'membership.activated',
      'receipt.created',
    ]);
  });

  it.each(['http_503', 'http_500', 'http_429', 'drop'])(
    'a node that answers %s makes confirm 503 rpc_unavailable, and the stored signature is confirmed later',
    async (kind) => {
      const { id, signature } = await paid();
      await w.chain.fault({ kind, method: 'getTransaction', times: 2 });
      expect(await w.confirm(id, signature)).toMatchObject({ status: 503, body: { code: 'rpc_unavailable', retryable: true } });
      await w.deliver();
      expect((await w.call('GET', `/v1/payments/${id}`)).body.status).toBe('CONFIRMED');
    },
  );

  it('a broadcast with a lost answer is PENDING_CONFIRMATION and confirms', async () => {
    const buyer = await w.chain.wallet();
    const payment = await w.connect(await w.product(merchant), { wallet_address: buyer.address });
    await w.chain.fault({ kind: 'fail_after_broadcast', method: 'sendTransaction', times: 2 });
    const transaction = await w.chain.sign(buyer, payment.transaction);
    const sent = await w.call('POST', `/v1/payments/${payment.payment_id}/transaction`, { body: { transaction } });
    expect(sent).toMatchObject({ status: 200, body: { payment: { status: 'PENDING_CONFIRMATION' } } });
    await w.deliver();
    expect((await w.call('GET', `/v1/payments/${payment.payment_id}`)).body.status).toBe('CONFIRMED');
  });

  it('a node of another network makes confirm 503 misconfigured from the first request on', async () => {
    const elsewhere = new World();
    const { id, signature } = await paid();
    await elsewhere.chain.fault({ kind: 'wrong_genesis', times: 0 });
    expect(await elsewhere.confirm(id, signature)).toMatchObject({ status: 503, body: { code: 'misconfigured' } });
    expect((await w.call('GET', `/v1/payments/${id}`)).body.status).not.toBe('CONFIRMED');
  });
});

describe('confirm with a faulty queue', REPEATED, () => {
  const w = new World();
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant();
  });
  const unseen = async () => {
    const payment = await w.connect(await w.product(merchant));
    const signature = await w.chain.pay(await w.chain.wallet(), payment);
    await w.chain.fault({ kind: 'null_first', method: 'getSignatureStatuses', times: 1 });
    await w.confirm(payment.payment_id, signature);
    return { id: payment.payment_id as string, jobs: w.queue.sent.splice(0).map(({ job }) => job) };
  };

  it('the sweep confirms a payment if its message was lost', async () => {
    const { id } = await unseen();
    await w.env.DB.prepare('UPDATE payment_candidates SET next_check_at = next_check_at - 60000 WHERE payment_id = ?').bind(id).run();
    await w.sweep();
    expect((await w.call('GET', `/v1/payments/${id}`)).body.status).toBe('CONFIRMED');
  });

  it('repeated deliveries of one message make one confirmation', async () => {
    const { id, jobs } = await unseen();
    await w.deliver([...jobs, ...jobs, ...jobs]);
    await w.deliver(jobs);
    expect(await w.eventTypes(id)).toEqual([
      'payment.created',
      'payment.submitted',
      'payment.confirmed',
      'membership.activated',
      'receipt.created',
    ]);
  });

  it('two concurrent sweeps make one confirmation', async () => {
    const { id } = await unseen();
    await w.env.DB.prepare('UPDATE payment_candidates SET next_check_at = next_check_at - 60000 WHERE payment_id = ?').bind(id).run();
    await Promise.all([w.sweep(), w.sweep()]);
    expect(await w.count('tx_claims', id)).toBe(1);
  });

  it('wrong signatures named by strangers do not displace the buyer’s broadcast', async () => {
    const buyer = await w.chain.wallet();
    const payment = await w.connect(await w.product(merchant), { wallet_address: buyer.address });
    await w.chain.fault({ kind: 'null_first', method: 'getSignatureStatuses', times: 12 });
    const transaction = await w.chain.sign(buyer, payment.transaction);
    const { body } = await w.call('POST', `/v1/payments/${payment.payment_id}/transaction`, { body: { transaction } });
    const { base58 } = await import('#core/encoding.ts');
    for (let i = 0; i < 9; i++) await w.confirm(payment.payment_id, base58.encode(crypto.getRandomValues(new Uint8Array(64))));
    const { results } = await w.env.DB.prepare('SELECT tx_signature FROM payment_candidates WHERE payment_id = ?')
      .bind(payment.payment_id)
      .all();
    expect(results).toHaveLength(5);
    expect(results.map((row) => row.tx_signature)).toContain(body.tx_signature);
    await w.chain.call('local_clearFaults');
  });
});
