import { expect, it } from 'vitest';
import { hasPaidBefore, readPayerLimits } from '#features/settlements/store.ts';
import { newCtx } from '#platform/context.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { multiply } from '../../support/fixtures/multiply.ts';
import { mayServe, newAgent, sellToAgents, stall } from '../../support/people/agent.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

it('sandbox settlements count neither for nor against their payer in live mode', async () => {
  const w = new World();
  const ada = await w.merchant();
  const shop = stall(w, ada, await sellToAgents(w, ada), await newAgent(w));
  expect(mayServe(await shop.settle(await shop.pay()))).toBe(true);
  await testEnv.DB.prepare('UPDATE settlements SET livemode = 0').run();
  const settled = await testEnv.DB.prepare(
    "SELECT payment_id, payer_wallet, created_at FROM settlements WHERE livemode = 0 AND status = 'settled'",
  ).first<{
    payment_id: string;
    payer_wallet: string;
    created_at: number;
  }>();
  await multiply(testEnv.DB, 'settlements', 'payment_id', settled!.payment_id, 5, {
    payment_id: "'open-' || i",
    status: "'pending'",
    tx_signature: "'sig-' || i",
    message_hash: "'hash-' || i",
  });
  const ctx = newCtx(w.env, { requestId: 'req_limits', defer: () => {} });
  const payer = { merchantId: ada.userId, payerWallet: settled!.payer_wallet, createdAt: settled!.created_at } as Settlement;
  const [live, sandbox] = [
    { ...payer, livemode: true },
    { ...payer, livemode: false },
  ];
  const left = async (settlement: Settlement) => (await readPayerLimits(ctx, settlement)).left.open;
  expect((await left(live)) - (await left(sandbox))).toBe(5);
  expect([await hasPaidBefore(ctx.db, live), await hasPaidBefore(ctx.db, sandbox)]).toEqual([false, true]);
});
