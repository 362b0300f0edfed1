import { beforeAll, describe, expect, it } from 'vitest';
import type { Env } from '#platform/context.ts';
import { expireNow } from '../../support/faults/expire-now.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('two transactions for one session', REPEATED, () => {
  const w = new World();
  let merchant: Merchant;
  let product: { slug: string };
  beforeAll(async () => {
    merchant = await w.merchant();
    product = await w.product(merchant, { access_period_days: 30 });
  });
  const view = async (id: string) => (await w.call('GET', `/v1/payments/${id}`, { key: merchant.key })).body;
  const name = async (id: string, signature: string) => {
    for (const method of ['getTransaction', 'getSignatureStatuses']) await w.chain.fault({ kind: 'null_first', method });
    return w.confirm(id, signature);
  };

  it('a second transaction named before the first confirms becomes unmatched within 150 seconds', async () => {
    const buyer = await w.chain.wallet();
    const payment = await w.connect(product);
    const byHand = { ...payment, references: [] };
    const second = await w.chain.pay(buyer, byHand, { units: 6_000_000n });
    await name(payment.payment_id, second);
    const first = await w.chain.pay(buyer, byHand);
    expect((await w.confirm(payment.payment_id, first)).body.payment.status).toBe('CONFIRMED');
    let seconds = 0;
    while ((await view(payment.payment_id)).unmatched === undefined) {
      const rechecks = w.queue.sent.splice(0).filter(({ job }) => job.kind === 'recheckCandidate');
      expect(rechecks).not.toEqual([]);
      seconds += Math.max(...rechecks.map(({ delaySeconds }) => delaySeconds));
      expect(seconds).toBeLessThan(150);
      await w.deliver(rechecks.map(({ job }) => job));
    }
    expect((await view(payment.payment_id)).unmatched).toMatchObject([{ tx_signature: second, reason: 'second_payment', status: 'open' }]);
    expect(await w.count('payment_candidates', payment.payment_id)).toBe(0);
  });

  it('a second transaction broadcast before the first confirms becomes unmatched', async () => {
    const buyer = await w.chain.wallet();
    const payment = await w.connect(product, { wallet_address: buyer.address });
    const transaction = await w.chain.sign(buyer, payment.transaction);
    for (const method of ['getTransaction', 'getSignatureStatuses']) await w.chain.fault({ kind: 'null_first', method });
    const { body } = await w.call('POST', `/v1/payments/${payment.payment_id}/transaction`, { body: { transaction } });
    const byHand = await w.chain.pay(buyer, { ...payment, references: [] }, { units: 7_000_000n });
    await w.chain.call('local_clearFaults');
    expect((await w.confirm(payment.payment_id, byHand)).body.payment.status).toBe('CONFIRMED');
    await w.deliver();
    expect((await view(payment.payment_id)).unmatched).toMatchObject([{ tx_signature: body.tx_signature, reason: 'second_payment' }]);
  });

  it('two concurrent on-time payments of a failed session: one is recovered, the other is unmatched', async () => {
    for (let round = 0; round < 10; round++) {
      const payment = await w.connect(product);
      const signatures = [];
      for (let i = 0; i < 2; i++) signatures.push(await w.chain.pay(await w.chain.wallet(), payment));
      await expireNow(w, payment.payment_id);
      // Both requests read the session and its payers' memberships before either writes.
      let arrived = 0;
      let open = () => {};
      const both = new Promise<void>((resolve) => {
        open = resolve;
      });
      const inStep = (): Env => {
        let batches = 0;
        const batch = async (statements: D1PreparedStatement[]) => {
          if (++batches === 3 && ++arrived === 2) open();
          if (batches === 3) await both;
          return w.env.DB.batch(statements);
        };
        return { ...w.env, DB: { prepare: (sql: string) => w.env.DB.prepare(sql), batch } as unknown as D1Database };
      };
      const answers = await Promise.all(signatures.map((signature) => w.confirm(payment.payment_id, signature, { env: inStep() })));
      expect(answers.map(({ status }) => status)).toEqual([410, 410]);
      const recovered = await w.env.DB.prepare('SELECT tx_signature FROM payments WHERE recovers_payment_id = ?')
        .bind(payment.payment_id)
        .all<{ tx_signature: string }>();
      expect(recovered.results).toHaveLength(1);
      const other = signatures.find((signature) => signature !== recovered.results[0]!.tx_signature);
      const { unmatched } = await view(payment.payment_id);
      expect(unmatched).toMatchObject([{ tx_signature: other, reason: 'second_payment', status: 'open' }]);
      expect(unmatched).toHaveLength(1);
    }
  });

  it('a payment is judged by the grace that its session began with', async () => {
    const elsewhere = new World();
    const strict = { ...elsewhere.env, LATE_GRACE_SECONDS: '0' };
    const seller = await elsewhere.merchant();
    const sold = await elsewhere.product(seller);
    const begin = async (env: Env) => (await elsewhere.call('POST', `/v1/products/p/${sold.slug}/connect`, { body: {}, env })).body;
    const lenient = await begin(elsewhere.env);
    const brief = await begin(strict);
    await elsewhere.chain.call('local_warp', 900 + 60);
    const buyer = await elsewhere.chain.wallet();
    const pay = async (payment: typeof brief, env: Env) =>
      elsewhere.confirm(payment.payment_id, await elsewhere.chain.pay(buyer, payment), { env });
    expect((await pay(lenient, strict)).body.payment.status).toBe('CONFIRMED');
    const owner = await elsewhere.call('GET', `/v1/payments/${lenient.payment_id}`, { key: seller.key });
    expect(owner.body.unmatched).toBeUndefined();
    const refused = await pay(brief, elsewhere.env);
    expect([refused.status, refused.body.meta.reason]).toEqual([410, 'late']);
  });

  it('an unmatched record is closed if another instance confirms the same transaction', async () => {
    const payment = await w.connect(product);
    const signature = await w.chain.pay(await w.chain.wallet(), payment);
    // The first instance reads the session while the product requires an identity. The other confirms after the requirement was removed.
    const strict = () => w.env.DB.prepare("UPDATE products SET requires_identity = 'telegram' WHERE slug = ?").bind(product.slug).run();
    const open = () => w.env.DB.prepare('UPDATE products SET requires_identity = NULL WHERE slug = ?').bind(product.slug).run();
    await strict();
    let confirmed: Promise<unknown> | null = null;
    const database = {
      prepare: (sql: string) => w.env.DB.prepare(sql),
      batch: async (statements: D1PreparedStatement[]) => {
        const answer = statements.length <= 4 && !confirmed ? open().then(() => w.confirm(payment.payment_id, signature)) : null;
        confirmed ??= answer;
        await answer;
        return w.env.DB.batch(statements);
      },
    } as unknown as D1Database;
    await w.confirm(payment.payment_id, signature, { env: { ...w.env, DB: database } });
    expect(confirmed).not.toBeNull();
    const after = await view(payment.payment_id);
    expect([after.status, after.unmatched]).toEqual(['CONFIRMED', undefined]);
  });
});
