import { beforeAll, describe, expect, it } from 'vitest';
import { REPEATED } from '../world/env.ts';
import { type Merchant, World } from '../world/world.ts';

describe('after the confirmation', REPEATED, () => {
  const w = new World();
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant();
  });
  const view = async (id: string) => (await w.call('GET', `/v1/payments/${id}`, { key: merchant.key })).body;
  const membershipOf = async (id: string) => (await w.call('GET', `/v1/memberships/lookup?payment_id=${id}`, { key: merchant.key })).body;
  /** Time passes for what is stored, and on the chain. */
  const age = async (id: string, seconds: number) => {
    await w.chain.call('local_warp', seconds);
    await w.env.DB.prepare(
      'UPDATE payments SET confirmed_at = confirmed_at - ?1, orphan_suspected_at = orphan_suspected_at - ?1 WHERE id = ?2',
    )
      .bind(seconds * 1000, id)
      .run();
  };
  const bought = async (days: number | null, buyer = w.chain.wallet()) => {
    const product = await w.product(merchant, { access_period_days: days });
    const wallet = await buyer;
    const { payment, signature } = await w.purchase(product, wallet);
    return { id: payment.payment_id as string, signature, product, wallet };
  };

  it('finality is noted once, a minute later, and the payment stays confirmed', async () => {
    const { id } = await bought(30);
    await w.sweep();
    expect((await view(id)).finalized_at).toBeUndefined();
    await age(id, 61);
    await Promise.all([w.sweep(), w.sweep()]);
    expect(await view(id)).toMatchObject({ status: 'CONFIRMED', finalized_at: expect.any(String) });
    expect((await w.eventTypes(id)).filter((type) => type === 'payment.finalized')).toHaveLength(1);
  });

  it('a transaction the chain dropped takes back the access, and the receipt no longer verifies', async () => {
    const { id, signature } = await bought(30);
    await w.chain.fault({ kind: 'vanish', signature });
    await age(id, 61);
    await w.sweep();
    expect((await view(id)).orphaned_at).toBeUndefined();
    await age(id, 31);
    await w.sweep();
    const payment = await view(id);
    expect(payment).toMatchObject({ status: 'CONFIRMED', orphaned_at: expect.any(String) });
    expect(await membershipOf(id)).toMatchObject({ status: 'cancelled' });
    expect((await w.eventTypes(id)).slice(-2)).toEqual(['payment.orphaned', 'membership.access_revoked']);
    const verified = await w.call('GET', `/v1/receipt/${payment.receipt_id}/verify`);
    expect(verified.body).toMatchObject({ valid: false, reason: 'transaction_orphaned', signature_valid: true, sha256_matches: true });
    await Promise.all([w.sweep(), w.sweep()]);
    expect((await w.eventTypes(id)).filter((type) => type === 'payment.orphaned')).toHaveLength(1);
  });

  it('one dropped payment of two only shortens the membership', async () => {
    const first = await bought(30);
    const { payment, signature } = await w.purchase(first.product, first.wallet);
    const before = await membershipOf(first.id);
    await w.chain.fault({ kind: 'vanish', signature });
    for (const seconds of [61, 31]) {
      await age(payment.payment_id, seconds);
      await w.sweep();
    }
    const after = await membershipOf(first.id);
    expect(after.status).toBe('active');
    expect(Date.parse(before.paid_through) - Date.parse(after.paid_through)).toBe(30 * 86_400_000);
  });

  it('access without an end is taken back whole', async () => {
    const { id, signature } = await bought(null);
    await w.chain.fault({ kind: 'vanish', signature });
    for (const seconds of [61, 31]) {
      await age(id, seconds);
      await w.sweep();
    }
    expect(await membershipOf(id)).toMatchObject({ status: 'cancelled', paid_through: expect.any(String) });
  });

  it('a node that forgets once and remembers again orphans nothing', async () => {
    const { id } = await bought(30);
    await age(id, 61);
    await w.chain.fault({ kind: 'null_first', method: 'getSignatureStatuses', times: 1 });
    await w.sweep();
    await age(id, 31);
    await w.sweep();
    expect(await view(id)).toMatchObject({ finalized_at: expect.any(String) });
    expect((await view(id)).orphaned_at).toBeUndefined();
  });

  it('a node that is down changes nothing', async () => {
    const { id } = await bought(30);
    await age(id, 600);
    await w.chain.fault({ kind: 'http_503', times: 0 });
    await w.sweep();
    await w.chain.call('local_clearFaults');
    expect(await w.eventTypes(id)).not.toContain('payment.orphaned');
  });
});
