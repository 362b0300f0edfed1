import { beforeAll, describe, expect, it } from 'vitest';
import { type AccountId, customerIdOf, type PaymentId } from '#core/ids.ts';
import { auditPayments, readRecorded } from '#features/audit/payments.ts';
import { samplePayments } from '#features/audit/store.ts';
import { listCarrying } from '#features/memberships/store.ts';
import { restoreArchived } from '#features/payments/refunds/store.ts';
import { hasPaidBefore } from '#features/settlements/store.ts';
import { claimKeyOf, insertClaim } from '#platform/db/outcome.ts';
import { newReferenceWorld } from '../../support/chain/own-reference.ts';
import { bytesPerCopy, legibleRows } from '../../support/fixtures/full-size-data.ts';
import { archiveAll, ctxAt } from '../../support/fixtures/old-books.ts';
import { asDuplicate, newAgent, newKey, openShop, sellToAgents, stall } from '../../support/people/agent.ts';
import type { Merchant, World } from '../../support/world.ts';

/** Limit stated in the README. */
const BYTES_MAX = 500;
/** Bytes of its part of the object, measured by `payment-bytes`. */
const SUBJECT_BYTES = 11;

/** Makes every payment final, delivers every event, and archives all of it. */
async function grow(w: World): Promise<void> {
  while (w.queue.sent.length > 0) await w.deliver();
  await w.env.DB.batch([
    w.env.DB.prepare('UPDATE payments SET finalized_at = confirmed_at WHERE finalized_at IS NULL'),
    w.env.DB.prepare('UPDATE tx_claims SET final_at = confirmed_at, next_check_at = NULL WHERE final_at IS NULL'),
  ]);
  await archiveAll(w);
}

const isArchived = async (w: World, id: string): Promise<boolean> =>
  (await w.env.DB.prepare('SELECT 1 AS n FROM archived_payments WHERE id = ?').bind(id).first('n')) === 1;

describe('money for an archived payment', () => {
  let w: World;
  let merchant: Merchant;
  let product: { slug: string; product_id: string };
  beforeAll(async () => {
    w = await newReferenceWorld();
    merchant = await w.merchant();
    product = await w.product(merchant, { access_period_days: 30 });
  });
  const view = async (id: string) => {
    const { now: _, ...payment } = (await w.call('GET', `/v1/payments/${id}`, { key: merchant.key })).body;
    return payment;
  };
  async function sold() {
    const { payment } = await w.purchase(product, await w.chain.wallet());
    await w.purchase(product, await w.chain.wallet());
    await grow(w);
    expect(await isArchived(w, payment.payment_id)).toBe(true);
    return payment;
  }

  it('a second payment named by a buyer is recorded once and can be accepted', async () => {
    const payment = await sold();
    const before = await view(payment.payment_id);
    const second = await w.chain.pay(await w.chain.wallet(), payment);
    for (let times = 0; times < 2; times++)
      expect(await w.confirm(payment.payment_id, second)).toMatchObject({ status: 409, body: { code: 'payment_transaction_conflict' } });
    const { unmatched, ...after } = await view(payment.payment_id);
    expect(after).toEqual(before);
    expect(unmatched).toMatchObject([{ tx_signature: second, reason: 'second_payment', status: 'open' }]);
    const path = `/v1/payments/${payment.payment_id}/accept-unmatched`;
    const accepted = await w.call('POST', path, { key: merchant.key, body: { tx_signature: second } });
    expect([accepted.status, accepted.body.status, accepted.body.recovers_payment_id]).toEqual([200, 'CONFIRMED', payment.payment_id]);
  });

  it('an unreported second payment is found by the sweep', async () => {
    const payment = await sold();
    const second = await w.chain.pay(await w.chain.wallet(), payment);
    await w.sweep();
    expect((await view(payment.payment_id)).unmatched).toMatchObject([{ tx_signature: second, reason: 'second_payment' }]);
  });

  it('the transaction that paid the archived payment, and an unknown one, are not recorded as unmatched', async () => {
    const payment = await sold();
    const { tx_signature } = await view(payment.payment_id);
    expect((await w.confirm(payment.payment_id, tx_signature)).body).toMatchObject({ already_confirmed: true });
    const unseen = await w.confirm(payment.payment_id, `${'2'.repeat(80)}${tx_signature.slice(80)}`);
    expect([unseen.status, unseen.body.code]).not.toContain(500);
    await w.sweep();
    expect('unmatched' in (await view(payment.payment_id))).toBe(false);
  });
});

