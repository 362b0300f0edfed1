import type { Address, Instruction } from '@solana/kit';
import { AccountState, getApproveInstruction, getRevokeInstruction, getTokenDecoder, getTokenEncoder } from '@solana-program/token';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as build from '#solana/programs/subscriptions/instructions.ts';
import {
  type CollectionRoute,
  readSight,
  type SubscriptionState,
  sightAddresses,
  subscriptionStateOf,
} from '#solana/programs/subscriptions/subscription-state.ts';
import { deriveTokenAddress, USDC } from '../chain/wallets.ts';
import { openProgramChain, type ProgramChain, useServer } from './program-chain.ts';
import {
  BALANCE,
  DAY,
  type Found,
  type FreeStep,
  findBoth,
  makeStep,
  openSubscription,
  PRICE,
  type SubscriptionWorld,
} from './subscription-world.ts';

const server = useServer();

const routeOf = ({ plan, people }: SubscriptionWorld, change: Partial<CollectionRoute> = {}): CollectionRoute => ({
  plan,
  subscriber: people.buyer.address,
  mint: USDC,
  puller: people.puller.address,
  receiver: people.merchant.address,
  ...change,
});

async function readAccounts(on: ProgramChain, addresses: Address[]) {
  const { value } = await on.chain.rpc.getMultipleAccounts(addresses, { encoding: 'base64', commitment: 'processed' }).send();
  return value.map((account) => account && { owner: account.owner, data: Uint8Array.from(Buffer.from(account.data[0], 'base64')) });
}

async function readState(world: SubscriptionWorld, change: Partial<CollectionRoute> = {}): Promise<SubscriptionState> {
  const route = routeOf(world, change);
  return subscriptionStateOf(readSight(await readAccounts(world.on, sightAddresses(route))), route, await world.on.now());
}

const describeState = (state: SubscriptionState): string => ('reason' in state ? `${state.kind}: ${state.reason}` : state.kind);

const deriveHolding = (world: SubscriptionWorld) => deriveTokenAddress(world.people.buyer.address);
const approve = async (world: SubscriptionWorld, delegate: Address, amount: bigint): Promise<Instruction> =>
  getApproveInstruction({ source: await deriveHolding(world), delegate, owner: world.people.buyer, amount });

/** Changes the buyer's token account as no transaction of the buyer could. */
async function putHolding(world: SubscriptionWorld, change: object): Promise<void> {
  const address = await deriveHolding(world);
  const token = getTokenDecoder().decode((await world.on.dataOf(address))!);
  world.on.put(address, 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address, getTokenEncoder().encode({ ...token, ...change }));
}

const WAYS: [what: string, words: string, make: (world: SubscriptionWorld) => Promise<unknown>][] = [
  ['nobody touched', 'collectable', async () => undefined],
  ['the period of which is paid', 'paid', (world) => world.collect()],
  [
    'a part of whose period its owner took',
    'paid',
    (world) => world.on.send(world.collecting(1n, { puller: world.people.merchant.address })),
  ],
  [
    'the next period of which began',
    'collectable',
    async (world) => {
      await world.collect();
      await world.on.warp(DAY);
    },
  ],
  ['its buyer cancelled', 'cancelled', (world) => world.cancel()],
  [
    'its buyer cancelled and revoked',
    'lost: subscription_gone',
    async (world) => {
      await world.cancel();
      await world.on.warp(DAY);
      await world.on.send(build.revokeInstruction(world.parties));
    },
  ],
  [
    'its buyer resumed',
    'collectable',
    async (world) => {
      await world.cancel();
      await world.on.send(build.resumeInstruction(world.parties, USDC));
    },
  ],
  ['whose authority is closed', 'lost: authority_gone', (world) => world.on.send(build.closeAuthorityInstruction(world.owner))],
  [
    'whose authority was closed and made again',
    'lost: authority_renewed',
    async (world) => {
      await world.on.send(build.closeAuthorityInstruction(world.owner));
      await world.on.warp(5);
      await world.authorize();
    },
  ],
  [
    'whose delegate another program took',
    'lost: delegate_lost',
    async (world) => world.on.send(await approve(world, world.people.sponsor.address, 5n)),
  ],
  ['whose approval is too small', 'lost: delegate_lost', async (world) => world.on.send(await approve(world, world.authority, PRICE - 1n))],
  [
    'whose approval was revoked',
    'lost: delegate_lost',
    async (world) => world.on.send(getRevokeInstruction({ source: await deriveHolding(world), owner: world.people.buyer })),
  ],
  ['whose buyer has too little', 'short: insufficient_funds', (world) => putHolding(world, { amount: PRICE - 1n })],
  ['whose buyer has exactly enough', 'collectable', (world) => putHolding(world, { amount: PRICE })],
  ['whose buyer is frozen', 'short: account_frozen', (world) => putHolding(world, { state: AccountState.Frozen })],
];

