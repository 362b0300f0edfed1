import { beforeAll, describe, expect, it } from 'vitest';
import { base58 } from '#core/encoding.ts';
import { newReferenceWorld } from '../../support/chain/own-reference.ts';
import { openSession } from '../../support/people/sale.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { PAYMENT_SWEEPS } from '../../support/runner/sweeps.ts';
import type { Merchant, World } from '../../support/world.ts';

const CONFIRMED = ['payment.created', 'payment.submitted', 'payment.confirmed', 'membership.activated', 'receipt.created'];
const madeUp = (): string => base58.encode(crypto.getRandomValues(new Uint8Array(64)));

describe('untrusted signatures in confirm', REPEATED, () => {
  let w: World;
  let merchant: Merchant;
  let product: { slug: string; product_id: string };
  beforeAll(async () => {
    w = await newReferenceWorld();
    merchant = await w.merchant();
    product = await w.product(merchant);
  });
  const view = async (id: string) => (await w.call('GET', `/v1/payments/${id}`, { key: merchant.key })).body;
  const queued = () => w.queue.sent.splice(0).flatMap(({ job }) => (job.kind === 'recheckCandidate' ? [job] : []));
  const named = async (id: string): Promise<string[]> => {
    const rows = await w.env.DB.prepare('SELECT tx_signature FROM payment_candidates WHERE payment_id = ?').bind(id).all();
    return rows.results.map((row) => row.tx_signature as string);
  };

  it('an unconfirmed foreign transaction changes no state of the payment', async () => {
    const { body: session } = await openSession(w, merchant, { product_id: product.product_id });
    const buyer = await w.chain.wallet();
    const input = { payment_session_id: session.payment_session_id, wallet_address: buyer.address };
    const payment = await w.connect(product, input);
    const before = await view(payment.payment_id);
    await w.chain.call('local_commitment', { confirmedAfterSlots: 1_000_000, finalizedAfterSlots: 1_000_000 });
    const foreign = await w.chain.tip(await w.chain.wallet(), (await w.chain.wallet(0n)).address, 'not yours');
    const pasted = await w.confirm(payment.payment_id, foreign);
    expect([pasted.status, pasted.body.payment.status]).toEqual([200, 'PENDING_SIGNATURE']);
    await w.deliver(queued());
    expect(await view(payment.payment_id)).toEqual({ ...before, now: expect.any(String), poll_after_ms: expect.any(Number) });
    expect(await w.eventTypes(payment.payment_id)).toEqual(['payment.created']);
    expect((await w.connect(product, input)).transaction).toBeDefined();
    await w.chain.call('local_commitment', { confirmedAfterSlots: 0, finalizedAfterSlots: 32 });
  });

  it('many named signatures do not displace one that the chain knows', async () => {
    const payment = await w.connect(product);
    const signature = await w.chain.pay(await w.chain.wallet(), { ...payment, references: [] });
    for (const method of ['getTransaction', 'getSignatureStatuses']) await w.chain.fault({ kind: 'null_first', method });
    await w.confirm(payment.payment_id, signature);
    const mine = queued();
    for (let i = 0; i < 12; i++) await w.confirm(payment.payment_id, madeUp());
    expect(await named(payment.payment_id)).toHaveLength(5);
    expect(await named(payment.payment_id)).toContain(signature);
    await w.deliver(mine);
    expect(await w.eventTypes(payment.payment_id)).toEqual(CONFIRMED);
  });

  it('made-up signatures displace nothing while the node is down', async () => {
    const payment = await w.connect(product);
    const first = Array.from({ length: 5 }, madeUp);
    for (const signature of first) await w.confirm(payment.payment_id, signature);
    await w.chain.fault({ kind: 'http_503', times: 0 });
    expect((await w.confirm(payment.payment_id, madeUp())).status).toBe(503);
    await w.chain.call('local_clearFaults');
    expect((await named(payment.payment_id)).sort()).toEqual(first.sort());
  });

  it('fifty made-up signatures a minute do not delay an unreported payment', async () => {
    await w.env.DB.prepare('DELETE FROM payment_candidates').run();
    const minute = () => w.env.DB.prepare('UPDATE payment_candidates SET next_check_at = next_check_at - 60000').run();
    const attack = async () => {
      for (let session = 0; session < 10; session++) {
        const { payment_id: id } = await w.connect(product);
        for (let i = 0; i < 5; i++) expect((await w.confirm(id, madeUp())).status).toBe(200);
      }
      await minute();
    };
    // The queue delivers nothing, so only the sweep works.
    for (let i = 0; i < 5; i++) await attack();
    const payment = await w.connect(product);
    await w.chain.pay(await w.chain.wallet(), payment);
    await attack();
    await w.sweepEach(PAYMENT_SWEEPS);
    await minute();
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await w.eventTypes(payment.payment_id)).toEqual(CONFIRMED);
    expect((await w.call('GET', '/health')).body.checks.queue).toBe('ok');
  });
});
