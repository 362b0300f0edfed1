import { generateKeyPairSigner } from '@solana/kit';
import { beforeEach, describe, expect, it } from 'vitest';
import { sweepReference } from '#features/payments/watch/reference-scan.ts';
import { withFaults } from '../../support/faults/faults.ts';
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

  it('a session of before an added key can be signed, shows its key, and is found, and expiry waits for the first walk', async () => {
    const one = { ...w.env, SERVICE_REFERENCE: keys[0]! };
    const buyer = await w.chain.wallet();
    const open = async () =>
      (await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: { wallet_address: buyer.address }, env: one })).body;
    const sessions = await Promise.all(Array.from({ length: 4 }, open));
    const [paid, unpaid, ...signed] = sessions as [Body, Body, ...Body[]];
    await w.sweepEach(PAYMENT_SWEEPS, one);
    await w.chain.pay(buyer, paid as never);
    await end(unpaid.payment_id);
    await w.sweepEach(['expired']);
    expect(await readStatus(unpaid.payment_id)).toBe('PENDING_SIGNATURE');
    await w.sweepEach(PAYMENT_SWEEPS);
    expect([await readStatus(paid.payment_id), await readStatus(unpaid.payment_id)]).toEqual(['CONFIRMED', 'FAILED']);
    for (const { payment_id: id, transaction, references } of signed) {
      const body = { transaction: await w.chain.sign(buyer, transaction) };
      expect(await w.call('POST', `/v1/payments/${id}/transaction`, { body })).toMatchObject({ status: 200 });
      expect((await w.call('GET', `/v1/payments/${id}`)).body.references).toEqual(references);
    }
  });

  it('a walk that fails ends no other walk, and the sweep fails', async () => {
    const opened = await openOfEachKey();
    await w.sweepEach(PAYMENT_SWEEPS);
    const buyer = await w.chain.wallet();
    for (const payment of opened.values()) await w.chain.pay(buyer, payment as never);
    let batches = 0;
    const { env } = withFaults(w.env, { before: ({ kind }) => kind === 'batch' && ++batches === 1 });
    await sweepReference(ctxOf(env)).then(
      () => expect.unreachable('the sweep succeeded'),
      (error: unknown) => expect(String(error)).toContain('Network connection lost'),
    );
    const countFound = ({ payment_id: id }: Body) =>
      w.env.DB.prepare("SELECT count(*) AS n FROM payment_candidates WHERE origin = 'found' AND payment_id = ?")
        .bind(id)
        .first<number>('n');
    const found = await Promise.all([...opened.values()].map(countFound));
    expect(found.sort()).toEqual([0, 1, 1]);
    await w.sweepEach(PAYMENT_SWEEPS);
    for (const { payment_id: id } of opened.values()) expect(await w.eventTypes(id)).toEqual(CONFIRMED);
  });
});