describe('transaction of an archived payment', () => {
  let w: World;
  let merchant: Merchant;
  let sale: { payment_id: string; signature: string; nonce: string };
  let other: string;
  beforeAll(async () => {
    w = await newReferenceWorld();
    merchant = await w.merchant();
    const product = await w.product(merchant);
    const { payment, signature } = await w.purchase(product, await w.chain.wallet());
    other = (await w.purchase(product, await w.chain.wallet())).payment.payment_id;
    const nonce = await w.env.DB.prepare('SELECT nonce FROM payments WHERE id = ?').bind(payment.payment_id).first<string>('nonce');
    sale = { payment_id: payment.payment_id, signature, nonce: nonce! };
  });
  const list = async (query: string): Promise<string[]> =>
    (await w.call('GET', `/v1/payments?${query}`, { key: merchant.key })).body.items.map(
      ({ payment_id: id }: { payment_id: string }) => id,
    );
  /** Another signature with the same ends. */
  const forged = () => `${sale.signature.slice(0, 30)}2222${sale.signature.slice(34)}`;
  const isNamedBy = async (signature: string) => {
    const receipt = await w.call('POST', '/v1/receipt', { key: merchant.key, body: { tx_sig: signature } });
    const listed = await Promise.all([list(`tx_signature=${signature}`), list(`q=${signature}`)]);
    return [receipt.status, ...listed];
  };

  it('a payment is named by its own signature and memo alone, before the archive and after', async () => {
    const ids = [sale.payment_id];
    for (const move of [async () => {}, () => grow(w)]) {
      await move();
      expect(await isNamedBy(sale.signature)).toEqual([200, ids, ids]);
      expect(await isNamedBy(forged())).toEqual([404, [], []]);
      expect(await list(`q=svc:${sale.nonce}`)).toEqual(ids);
      expect(await list(`q=svc:${'2'.repeat(10)}${sale.nonce.slice(10)}`)).toEqual([]);
    }
    expect(await list(`q=${sale.signature.slice(0, 5)}`)).toContain(sale.payment_id);
    expect(await list(`q=${sale.signature.slice(0, 40)}`)).not.toContain(other);
  });

  it('the claim of an archived payment has a part of the signature, and refuses another claim of its mode alone', async () => {
    const key = claimKeyOf(sale.signature);
    const row = await w.env.DB.prepare('SELECT * FROM tx_claims WHERE tx_key = ?').bind(key).first();
    expect(row).toMatchObject({ kind: 'checkout', tx_signature: null, slot: null, confirmed_at: null, final_at: expect.any(Number) });
    const claim = async (livemode: boolean) =>
      insertClaim(w.db, { txSignature: sale.signature, livemode, kind: 'x402', subjectId: crypto.randomUUID() }, null);
    await expect(claim(true)).rejects.toThrow();
    await claim(false);
  });

  it('an archived and a restored payment are audited by the signature of the payment', async () => {
    const shard = ctxAt(w.env, 0);
    for (const move of [async () => {}, () => restoreArchived(shard, sale.payment_id as PaymentId)]) {
      await move();
      const sample = (await samplePayments(w.db, '', 10)).filter(({ claim }) => claim.subjectId === sale.payment_id);
      const recorded = await Promise.all(sample.map((one) => readRecorded(shard, one)));
      expect(recorded.map(({ claim }) => claim.txSignature)).toEqual([sale.signature]);
      expect(await auditPayments(shard, recorded)).toEqual([null]);
    }
  });
});

describe('archived payments of a membership', () => {
  it('an archived payment still counts for its membership, which it finds', async () => {
    const w = await newReferenceWorld();
    const merchant = await w.merchant();
    const product = await w.product(merchant, { access_period_days: 30 });
    const buyer = await w.chain.wallet();
    const first = await w.purchase(product, buyer);
    await w.purchase(product, await w.chain.wallet());
    const period = w.env.DB.prepare(`UPDATE payments SET terms = json_set(terms, '$.periodEndsAt', 1900000000000) WHERE id = ?`);
    await period.bind(first.payment.payment_id).run();
    await grow(w);
    expect(await isArchived(w, first.payment.payment_id)).toBe(true);
    const path = `/v1/memberships/lookup?payment_id=${first.payment.payment_id}`;
    const { body } = await w.call('GET', path, { key: merchant.key });
    const carried = await listCarrying(ctxAt(w.env, 0).db, body.membership_id, crypto.randomUUID() as PaymentId);
    expect(carried).toMatchObject([{ id: first.payment.payment_id, accessPeriodDays: 30, periodEndsAt: 1_900_000_000_000 }]);
  });
});

