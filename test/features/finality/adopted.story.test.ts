import type { KeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { activate, newSpender, openTreasury, settlementsOf, standing } from '../../world/activation.ts';
import { openShop, type Shop, sellToAgents, stall } from '../../world/agent.ts';
import { REPEATED, testEnv } from '../../world/env.ts';
import { FIRST_LOOK, fateOf, letTimePass, sweepUntilBelieved } from '../../world/fate.ts';
import { type Merchant, World } from '../../world/world.ts';

/** While two releases run, and after a step back to the older one, claims are written by code that knows nothing of fates. */
describe('a claim that a release before this one made', REPEATED, () => {
  const w = new World();
  let merchant: Merchant;
  let buyer: KeyPairSigner;
  let shop: Shop;
  beforeAll(async () => {
    merchant = await w.merchant();
    buyer = await w.chain.wallet();
    shop = await openShop(w);
    await openTreasury(w);
  });
  /** As its INSERT leaves it: what it does not name has the default. */
  const asBefore = (id: string, kind: 'payment' | 'settlement') =>
    testEnv.DB.batch([
      testEnv.DB.prepare('CREATE TABLE IF NOT EXISTS before AS SELECT * FROM tx_claims WHERE 0'),
      testEnv.DB.prepare('INSERT INTO before SELECT * FROM tx_claims WHERE subject_id = ?').bind(id),
      testEnv.DB.prepare('DELETE FROM tx_claims WHERE subject_id = ?').bind(id),
      testEnv.DB.prepare(
        `INSERT INTO tx_claims (tx_signature, message_hash, kind, subject_id, created_at)
         SELECT tx_signature, message_hash, ?, subject_id, created_at FROM before WHERE subject_id = ?`,
      ).bind(kind, id),
      testEnv.DB.prepare('DROP TABLE before'),
    ]);
  const bought = async () => {
    const product = await w.product(merchant, { access_period_days: 30, session_seconds: 3600 });
    const { payment, signature } = await w.purchase(product, buyer);
    return { id: payment.payment_id as string, signature };
  };
  const view = async (id: string) => (await w.call('GET', `/v1/payments/${id}`, { key: merchant.key })).body;
  /** Taken up at one sweep, looked for when it is due. */
  const adopt = async () => {
    await w.sweep();
    await letTimePass(w, FIRST_LOOK);
    await w.sweep();
  };

  it('for a payment is taken up, and the payment is made final', async () => {
    const { id } = await bought();
    await asBefore(id, 'payment');
    await adopt();
    expect(await fateOf(id)).toMatchObject({ kind: 'checkout', final_at: expect.any(Number) });
    expect(await view(id)).toMatchObject({ finalized_at: expect.any(String) });
  });

  it('for a payment that the cluster dropped is taken up as well', async () => {
    const { id, signature } = await bought();
    await asBefore(id, 'payment');
    await w.chain.fault({ kind: 'vanish', signature });
    await w.sweep();
    await sweepUntilBelieved(w);
    expect(await view(id)).toMatchObject({ orphaned_at: expect.any(String) });
  });

  it('for an agent’s payment waits until it is settled, whichever release settles it', async () => {
    const own = stall(w, shop.merchant, await sellToAgents(w, shop.merchant), shop.agent);
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    const payment = await own.pay();
    await own.settle(payment);
    const { payment_id: id } = (await testEnv.DB.prepare('SELECT payment_id FROM settlements WHERE product_id = ?')
      .bind(own.product.product_id)
      .first<{ payment_id: string }>())!;
    await asBefore(id, 'settlement');
    await w.sweep();
    expect(await fateOf(id)).toMatchObject({ kind: 'settlement', slot: null });
    await testEnv.DB.prepare("UPDATE settlements SET created_at = created_at - 6000 WHERE status = 'pending'").run();
    expect((await own.settle(payment)).status).toBe(200);
    await adopt();
    await letTimePass(w, FIRST_LOOK);
    await w.sweep();
    expect(await fateOf(id)).toMatchObject({ kind: 'x402', final_at: expect.any(Number) });
  });

  it('for a plan is taken up with the slot that its receipt tells, so that it can be proven gone', async () => {
    const account = await w.merchant('free');
    await activate(w, await newSpender(w), 'starter', { key: account.key });
    const { payment_id: id, tx_signature: signature } = (await settlementsOf(account))[0]!;
    await asBefore(id, 'settlement');
    await w.chain.fault({ kind: 'vanish', signature });
    await w.sweep();
    await sweepUntilBelieved(w);
    expect(await fateOf(id)).toMatchObject({ kind: 'activation', dropped_at: expect.any(Number) });
    expect((await standing(account)).plan).toBe('free');
  });

  it('whose payment that release took for dropped is given back where the chain made it final', async () => {
    const { id } = await bought();
    // What its sweep writes: the payment alone, and its event.
    await testEnv.DB.prepare('UPDATE payments SET orphaned_at = ? WHERE id = ?').bind(Date.now(), id).run();
    await letTimePass(w, FIRST_LOOK);
    await w.sweep();
    const payment = await view(id);
    expect([payment.orphaned_at, typeof payment.finalized_at]).toEqual([undefined, 'string']);
    expect((await w.eventTypes(id)).slice(-2)).toEqual(['payment.finalized', 'membership.renewed']);
  });
});
