import { expect, it } from 'vitest';
import { newId, type PaymentId } from '#core/ids.ts';
import { hasPaidBefore, readPayerLimits } from '#features/settlements/store.ts';
import { newCtx } from '#platform/context.ts';
import { type Settlement, settlements } from '#platform/db/tables/settlements.ts';
import { mayServe, newAgent, restateSettlement, sellToAgents, stall } from '../../support/people/agent.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

it('sandbox settlements count neither for nor against their payer in live mode', async () => {
  const w = new World();
  const ada = await w.merchant();
  const shop = stall(w, ada, await sellToAgents(w, ada), await newAgent(w));
  const paid = await shop.settle(await shop.pay());
  expect(mayServe(paid)).toBe(true);
  const settled = await restateSettlement(w, paid.body.payment_id);
  await testEnv.DB.prepare('UPDATE payments SET livemode = 0').run();
  for (let i = 1; i <= 5; i++)
    await w.db
      .insert(settlements)
      .values({ ...settled, livemode: false, paymentId: newId<PaymentId>(Date.now(), ada.userId), status: 'pending' });
  const ctx = newCtx(w.env, { requestId: 'req_limits', defer: () => {} });
  const payer = { merchantId: ada.userId, payerWallet: settled.payerWallet, createdAt: settled.createdAt } as Settlement;
  const [live, sandbox] = [
    { ...payer, livemode: true },
    { ...payer, livemode: false },
  ];
  const left = async (settlement: Settlement) => (await readPayerLimits(ctx, settlement)).left.open;
  expect((await left(live)) - (await left(sandbox))).toBe(5);
  expect([await hasPaidBefore(ctx.db, live), await hasPaidBefore(ctx.db, sandbox)]).toEqual([false, true]);
});
