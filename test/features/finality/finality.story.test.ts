// @module-tag quick
import { beforeAll, describe, expect, it } from 'vitest';
import { FIRST_CHECK, letTimePass, SECOND_PROOF, sweepUntilBelieved } from '../../support/faults/finality.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('finality of a confirmed payment', REPEATED, () => {
  const w = new World();
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant();
  });
  const view = async (id: string) => (await w.call('GET', `/v1/payments/${id}`, { key: merchant.key })).body;
  const readMembership = async (id: string) => (await w.call('GET', `/v1/memberships/lookup?payment_id=${id}`, { key: merchant.key })).body;
  const bought = async (days: number | null, buyer = w.chain.wallet()) => {
    const product = await w.product(merchant, { access_period_days: days });
    const wallet = await buyer;
    const { payment, signature } = await w.purchase(product, wallet);
    return { id: payment.payment_id as string, signature, product, wallet };
  };

  it('finality is recorded once, a minute later, and the payment stays confirmed', async () => {
    const { id } = await bought(30);
    await w.sweepAlone('finality');
    expect((await view(id)).finalized_at).toBeUndefined();
    await letTimePass(w, FIRST_CHECK);
    await Promise.all([w.sweepAlone('finality'), w.sweepAlone('finality')]);
    expect(await view(id)).toMatchObject({ status: 'CONFIRMED', finalized_at: expect.any(String) });
    expect((await w.eventTypes(id)).filter((type) => type === 'payment.finalized')).toHaveLength(1);
  });

  it('a dropped transaction revokes the access, and its receipt no longer verifies', async () => {
    const { id, signature } = await bought(30);
    await w.chain.fault({ kind: 'vanish', signature });
    await letTimePass(w, FIRST_CHECK);
    await w.sweepAlone('finality');
    expect((await view(id)).orphaned_at).toBeUndefined();
    await letTimePass(w, SECOND_PROOF);
    await w.sweepAlone('finality');
    const payment = await view(id);
    expect(payment).toMatchObject({ status: 'CONFIRMED', orphaned_at: expect.any(String) });
    expect(await readMembership(id)).toMatchObject({ status: 'cancelled' });
    expect((await w.eventTypes(id)).slice(-2)).toEqual(['payment.orphaned', 'membership.access_revoked']);
    const verified = await w.call('GET', `/v1/receipt/${payment.receipt_id}/verify`);
    expect(verified.body).toMatchObject({ valid: false, reason: 'transaction_orphaned', signature_valid: true, sha256_matches: true });
    await Promise.all([w.sweepAlone('finality'), w.sweepAlone('finality')]);
    expect((await w.eventTypes(id)).filter((type) => type === 'payment.orphaned')).toHaveLength(1);
  });

  it('one dropped payment of two only shortens the membership', async () => {
    const first = await bought(30);
    const { signature } = await w.purchase(first.product, first.wallet);
    const before = await readMembership(first.id);
    await w.chain.fault({ kind: 'vanish', signature });
    await sweepUntilBelieved(w);
    const after = await readMembership(first.id);
    expect(after.status).toBe('active');
    expect(Date.parse(before.paid_through) - Date.parse(after.paid_through)).toBe(30 * 86_400_000);
  });

  it('a drop cancels access without an end', async () => {
    const { id, signature } = await bought(null);
    await w.chain.fault({ kind: 'vanish', signature });
    await sweepUntilBelieved(w);
    expect(await readMembership(id)).toMatchObject({ status: 'cancelled', paid_through: expect.any(String) });
  });

  it('a node that loses a transaction once and then finds it orphans nothing', async () => {
    const { id } = await bought(30);
    await letTimePass(w, FIRST_CHECK);
    await w.chain.fault({ kind: 'null_first', method: 'getSignatureStatuses', times: 2 });
    await w.sweepAlone('finality');
    await letTimePass(w, 60);
    await w.sweepAlone('finality');
    expect(await view(id)).toMatchObject({ finalized_at: expect.any(String) });
    expect((await view(id)).orphaned_at).toBeUndefined();
  });

  it('a node outage changes nothing', async () => {
    const { id } = await bought(30);
    await letTimePass(w, 600);
    await w.chain.fault({ kind: 'http_503', times: 0 });
    await w.sweepAlone('finality');
    await w.chain.call('local_clearFaults');
    expect(await w.eventTypes(id)).not.toContain('payment.orphaned');
  });
});
