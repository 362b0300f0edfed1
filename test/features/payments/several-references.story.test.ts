import { generateKeyPairSigner } from '@solana/kit';
import { beforeEach, describe, expect, it } from 'vitest';
import { DAY } from '#core/time.ts';
import { dueWorkOf } from '#features/operator/due-work.store.ts';
import { listDueSweeps } from '#platform/db/due/due-work.ts';
import { ctxOf } from '../../support/runner/shards.ts';
import { PAYMENT_SWEEPS } from '../../support/runner/sweeps.ts';
import { type Body, World } from '../../support/world.ts';

const CONFIRMED = ['payment.created', 'payment.submitted', 'payment.confirmed', 'membership.activated', 'receipt.created'];
const ENDED_SECONDS = 900 + 200;

describe('several reference keys of the service', () => {
  let keys: string[];
  let w: World;
  let product: Body;
  beforeEach(async () => {
    keys = await Promise.all([1, 2, 3].map(async () => (await generateKeyPairSigner()).address));
    w = new World({ SERVICE_REFERENCE: keys.join(', ') });
    product = await w.product(await w.merchant());
  });

  /** Opens sessions until each key is in one. */
  async function openOfEachKey(): Promise<Map<string, Body>> {
    const opened = new Map<string, Body>();
    while (opened.size < keys.length) {
      const payment = await w.connect(product as { slug: string }, { customer_ref: crypto.randomUUID() });
      expect(payment.solana_pay_url).toContain(payment.references[1]);
      opened.set(payment.references[1], payment);
    }
    return opened;
  }
  const end = (id: string) =>
    w.env.DB.prepare('UPDATE payments SET created_at = created_at - ?1, expires_at = expires_at - ?1 WHERE id = ?2')
      .bind(ENDED_SECONDS * 1000, id)
      .run();
  const readStatus = async (id: string) => (await w.call('GET', `/v1/payments/${id}`)).body.status;

  it('a payment that nobody reported is found by whichever key it carries', async () => {
    const opened = await openOfEachKey();
    expect([...opened.keys()].sort()).toEqual([...keys].sort());
    const buyer = await w.chain.wallet();
    for (const payment of opened.values()) await w.chain.pay(buyer, payment as never);
    await w.sweepEach(PAYMENT_SWEEPS);
    for (const { payment_id: id } of opened.values()) expect(await w.eventTypes(id)).toEqual(CONFIRMED);
  });

  it('a session expires only after the walks of all keys have passed its end', async () => {
    await w.sweepEach(PAYMENT_SWEEPS);
    const { payment_id: id } = await w.connect(product as { slug: string });
    await end(id);
    for (const key of keys) {
      const name = `service-reference ${key}`;
      const passedAt = await w.env.DB.prepare('SELECT passed_at FROM cursors WHERE name = ?').bind(name).first<number>('passed_at');
      const pass = (at: number) => w.env.DB.prepare('UPDATE cursors SET passed_at = ? WHERE name = ?').bind(at, name).run();
      await pass(passedAt! - 2 * ENDED_SECONDS * 1000);
      await w.sweepEach(['expired']);
      expect(await readStatus(id)).toBe('PENDING_SIGNATURE');
      await pass(passedAt!);
    }
    await w.sweepEach(['expired']);
    expect(await readStatus(id)).toBe('FAILED');
  });

  it('a session of before an added key is found, and expiry waits for the first walk', async () => {
    const one = { ...w.env, SERVICE_REFERENCE: keys[0]! };
    const open = async () =>
      (await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: { customer_ref: crypto.randomUUID() }, env: one })).body;
    const [paid, unpaid] = [await open(), await open()];
    await w.sweepEach(PAYMENT_SWEEPS, one);
    await w.chain.pay(await w.chain.wallet(), paid as never);
    await end(unpaid.payment_id);
    await w.sweepEach(['expired']);
    expect(await readStatus(unpaid.payment_id)).toBe('PENDING_SIGNATURE');
    await w.sweepEach(PAYMENT_SWEEPS);
    expect([await readStatus(paid.payment_id), await readStatus(unpaid.payment_id)]).toEqual(['CONFIRMED', 'FAILED']);
  });

  it('a transaction that was prepared with any key is accepted after another key was added', async () => {
    const buyer = await w.chain.wallet();
    const before = { ...w.env, SERVICE_REFERENCE: keys.slice(0, 2).join(',') };
    const prepared = new Map<string, Body>();
    while (prepared.size < 2) {
      const { body } = await w.call('POST', `/v1/products/p/${product.slug}/connect`, {
        body: { wallet_address: buyer.address, customer_ref: crypto.randomUUID() },
        env: before,
      });
      prepared.set(body.references[1], body);
    }
    for (const { payment_id: id, transaction, references } of prepared.values()) {
      const body = { transaction: await w.chain.sign(buyer, transaction) };
      expect((await w.call('POST', `/v1/payments/${id}/transaction`, { body })).status).toBe(200);
      expect((await w.call('GET', `/v1/payments/${id}`)).body.references).toEqual(references);
    }
  });

  it('each key is walked by a sweep of its own, which is due only with such a key', async () => {
    const opened = await openOfEachKey();
    await w.sweepEach(PAYMENT_SWEEPS);
    const buyer = await w.chain.wallet();
    for (const payment of opened.values()) await w.chain.pay(buyer, payment as never);
    const countFound = ({ payment_id: id }: Body) =>
      w.env.DB.prepare("SELECT count(*) AS n FROM payment_candidates WHERE origin = 'found' AND payment_id = ?")
        .bind(id)
        .first<number>('n');
    await w.sweepAlone('reference2');
    expect(await Promise.all(keys.map((key) => countFound(opened.get(key)!)))).toEqual([0, 1, 0]);
    const listDue = async (env = w.env) => {
      const ctx = ctxOf(env);
      return (await listDueSweeps(ctx, dueWorkOf(ctx))).filter((name) => name.startsWith('reference'));
    };
    expect(await listDue()).toEqual(['reference', 'reference2', 'reference3']);
    expect(await listDue({ ...w.env, SERVICE_REFERENCE: keys[0]! })).toEqual(['reference']);
  });

  it('a session that ended long ago, and money that comes late for it, show the key of its transaction', async () => {
    const opened = await openOfEachKey();
    const { payment_id: id, references } = opened.get(keys[2]!)!;
    const signature = await w.chain.pay(await w.chain.wallet(), opened.get(keys[2]!) as never);
    await w.env.DB.prepare(
      "UPDATE payments SET status = 'FAILED', failure_code = 'session_expired', updated_at = 1, expires_at = expires_at - ? WHERE id = ?",
    )
      .bind(40 * DAY, id)
      .run();
    await w.sweepAlone('endedSessions');
    const isReduced = await w.env.DB.prepare('SELECT count(*) AS n FROM ended_sessions WHERE id = ?').bind(id).first<number>('n');
    expect(isReduced).toBe(1);
    expect((await w.call('GET', `/v1/payments/${id}`)).body.references).toEqual(references);
    await w.confirm(id, signature);
    expect((await w.call('GET', `/v1/payments/${id}`)).body.references).toEqual(references);
  });
});
