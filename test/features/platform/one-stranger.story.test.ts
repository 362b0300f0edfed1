import { beforeAll, describe, expect, it } from 'vitest';
import { MINUTE } from '#core/time.ts';
import { multiply } from '../../support/fixtures/multiply.ts';
import { type Merchant, World } from '../../support/world.ts';

const OPEN_MAX = 1000;

describe('one stranger', () => {
  const w = new World();
  let victim: Merchant;
  let other: Merchant;
  let crowded: { product_id: string; slug: string };
  let product: { product_id: string; slug: string };
  beforeAll(async () => {
    [victim, other] = [await w.merchant(), await w.merchant()];
    [crowded, product] = [await w.product(victim), await w.product(other)];
    const { payment_id } = await w.connect(crowded);
    await multiply(w.env.DB, 'payments', 'id', payment_id, OPEN_MAX - 1, {
      id: "printf('01900000-0000-7000-8000-%012d', i)",
      nonce: "'stranger-' || i",
      reference: "'stranger-' || i",
      created_at: 'payments.created_at + i',
    });
  });
  const connect = (slug: string, body: object = {}) => w.call('POST', `/v1/products/p/${slug}/connect`, { body });

  it('who holds as many sessions of a product open as may be keeps others out of no other product', async () => {
    const refused = await connect(crowded.slug);
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'plan_limit_reached', retryable: false, meta: { reason: 'open_sessions', limit: OPEN_MAX, used: OPEN_MAX } },
    });
    expect(refused.headers.get('Retry-After')).toBeNull();
    expect((await connect(product.slug)).status).toBe(200);
  });

  it('keeps out nobody whom the merchant’s own server sends', async () => {
    const { body } = await w.call('POST', `/v1/products/${crowded.product_id}/handoffs`, {
      key: victim.key,
      body: { customer_ref: 'ada' },
    });
    expect((await connect(crowded.slug, { handoff_token: body.handoff_token })).status).toBe(200);
  });

  it('of many at the same moment, no more begin than there is room for', async () => {
    await w.env.DB.prepare("UPDATE payments SET status = 'FAILED' WHERE id IN (?, ?)")
      .bind(...[1, 2].map((i) => `01900000-0000-7000-8000-00000000000${i}`))
      .run();
    const answers = await Promise.all(Array.from({ length: 8 }, () => connect(crowded.slug)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(429)]);
  });

  it('who does all that is allowed delays no other merchant’s payment, expiry or webhook by more than one sweep', async () => {
    const hook = { url: 'https://shop.example.com/hook', event_types: ['*'] };
    expect((await w.call('POST', '/v1/webhooks/endpoints', { key: other.key, body: hook })).status).toBe(201);
    const buyer = await w.chain.wallet();
    const [paid, ended] = [await w.connect(product), await w.connect(product)];
    await w.chain.pay(buyer, paid);
    const over = Date.now() - 30 * MINUTE;
    // All the stranger's sessions are over before any other, and the message of everything that happened is lost.
    await w.env.DB.prepare('UPDATE payments SET expires_at = ? + (rowid % 1000) WHERE product_id = ?')
      .bind(over - 10_000, crowded.product_id)
      .run();
    await w.env.DB.prepare('UPDATE payments SET expires_at = ? WHERE id = ?').bind(over, ended.payment_id).run();
    // 200 signatures an hour that exist nowhere, each looked for before anybody else's.
    await w.env.DB.prepare(
      `INSERT INTO payment_candidates (payment_id, tx_signature, origin, attempt, next_check_at, created_at)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
       SELECT printf('01900000-0000-7000-8000-%012d', i + 9), 'nowhere' || i, 'named', 0, 1, ${Date.now()} FROM n`,
    ).run();
    w.queue.sent.length = 0;
    await w.env.DB.prepare('UPDATE events SET created_at = created_at - 60000 WHERE fanned_out_at IS NULL').run();
    await w.env.DB.prepare('UPDATE webhook_endpoints SET created_at = 1').run();
    await w.sweep();
    const statusOf = async ({ payment_id }: { payment_id: string }) => (await w.call('GET', `/v1/payments/${payment_id}`)).body.status;
    expect([await statusOf(paid), await statusOf(ended)]).toEqual(['CONFIRMED', 'FAILED']);
    const told = await w.env.DB.prepare(
      "SELECT count(*) AS n FROM webhook_deliveries WHERE merchant_id = ? AND event_type = 'payment.created'",
    )
      .bind(other.userId)
      .first<number>('n');
    expect(told).toBeGreaterThanOrEqual(2);
    expect((await connect(crowded.slug)).status).toBe(200);
  });
});
