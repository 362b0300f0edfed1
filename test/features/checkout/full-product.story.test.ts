import { beforeEach, describe, expect, it } from 'vitest';
import { MINUTE } from '#core/time.ts';
import { PLANS } from '#rules/plans.ts';
import { multiply } from '../../support/fixtures/multiply.ts';
import { type Body, type Merchant, World } from '../../support/world.ts';

const OPEN_MAX = PLANS.free.openSessionsMax;

describe('a product with as many open sessions as the plan allows', () => {
  const w = new World();
  let round = 0;
  let merchant: Merchant;
  let product: { product_id: string; slug: string };
  /** The oldest session. The others were opened a millisecond after one another. */
  let oldest: Body;

  beforeEach(async () => {
    round++;
    merchant = await w.merchant('free');
    product = (await w.product(merchant, { live_mode_confirmed: true })) as typeof product;
    oldest = await w.connect(product);
    await multiply(w.env.DB, 'payments', 'id', oldest.payment_id, OPEN_MAX - 1, {
      id: `printf('01900000-0000-7000-800${round}-%012d', i)`,
      nonce: `'stranger-${round}-' || i`,
      reference: `'stranger-${round}-' || i`,
      created_at: 'payments.created_at + i',
      expires_at: 'payments.expires_at + i',
    });
  });

  const copyOf = (index: number): string => `01900000-0000-7000-800${round}-${String(index).padStart(12, '0')}`;
  const connect = async (body: object = {}) => w.call('POST', `/v1/products/p/${product.slug}/connect`, { body });
  const connectWithWallet = async () => connect({ wallet_address: (await w.chain.wallet()).address });
  const change = (values: string, ...bound: unknown[]) =>
    w.env.DB.prepare(`UPDATE payments SET ${values} WHERE product_id = ?`)
      .bind(...bound, product.product_id)
      .run();
  const age = (ms: number) => change('created_at = created_at - ?', ms);
  const set = (values: string, id: string) => w.env.DB.prepare(`UPDATE payments SET ${values} WHERE id = ?`).bind(id).run();
  const hasEnded = async (id: string) => Date.parse((await w.call('GET', `/v1/payments/${id}`)).body.expires_at) <= Date.now();

  it('a buyer who names a wallet ends the oldest session without one, and a buyer who names none is refused', async () => {
    await age(4 * MINUTE);
    expect((await connectWithWallet()).status).toBe(200);
    expect([await hasEnded(oldest.payment_id), await hasEnded(copyOf(1))]).toEqual([true, false]);
    expect(await connect()).toMatchObject({ status: 429, body: { code: 'plan_limit_reached', meta: { reason: 'open_sessions' } } });
    expect(await hasEnded(copyOf(1))).toBe(false);
  });

  it('each of several concurrent buyers with a wallet ends another session, and the limit holds', async () => {
    await age(4 * MINUTE);
    const answers = await Promise.all(Array.from({ length: 4 }, connectWithWallet));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const count = await w.env.DB.prepare(
      "SELECT count(*) AS n FROM payments WHERE product_id = ? AND status = 'PENDING_SIGNATURE' AND expires_at > ?",
    )
      .bind(product.product_id, Date.now())
      .first<number>('n');
    expect(count).toBe(OPEN_MAX);
  });

  it('money on its way to a session that was ended for another buyer is accepted', async () => {
    await age(4 * MINUTE);
    expect((await connectWithWallet()).status).toBe(200);
    const signature = await w.chain.pay(await w.chain.wallet(), oldest);
    expect(await w.confirm(oldest.payment_id, signature)).toMatchObject({ status: 200, body: { payment: { status: 'CONFIRMED' } } });
  });

  it('a session opened within three minutes, by a wallet, for an identity or by the merchant, or with a signature, is never ended', async () => {
    expect((await connectWithWallet()).status).toBe(429);
    await age(4 * MINUTE);
    await w.env.DB.prepare('UPDATE payments SET expected_wallet = ?')
      .bind((await w.chain.wallet()).address)
      .run();
    const protectedBy = [
      `payment_session_id = unhex('${'ab'.repeat(16)}')`,
      `terms = json_set(terms, '$.handoffId', 'x')`,
      `terms = json_set(terms, '$.identitySessionId', 'x')`,
      "tx_signature = 'sent'",
      "status = 'PENDING_CONFIRMATION'",
    ];
    for (const [i, values] of protectedBy.entries()) await set(`expected_wallet = NULL, ${values}`, copyOf(i + 1));
    await set('expected_wallet = NULL', copyOf(9));
    await w.env.DB.prepare(
      "INSERT INTO payment_candidates (payment_id, tx_signature, origin, attempt, next_check_at, created_at) VALUES (?, 'named', 'named', 0, 1, 1)",
    )
      .bind(copyOf(9))
      .run();
    expect((await connectWithWallet()).status).toBe(429);
  });

  it('the limit follows the plan of the seller', async () => {
    await w.env.DB.prepare("UPDATE accounts SET plan = 'starter', plan_through = NULL WHERE id = ?").bind(merchant.userId).run();
    expect((await connect()).status).toBe(200);
  });

  it('a session past its end takes no room, before a sweep expires it', async () => {
    await set('expires_at = 1', copyOf(1));
    expect((await connect()).status).toBe(200);
    expect((await connect()).status).toBe(429);
  });
});
