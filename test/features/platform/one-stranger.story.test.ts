import { beforeAll, describe, expect, it } from 'vitest';
import { MINUTE } from '#core/time.ts';
import { multiply } from '../../support/fixtures/multiply.ts';
import { type Merchant, World } from '../../support/world.ts';

const OPEN_MAX = 1000;

describe('limits of a single anonymous caller', () => {
  const w = new World();
  let victim: Merchant;
  let other: Merchant;
  let fullProduct: { product_id: string; slug: string };
  let product: { product_id: string; slug: string };
  beforeAll(async () => {
    [victim, other] = [await w.merchant('free'), await w.merchant()];
    [fullProduct, product] = [await w.product(victim), await w.product(other)];
    const { payment_id } = await w.connect(fullProduct);
    await multiply(w.env.DB, 'payments', 'id', payment_id, OPEN_MAX - 1, {
      id: "printf('01900000-0000-7000-8000-%012d', i)",
      nonce: "'stranger-' || i",
      reference: "'stranger-' || i",
      created_at: 'payments.created_at + i',
    });
  });
  const connect = (slug: string, body: object = {}) => w.call('POST', `/v1/products/p/${slug}/connect`, { body });

  it('open sessions at the limit of one product do not affect another product', async () => {
    const refused = await connect(fullProduct.slug);
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'plan_limit_reached', retryable: false, meta: { reason: 'open_sessions', limit: OPEN_MAX, used: OPEN_MAX } },
    });
    expect(refused.headers.get('Retry-After')).toBeNull();
    expect((await connect(product.slug)).status).toBe(200);
  });

  it('a hand-off from the merchant’s server opens a session above the limit', async () => {
    const { body } = await w.call('POST', `/v1/products/${fullProduct.product_id}/handoffs`, {
      key: victim.key,
      body: { customer_ref: 'ada' },
    });
    expect((await connect(fullProduct.slug, { handoff_token: body.handoff_token })).status).toBe(200);
  });

  it('concurrent connects open sessions up to the limit', async () => {
    await w.env.DB.prepare("UPDATE payments SET status = 'FAILED' WHERE id IN (?, ?)")
      .bind(...[1, 2].map((i) => `01900000-0000-7000-8000-00000000000${i}`))
      .run();
    const answers = await Promise.all(Array.from({ length: 8 }, () => connect(fullProduct.slug)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(429)]);
  });

  it('a caller at every limit delays another merchant’s payment, expiry or webhook by at most one sweep', async () => {
    const hook = { url: 'https://shop.example.com/hook', event_types: ['*'] };
    expect((await w.call('POST', '/v1/webhooks/endpoints', { key: other.key, body: hook })).status).toBe(201);
    const buyer = await w.chain.wallet();
    const [paid, ended] = [await w.connect(product), await w.connect(product)];
    await w.chain.pay(buyer, paid);
    const over = Date.now() - 30 * MINUTE;
    // The stranger's sessions end before any other, and their messages are lost.
    await w.env.DB.prepare('UPDATE payments SET expires_at = ? + (rowid % 1000) WHERE product_id = ?')
      .bind(over - 10_000, fullProduct.product_id)
      .run();
    await w.env.DB.prepare('UPDATE payments SET expires_at = ? WHERE id = ?').bind(over, ended.payment_id).run();
    await w.env.DB.prepare(
      `INSERT INTO payment_candidates (payment_id, tx_signature, origin, attempt, next_check_at, created_at)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
       SELECT printf('01900000-0000-7000-8000-%012d', i + 9), 'nowhere' || i, 'named', 0, 1, ${Date.now()} FROM n`,
    ).run();
    w.queue.sent.length = 0;
    await w.env.DB.prepare('UPDATE acts SET created_at = created_at - 60000 WHERE fanned_out_at IS NULL').run();
    await w.env.DB.prepare('UPDATE webhook_endpoints SET created_at = 1').run();
    await w.sweep();
    const readStatus = async ({ payment_id }: { payment_id: string }) => (await w.call('GET', `/v1/payments/${payment_id}`)).body.status;
    expect([await readStatus(paid), await readStatus(ended)]).toEqual(['CONFIRMED', 'FAILED']);
    const deliveryCount = await w.env.DB.prepare(
      "SELECT count(*) AS n FROM webhook_deliveries WHERE merchant_id = ? AND event_type = 'payment.created'",
    )
      .bind(other.userId)
      .first<number>('n');
    expect(deliveryCount).toBeGreaterThanOrEqual(2);
    expect((await connect(fullProduct.slug)).status).toBe(200);
  });
});
