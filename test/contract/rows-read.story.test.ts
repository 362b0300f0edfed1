import type { KeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { sweepAudit } from '#features/audit/audit.ts';
import { sweepExpired } from '#features/payments/watch/expire.ts';
import { newCtx } from '#platform/context.ts';
import { sweepIdempotencyRecords } from '#platform/db/idempotency-record.ts';
import { SWEEPS } from '../../worker/sweeps.ts';
import { fillTables } from '../support/fixtures/load-generator.ts';
import { openShop, type Shop } from '../support/people/agent.ts';
import { rowsOf, withRowCount, worstOf } from '../support/runner/rows-read.ts';
import { type Answer, World } from '../support/world.ts';

const ROWS_MAX = 41;
/** A confirmation also reads the end of the receipt chain, up to twice, and the numbers that the INSERT of a receipt takes. */
const CONFIRM_ROWS_MAX = 58;
const SIZES = [200, 20_000];

/** Rows read per operation must not grow with the amount of stored data. */
describe('rows read', () => {
  const w = new World();
  const measured: Record<string, number[]> = {};
  let shop: Shop;
  let product: { slug: string; product_id: string };
  let buyer: KeyPairSigner;
  const products: string[] = [];
  const merchants: string[] = [];
  beforeAll(async () => {
    shop = await openShop(w);
    const owners = [shop.merchant, ...(await Promise.all([1, 2, 3, 4].map(() => w.merchant())))];
    for (const owner of owners) {
      merchants.push(owner.userId);
      products.push((await w.product(owner, { access_period_days: 30 })).product_id);
    }
    product = (await w.call('GET', `/v1/products/${products[0]}`, { key: shop.merchant.key })).body;
    buyer = await w.chain.wallet();
    await w.purchase(product, buyer);
    await w.sweep();
  });

  async function measure<T>(name: string, run: (env: typeof w.env) => Promise<T>): Promise<T> {
    const { env, readings } = withRowCount(w.env);
    const answer = await run(env);
    const rows = rowsOf(readings);
    expect(rows, `${name}\n${worstOf(readings)}`).toBeLessThanOrEqual(name === 'confirm' ? CONFIRM_ROWS_MAX : ROWS_MAX);
    measured[name] = [...(measured[name] ?? []), rows];
    return answer;
  }
  const ok = ({ status, body }: Answer<{ code?: string }>, expected = 200) => expect([status, body.code]).toEqual([expected, undefined]);

  describe.each(SIZES.map((to, i) => ({ to, from: (SIZES[i - 1] ?? 0) + 1 })))(
    'measurement with $to rows in every table',
    ({ from, to }) => {
      beforeAll(async () => {
        await fillTables(w.env.DB, { from, to, merchants, products });
      }, 60_000);

      it('connect, status, confirm and repeated confirm of a checkout are measured', async () => {
        const payment = await measure('connect', (env) => w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: {}, env }));
        ok(payment);
        const { payment_id: id } = payment.body;
        ok(await measure('status', (env) => w.call('GET', `/v1/payments/${id}`, { env })));
        const signature = await w.chain.pay(buyer, payment.body);
        ok(await measure('confirm', (env) => w.confirm(id, signature, { env })));
        ok(await measure('confirm again', (env) => w.confirm(id, signature, { env })));
      });

      it('an agent’s denied consume and settle are measured', async () => {
        const denied = await measure('consume, nothing left', (env) => shop.consume({}, { env }));
        expect(denied.status).toBe(403);
        const payment = await shop.agent.pay(denied.headers.get('PAYMENT-REQUIRED')!);
        ok(await measure('settle', (env) => shop.settle(payment, {}, { env })));
      });

      it('a recheck is measured', async () => {
        const payment = await w.connect(product);
        const signature = await w.chain.pay(buyer, payment);
        for (const method of ['getSignatureStatuses', 'getTransaction']) await w.chain.fault({ kind: 'null_first', method, times: 1 });
        await measure('confirm, not seen yet', (env) => w.confirm(payment.payment_id, signature, { env }));
        const jobs = w.queue.sent.flatMap(({ job }) => (job.kind === 'recheckCandidate' && job.txSignature === signature ? [job] : []));
        expect(jobs).toHaveLength(1);
        await measure('recheck', (env) => w.deliver(jobs, env));
        expect((await w.call('GET', `/v1/payments/${payment.payment_id}`)).body.status).toBe('CONFIRMED');
      });

      it('the expiry of an unpaid session is measured', async () => {
        const { payment_id: id } = await w.connect(product);
        await w.env.DB.prepare('UPDATE payments SET expires_at = expires_at - 1500000 WHERE id = ?').bind(id).run();
        await measure('a session ends', (env) => sweepExpired(newCtx(env, { requestId: 'req_rows', defer: () => {} })));
        expect((await w.call('GET', `/v1/payments/${id}`)).body.status).toBe('FAILED');
      });

      it('a complete daily audit is measured', async () => {
        await w.env.DB.prepare('DELETE FROM audits').run();
        const { env, readings } = withRowCount(w.env);
        await sweepAudit(newCtx(env, { requestId: 'req_rows', defer: () => {} }));
        expect(rowsOf(readings), worstOf(readings)).toBeLessThan(2500);
      });

      it('the walk through the idempotency records reads at most ten pages of 2,000 rows, twice', async () => {
        const { env, readings } = withRowCount(w.env);
        await sweepIdempotencyRecords(newCtx(env, { requestId: 'req_rows', defer: () => {} }));
        expect(rowsOf(readings), worstOf(readings)).toBeLessThanOrEqual(10 * 2 * (2000 + 2));
      });

      it('every other sweep without due rows is measured', async () => {
        await w.env.DB.prepare('UPDATE payments SET finalized_at = 1 WHERE finalized_at IS NULL').run();
        await w.sweepAll();
        await w.deliver();
        await w.sweepAll();
        for (const { name, run } of SWEEPS.filter(({ name }) => name !== 'idempotency'))
          await measure(`sweep ${name}`, (env) => run(newCtx(env, { requestId: 'req_rows', defer: () => {} })));
      });
    },
  );

  it('a hundred times the rows cause at most 10 more rows read per operation', () => {
    expect(Object.keys(measured)).toHaveLength(9 + SWEEPS.length - 1);
    // Payments made in between are listed by the node again, at one or two rows each.
    for (const [name, [few, many]] of Object.entries(measured)) expect(many, name).toBeLessThanOrEqual(few! + 10);
  });
});
