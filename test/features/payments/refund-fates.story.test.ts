import type { KeyPairSigner } from '@solana/kit';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refundFate } from '#features/payments/refunds/seen.ts';
import { newCtx } from '#platform/context.ts';
import { sweepUntilBelieved } from '../../support/faults/finality.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers whose shape call() has already checked against the document.
type Body = any;

describe('a refund that takes access back', () => {
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
  /** Looks no more at what these paid, until they are told to look again. */
  const look = (signature: string, isHeld: boolean) =>
    w.env.DB.prepare(`UPDATE tx_claims SET next_look_at = next_look_at ${isHeld ? '+' : '-'} 1000000000 WHERE tx_signature = ?`)
      .bind(signature)
      .run();

  it.each([
    ['the payment first, and then the refund', true],
    ['the refund first, and then the payment', false],
  ])('gives nothing back to a payment that is gone too, where the chain drops %s', async (_, isPaymentFirst) => {
    const { id, signature, access, read } = await paid();
    const refunded = await refund(id);
    expect(await access()).toBe('cancelled');
    for (const gone of [signature, refunded]) await w.chain.fault({ kind: 'vanish', signature: gone, times: 0 });
    const later = isPaymentFirst ? refunded : signature;
    await look(later, true);
    await sweepUntilBelieved(w);
    expect((await read()).orphaned_at !== undefined).toBe(isPaymentFirst);
    expect(await access()).toBe(isPaymentFirst ? 'cancelled' : 'active');
    await look(later, false);
    await sweepUntilBelieved(w);
    const after = await read();
    expect([after.refunded, typeof after.orphaned_at]).toEqual([undefined, 'string']);
    expect(await access()).toBe('cancelled');
  });

  it('keeps it taken while another stands that took it too, and gives it back with the last', async () => {
    const { id, access, read } = await paid();
    const first = await refund(id, { amount: { asset: 'USDC', amount: '2' } });
    const second = await refund(id, { amount: { asset: 'USDC', amount: '1' } });
    for (const [gone, left, standing] of [
      [first, [second], 'cancelled'],
      [second, [], 'active'],
    ] as const) {
      await w.chain.fault({ kind: 'vanish', signature: gone, times: 0 });
      await look(gone === first ? second : first, true);
      await sweepUntilBelieved(w);
      await look(gone === first ? second : first, false);
      expect(((await read()).refunded ?? []).map(({ tx_signature }: Body) => tx_signature)).toEqual(left);
      expect(await access()).toBe(standing);
    }
  });

  it('is told with the time of its block, also where it returns', async () => {
    const { id, read } = await paid();
    const signature = await refund(id);
    const [{ at }] = (await read()).refunded;
    // It was noted at another time than that of its block.
    await w.env.DB.prepare('UPDATE refunds SET seen_at = seen_at + 3600000 WHERE tx_signature = ?').bind(signature).run();
    await w.chain.fault({ kind: 'vanish', signature, times: 0 });
    await sweepUntilBelieved(w);
    expect((await read()).refunded).toBeUndefined();
    const refundId = (await w.env.DB.prepare('SELECT id FROM refunds WHERE tx_signature = ?').bind(signature).first<string>('id'))!;
    const ctx = newCtx(w.env, { requestId: 'req_returned', defer: () => {} });
    await refundFate.onReturned(ctx, refundId, { writes: [], isOver: async () => false });
    expect((await read()).refunded).toMatchObject([{ at, tx_signature: signature }]);
  });

  /** Has these looked at now. */
  const due = (signature: string) => w.env.DB.prepare('UPDATE tx_claims SET next_look_at = 0 WHERE tx_signature = ?').bind(signature).run();

  it.each([
    ['payment', 'payment'],
    ['payment', 'refund'],
    ['refund', 'payment'],
    ['refund', 'refund'],
  ])('leaves a payment as it was where both are dropped, the %s first, and both return, the %s first', async (gone, back) => {
    const { id, signature, access, read } = await paid();
    const refunded = await refund(id);
    for (const one of [signature, refunded]) await w.chain.fault({ kind: 'vanish', signature: one, times: 0 });
    const later = gone === 'payment' ? refunded : signature;
    await look(later, true);
    await sweepUntilBelieved(w);
    await look(later, false);
    await sweepUntilBelieved(w);
    expect([typeof (await read()).orphaned_at, (await read()).refunded, await access()]).toEqual(['string', undefined, 'cancelled']);
    for (const one of [signature, refunded]) await w.chain.call('local_landAgain', one);
    await w.chain.call('local_warp', 14);
    const order = back === 'payment' ? [signature, refunded] : [refunded, signature];
    await look(order[1]!, true);
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
    'gives a payment back whole where it alone returns and its refund stays dropped (looked for first: %s)',
    async (isPaymentFirst) => {
      const { id, signature, access, read } = await paid();
      const refunded = await refund(id);
      for (const one of [signature, refunded]) await w.chain.fault({ kind: 'vanish', signature: one, times: 0 });
      const later = isPaymentFirst ? refunded : signature;
      await look(later, true);
      await sweepUntilBelieved(w);
      await look(later, false);
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

  it('is prepared for no payment that the chain dropped, and again once that is back', async () => {
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

  it('that no node can show is 503, kept, and found by itself later', async () => {
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
