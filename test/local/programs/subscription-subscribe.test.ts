import { beforeAll, describe, expect, it } from 'vitest';
import { hex } from '#core/encoding.ts';
import { addressSeed, u64Seed } from '#solana/programs/derived-address.ts';
import { closeAuthorityInstruction, deletePlanInstruction, updatePlanInstruction } from '#solana/programs/subscriptions/instructions.ts';
import { SUBSCRIBE } from '#solana/programs/subscriptions/layouts.ts';
import { SUBSCRIPTION_BYTES, SUBSCRIPTIONS_PROGRAM } from '#solana/programs/subscriptions/subscription.ts';
import { TOKEN_PROGRAM } from '../../../local/chain/ledger/network.ts';
import { newAddress, USDC } from '../chain/wallets.ts';
import {
  itRefuses,
  lastUnsigned,
  openProgramChain,
  type ProgramChain,
  readOnly,
  shorter,
  swap,
  unsigned,
  useServer,
  withData,
} from './program-chain.ts';
import { BALANCE, DAY, openPlan, preparePlan, type SubscriptionWorld } from './subscription-world.ts';

const server = useServer();
const stranger = newAddress();

describe('subscribe', () => {
  let on: ProgramChain;
  let world: SubscriptionWorld;
  beforeAll(async () => {
    on = await openProgramChain(server());
    await on.holdClock();
    world = await openPlan(on);
  });
  const built = () => world.subscribing();

  it('subscribing records the terms, starts the first period, moves no token, and writes an event', async () => {
    const made = await openPlan(on);
    const { buyer } = made.people;
    const signature = await on.send(await made.subscribing());
    const { amount, periodHours, createdAt } = await made.readPlan();
    const { initId } = await made.readAuthority();
    expect(await made.readSubscription()).toEqual({
      bump: expect.any(Number),
      subscriber: buyer.address,
      plan: made.plan,
      payer: buyer.address,
      initId,
      amount,
      periodHours,
      createdAt,
      amountPulledInPeriod: 0n,
      currentPeriodStartTs: await on.now(),
      expiresAtTs: 0n,
    });
    expect(await made.held()).toEqual([BALANCE, 0n]);
    const fields = [...addressSeed(made.plan), ...addressSeed(buyer.address), ...addressSeed(USDC), ...u64Seed(await on.now())];
    const event = Uint8Array.of(...hex.decode('e445a52e51cb9a1d00'), ...fields, ...addressSeed(buyer.address));
    expect(await on.eventsOf(signature, SUBSCRIPTIONS_PROGRAM)).toEqual([event]);
  });

  it('a sponsor may pay the rent', async () => {
    const made = await openPlan(on);
    const { sponsor } = made.people;
    const before = await on.lamportsOf(sponsor.address);
    await made.subscribe(sponsor.address);
    const rent = BigInt(await on.chain.result<number>('getMinimumBalanceForRentExemption', SUBSCRIPTION_BYTES));
    expect(await on.lamportsOf(sponsor.address)).toBe(before - rent);
    expect((await made.readSubscription()).payer).toBe(sponsor.address);
  });

  itRefuses(() => world, {
    'a byte too few': [async () => withData(await built(), (await built()).data!.slice(0, -1)), 112],
    'an account too few': [async () => shorter(await built()), 113],
    'a subscriber who does not sign': [async () => unsigned(await built(), SUBSCRIBE, 'subscriber'), 100],
    'a subscriber who cannot pay': [async () => readOnly(await built(), SUBSCRIBE, 'subscriber'), 131],
    'a plan that is not there': [async () => swap(await built(), SUBSCRIBE, 'plan', await stranger), 'InvalidAccountOwner'],
    'a subscription that cannot be written': [async () => readOnly(await built(), SUBSCRIBE, 'subscription'), 131],
    'an authority that is not there': [async () => swap(await built(), SUBSCRIBE, 'authority', await stranger), 103],
    'another system program': [async () => swap(await built(), SUBSCRIBE, 'systemProgram', TOKEN_PROGRAM), 104],
    'a sponsor who does not sign': [async () => lastUnsigned(await world.subscribing({}, world.people.sponsor.address)), 100],
    'another number than the plan has': [async () => swap(await world.subscribing({ planId: 2n }), SUBSCRIBE, 'plan', world.plan), 502],
    'another bump than the plan has': [async () => world.subscribing({ bump: ((await world.readPlan()).bump + 1) % 256 }), 502],
    'another mint than the plan has': [
      async () => swap(await world.subscribing({ mint: await stranger }), SUBSCRIBE, 'authority', world.authority),
      519,
    ],
    'another price than the plan has': [() => world.subscribing({ amount: 99n }), 519],
    'another period than the plan has': [() => world.subscribing({ periodHours: 25n }), 519],
    'a plan made at another time': [() => world.subscribing({ createdAt: 1n }), 519],
    'an authority of another id': [() => world.subscribing({ initId: 1n }), 136],
    'another address for the subscription': [async () => swap(await built(), SUBSCRIBE, 'subscription', await stranger), 503],
    'another event authority': [async () => swap(await built(), SUBSCRIBE, 'eventAuthority', await stranger), 600],
    'another program for its event': [async () => swap(await built(), SUBSCRIBE, 'program', TOKEN_PROGRAM), 604],
  });

  it('a foreign authority and one for another mint are refused', async () => {
    const other = await openPlan(on);
    expect(await on.judge(swap(await built(), SUBSCRIBE, 'authority', other.authority))).toBe(130);
    const mint = await newAddress();
    const { people } = world;
    await on.chain.result('local_fundToken', mint, people.buyer.address, '1');
    const foreign = await (await preparePlan(on, { people, planId: 3n, mint })).publish();
    expect(await on.judge(swap(await foreign.subscribing(), SUBSCRIBE, 'authority', world.authority))).toBe(125);
  });

  it('a second subscription is refused while the first exists', async () => {
    const made = await openPlan(on);
    await made.subscribe();
    expect(await on.judge(await made.subscribing())).toBe(517);
  });

  it('subscribing is possible up to the last second of a plan, and not after its deletion', async () => {
    const made = await openPlan(on, { endTs: (await on.now()) + 2n * DAY });
    const subscribing = await made.subscribing();
    await on.warp(2n * DAY);
    expect(await on.judge(subscribing)).toBe('accepted');
    await on.warp(1);
    expect(await on.judge(subscribing)).toBe(501);
    await on.send(deletePlanInstruction(made.terms.owner, made.terms.planId));
    expect(await on.judge(subscribing)).toBe('InvalidAccountOwner');
  });

  it('a plan in sunset and a closed authority are refused', async () => {
    const made = await openPlan(on);
    const subscribing = await made.subscribing();
    const { owner, planId, pullers, metadataUri } = made.terms;
    await on.send(updatePlanInstruction(owner, planId, { status: 'sunset', endTs: (await on.now()) + 2n * DAY, pullers, metadataUri }));
    expect(await on.judge(subscribing)).toBe(500);
    await on.send(closeAuthorityInstruction(made.owner));
    expect(await on.judge(subscribing)).toBe(103);
  });
});
