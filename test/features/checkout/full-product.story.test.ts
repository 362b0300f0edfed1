import { beforeEach, describe, expect, it } from 'vitest';
import { OPEN_SESSIONS_WITHOUT_WALLET, PLANS } from '#rules/plans.ts';
import { multiply } from '../../support/fixtures/multiply.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('open sessions of a product', () => {
  const w = new World();
  let round = 0;
  let merchant: Merchant;
  let product: { product_id: string; slug: string };
  beforeEach(async () => {
    round++;
    merchant = await w.merchant('starter');
    product = (await w.product(merchant)) as typeof product;
  });

  const connect = (body: object = {}) => w.call('POST', `/v1/products/p/${product.slug}/connect`, { body });
  const connectWithWallet = async () => connect({ wallet_address: (await w.chain.wallet()).address });
  const open = async (count: number) => {
    const { payment_id } = await w.connect(product);
    await multiply(w.env.DB, 'payments', 'id', payment_id, count - 1, {
      id: `printf('01900000-0000-7000-800${round}-%012d', i)`,
      nonce: `'stranger-${round}-' || i`,
      reference: `'stranger-${round}-' || i`,
    });
  };
  const refusal = (limit: number) => ({
    status: 429,
    body: { code: 'plan_limit_reached', meta: { reason: 'open_sessions', limit, used: limit } },
  });

  it('buyers without a wallet give way at a thousand, and buyers with one at the limit of the plan', async () => {
    await open(OPEN_SESSIONS_WITHOUT_WALLET);
    expect(await connect()).toMatchObject(refusal(OPEN_SESSIONS_WITHOUT_WALLET));
    expect((await connectWithWallet()).status).toBe(200);
    await w.env.DB.prepare("UPDATE payments SET status = 'FAILED' WHERE product_id = ?").bind(product.product_id).run();
    round++;
    await open(PLANS.starter.openSessionsMax - 1);
    const answers = await Promise.all(Array.from({ length: 3 }, connectWithWallet));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 429, 429]);
    expect(await connectWithWallet()).toMatchObject(refusal(PLANS.starter.openSessionsMax));
  });

  it('an ended plan lowers the limit for the next buyer and ends no open session', async () => {
    await open(PLANS.free.openSessionsMax + 1);
    expect((await connectWithWallet()).status).toBe(200);
    await w.env.DB.prepare('UPDATE accounts SET plan_through = 1 WHERE id = ?').bind(merchant.userId).run();
    expect(await connectWithWallet()).toMatchObject(refusal(PLANS.free.openSessionsMax));
    const ended = "SELECT count(*) AS n FROM payments WHERE product_id = ? AND status <> 'PENDING_SIGNATURE'";
    expect(await w.env.DB.prepare(ended).bind(product.product_id).first<number>('n')).toBe(0);
  });
});
