import { expect } from 'vitest';
import { carriedThrough } from '#features/memberships/membership.ts';
import { foldPurchases, type PlanPurchase, planPrice } from '#rules/plans.ts';
import { readAccountPlan } from '../people/activation.ts';
import { testEnv } from '../runner/env.ts';
import type { World } from '../world.ts';
import { type AnyLife, BOUGHT } from './subscription-model.ts';

/** Checks, once all work is done, that the service reports every payment as the chain does, everywhere and once. */
export async function expectTruth(w: World, life: AnyLife): Promise<void> {
  await life.observe();
  const stepLog = life.stepLog.join();
  const expectedActive = new Map(life.paid.map(({ paymentId, isThere }) => [paymentId, isThere]));
  const held = [...life.credited].map(([paymentId, id]) => [paymentId, !life.revoked.has(id)] as const);
  expect(new Set(held.filter(([, expectedActive]) => expectedActive).map(([id]) => id)), stepLog).toEqual(
    new Set([...expectedActive].filter(([, isThere]) => isThere).map(([id]) => id)),
  );
  for (const { paymentId, isThere } of life.paid) await expectEvents(w, life, paymentId, isThere);
  await expectListed(w, life);
  await expectMembership(w, life);
  await expectPlan(life);
}

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

const RECEIPTS = `SELECT (SELECT count(*) FROM receipts WHERE payment_id = ?1)
  + (SELECT count(*) FROM archived_receipts WHERE payment_id = ?1) AS n`;

async function expectEvents(w: World, { shop, stepLog: steps }: AnyLife, paymentId: string, isThere: boolean): Promise<void> {
  const stepLog = steps.join();
  const timeline = await w.call('GET', `/v1/webhooks/timeline?payment_id=${paymentId}&limit=100`, { key: shop.merchant.key });
  const types: string[] = (timeline.body.items ?? []).flatMap(({ kind, type }: Body) => (kind === 'event' ? [type] : []));
  const count = (type: string) => types.filter((one) => one === type).length;
  const isSeen = count('payment.confirmed') > 0;
  const receipts = await testEnv.DB.prepare(RECEIPTS).bind(paymentId).first<number>('n');
  const observed = { isSeen, receipts, claims: await w.count('tx_claims', paymentId) };
  expect(observed, `${stepLog}: ${types}`).toEqual({ isSeen: isThere || isSeen, receipts: isSeen ? 1 : 0, claims: isSeen ? 1 : 0 });
  const once = { confirmed: count('payment.confirmed'), created: count('receipt.created'), final: count('payment.finalized') };
  expect(once, `${stepLog}: ${types}`).toEqual({ confirmed: isSeen ? 1 : 0, created: isSeen ? 1 : 0, final: isThere ? 1 : 0 });
  expect(count('payment.orphaned') <= 1 && (isThere || !isSeen || count('payment.orphaned') === 1), `${stepLog}: ${types}`).toBe(true);
}

async function expectListed(w: World, life: AnyLife): Promise<void> {
  const stepLog = life.stepLog.join();
  const { merchant, product } = life.shop;
  const exact = await life.shop.entitlement();
  const { body } = await w.call('GET', `/v1/access/entitlements?product_id=${product.product_id}&per_page=100`, {
    key: merchant.key,
  });
  const listed = body.items.find((item: { entitlement_id: string }) => item.entitlement_id === life.entitlementId);
  expect(listed, stepLog).toEqual(exact.code === 'not_found' ? undefined : exact);
}

async function expectMembership(w: World, life: AnyLife): Promise<void> {
  const stepLog = life.stepLog.join();
  const { merchant, product, agent } = life.shop;
  const query = `product_id=${product.product_id}&wallet=${agent.wallet.address}&per_page=100`;
  const { body } = await w.call('GET', `/v1/payments?${query}`, { key: merchant.key });
  const paid = body.items
    .filter(({ membership_id }: Body) => membership_id)
    .toSorted((a: Body, b: Body) => (a.confirmed_at < b.confirmed_at ? -1 : 1));
  if (paid.length === 0) return;
  const membership = await testEnv.DB.prepare('SELECT status, paid_through FROM memberships WHERE id = ?')
    .bind(paid[0].membership_id)
    .first<{ status: string; paid_through: number }>();
  const carrying = paid.filter(({ orphaned_at }: Body) => !orphaned_at);
  expect(membership?.status, stepLog).toBe(carrying.length > 0 ? 'active' : 'cancelled');
  const terms = carrying.map((one: Body) => ({ confirmedAt: Date.parse(one.confirmed_at), accessPeriodDays: BOUGHT.days }));
  if (carrying.length > 0) expect(membership!.paid_through, stepLog).toBe(carriedThrough(terms));
}

/** Checks that the account's plan equals the sum of the valid plan purchases, each counted once. */
async function expectPlan(life: AnyLife): Promise<void> {
  const stepLog = life.stepLog.join();
  const { results } = await testEnv.DB.prepare(
    'SELECT payment_id, created_at FROM activations WHERE account_id = ? ORDER BY created_at, payment_id',
  )
    .bind(life.account.userId)
    .all<{ payment_id: string; created_at: number }>();
  expect(new Set(results.map(({ payment_id }) => payment_id)), stepLog).toEqual(new Set(life.plans.map(({ paymentId }) => paymentId)));
  expect(results, stepLog).toHaveLength(life.plans.length);
  const purchases = results.flatMap(({ payment_id, created_at: at }): PlanPurchase[] => {
    const { plan, isThere } = life.plans.find(({ paymentId }) => paymentId === payment_id)!;
    return isThere ? [{ plan, paidUnits: planPrice(plan), at }] : [];
  });
  const { plan, planThrough } = foldPurchases(purchases);
  expect(await readAccountPlan(life.account), stepLog).toMatchObject({ plan, plan_through: planThrough });
}