describe('state of a subscription', () => {
  it.each(WAYS)('%s is %s, and the program agrees', async (_what, words, make) => {
    const world = await openSubscription(await openProgramChain(server()));
    await make(world);
    expect(describeState(await readState(world))).toBe(words);
    const isAccepted = (await world.on.judge(world.collecting())) === 'accepted';
    // A cancelled subscription is never collected, although the program still allows it within the period.
    expect(isAccepted).toBe(words === 'collectable' || words === 'cancelled');
  });

  it('another puller or another receiver waits for the merchant', async () => {
    const world = await openSubscription(await openProgramChain(server()));
    const { sponsor, merchant } = world.people;
    expect(describeState(await readState(world, { puller: sponsor.address }))).toBe('short: puller_removed');
    expect(describeState(await readState(world, { puller: merchant.address }))).toBe('collectable');
    expect(describeState(await readState(world, { receiver: sponsor.address }))).toBe('short: receiver_missing');
  });

  it('a plan in sunset is collectable until its end, and lost afterwards, also if closed or recreated', async () => {
    const on = await openProgramChain(server());
    await on.holdClock();
    const world = await openSubscription(on);
    const { owner, planId, pullers, metadataUri } = world.terms;
    const endTs = (await on.now()) + 2n * DAY;
    await on.send(build.updatePlanInstruction(owner, planId, { status: 'sunset', endTs, pullers, metadataUri }));
    expect(describeState(await readState(world))).toBe('collectable');
    await on.warp(2n * DAY + 1n);
    expect(describeState(await readState(world))).toBe('lost: plan_ended');
    await on.send(build.deletePlanInstruction(owner, planId));
    expect(describeState(await readState(world))).toBe('lost: plan_gone');
    await world.publish();
    expect(describeState(await readState(world))).toBe('lost: plan_changed');
  });
});

type Step =
  | { kind: FreeStep | 'collect' | 'collectByOwner' }
  | { kind: 'approve'; amount: bigint; isOurs: boolean }
  | { kind: 'warp'; seconds: bigint };

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constantFrom('collect' as const, 'collectByOwner' as const, 'authorize' as const, 'closeAuthority' as const),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constantFrom('cancel' as const, 'resume' as const, 'revoke' as const, 'subscribe' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('sunset' as const, 'deletePlan' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('approve' as const),
      amount: fc.constantFrom(0n, BALANCE / 3n - 1n, BALANCE / 3n, 2n ** 64n - 1n),
      isOurs: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('warp' as const), seconds: fc.constantFrom(1n, DAY - 1n, DAY, 2n * DAY) }),
  },
);

async function buildInstruction(world: SubscriptionWorld, step: Exclude<Step, { kind: 'warp' }>, found: Found): Promise<Instruction> {
  switch (step.kind) {
    case 'collect':
      return world.collecting(world.terms.amount);
    case 'collectByOwner':
      return world.collecting(world.terms.amount, { puller: world.people.merchant.address });
    case 'approve':
      return approve(world, step.isOurs ? world.authority : world.people.sponsor.address, step.amount);
    default:
      return makeStep(world, step.kind, found);
  }
}

it('a subscription with any history is collectable exactly if the program accepts its collection', async () => {
  const on = await openProgramChain(server());
  await on.holdClock();
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 6, maxLength: 20 }), async (history) => {
      const world = await openSubscription(on, { amount: BALANCE / 3n });
      const found = await findBoth(world);
      for (const step of history) {
        if (step.kind === 'warp') await on.warp(step.seconds);
        else await on.attempt(await buildInstruction(world, step, found));
        const state = await readState(world);
        const isAccepted = (await on.judge(world.collecting(world.terms.amount))) === 'accepted';
        if (state.kind !== 'cancelled')
          expect([step, describeState(state), state.kind === 'collectable']).toEqual([step, describeState(state), isAccepted]);
        else if (isAccepted) expect(state.endsAt).toBeGreaterThan(await on.now());
      }
    }),
    { numRuns: 10 },
  );
});
