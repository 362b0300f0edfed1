import { beforeAll, describe, expect, it } from 'vitest';
import {
  createPlanInstruction,
  deletePlanInstruction,
  type NewPlan,
  type PlanChange,
  updatePlanInstruction,
} from '#solana/programs/subscriptions/instructions.ts';
import { CREATE_PLAN, DELETE_PLAN, UPDATE_PLAN } from '#solana/programs/subscriptions/layouts.ts';
import { PERIOD_HOURS_MAX, PLAN_BYTES } from '#solana/programs/subscriptions/subscription.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../local/chain/ledger/network.ts';
import { newAddress, USDC } from '../chain/wallets.ts';
import {
  itRefuses,
  longer,
  openProgramChain,
  type ProgramChain,
  readOnly,
  shorter,
  swap,
  unsigned,
  useServer,
  withData,
} from './program-chain.ts';
import { DAY, openPeople, openPlan, type People, preparePlan, type SubscriptionWorld } from './subscription-world.ts';

const server = useServer();
const stranger = newAddress();

describe('createPlan', () => {
  let on: ProgramChain;
  let world: SubscriptionWorld;
  beforeAll(async () => {
    on = await openProgramChain(server());
    world = await preparePlan(on);
  });
  const built = () => createWith({});
  const createWith = (changes: Partial<NewPlan>) => createPlanInstruction({ ...world.terms, ...changes }, TOKEN_PROGRAM);

  it('createPlan publishes the plan as given, with the current time, at its owner’s expense', async () => {
    await on.holdClock();
    const { people } = world;
    const before = await on.lamportsOf(people.merchant.address);
    const lists = { destinations: [await newAddress(), await newAddress()], pullers: await Promise.all([1, 2, 3, 4].map(newAddress)) };
    const other = await preparePlan(on, { people, planId: 2n ** 64n - 1n, endTs: (await on.now()) + 10n * DAY, ...lists });
    await other.publish();
    expect(await other.readPlan()).toEqual({
      ...other.terms,
      bump: expect.any(Number),
      status: 'active',
      createdAt: await on.now(),
    });
    expect(await on.lamportsOf(people.merchant.address)).toBe(before - (await on.lamportsOf(other.plan)));
    expect((await on.dataOf(other.plan))!.length).toBe(PLAN_BYTES);
  });

  it('createPlan accepts a period of an hour and of a year, and an end one period away', async () => {
    const end = (await on.now()) + 3_600n;
    expect(await on.judge(createWith({ periodHours: 1n, endTs: end }))).toBe('accepted');
    expect(await on.judge(createWith({ periodHours: PERIOD_HOURS_MAX }))).toBe('accepted');
    expect(await on.judge(createWith({ periodHours: 1n, endTs: end - 1n }))).toBe(511);
  });

  itRefuses(() => world, {
    'a byte too few': [() => withData(built(), built().data!.slice(0, -1)), 112],
    'a byte too many': [() => withData(built(), [...built().data!, 0]), 112],
    'a price of nothing': [() => createWith({ amount: 0n }), 129],
    'no period': [() => createWith({ periodHours: 0n }), 402],
    'a period longer than a year': [() => createWith({ periodHours: PERIOD_HOURS_MAX + 1n }), 402],
    'an end that is past': [() => createWith({ endTs: 1n }), 511],
    'an account too few': [() => shorter(built()), 113],
    'an account too many': [() => longer(built(), world.plan), 113],
    'an owner who does not sign': [() => unsigned(built(), CREATE_PLAN, 'owner'), 100],
    'an owner who cannot pay': [() => readOnly(built(), CREATE_PLAN, 'owner'), 131],
    'a plan that cannot be written': [() => readOnly(built(), CREATE_PLAN, 'plan'), 131],
    'a mint that is none': [async () => swap(built(), CREATE_PLAN, 'mint', await stranger), 109],
    'another token program': [() => swap(built(), CREATE_PLAN, 'tokenProgram', TOKEN_2022_PROGRAM), 105],
    'another system program': [() => swap(built(), CREATE_PLAN, 'systemProgram', TOKEN_PROGRAM), 104],
    'a mint that is not the one in its terms': [async () => swap(createWith({ mint: await stranger }), CREATE_PLAN, 'mint', USDC), 125],
    'another address for the plan': [async () => swap(built(), CREATE_PLAN, 'plan', await stranger), 502],
    'a number that is taken': [
      async () => {
        const { people } = world;
        await (await preparePlan(on, { people, planId: 5n })).publish();
        return createWith({ planId: 5n, amount: 7n });
      },
      518,
    ],
  });
});

