// @module-tag quick
import type { KeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { entitlementIdOf } from '#core/ids.ts';
import type { Job } from '#platform/context.ts';
import { sweepUntilBelieved } from '../../support/faults/finality.ts';
import { isLedBy } from '../../support/fixtures/acts.ts';
import { newAgent, type Shop, stall, withObjectFaults } from '../../support/people/agent.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('entitlement of a checkout purchase', REPEATED, () => {
  const w = new World();
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant();
  });
  const newStall = async (terms: Record<string, unknown>): Promise<Shop> =>
    stall(w, merchant, await w.product(merchant, terms), await newAgent(w));
  /** Pays on chain without a confirm call. */
  const paid = async (own: Shop, input: Record<string, unknown> = {}, buyer: KeyPairSigner = own.agent.wallet) => {
    const payment = await w.connect(own.product, input);
    return { id: payment.payment_id as string, signature: await w.chain.pay(buyer, payment) };
  };
  const heldJobs = (): Job[] => w.queue.sent.splice(0).map(({ job }) => job);
  const readMembership = async (id: string) => (await w.call('GET', `/v1/memberships/lookup?payment_id=${id}`, { key: merchant.key })).body;

  it('purchased units can be used as soon as the payment is confirmed, before any job runs', async () => {
    const own = await newStall({ usage_units: 3 });
    const { id, signature } = await paid(own);
    expect((await own.consume()).status).toBe(403);
    expect((await w.confirm(id, signature)).body.payment.status).toBe('CONFIRMED');
    const used = await own.consume({ units: 3 });
    expect([used.status, used.body.remaining]).toEqual([200, 0]);
    expect((await own.consume()).body.code).toBe('entitlement_missing');
  });

  it('purchased time allows unlimited use and ends with the membership', async () => {
    const own = await newStall({ usage_units: null, access_period_days: 30 });
    const { id, signature } = await paid(own);
    await w.confirm(id, signature);
    const used = await own.consume({ units: 1_000_000 });
    expect([used.status, used.body.remaining]).toEqual([200, null]);
    const membership = await readMembership(id);
    expect(membership.status).toBe('active');
    expect(Math.abs(Date.parse(membership.paid_through) - Date.parse(used.body.paid_through))).toBeLessThan(10_000);
  });

  it('units with an end: a second purchase adds units and extends the end', async () => {
    const own = await newStall({ usage_units: 5, access_period_days: 10 });
    for (let i = 0; i < 2; i++) {
      const { id, signature } = await paid(own);
      await w.confirm(id, signature);
    }
    const entitlement = await own.entitlement();
    expect(entitlement).toMatchObject({ granted_units: 10, remaining: 10, status: 'active' });
    expect((Date.parse(entitlement.paid_through) - Date.now()) / 86_400_000).toBeCloseTo(20, 2);
  });

  it('a purchase after all units are used extends the end as much as the membership', async () => {
    const own = await newStall({ usage_units: 1, access_period_days: 10 });
    const first = await paid(own);
    await w.confirm(first.id, first.signature);
    expect((await own.consume()).body.remaining).toBe(0);
    const second = await paid(own);
    await w.confirm(second.id, second.signature);
    const entitlement = await own.entitlement();
    expect((Date.parse(entitlement.paid_through) - Date.now()) / 86_400_000).toBeCloseTo(20, 2);
    const { paid_through } = await readMembership(second.id);
    expect(Math.abs(Date.parse(paid_through) - Date.parse(entitlement.paid_through))).toBeLessThan(10_000);
  });

  it('the entitlement belongs to the customer_ref of the session, else to the paying wallet', async () => {
    const own = await newStall({ usage_units: 1 });
    const { id, signature } = await paid(own, { customer_ref: 'user-7' });
    await w.confirm(id, signature);
    expect(await own.entitlement({ customer_ref: 'user-7' })).toMatchObject({ remaining: 1, customer: { customer_ref: 'user-7' } });
    expect((await own.entitlement()).code).toBe('not_found');
  });

  it('a purchase is credited once, however often it is confirmed and its jobs are delivered', async () => {
    const own = await newStall({ usage_units: 2 });
    heldJobs();
    const { id, signature } = await paid(own);
    await Promise.all(Array.from({ length: 8 }, () => w.confirm(id, signature)));
    const jobs = heldJobs();
    expect(jobs.map(({ kind }) => kind)).toContain('fanOut');
    await Promise.all([w.deliver([...jobs, ...jobs]), w.deliver([...jobs].reverse())]);
    await w.deliver(jobs);
    expect(await own.entitlement()).toMatchObject({ granted_units: 2, used_units: 0 });
  });

  it.each(['before', 'after'] as const)(
    'an inline credit cut %s the object receives it: confirm answers 200, and the job credits once',
    async (when) => {
      const own = await newStall({ usage_units: 2 });
      const { id, signature } = await paid(own);
      heldJobs();
      const { env, calls } = withObjectFaults(w.env, { [when]: ({ verb }: { verb: string }) => verb === 'credit' });
      const confirmed = await w.confirm(id, signature, { env });
      expect([confirmed.status, confirmed.body.payment.status]).toEqual([200, 'CONFIRMED']);
      expect(calls.filter(({ verb }) => verb === 'credit')).toHaveLength(1);
      const at = await own.entitlement();
      expect(at.granted_units ?? at.code).toBe(when === 'before' ? 'not_found' : 2);
      const jobs = heldJobs();
      expect(await w.deliver(jobs, env)).toEqual({ retried: jobs.length });
      expect(await w.deliver(jobs)).toEqual({ retried: 0 });
      expect(await own.entitlement()).toMatchObject({ granted_units: 2 });
    },
  );

  it('the sweep credits a purchase after its jobs were lost', async () => {
    const own = await newStall({ usage_units: 2 });
    const { id, signature } = await paid(own);
    const { env } = withObjectFaults(w.env, { before: ({ verb }) => verb === 'credit' });
    await w.confirm(id, signature, { env });
    heldJobs();
    await w.env.DB.prepare(`UPDATE acts SET created_at = created_at - 60000 WHERE ${isLedBy(id)}`).run();
    await w.sweep();
    expect(await own.entitlement()).toMatchObject({ granted_units: 2 });
  });

  it('a purchase confirmed by a queued recheck is credited', async () => {
    const own = await newStall({ usage_units: 2 });
    const { id, signature } = await paid(own);
    for (const method of ['getSignatureStatuses', 'getTransaction']) await w.chain.fault({ kind: 'null_first', method, times: 1 });
    expect((await w.confirm(id, signature)).body.payment.status).toBe('PENDING_SIGNATURE');
    await w.deliver();
    expect(await own.entitlement()).toMatchObject({ granted_units: 2 });
  });

  describe('dropped payment', () => {
    const orphan = async (signature: string) => {
      await w.chain.fault({ kind: 'vanish', signature });
      await sweepUntilBelieved(w);
      return heldJobs();
    };

    it('a drop revokes the unused units once and leaves those of other purchases', async () => {
      const own = await newStall({ usage_units: 4 });
      const [first, second] = [await paid(own), await paid(own)];
      await w.confirm(first.id, first.signature);
      await w.confirm(second.id, second.signature);
      await own.consume({ units: 3 });
      await w.deliver();
      const jobs = await orphan(second.signature);
      await w.deliver([...jobs, ...jobs]);
      await w.deliver(jobs);
      expect(await own.entitlement()).toMatchObject({ granted_units: 4, used_units: 3, remaining: 1 });
      expect(await w.eventTypes(second.id)).toContain('payment.orphaned');
    });

    it('a drop revokes time and cancels the membership', async () => {
      const own = await newStall({ usage_units: null, access_period_days: 30 });
      const { id, signature } = await paid(own);
      await w.confirm(id, signature);
      await w.deliver(await orphan(signature));
      expect(await own.entitlement()).toMatchObject({ status: 'revoked', remaining: 0 });
      expect((await own.consume()).body.code).toBe('entitlement_missing');
      expect(await readMembership(id)).toMatchObject({ status: 'cancelled' });
    });

    it('a payment that returns before its revocation is delivered retains its access', async () => {
      const own = await newStall({ usage_units: 2 });
      const { id, signature } = await paid(own);
      await w.confirm(id, signature);
      await w.deliver();
      const revocations = await orphan(signature);
      await w.env.DB.prepare('UPDATE payments SET orphaned_at = NULL WHERE id = ?').bind(id).run();
      expect(await w.deliver(revocations)).toEqual({ retried: 0 });
      expect(await own.entitlement()).toMatchObject({ status: 'active', remaining: 2 });
    });

    it('a credit delivered after the revocation of its payment grants nothing', async () => {
      const own = await newStall({ usage_units: 2 });
      heldJobs();
      const { id, signature } = await paid(own);
      const { env } = withObjectFaults(w.env, { before: ({ verb }) => verb === 'credit' });
      await w.confirm(id, signature, { env });
      const credits = heldJobs();
      await w.env.DB.prepare(`UPDATE acts SET fanned_out_at = 1 WHERE ${isLedBy(id)}`).run();
      const revocations = await orphan(signature);
      await w.deliver(revocations);
      await w.deliver(credits);
      expect((await own.entitlement()).code).toBe('not_found');
      expect((await own.consume()).body.code).toBe('entitlement_missing');
    });
  });

  it('a purchase opens only its own product to the paying wallet', async () => {
    const [own, other] = [await newStall({ usage_units: 2 }), await newStall({ usage_units: 2 })];
    const { id, signature } = await paid(own, {}, other.agent.wallet);
    await w.confirm(id, signature);
    expect((await other.consume()).status).toBe(403);
    const expected = entitlementIdOf(merchant.userId, true, own.product.product_id, { walletAddress: other.agent.wallet.address });
    expect((await w.call('GET', `/v1/access/entitlements/${expected}`, { key: merchant.key })).body.remaining).toBe(2);
  });
});
