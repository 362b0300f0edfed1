import type { KeyPairSigner } from '@solana/kit';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refundOutcome } from '#features/payments/refunds/record-refund.ts';
import { sweepUntilBelieved } from '../../support/faults/finality.ts';
import { shardOf } from '../../support/runner/shards.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('finality outcome of a refund that revokes access', () => {
  const w = new World();
  let ada: Merchant;
  let product: { slug: string; product_id: string };
  let buyer: KeyPairSigner;
  let customers = 0;

  beforeAll(async () => {
    ada = await w.merchant();
    ada.wallet = await w.chain.wallet(1_000_000_000n);
    product = await w.product(ada, { access_period_days: 30 });
    buyer = await w.chain.wallet();
  });
  beforeEach(() => w.chain.call('local_clearFaults'));

  const paid = async () => {
    const terms = { customer_ref: `fate-${++customers}` };
    const open = await w.connect(product, terms);
    const id: string = open.payment_id;
    const signature = await w.chain.pay(buyer, open);
    await w.confirm(id, signature);
    const access = async () =>
      (await w.call('GET', `/v1/memberships/lookup?customer_ref=${terms.customer_ref}`, { key: ada.key })).body.status;
    const read = async (): Promise<Body> => (await w.call('GET', `/v1/payments/${id}`, { key: ada.key })).body;
    return { id, signature, access, read };
  };
  const refund = async (id: string, body: object = {}): Promise<string> => {
    const prepared = await w.call('POST', `/v1/payments/${id}/refund-transaction`, {
      key: ada.key,
      body: { revoke_access: true, ...body },
    });
    const wire = await w.chain.sign(ada.wallet, prepared.body.transaction);
    const signature = await w.chain.call<string>('sendTransaction', wire, { encoding: 'base64' });
    const noted = await w.call('POST', `/v1/payments/${id}/refund-confirm`, { key: ada.key, body: { tx_signature: signature } });
    expect(noted.status).toBe(200);
    return signature;
  };
  const setHeld = (signature: string, isHeld: boolean) =>
    w.env.DB.prepare(`UPDATE tx_claims SET next_check_at = next_check_at ${isHeld ? '+' : '-'} 1000000000 WHERE tx_signature = ?`)
      .bind(signature)
      .run();

  it.each([
    ['the payment first, and then the refund', true],
    ['the refund first, and then the payment', false],
  ])('a refund does not restore access to a payment that is dropped too: %s', async (_, isPaymentFirst) => {
    const { id, signature, access, read } = await paid();
    const refunded = await refund(id);
    expect(await access()).toBe('cancelled');
    for (const gone of [signature, refunded]) await w.chain.fault({ kind: 'vanish', signature: gone, times: 0 });
    const later = isPaymentFirst ? refunded : signature;
    await setHeld(later, true);
    await sweepUntilBelieved(w);
    expect((await read()).orphaned_at !== undefined).toBe(isPaymentFirst);
    expect(await access()).toBe(isPaymentFirst ? 'cancelled' : 'active');
    await setHeld(later, false);
    await sweepUntilBelieved(w);
    const after = await read();
    expect([after.refunded, typeof after.orphaned_at]).toEqual([undefined, 'string']);
    expect(await access()).toBe('cancelled');
  });

  it('access stays revoked while another revoking refund is valid, and returns when the last is dropped', async () => {
    const { id, access, read } = await paid();
    const first = await refund(id, { amount: { asset: 'USDC', amount: '2' } });
    const second = await refund(id, { amount: { asset: 'USDC', amount: '1' } });
    for (const [gone, left, expectedAccess] of [
      [first, [second], 'cancelled'],
      [second, [], 'active'],
    ] as const) {
      await w.chain.fault({ kind: 'vanish', signature: gone, times: 0 });
      await setHeld(gone === first ? second : first, true);
      await sweepUntilBelieved(w);
      await setHeld(gone === first ? second : first, false);
      expect(((await read()).refunded ?? []).map(({ tx_signature }: Body) => tx_signature)).toEqual(left);
      expect(await access()).toBe(expectedAccess);
    }
  });

  it('a refund has its block time, also after it returns to the chain', async () => {
    const { id, read } = await paid();
    const signature = await refund(id);
    const [{ at }] = (await read()).refunded;
    // The refund was recorded at another time than that of its block.
    await w.env.DB.prepare('UPDATE refunds SET seen_at = seen_at + 3600000 WHERE tx_signature = ?').bind(signature).run();
    await w.chain.fault({ kind: 'vanish', signature, times: 0 });
    await sweepUntilBelieved(w);
    expect((await read()).refunded).toBeUndefined();
    const refundId = (await w.env.DB.prepare('SELECT id FROM refunds WHERE tx_signature = ?').bind(signature).first<string>('id'))!;
    const ctx = shardOf(w.env, refundId);
    await refundOutcome.onReturned(ctx, refundId, { writes: [], isOver: async () => false });
    expect((await read()).refunded).toMatchObject([{ at, tx_signature: signature }]);
  });

  const due = (signature: string) =>
    w.env.DB.prepare('UPDATE tx_claims SET next_check_at = 0 WHERE tx_signature = ?').bind(signature).run();

  it.each([
    ['payment', 'payment'],
    ['payment', 'refund'],
    ['refund', 'payment'],
    ['refund', 'refund'],
  ])('payment and refund dropped (%s first) and returned (%s first) leave the payment unchanged', async (gone, back) => {
    const { id, signature, access, read } = await paid();
    const refunded = await refund(id);
    for (const one of [signature, refunded]) await w.chain.fault({ kind: 'vanish', signature: one, times: 0 });
    const later = gone === 'payment' ? refunded : signature;
    await setHeld(later, true);
    await sweepUntilBelieved(w);
    await setHeld(later, false);
    await sweepUntilBelieved(w);
    expect([typeof (await read()).orphaned_at, (await read()).refunded, await access()]).toEqual(['string', undefined, 'cancelled']);
    for (const one of [signature, refunded]) await w.chain.call('local_landAgain', one);
    await w.chain.call('local_warp', 14);
    const order = back === 'payment' ? [signature, refunded] : [refunded, signature];
    await setHeld(order[1]!, true);
    await due(order[0]!);
    await w.sweepAlone('finality');
    const half = await read();
    expect([half.status, half.orphaned_at === undefined, half.refunded !== undefined, await access()]).toEqual([
      'CONFIRMED',
      back === 'payment',
      back === 'refund',
      back === 'payment' ? 'active' : 'cancelled',
    ]);
    await due(order[1]!);
    await w.sweepAlone('finality');
    const after = await read();
    expect([after.status, after.orphaned_at, after.refunded?.[0].tx_signature, await access()]).toEqual([
      'CONFIRMED',
      undefined,
      refunded,
      'cancelled',
    ]);
  });

  it.each([true, false])(
    'a payment returns with its access if its refund stays dropped (payment checked first: %s)',
    async (isPaymentFirst) => {
      const { id, signature, access, read } = await paid();
      const refunded = await refund(id);
      for (const one of [signature, refunded]) await w.chain.fault({ kind: 'vanish', signature: one, times: 0 });
      const later = isPaymentFirst ? refunded : signature;
      await setHeld(later, true);
      await sweepUntilBelieved(w);
      await setHeld(later, false);
      await sweepUntilBelieved(w);
      await w.chain.call('local_landAgain', signature);
      await w.chain.call('local_warp', 14);
      await due(signature);
      await due(refunded);
      await w.sweepAlone('finality');
      const after = await read();
      expect([after.status, after.orphaned_at, after.refunded, await access()]).toEqual(['CONFIRMED', undefined, undefined, 'active']);
      expect(typeof after.finalized_at).toBe('string');
    },
  );

  it('a refund of a dropped payment is refused with transaction_orphaned until the payment returns', async () => {
    const { id, signature } = await paid();
    const prepare = () => w.call('POST', `/v1/payments/${id}/refund-transaction`, { key: ada.key });
    await w.chain.fault({ kind: 'vanish', signature });
    await sweepUntilBelieved(w);
    const { status, body } = await prepare();
    expect([status, body.code, body.meta.reason]).toEqual([409, 'state_conflict', 'transaction_orphaned']);
    await w.chain.call('local_landAgain', signature);
    await w.chain.call('local_warp', 14);
    await due(signature);
    await w.sweepAlone('finality');
    expect((await prepare()).status).toBe(200);
  });

  it('refund-confirm without a node is 503 rpc_unavailable, and the refund is found later', async () => {
    const { id, read } = await paid();
    const prepared = await w.call('POST', `/v1/payments/${id}/refund-transaction`, { key: ada.key });
    const wire = await w.chain.sign(ada.wallet, prepared.body.transaction);
    const signature = await w.chain.call<string>('sendTransaction', wire, { encoding: 'base64' });
    await w.chain.fault({ kind: 'http_503', times: 0 });
    const confirm = () => w.call('POST', `/v1/payments/${id}/refund-confirm`, { key: ada.key, body: { tx_signature: signature } });
    const { status, body, headers } = await confirm();
    expect([status, body.code, body.retryable, headers.get('Retry-After')]).toEqual([503, 'rpc_unavailable', true, '2']);
    await w.chain.call('local_clearFaults');
    await w.env.DB.prepare('UPDATE payment_candidates SET next_check_at = 0').run();
    await w.sweepAlone('namedCandidates');
    expect((await read()).refunded).toMatchObject([{ tx_signature: signature }]);
    expect((await confirm()).status).toBe(200);
  });
});