describe('updatePlan', () => {
  let on: ProgramChain;
  let people: People;
  let world: SubscriptionWorld;
  let planId = 10n;
  beforeAll(async () => {
    on = await openProgramChain(server());
    await on.holdClock();
    people = await openPeople(on);
    world = await openPlan(on, { people });
  });
  const updating = ({ terms }: SubscriptionWorld, change: Partial<PlanChange>) => {
    const { endTs, pullers, metadataUri } = terms;
    return updatePlanInstruction(terms.owner, terms.planId, { status: 'active', endTs, pullers, metadataUri, ...change });
  };
  const built = (change: Partial<PlanChange> = {}) => updating(world, change);
  const publish = async (changes: Partial<NewPlan> = {}) => {
    planId += 1n;
    return (await preparePlan(on, { people, planId, ...changes })).publish();
  };

  it('updatePlan changes status, end, pullers and metadata, preserves the terms, and writes an event', async () => {
    const plan = await publish();
    const before = await plan.readPlan();
    const change = { status: 'sunset', endTs: (await on.now()) + DAY, pullers: [await stranger], metadataUri: '' } as const;
    const signature = await on.send(updating(plan, change));
    expect(await plan.readPlan()).toEqual({ ...before, ...change });
    const [event] = await on.eventsOf(signature, updating(plan, change).programAddress);
    expect([event!.length, event![8], event![73]]).toEqual([9 + 32 + 32 + 1 + 8 + 128, 6, 0]);
  });

  it('updatePlan shortens an end and never extends or removes it', async () => {
    const end = (await on.now()) + 10n * DAY;
    const plan = await publish({ endTs: end });
    expect(await on.judge(updating(plan, { endTs: end + 1n }))).toBe(520);
    expect(await on.judge(updating(plan, { endTs: 0n }))).toBe(520);
    await on.send(updating(plan, { endTs: end - DAY }));
    expect((await plan.readPlan()).endTs).toBe(end - DAY);
    expect(await on.judge(updating(plan, { endTs: (await on.now()) + DAY - 1n }))).toBe(511);
    // An unchanged end may be closer than a period.
    await on.warp(9n * DAY - 10n);
    expect(await on.judge(updating(plan, { endTs: end - DAY, metadataUri: 'x' }))).toBe('accepted');
    await on.warp(11);
    expect(await on.judge(updating(plan, { endTs: end - DAY, metadataUri: 'x' }))).toBe(501);
  });

  it('updatePlan only removes pullers after a sunset', async () => {
    const [first, second] = [await newAddress(), await newAddress()];
    const plan = await publish({ pullers: [first, second] });
    const sunset = { status: 'sunset', endTs: (await on.now()) + 5n * DAY, pullers: [first, second] } as const;
    await on.send(updating(plan, sunset));
    await on.send(updating(plan, { ...sunset, pullers: [second] }));
    expect((await plan.readPlan()).pullers).toEqual([second]);
    for (const change of [
      { pullers: [first] },
      { pullers: [second], metadataUri: 'other' },
      { pullers: [second], endTs: sunset.endTs - DAY },
      { pullers: [second], status: 'active' },
    ] as const) {
      expect(await on.judge(updating(plan, { ...sunset, ...change }))).toBe(513);
    }
  });

  itRefuses(() => world, {
    'a byte too few': [() => withData(built(), built().data!.slice(0, -1)), 112],
    'an account too few': [() => shorter(built()), 113],
    'an account too many': [() => longer(built(), world.authority), 113],
    'an owner who does not sign': [() => unsigned(built(), UPDATE_PLAN, 'owner'), 100],
    'a plan that cannot be written': [() => readOnly(built(), UPDATE_PLAN, 'plan'), 131],
    'what is no account of the program': [() => swap(built(), UPDATE_PLAN, 'plan', people.buyer.address), 'InvalidAccountOwner'],
    'an account of another kind': [() => swap(built(), UPDATE_PLAN, 'plan', world.authority), 111],
    'somebody else': [() => swap(built(), UPDATE_PLAN, 'owner', people.puller.address), 504],
    'a sunset without an end': [() => built({ status: 'sunset' }), 514],
    'a status there is none of': [() => withData(built(), built().data!.with(1, 2)), 512],
    'another event authority': [async () => swap(built(), UPDATE_PLAN, 'eventAuthority', await stranger), 600],
    'another program for its event': [() => swap(built(), UPDATE_PLAN, 'program', TOKEN_PROGRAM), 604],
  });
});

describe('deletePlan', () => {
  let on: ProgramChain;
  let world: SubscriptionWorld;
  beforeAll(async () => {
    on = await openProgramChain(server());
    await on.holdClock();
    world = await openPlan(on, { endTs: (await on.now()) + 2n * DAY });
  });
  const built = () => deletePlanInstruction(world.terms.owner, world.terms.planId);

  itRefuses(() => world, {
    'an account too few': [() => shorter(built()), 113],
    'an account too many': [() => longer(built(), world.authority), 113],
    'an owner who does not sign': [() => unsigned(built(), DELETE_PLAN, 'owner'), 100],
    'a plan that cannot be written': [() => readOnly(built(), DELETE_PLAN, 'plan'), 131],
    'what is no account of the program': [() => swap(built(), DELETE_PLAN, 'plan', world.people.buyer.address), 'InvalidAccountOwner'],
    'somebody else': [() => swap(built(), DELETE_PLAN, 'owner', world.people.puller.address), 504],
    'a plan without an end': [
      async () => {
        await (await preparePlan(on, { people: world.people, planId: 2n })).publish();
        return deletePlanInstruction(world.terms.owner, 2n);
      },
      515,
    ],
  });

  it('deletePlan waits for the second after the end, then returns the rent to the owner', async () => {
    await on.warp(2n * DAY);
    expect(await on.judge(built())).toBe(515);
    await on.warp(1);
    const rent = await on.lamportsOf(world.plan);
    const before = await on.lamportsOf(world.terms.owner);
    await on.send(built());
    expect(await on.dataOf(world.plan)).toBeNull();
    expect(await on.lamportsOf(world.terms.owner)).toBe(before + rent);
  });
});