describe('archived payment of a customer that is merged', () => {
  async function open() {
    const w = await newReferenceWorld();
    const merchant = await w.merchant();
    const product = await w.product(merchant, { access_period_days: 30 });
    const [stays, goes] = await Promise.all(
      ['stays', 'goes'].map(async (ref) => w.purchase(product, await w.chain.wallet(), { customer_ref: ref })),
    );
    await w.purchase(product, await w.chain.wallet());
    await w.sweepAlone('analytics');
    await grow(w);
    const id = goes!.payment.payment_id as PaymentId;
    expect(await isArchived(w, id)).toBe(true);
    const [into, from] = ['stays', 'goes'].map((customerRef) => customerIdOf(merchant.userId, true, { customerRef }));
    const merge = async () =>
      expect((await w.call('POST', `/v1/customers/${into}/merge`, { key: merchant.key, body: { from } })).status).toBe(200);
    const readMemberships = async () => {
      const one = await w.call('GET', `/v1/payments/${id}`, { key: merchant.key });
      const { items } = (await w.call('GET', '/v1/payments', { key: merchant.key })).body;
      return [one.body, items.find(({ payment_id }: { payment_id: string }) => payment_id === id)].map((shown) => shown.membership_id);
    };
    return { w, id, merge, readMemberships, survivors: Array(2).fill(stays!.confirmed.membership_id) };
  }

  it('it belongs to the membership of the survivor, in the archive and restored', async () => {
    const { w, id, merge, readMemberships, survivors } = await open();
    await merge();
    expect(await readMemberships()).toEqual(survivors);
    await restoreArchived(ctxAt(w.env, 0), id);
    expect([await isArchived(w, id), await readMemberships()]).toEqual([false, survivors]);
  });

  it('a merge during its restore wins, and the next try restores it', async () => {
    const { w, id, merge, readMemberships, survivors } = await open();
    const get = async (key: string, options: R2GetOptions) => {
      await merge();
      return w.env.ARCHIVE!.get(key, options);
    };
    await restoreArchived(ctxAt({ ...w.env, ARCHIVE: { get } as unknown as R2Bucket }, 0), id);
    expect([await isArchived(w, id), await readMemberships()]).toEqual([true, survivors]);
    await restoreArchived(ctxAt(w.env, 0), id);
    expect([await isArchived(w, id), await readMemberships()]).toEqual([false, survivors]);
  });
});

describe('archived x402 payment', () => {
  it('a repeated settle is answered as before, and another call as a duplicate', async () => {
    const w = await newReferenceWorld();
    const shop = await openShop(w, { usage_units: 5 });
    const payment = await shop.pay();
    const idempotencyKey = newKey();
    const first = await shop.settle(payment, {}, { idempotencyKey });
    const next = stall(w, shop.merchant, await sellToAgents(w, shop.merchant, { usage_units: 5 }), await newAgent(w));
    await next.settle(await next.pay());
    const view = async () => {
      const { now: _, ...payment } = (await w.call('GET', `/v1/payments/${first.body.payment_id}`, { key: shop.merchant.key })).body;
      return payment;
    };
    await w.env.DB.prepare('UPDATE payments SET finalized_at = confirmed_at').run();
    const before = await view();
    await grow(w);
    expect(await isArchived(w, first.body.payment_id)).toBe(true);
    const settlements = w.env.DB.prepare('SELECT count(*) AS n FROM settlements WHERE payment_id = ?').bind(first.body.payment_id);
    expect(await settlements.first('n')).toBe(0);
    await w.env.DB.prepare('DELETE FROM claims').run();
    const [again, other] = [await shop.settle(payment, {}, { idempotencyKey }), await shop.settle(payment, {})];
    expect(again.body).toEqual(first.body);
    expect(other.body).toEqual(asDuplicate(first.body));
    expect(await view()).toEqual(before);
    // The payer of an archived payment is still a known customer.
    const { payer } = first.body;
    const brought = { merchantId: shop.merchant.userId as AccountId, livemode: true, payerWallet: payer as string };
    expect(await hasPaidBefore(w.db, brought)).toBe(true);
    expect(await hasPaidBefore(w.db, { ...brought, payerWallet: 'another' })).toBe(false);
    expect(await hasPaidBefore(w.db, { ...brought, merchantId: crypto.randomUUID() as AccountId })).toBe(false);
  });

  it(`an archived x402 payment takes at most ${BYTES_MAX} bytes of the database`, async () => {
    const w = await newReferenceWorld();
    const shop = await openShop(w, { usage_units: 5 });
    const { body } = await shop.settle(await shop.pay());
    const next = stall(w, shop.merchant, await sellToAgents(w, shop.merchant, { usage_units: 5 }), await newAgent(w));
    await next.settle(await next.pay());
    await grow(w);
    const rows = {
      archived_sales: await legibleRows(w.env.DB, 'archived_sales', 'payment_id = ?', body.payment_id),
      tx_claims: await legibleRows(w.env.DB, 'tx_claims', 'subject_id = ?', body.payment_id),
      settlements: await legibleRows(w.env.DB, 'settlements', 'payment_id = ?', body.payment_id),
    };
    const { settlements, ...remaining } = rows;
    expect([settlements, ...Object.values(remaining).map(({ length }) => length)]).toEqual([[], 1, 1]);
    const { payer } = rows.archived_sales[0]!;
    const names = [body.payment_id, body.receipt_id, claimKeyOf(body.tx_signature), payer as string];
    const bytes = await bytesPerCopy(w.env.DB, remaining, { names, times: 3000 });
    expect(
      Object.values(bytes).reduce((total, one) => total + one, SUBJECT_BYTES),
      JSON.stringify(bytes),
    ).toBeLessThanOrEqual(BYTES_MAX);
  });
});
