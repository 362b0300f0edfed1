import { beforeAll, describe, expect, it } from 'vitest';
import { withFaults, withRival } from '../../support/faults/faults.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('replacement concurrent with a signed transaction', REPEATED, () => {
  const w = new World();
  let merchant: Merchant;
  let product: { slug: string; product_id: string };
  beforeAll(async () => {
    merchant = await w.merchant();
    product = await w.product(merchant, { accepted_assets: ['USDC', 'SOL'] });
    await w.purchase(product, await w.chain.wallet(), { asset: 'USDC' });
  });
  const view = async (id: string) => (await w.call('GET', `/v1/payments/${id}`, { key: merchant.key })).body;
  const connectPath = () => `/v1/products/p/${product.slug}/connect`;
  async function signed() {
    const buyer = await w.chain.wallet();
    const payment = await w.connect(product, { asset: 'USDC', wallet_address: buyer.address });
    return { id: payment.payment_id as string, transaction: await w.chain.sign(buyer, payment.transaction) };
  }

  it('either the transaction is sent or the payment is replaced, never both', async () => {
    for (let round = 0; round < 6; round++) {
      const { id, transaction } = await signed();
      const before = await w.chain.held(merchant.wallet.address);
      const send = () => w.call('POST', `/v1/payments/${id}/transaction`, { body: { transaction } });
      const replace = () => w.call('POST', connectPath(), { body: { replaces_payment_id: id, asset: 'SOL' } });
      const [sent, replaced] = await Promise.all(round % 2 === 0 ? [send(), replace()] : [replace(), send()].reverse());
      await w.deliver();
      const isReplaced = (await view(id)).failure_code === 'replaced';
      expect([sent!.status === 200, replaced!.status === 200]).toEqual([!isReplaced, isReplaced]);
      expect((await w.chain.held(merchant.wallet.address)) - before).toBe(isReplaced ? 0n : 5_000_000n);
    }
  });

  it('a transaction that was read as payable before the replacement is not sent after it', async () => {
    const { id, transaction } = await signed();
    const before = await w.chain.held(merchant.wallet.address);
    const replaced: number[] = [];
    // The replacement is stored between the read and the write of the send request.
    const env = withRival(w.env, async () => {
      replaced.push((await w.call('POST', connectPath(), { body: { replaces_payment_id: id, asset: 'SOL' } })).status);
    });
    const { status, body } = await w.call('POST', `/v1/payments/${id}/transaction`, { body: { transaction }, env });
    expect(replaced).toEqual([200]);
    expect([status, body.code]).toEqual([409, 'payment_failed']);
    expect(await w.chain.held(merchant.wallet.address)).toBe(before);
  });

  it('one of several concurrent replacements wins, the others get 409 payment_failed', async () => {
    const { payment_id: id } = await w.connect(product, { asset: 'USDC' });
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => w.call('POST', connectPath(), { body: { replaces_payment_id: id, asset: 'SOL' } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
    for (const { body, status } of answers) if (status === 409) expect(body.code).toBe('payment_failed');
    const open = await w.call('GET', `/v1/payments?product_id=${product.product_id}&status=PENDING_SIGNATURE`, { key: merchant.key });
    expect(open.body.items.map((one: { payment_id: string }) => one.payment_id)).toContain(
      answers.find(({ status }) => status === 200)!.body.payment_id,
    );
  });

  it('a batch with a lost answer replaces the payment once and returns the new one', async () => {
    const { payment_id: id } = await w.connect(product, { asset: 'USDC' });
    let isLost = false;
    const { env } = withFaults(w.env, {
      after: ({ kind }) => {
        if (kind !== 'batch' || isLost) return false;
        isLost = true;
        return true;
      },
    });
    const { status, body } = await w.call('POST', connectPath(), { body: { replaces_payment_id: id, asset: 'SOL' }, env });
    expect(status).toBe(200);
    expect((await view(body.payment_id)).status).toBe('PENDING_SIGNATURE');
  });
});
