import type { Instruction } from '@solana/kit';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PlainSubscription, type SubscriptionStep } from './plain-subscription.ts';
import { openProgramChain, useServer } from './program-chain.ts';
import { BALANCE, DAY, type Found, findBoth, makeStep, openPlan, type SubscriptionWorld } from './subscription-world.ts';

const server = useServer();
// A few collections take the buyer's full balance.
const PRICE = BALANCE / 3n;

const steps: fc.Arbitrary<SubscriptionStep> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('collect' as const), amount: fc.bigInt({ min: 0n, max: PRICE + PRICE / 8n }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('cancel' as const, 'resume' as const) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom('revoke' as const, 'subscribe' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('authorize' as const, 'closeAuthority' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('sunset' as const, 'deletePlan' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('warp' as const), seconds: fc.constantFrom(1n, DAY - 1n, DAY, 2n * DAY, 5n * DAY) }),
  },
);

async function buildInstruction(world: SubscriptionWorld, step: SubscriptionStep, found: Found): Promise<Instruction | null> {
  if (step.kind === 'collect') return world.collecting(step.amount);
  if (step.kind !== 'warp') return makeStep(world, step.kind, found);
  await world.on.warp(step.seconds);
  return null;
}

it('random subscription histories match the plain reference model, and no base unit is lost or created', async () => {
  const on = await openProgramChain(server());
  await on.holdClock();
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 8, maxLength: 30 }), async (history) => {
      const world = await openPlan(on, { amount: PRICE });
      const found = await findBoth(world);
      const plain = new PlainSubscription({ price: PRICE, periodSeconds: DAY, balance: BALANCE }, await on.now());
      for (const step of [{ kind: 'subscribe' } as const, ...history]) {
        const instruction = await buildInstruction(world, step, found);
        const expected = plain.take(step);
        if (instruction !== null) expect([step, await on.attempt(instruction)]).toEqual([step, expected]);
      }
      expect(await world.held()).toEqual([BALANCE - plain.collected, plain.collected]);
      const start = await world.readSubscription().then(
        ({ currentPeriodStartTs }) => currentPeriodStartTs,
        () => null,
      );
      expect(start).toBe(plain.periodStart);
      const { held, supply } = await on.countUsdc();
      expect(held).toBe(supply);
    }),
    { numRuns: 12 },
  );
});
